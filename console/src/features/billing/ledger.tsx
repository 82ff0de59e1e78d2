/** The ledger with filters and CSV download. */
import { Anchor, Group, Title } from '@mantine/core'
import { unwrap, v1 } from '../../api/client.ts'
import { transactionTypes } from '../../api/generated/tables.ts'
import type { components } from '../../api/generated/v1.ts'
import { useApiMutation } from '../../api/use-action.ts'
import { listQuery, useApiQuery } from '../../api/use-api-query.ts'
import { pathTo, type Workspace, type Query, useWorkspace } from '../../app/paths.ts'
import { ProblemAlert } from '../../components/feedback/alerts.tsx'
import { ChoiceField } from '../../components/form/fields.tsx'
import { toCsv, downloadFile } from '../../components/format/csv.ts'
import { formatDollars, parseLocalTime, formatNumber, useTimeFormat, useZone } from '../../components/format/intl.tsx'
import { PathLink } from '../../components/format/links.tsx'
import { FilterText, useFilters } from '../../components/table/filters.tsx'
import { type Column, InnerList } from '../../components/table/list-table.tsx'
import { humanize, text } from '../../text/en.ts'

type Entry = components['schemas']['BalanceTransaction']

const choices = transactionTypes.map((value) => ({ value, label: humanize(value) }))

export function Ledger() {
  const workspace = useWorkspace()
  const zone = useZone()
  const { query, isFiltered, set, clear } = useFilters(['type', 'created_after', 'created_before'])
  const entries = useApiQuery(workspace, ['balance_transactions.list', query], () =>
    v1(workspace).GET('/v1/balance_transactions', { params: { query: listQuery(query) } }),
  )
  const columns = useColumns(workspace)
  const words = text.billing
  return (
    <div>
      <Group justify="space-between" mb="xs">
        <Title order={2} size="h4">
          {words.ledger}
        </Title>
        <Download workspace={workspace} query={query} />
      </Group>
      <div className="filters">
        <ChoiceField
          label={words.type}
          any={words.anyType}
          choices={choices}
          value={query['type'] ?? ''}
          onChange={(type) => set('type', type)}
        />
        {(['created_after', 'created_before'] as const).map((name) => (
          <FilterText
            key={`${name} ${query[name] ?? ''}`}
            label={name === 'created_after' ? words.createdAfter : words.createdBefore}
            value={query[name] ?? ''}
            onApply={(typed) => set(name, typed === '' ? '' : parseLocalTime(typed, zone))}
          />
        ))}
      </div>
      <InnerList
        name={words.ledger}
        columns={columns}
        query={entries}
        isFiltered={isFiltered}
        onClearFilters={clear}
        empty={words.ledgerEmpty}
      />
    </div>
  )
}

function useColumns(workspace: Workspace): Column<Entry>[] {
  const time = useTimeFormat()
  const words = text.billing.columns
  return [
    { id: 'at', header: words.at, cell: ({ created_at }) => time(created_at) },
    { id: 'type', header: words.type, cell: ({ type }) => humanize(type) },
    { id: 'amount', header: words.amount, cell: ({ amount_micros }) => formatDollars(amount_micros) },
    { id: 'credits', header: words.credits, cell: ({ credits }) => formatNumber(credits) },
    { id: 'balance', header: words.balance, cell: ({ balance_after_micros }) => formatDollars(balance_after_micros) },
    {
      id: 'about',
      header: words.about,
      cell: ({ message_id, top_up_id, payment_reference }) =>
        message_id === null ? (
          (payment_reference ?? top_up_id ?? '')
        ) : (
          <PathLink to={pathTo(workspace, 'messages', message_id)}>{message_id}</PathLink>
        ),
    },
    { id: 'note', header: words.note, cell: ({ note }) => <bdi>{note}</bdi> },
  ]
}

async function everyEntry(workspace: Workspace, { starting_after: _page, ...filters }: Query): Promise<Entry[]> {
  const entries: Entry[] = []
  let cursor: string | null = null
  do {
    const query = { ...filters, limit: '100', ...(cursor === null ? {} : { starting_after: cursor }) }
    const page: { data: Entry[]; next_cursor: string | null } = await unwrap(
      v1(workspace).GET('/v1/balance_transactions', { params: { query: query as never } }),
    )
    entries.push(...page.data)
    cursor = page.next_cursor
  } while (cursor !== null)
  return entries
}

/** A link because it yields a file. */
function Download({ workspace, query }: { workspace: Workspace; query: Query }) {
  const download = useApiMutation(
    () => everyEntry(workspace, query),
    (entries) => downloadFile(text.billing.file, toCsv(entries)),
  )
  return (
    <div aria-busy={download.isRunning}>
      <Anchor
        href={location.href}
        underline="always"
        onClick={(event) => {
          event.preventDefault()
          download.run(undefined)
        }}
      >
        {text.billing.download}
      </Anchor>
      {download.problem !== undefined && <ProblemAlert problem={download.problem} />}
    </div>
  )
}
