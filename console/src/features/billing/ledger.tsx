/** Every entry of the ledger, newest first, by its filters; also as a file. */
import { Anchor, Group, Title } from '@mantine/core'
import { answered, v1 } from '../../api/client.ts'
import { transactionTypes } from '../../api/generated/tables.ts'
import type { components } from '../../api/generated/v1.ts'
import { useAction } from '../../api/use-action.ts'
import { listQuery, useRead } from '../../api/use-api-query.ts'
import { pathTo, type Place, type Query, usePlace } from '../../app/paths.ts'
import { ProblemAlert } from '../../components/feedback/alerts.tsx'
import { ChoiceField } from '../../components/form/fields.tsx'
import { csvOf, downloadFile } from '../../components/format/csv.ts'
import { dollarsOf, instantOf, numberOf, useTime, useZone } from '../../components/format/intl.tsx'
import { PathLink } from '../../components/format/links.tsx'
import { FilterText, useFilters } from '../../components/table/filters.tsx'
import { type Column, InnerList } from '../../components/table/list-table.tsx'
import { inWords, text } from '../../text/en.ts'

type Entry = components['schemas']['BalanceTransaction']

const choices = transactionTypes.map((value) => ({ value, label: inWords(value) }))

export function Ledger() {
  const place = usePlace()
  const zone = useZone()
  const { query, isFiltered, set, clear } = useFilters(['type', 'created_after', 'created_before'])
  const entries = useRead(place, ['balance_transactions.list', query], () =>
    v1(place).GET('/v1/balance_transactions', { params: { query: listQuery(query) } }),
  )
  const columns = useColumns(place)
  const words = text.billing
  return (
    <div>
      <Group justify="space-between" mb="xs">
        <Title order={2} size="h4">
          {words.ledger}
        </Title>
        <Download place={place} query={query} />
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
            onApply={(typed) => set(name, typed === '' ? '' : instantOf(typed, zone))}
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

function useColumns(place: Place): Column<Entry>[] {
  const time = useTime()
  const words = text.billing.columns
  return [
    { id: 'at', header: words.at, cell: ({ created_at }) => time(created_at) },
    { id: 'type', header: words.type, cell: ({ type }) => inWords(type) },
    { id: 'amount', header: words.amount, cell: ({ amount_micros }) => dollarsOf(amount_micros) },
    { id: 'credits', header: words.credits, cell: ({ credits }) => numberOf(credits) },
    { id: 'balance', header: words.balance, cell: ({ balance_after_micros }) => dollarsOf(balance_after_micros) },
    {
      id: 'about',
      header: words.about,
      cell: ({ message_id, top_up_id, payment_reference }) =>
        message_id === null ? (
          (payment_reference ?? top_up_id ?? '')
        ) : (
          <PathLink to={pathTo(place, 'messages', message_id)}>{message_id}</PathLink>
        ),
    },
    { id: 'note', header: words.note, cell: ({ note }) => <bdi>{note}</bdi> },
  ]
}

/** Every entry that matches, page by page. */
async function everyEntry(place: Place, { starting_after: _page, ...filters }: Query): Promise<Entry[]> {
  const entries: Entry[] = []
  let cursor: string | null = null
  do {
    const query = { ...filters, limit: '100', ...(cursor === null ? {} : { starting_after: cursor }) }
    const page: { data: Entry[]; next_cursor: string | null } = await answered(
      v1(place).GET('/v1/balance_transactions', { params: { query: query as never } }),
    )
    entries.push(...page.data)
    cursor = page.next_cursor
  } while (cursor !== null)
  return entries
}

/** A link, for what it leads to is a file; the file is made when it is followed. */
function Download({ place, query }: { place: Place; query: Query }) {
  const download = useAction(
    () => everyEntry(place, query),
    (entries) => downloadFile(text.billing.file, csvOf(entries)),
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
