/** Identities at the OIDC provider. */
import { Button, Group, Stack, Text } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { unwrap, own, problemOf } from '../../api/client.ts'
import { useSetup } from '../../api/session.ts'
import { useApiMutation } from '../../api/use-action.ts'
import { basePath, paths } from '../../app/paths.ts'
import { SuccessNotice, ProblemAlert } from '../../components/feedback/alerts.tsx'
import { Dialog } from '../../components/feedback/dialog.tsx'
import { ActionButton } from '../../components/form/action-button.tsx'
import { Region } from '../../components/format/facts.tsx'
import { text } from '../../text/en.ts'

const key = ['identities.list']

export function Identities() {
  const { data: setup } = useSetup()
  const { identity, error } = useSearch({ strict: false }) as { identity?: string; error?: string }
  const queries = useQueryClient()
  const [said, setSaid] = useState('')
  const again = (sentence: string) => {
    setSaid(sentence)
    return queries.invalidateQueries({ queryKey: key })
  }
  if (setup === undefined || setup.oauth === null) return null
  const { name } = setup.oauth
  const words = text.profile
  return (
    <Region title={words.identitiesTitle}>
      <Stack gap="sm">
        <SuccessNotice text={said} />
        {error !== undefined && (
          <Text role="alert" size="sm">
            {words.linkFailed}
          </Text>
        )}
        <Text size="sm">{words.identitiesWhy(name)}</Text>
        <Linked onUnlinked={() => again(words.unlinked)} />
        <Group>
          <Button variant="default" onClick={() => globalThis.location.assign(`${basePath}/api/oauth/start?link=1`)}>
            {words.link(name)}
          </Button>
        </Group>
      </Stack>
      {identity === 'pending' && <Pending name={name} onLinked={() => again(words.linked)} />}
    </Region>
  )
}

function Linked({ onUnlinked }: { onUnlinked: () => Promise<void> }) {
  const identities = useQuery({ queryKey: key, queryFn: () => unwrap(own().GET('/console/api/identities')) })
  const unlink = useApiMutation(
    (id: string) => unwrap(own().DELETE('/console/api/identities/{id}', { params: { path: { id } } })),
    onUnlinked,
  )
  const problem = unlink.problem ?? (identities.isError ? problemOf(identities.error) : undefined)
  const words = text.profile
  return (
    <>
      {problem !== undefined && <ProblemAlert problem={problem} />}
      {(identities.data?.data ?? []).map(({ id, name, email }) => (
        <Group key={id} justify="space-between">
          <Text size="sm">
            {name} <bdi>{email}</bdi>
          </Text>
          <ActionButton
            label={words.unlink}
            named={words.unlinkNamed(email ?? name)}
            variant="subtle"
            size="xs"
            onPress={() => unlink.run(id)}
          />
        </Group>
      ))}
    </>
  )
}

function Pending({ name, onLinked }: { name: string; onLinked: () => Promise<void> }) {
  const navigate = useNavigate()
  const pending = useQuery({
    queryKey: ['oauth.retrieve_pending'],
    queryFn: () => unwrap(own().GET('/console/api/oauth/pending')),
    retry: false,
  })
  const close = () => void navigate({ to: paths.profile as never, replace: true })
  const settle = useApiMutation(
    (action: 'link' | 'cancel') => unwrap(own().POST('/console/api/oauth/pending', { body: { action } })),
    async ({ object }) => {
      if (object === 'identity') await onLinked()
      close()
    },
  )
  const problem = settle.problem ?? (pending.isError ? problemOf(pending.error) : undefined)
  const words = text.profile
  return (
    <Dialog title={words.link(name)} isOpen onClose={close}>
      <Stack>
        {problem !== undefined && <ProblemAlert problem={problem} />}
        {pending.data !== undefined && (
          <>
            <Text size="sm">{words.linkWhy(name, pending.data.email ?? words.nameless)}</Text>
            <Group justify="flex-end">
              <Button variant="default" onClick={() => settle.run('cancel')}>
                {words.doNotLink}
              </Button>
              <Button loading={settle.isRunning} onClick={() => settle.run('link')}>
                {words.doLink}
              </Button>
            </Group>
          </>
        )}
      </Stack>
    </Dialog>
  )
}
