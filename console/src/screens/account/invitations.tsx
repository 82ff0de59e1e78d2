/** Who is invited and has not come yet. */
import { useState } from 'react'
import { answered, own } from '../../api/client.ts'
import type { components } from '../../api/generated/own.ts'
import { problemOf } from '../../api/problem.ts'
import { useAction } from '../../api/use-action.ts'
import { useRead } from '../../api/use-read.ts'
import { useStale } from '../../api/use-stale.ts'
import { ActionButton } from '../../parts/action-button.tsx'
import { RowsTable, type Column } from '../../parts/list-table.tsx'
import { ProblemAlert } from '../../parts/problem-alert.tsx'
import { useTime } from '../../parts/times.ts'
import { usePlace } from '../../parts/use-place.ts'
import { inWords, text } from '../../text/en.ts'
import { InvitationLink } from './invitation-link.tsx'
import type { Role } from './roles.ts'

type Invitation = components['schemas']['Invitation']

export function Invitations({ onDone }: { onDone: (said: string) => void }) {
  const place = usePlace()
  const stale = useStale(place)
  const [url, setUrl] = useState<string>()
  const invitations = useRead(place, ['invitations.list'], () => own(place).GET('/console/api/invitations'))
  const words = text.team
  const withdraw = useAction(
    ({ id }: Invitation) => answered(own(place).DELETE('/console/api/invitations/{id}', { params: { path: { id } } })),
    async (_, { email }) => {
      await stale('invitations.')
      onDone(words.withdrawn(email))
    },
  )
  const again = useAction(
    ({ email, role }: Invitation, key) =>
      answered(
        own(place).POST('/console/api/invitations', {
          body: { email, role: role as Role },
          headers: { 'Idempotency-Key': key },
        }),
      ),
    async (invitation) => {
      setUrl(invitation.url ?? undefined)
      await stale('invitations.')
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
  onAgain: (invitation: Invitation) => void,
  onWithdraw: (invitation: Invitation) => void,
): Column<Invitation>[] {
  const time = useTime()
  const words = text.team
  return [
    { id: 'email', header: words.columns.email, cell: ({ email }) => email },
    { id: 'role', header: words.columns.role, cell: ({ role }) => inWords(role) },
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
            onPress={() => onAgain(invitation)}
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
