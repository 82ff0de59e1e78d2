/** Members, their roles, and invitations. */
import { NativeSelect, Stack, Title } from '@mantine/core'
import { useState } from 'react'
import { unwrap, own, problemOf } from '../../api/client.ts'
import type { components } from '../../api/generated/own.ts'
import { useApiMutation } from '../../api/use-action.ts'
import { useApiQuery, useInvalidate } from '../../api/use-api-query.ts'
import { useWorkspace } from '../../app/paths.ts'
import { SuccessNotice, ProblemAlert } from '../../components/feedback/alerts.tsx'
import { ApiButton } from '../../components/feedback/api-button.tsx'
import { ConfirmDialog } from '../../components/feedback/dialog.tsx'
import { Screen } from '../../components/feedback/screen.tsx'
import { ActionButton } from '../../components/form/action-button.tsx'
import { useTimeFormat } from '../../components/format/intl.tsx'
import { type Column, RowsTable } from '../../components/table/list-table.tsx'
import { humanize, text } from '../../text/en.ts'
import { Invitations, Invite, type Role, roleNames } from './invitations.tsx'

export function TeamScreen() {
  const workspace = useWorkspace()
  const [isOpen, setOpen] = useState(false)
  const [said, setSaid] = useState('')
  const words = text.team
  return (
    <Screen
      title={text.screens.team}
      mode={workspace.mode}
      actions={
        <>
          <ApiButton request={{ method: 'GET', path: '/console/api/members', workspace }} />
          <ActionButton label={words.invite} onPress={() => setOpen(true)} />
        </>
      }
    >
      <SuccessNotice text={said} />
      <Stack gap="lg">
        <div>
          <Title order={2} size="h4" mb="xs">
            {words.members}
          </Title>
          <Members onDone={setSaid} />
        </div>
        <div>
          <Title order={2} size="h4" mb="xs">
            {words.invitations}
          </Title>
          <Invitations onDone={setSaid} />
        </div>
      </Stack>
      {isOpen && <Invite onClose={() => setOpen(false)} onDone={setSaid} />}
    </Screen>
  )
}

type Member = components['schemas']['Member']

export function Members({ onDone }: { onDone: (said: string) => void }) {
  const workspace = useWorkspace()
  const invalidate = useInvalidate(workspace)
  const [toDelete, setToDelete] = useState<Member>()
  const members = useApiQuery(workspace, ['members.list'], () => own(workspace).GET('/console/api/members'))
  const words = text.team
  const change = useApiMutation(
    ({ id, role }: { id: string; role: Role }) =>
      unwrap(own(workspace).PATCH('/console/api/members/{id}', { params: { path: { id } }, body: { role } })),
    async (member) => {
      await invalidate('members.')
      onDone(words.changed(member.name, humanize(member.role)))
    },
  )
  const remove = useApiMutation(
    ({ id }: Member) => unwrap(own(workspace).DELETE('/console/api/members/{id}', { params: { path: { id } } })),
    async (_, { name }) => {
      setToDelete(undefined)
      await invalidate('members.')
      onDone(words.removed(name))
    },
  )
  const columns = useColumns((id, role) => change.run({ id, role }), setToDelete)
  const problem = change.problem ?? (members.isError ? problemOf(members.error) : undefined)
  return (
    <>
      {problem !== undefined && <ProblemAlert problem={problem} />}
      <RowsTable name={words.members} columns={columns} rows={members.data?.data ?? []} />
      <ConfirmDialog
        title={words.removeNamed(toDelete?.name ?? '')}
        why={words.removeWhy}
        isOpen={toDelete !== undefined}
        onClose={() => setToDelete(undefined)}
        action={remove}
        onConfirm={() => toDelete !== undefined && remove.run(toDelete)}
      />
    </>
  )
}

function useColumns(onRole: (id: string, role: Role) => void, onRemove: (member: Member) => void): Column<Member>[] {
  const time = useTimeFormat()
  const words = text.team
  return [
    { id: 'name', header: words.columns.name, cell: ({ name }) => <bdi>{name}</bdi> },
    { id: 'email', header: words.columns.email, cell: ({ email }) => email },
    {
      id: 'role',
      header: words.columns.role,
      cell: ({ id, name, role }) => (
        <NativeSelect
          aria-label={words.roleOf(name)}
          data={roleNames.map((value) => ({ value, label: humanize(value) }))}
          value={role}
          onChange={(event) => onRole(id, event.currentTarget.value as Role)}
        />
      ),
    },
    {
      id: 'two_factor',
      header: words.columns.twoFactor,
      cell: ({ two_factor }) => (two_factor ? words.on : words.off),
    },
    { id: 'since', header: words.columns.since, cell: ({ created_at }) => time(created_at) },
    {
      id: 'remove',
      header: '',
      cell: (member) => (
        <ActionButton
          label={words.remove}
          named={words.removeNamed(member.name)}
          variant="subtle"
          color="red"
          size="xs"
          onPress={() => onRemove(member)}
        />
      ),
    },
  ]
}
