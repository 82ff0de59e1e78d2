/** The way to the OIDC provider, where there is one, and what went wrong on it. */
import { Alert, Anchor, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { answered, own } from '../../api/client.ts'
import { basePath, ownPath } from '../../paths.ts'
import { text } from '../../text/en.ts'

/** It leads back to `to`, or to where the person was going when they were asked to sign in. */
export function SignInWith({ to }: { to?: string }) {
  const { next = to, error } = useSearch({ strict: false }) as { next?: string; error?: string }
  const { data } = useQuery({ queryKey: ['setup.retrieve'], queryFn: () => answered(own().GET('/console/api/setup')) })
  const words = text.people.signIn
  const failures: Readonly<Record<string, string>> = words.withFailed
  if (data === undefined || data.oauth === null) return null
  return (
    <Stack gap="sm">
      {error !== undefined && (
        <Alert role="alert" color="red" variant="outline" title={words.withFailed.title}>
          <Text size="sm">{failures[error] ?? failures['oauth_pending_expired']}</Text>
        </Alert>
      )}
      <Anchor size="sm" href={`${basePath}/api/oauth/start?next=${encodeURIComponent(basePath + ownPath(next))}`}>
        {words.with(data.oauth.name)}
      </Anchor>
    </Stack>
  )
}
