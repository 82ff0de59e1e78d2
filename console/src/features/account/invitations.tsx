/** Pending invitations and the form that creates one. */
import { Button, Group, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { unwrap, own, problemOf } from '../../api/client.ts'
import type { components } from '../../api/generated/own.ts'
import { roleGrants } from '../../api/generated/tables.ts'
import { useApiMutation } from '../../api/use-action.ts'
import { useApiQuery, useInvalidate } from '../../api/use-api-query.ts'
import { useWorkspace } from '../../app/paths.ts'
import { ProblemAlert } from '../../components/feedback/alerts.tsx'
import { CopyButton } from '../../components/feedback/copy-button.tsx'
import { Dialog } from '../../components/feedback/dialog.tsx'
import { ActionButton } from '../../components/form/action-button.tsx'
import { ChoiceField, FormProblem, TextField } from '../../components/form/fields.tsx'
import { useDraft } from '../../components/form/use-draft.ts'
import { useTimeFormat } from '../../components/format/intl.tsx'
import { type Column, RowsTable } from '../../components/table/list-table.tsx'
import { humanize, text } from '../../text/en.ts'

type Invitation = components['schemas']['Invitation']

export function Invitations({ onDone }: { onDone: (said: string) => void }) {
  const workspace = useWorkspace()
  const invalidate = useInvalidate(workspace)
  const [url, setUrl] = useState<string>()
  const invitations = useApiQuery(workspace, ['invitations.list'], () => own(workspace).GET('/console/api/invitations'))
  const words = text.team
  const withdraw = useApiMutation(
    ({ id }: Invitation) =>
      unwrap(own(workspace).DELETE('/console/api/invitations/{id}', { params: { path: { id } } })),
    async (_, { email }) => {
      await invalidate('invitations.')
      onDone(words.withdrawn(email))
    },
  )
  const again = useApiMutation(
    ({ email, role }: Invitation, key) =>
      unwrap(
        own(workspace).POST('/console/api/invitations', {
          body: { email, role: role as Role },
          headers: { 'Idempotency-Key': key },
        }),
      ),
    async (invitation) => {
      setUrl(invitation.url ?? undefined)
      await invalidate('invitations.')
      onDone(words.invited(invitation.email))
    },
  )
  const columns = useColumns(again.run, withdraw.run)
  const problem = withdraw.problem ?? again.problem ?? (invitations.isError ? problemOf(invitations.error) : undefined)
  return (
    <>
      {problem !== undefined && <ProblemAlert problem={problem} />}
      <RowsTable name={words.invitations} columns={columns} rows={invitations.data?.data ?? []} />
      {url !== undefined && <InvitationLink url={url} onStored={() => setUrl(undefined)} />}
    </>
  )
}

function useColumns(
  onRetry: (invitation: Invitation) => void,
  onWithdraw: (invitation: Invitation) => void,
): Column<Invitation>[] {
  const time = useTimeFormat()
  const words = text.team
  return [
    { id: 'email', header: words.columns.email, cell: ({ email }) => email },
    { id: 'role', header: words.columns.role, cell: ({ role }) => humanize(role) },
    {
      id: 'mail',
      header: words.columns.mail,
      cell: ({ mail }) => (mail === null ? words.byLink : (words.mail[mail.status] ?? mail.status)),
    },
    { id: 'expires', header: words.columns.expires, cell: ({ expires_at }) => time(expires_at) },
    {
      id: 'actions',
      header: '',
      cell: (invitation) => (
        <>
          <ActionButton
            label={words.again}
            named={words.againNamed(invitation.email)}
            variant="subtle"
            size="xs"
            onPress={() => onRetry(invitation)}
          />
          <ActionButton
            label={words.withdraw}
            named={words.withdrawNamed(invitation.email)}
            variant="subtle"
            color="red"
            size="xs"
            onPress={() => onWithdraw(invitation)}
          />
        </>
      ),
    },
  ]
}

const first: { readonly email: string; readonly role: Role } = { email: '', role: 'viewer' }

/** Without SMTP it shows a link once. */
export function Invite({ onClose, onDone }: { onClose: () => void; onDone: (said: string) => void }) {
  const workspace = useWorkspace()
  const invalidate = useInvalidate(workspace)
  const [given, change, discard] = useDraft(workspace, 'invitation', first)
  const [url, setUrl] = useState<string>()
  const words = text.team
  const invite = useApiMutation(
    (body: { email: string; role: Role }, key) =>
      unwrap(own(workspace).POST('/console/api/invitations', { body, headers: { 'Idempotency-Key': key } })),
    async (invitation) => {
      discard()
      await invalidate('invitations.')
      onDone(words.invited(invitation.email))
      if (invitation.url === null) onClose()
      else setUrl(invitation.url)
    },
  )
  if (url !== undefined) return <InvitationLink url={url} onStored={onClose} />
  return (
    <Dialog title={words.invite} isOpen onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          invite.run(given)
        }}
      >
        <Stack>
          <TextField
            label={words.email}
            type="email"
            value={given.email}
            onChange={(email) => change({ ...given, email })}
            param="email"
            problem={invite.problem}
            required
          />
          <ChoiceField
            label={words.role}
            choices={roleNames.map((value) => ({ value, label: humanize(value) }))}
            value={given.role}
            onChange={(role) => change({ ...given, role: role as Role })}
            param="role"
            problem={invite.problem}
          />
          <FormProblem problem={invite.problem} fields={['email', 'role']} />
          <Group justify="flex-end">
            <Button type="submit" loading={invite.isRunning}>
              {words.send}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  )
}

function InvitationLink({ url, onStored }: { url: string; onStored: () => void }) {
  const words = text.team
  return (
    <Dialog title={words.link} isOpen>
      <Stack>
        <Text size="sm">{words.linkWhy}</Text>
        <TextField label={words.link} value={url} onChange={() => undefined} />
        <Group justify="flex-end">
          <CopyButton value={url} />
          <Button onClick={onStored}>{text.secret.stored}</Button>
        </Group>
      </Stack>
    </Dialog>
  )
}

export type Role = keyof typeof roleGrants

export const roleNames = Object.keys(roleGrants) as Role[]
