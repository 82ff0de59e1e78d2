/** The installation, for platform administrators. */
import { Button, Group, Stack, Text, Title } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import type { RowData } from '@tanstack/react-table'
import { type ReactNode, useState } from 'react'
import { unwrap, own } from '../../api/client.ts'
import type { components } from '../../api/generated/own.ts'
import { refreshSession, setSession, useRequiredSession } from '../../api/session.ts'
import { useApiMutation } from '../../api/use-action.ts'
import { listQuery, useGlobalQuery } from '../../api/use-api-query.ts'
import { PersonMenu } from '../../app/frame.tsx'
import { paths, pathTo } from '../../app/paths.ts'
import { SuccessNotice } from '../../components/feedback/alerts.tsx'
import { ApiButton } from '../../components/feedback/api-button.tsx'
import { Dialog } from '../../components/feedback/dialog.tsx'
import { NotAllowed, Screen } from '../../components/feedback/screen.tsx'
import { ActionButton } from '../../components/form/action-button.tsx'
import { FormProblem, TextField } from '../../components/form/fields.tsx'
import { useTimeFormat } from '../../components/format/intl.tsx'
import { PathLink } from '../../components/format/links.tsx'
import { useCursorOf } from '../../components/table/filters.tsx'
import { type Column, InnerList } from '../../components/table/list-table.tsx'
import { humanize, text } from '../../text/en.ts'

type Account = components['schemas']['AdminAccount']
type User = components['schemas']['AdminUser']
type Email = components['schemas']['AdminEmail']

export function PlatformScreen() {
  const { user, impersonating } = useRequiredSession()
  const words = text.platform
  return (
    <>
      <header className="frame-top">
        <PathLink to={paths.start}>{words.back}</PathLink>
        <div className="frame-push" />
        <PersonMenu />
      </header>
      <main id="content" className="page" tabIndex={-1}>
        {user.admin ? (
          <Screen
            title={words.title}
            actions={<ApiButton request={{ method: 'GET', path: '/console/api/admin/accounts' }} />}
          >
            <Stack gap="xl">
              <Accounts disabledReason={impersonating === null ? undefined : text.notAllowed.impersonating} />
              <Users />
              <Emails />
            </Stack>
          </Screen>
        ) : (
          <NotAllowed />
        )}
      </main>
    </>
  )
}

type Page<R> = { readonly data: readonly R[]; readonly has_more: boolean; readonly next_cursor: string | null }

function List<R extends RowData & { readonly id: string }>(props: {
  name: string
  cursor: string
  columns: Column<R>[]
  empty: string
  read: (query: {
    limit: number
    starting_after?: string
  }) => Promise<{ data?: Page<R>; error?: unknown; response: Response }>
  children?: ReactNode
}) {
  const cursor = useCursorOf(props.cursor)
  const query = useGlobalQuery(['admin', props.cursor, cursor.here], () => props.read(listQuery(cursor.query)))
  return (
    <section>
      <Title order={2} size="h4" mb="xs">
        {props.name}
      </Title>
      {props.children}
      <InnerList name={props.name} columns={props.columns} query={query} cursor={props.cursor} empty={props.empty} />
    </section>
  )
}

function Accounts({ disabledReason }: { disabledReason: string | undefined }) {
  const words = text.platform
  const [isNew, setNew] = useState(false)
  const [chosen, choose] = useState<Account>()
  const [said, setSaid] = useState('')
  const columns = useAccountColumns(disabledReason, choose)
  return (
    <List
      name={words.accounts}
      cursor="accounts_after"
      columns={columns}
      empty={words.noAccounts}
      read={(query) => own().GET('/console/api/admin/accounts', { params: { query } })}
    >
      <div className="actions">
        <ActionButton label={words.create} disabledReason={disabledReason} onPress={() => setNew(true)} />
      </div>
      <SuccessNotice text={said} />
      {isNew && <NewAccount onClose={() => setNew(false)} onMade={(name) => setSaid(words.created(name))} />}
      {chosen !== undefined && <Impersonate account={chosen} onClose={() => choose(undefined)} />}
    </List>
  )
}

function useAccountColumns(
  disabledReason: string | undefined,
  onChosen: (account: Account) => void,
): Column<Account>[] {
  const time = useTimeFormat()
  const { columns, active, suspended, impersonate, impersonateNamed } = text.platform
  return [
    { id: 'name', header: columns.name, cell: ({ name }) => <bdi>{name}</bdi> },
    { id: 'id', header: columns.id, cell: ({ id }) => id },
    { id: 'owner', header: columns.owner, cell: ({ owner_email }) => owner_email },
    {
      id: 'state',
      header: columns.state,
      cell: ({ suspended_at }) => (suspended_at === null ? active : suspended(time(suspended_at) ?? '')),
    },
    { id: 'created', header: columns.created, cell: ({ created_at }) => time(created_at) },
    {
      id: 'act',
      header: '',
      cell: (account) => (
        <ActionButton
          label={impersonate}
          named={impersonateNamed(account.name)}
          disabledReason={disabledReason}
          variant="default"
          size="xs"
          onPress={() => onChosen(account)}
        />
      ),
    },
  ]
}

function Users() {
  const words = text.platform
  const columns = useUserColumns()
  return (
    <List
      name={words.users}
      cursor="users_after"
      columns={columns}
      empty={words.noUsers}
      read={(query) => own().GET('/console/api/admin/users', { params: { query } })}
    />
  )
}

function Emails() {
  const words = text.platform
  const columns = useEmailColumns()
  return (
    <List
      name={words.emails}
      cursor="emails_after"
      columns={columns}
      empty={words.noEmails}
      read={(query) => own().GET('/console/api/admin/emails', { params: { query } })}
    />
  )
}

function useUserColumns(): Column<User>[] {
  const time = useTimeFormat()
  const words = text.platform
  const { columns } = words
  return [
    { id: 'name', header: columns.name, cell: ({ name }) => <bdi>{name}</bdi> },
    { id: 'email', header: columns.email, cell: ({ email }) => email },
    {
      id: 'accounts',
      header: columns.memberOf,
      cell: ({ accounts }) => <bdi>{accounts.map(({ name, role }) => `${name} (${humanize(role)})`).join(', ')}</bdi>,
    },
    { id: 'factor', header: columns.factor, cell: ({ two_factor }) => (two_factor ? words.on : words.off) },
    { id: 'role', header: columns.role, cell: ({ admin }) => (admin ? words.admin : null) },
    { id: 'created', header: columns.created, cell: ({ created_at }) => time(created_at) },
  ]
}

function useEmailColumns(): Column<Email>[] {
  const time = useTimeFormat()
  const words = text.platform
  const { columns } = words
  return [
    { id: 'recipient', header: columns.recipient, cell: ({ recipient }) => recipient ?? words.nobody },
    { id: 'subject', header: columns.subject, cell: ({ subject }) => <bdi>{subject}</bdi> },
    { id: 'status', header: columns.status, cell: ({ status }) => humanize(status) },
    { id: 'attempts', header: columns.attempts, cell: ({ attempts }) => attempts },
    { id: 'error', header: columns.error, cell: ({ error }) => <bdi>{error}</bdi> },
    { id: 'created', header: columns.created, cell: ({ created_at }) => time(created_at) },
  ]
}

function Impersonate({
  account: { id, name },
  onClose,
}: {
  account: { id: string; name: string }
  onClose: () => void
}) {
  const [reason, setReason] = useState('')
  const navigate = useNavigate()
  const words = text.platform
  const begin = useApiMutation(
    (body: { account: string; reason: string }) => unwrap(own().POST('/console/api/admin/impersonations', { body })),
    async (session) => {
      setSession(session)
      await navigate({ to: pathTo({ account: id, mode: 'live' }) as never })
    },
  )
  return (
    <Dialog title={words.impersonateNamed(name)} isOpen onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          begin.run({ account: id, reason })
        }}
      >
        <Stack>
          <Text dir="auto">{words.impersonateWhy(name)}</Text>
          <TextField
            label={words.reason}
            hint={words.reasonHint}
            value={reason}
            onChange={setReason}
            param="reason"
            problem={begin.problem}
            required
          />
          <FormProblem problem={begin.problem} fields={['reason']} />
          <Group justify="flex-end">
            <Button type="submit" loading={begin.isRunning}>
              {words.begin}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  )
}

function NewAccount({ onClose, onMade }: { onClose: () => void; onMade: (name: string) => void }) {
  const [name, setName] = useState('')
  const queries = useQueryClient()
  const words = text.platform
  const make = useApiMutation(
    (given: string, key) =>
      unwrap(own().POST('/console/api/admin/accounts', { body: { name: given }, headers: { 'Idempotency-Key': key } })),
    async (account) => {
      onMade(account.name)
      onClose()
      await Promise.all([refreshSession(), queries.invalidateQueries({ queryKey: ['admin'] })])
    },
  )
  return (
    <Dialog title={words.create} isOpen onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          make.run(name)
        }}
      >
        <Stack>
          <TextField label={words.name} value={name} onChange={setName} param="name" problem={make.problem} required />
          <FormProblem problem={make.problem} fields={['name']} />
          <Group justify="flex-end">
            <Button type="submit" loading={make.isRunning}>
              {words.save}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  )
}
