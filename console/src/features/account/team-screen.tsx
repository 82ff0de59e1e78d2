/** Who belongs to the account, who is invited, and in which role. */
import { NativeSelect, Stack, Title } from '@mantine/core'
import { useState } from 'react'
import { answered, own, problemOf } from '../../api/client.ts'
import type { components } from '../../api/generated/own.ts'
import { useAction } from '../../api/use-action.ts'
import { useRead, useStale } from '../../api/use-api-query.ts'
import { usePlace } from '../../app/paths.ts'
import { Done, ProblemAlert } from '../../components/feedback/alerts.tsx'
import { ApiButton } from '../../components/feedback/api-button.tsx'
import { ConfirmDialog } from '../../components/feedback/dialog.tsx'
import { Screen } from '../../components/feedback/screen.tsx'
import { ActionButton } from '../../components/form/action-button.tsx'
import { useTime } from '../../components/format/intl.tsx'
import { type Column, RowsTable } from '../../components/table/list-table.tsx'
import { inWords, text } from '../../text/en.ts'
import { Invitations, Invite, type Role, roleNames } from './invitations.tsx'

export function TeamScreen() {
  const place = usePlace()
  const [isOpen, setOpen] = useState(false)
  const [said, setSaid] = useState('')
  const words = text.team
  return (
    <Screen
      title={text.screens.team}
      mode={place.mode}
      actions={
        <>
          <ApiButton request={{ method: 'GET', path: '/console/api/members', place }} />
          <ActionButton label={words.invite} onPress={() => setOpen(true)} />
        </>
      }
    >
      <Done text={said} />
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

/** The members of the account: their role can be changed, and they can be removed. */
export function Members({ onDone }: { onDone: (said: string) => void }) {
  const place = usePlace()
  const stale = useStale(place)
  const [leaving, setLeaving] = useState<Member>()
  const members = useRead(place, ['members.list'], () => own(place).GET('/console/api/members'))
  const words = text.team
  const change = useAction(
    ({ id, role }: { id: string; role: Role }) =>
      answered(own(place).PATCH('/console/api/members/{id}', { params: { path: { id } }, body: { role } })),
    async (member) => {
      await stale('members.')
      onDone(words.changed(member.name, inWords(member.role)))
    },
  )
  const remove = useAction(
    ({ id }: Member) => answered(own(place).DELETE('/console/api/members/{id}', { params: { path: { id } } })),
    async (_, { name }) => {
      setLeaving(undefined)
      await stale('members.')
      onDone(words.removed(name))
    },
  )
  const columns = useColumns((id, role) => change.run({ id, role }), setLeaving)
  const problem = change.problem ?? (members.isError ? problemOf(members.error) : undefined)
  return (
    <>
      {problem !== undefined && <ProblemAlert problem={problem} />}
      <RowsTable name={words.members} columns={columns} rows={members.data?.data ?? []} />
      <ConfirmDialog
        title={words.removeNamed(leaving?.name ?? '')}
        why={words.removeWhy}
        isOpen={leaving !== undefined}
        onClose={() => setLeaving(undefined)}
        action={remove}
        onConfirm={() => leaving !== undefined && remove.run(leaving)}
      />
    </>
  )
}

function useColumns(onRole: (id: string, role: Role) => void, onRemove: (member: Member) => void): Column<Member>[] {
  const time = useTime()
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
          data={roleNames.map((value) => ({ value, label: inWords(value) }))}
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
