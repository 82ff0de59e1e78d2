/** A new e-mail address that waits for its link. */
import { Button, Group, Paper, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { unwrap, own } from '../../api/client.ts'
import { refreshSession, useRequiredSession, useSetup } from '../../api/session.ts'
import { useApiMutation } from '../../api/use-action.ts'
import { ProblemAlert } from '../../components/feedback/alerts.tsx'
import { text } from '../../text/en.ts'

export function PendingEmail({ address, onDone }: { address: string; onDone: (said: string) => void }) {
  const { user } = useRequiredSession()
  const { data: setup } = useSetup()
  useConfirmation(address)
  const words = text.profile.pendingEmail
  const ask = useApiMutation(
    (email: string) => unwrap(own().PATCH('/console/api/me', { body: { email } })),
    async ({ pending_email }) => {
      onDone(pending_email === null ? words.withdrawn : words.sentAgain)
      await refreshSession()
    },
  )
  if (setup === undefined) return null
  return (
    <Paper withBorder p="sm">
      <Stack gap="sm">
        <Text size="sm" fw={600}>
          {words.title}
        </Text>
        <Text size="sm">{setup.mail ? words.mailed(address) : words.byOperator(address)}</Text>
        {ask.problem !== undefined && <ProblemAlert problem={ask.problem} />}
        <Group>
          {setup.mail && (
            <Button variant="default" size="xs" loading={ask.isRunning} onClick={() => ask.run(address)}>
              {words.again}
            </Button>
          )}
          <Button variant="default" size="xs" loading={ask.isRunning} onClick={() => ask.run(user.email)}>
            {words.withdraw}
          </Button>
        </Group>
      </Stack>
    </Paper>
  )
}

/** The link may be opened elsewhere. */
function useConfirmation(address: string): void {
  const { data } = useQuery({ queryKey: ['me.retrieve'], queryFn: () => unwrap(own().GET('/console/api/me')) })
  useEffect(() => {
    if (data !== undefined && data.pending_email !== address) void refreshSession()
  }, [data, address])
}
