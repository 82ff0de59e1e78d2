/** What a source has reported, and what followed. */
import { Title } from '@mantine/core'
import { v1 } from '../../api/client.ts'
import type { components } from '../../api/generated/v1.ts'
import { receiptStatuses } from '../../api/generated/tables.ts'
import { problemOf } from '../../api/problem.ts'
import { listQuery, useRead } from '../../api/use-read.ts'
import { ChoiceField } from '../../parts/fields.tsx'
import { FilterText } from '../../parts/filter-text.tsx'
import { Pager, RowsTable, type Column } from '../../parts/list-table.tsx'
import { ProblemAlert } from '../../parts/problem-alert.tsx'
import { Status } from '../../parts/status.tsx'
import { useTime } from '../../parts/times.ts'
import { useFilters } from '../../parts/use-filters.ts'
import type { Place } from '../../paths.ts'
import { inWords, text } from '../../text/en.ts'

const words = text.integrations.receipts

type Receipt = components['schemas']['AutomationEvent']

export function ReceiptsTable({ place, source }: { place: Place; source: string }) {
  const { query, set } = useFilters(['type', 'status'])
  const asked = { ...query, source }
  const receipts = useRead(place, ['automation_events.list', asked], () =>
    v1(place).GET('/v1/automation_events', { params: { query: listQuery(asked) } }),
  )
  const columns = useColumns()
  const type = query['type'] ?? ''
  return (
    <section aria-busy={receipts.isPending || receipts.isPlaceholderData}>
      <Title order={2} size="h4" mb="xs">
        {text.integrations.one.receipts}
      </Title>
      <div className="filters">
        <FilterText key={type} label={words.type} value={type} onApply={(typed) => set('type', typed)} />
        <ChoiceField
          label={words.status}
          any={words.any}
          choices={receiptStatuses.map((value) => ({ value, label: inWords(value) }))}
          value={query['status'] ?? ''}
          onChange={(status) => set('status', status)}
        />
      </div>
      {receipts.isError && <ProblemAlert problem={problemOf(receipts.error)} onAgain={() => void receipts.refetch()} />}
      <RowsTable name={text.integrations.one.receipts} columns={columns} rows={receipts.data?.data ?? []} />
      {receipts.data !== undefined && <Pager page={receipts.data} />}
    </section>
  )
}

function useColumns(): Column<Receipt>[] {
  const time = useTime()
  return [
    { id: 'id', header: words.id, cell: ({ id }) => id },
    { id: 'type', header: words.type, cell: ({ type }) => type },
    { id: 'status', header: words.status, cell: ({ status }) => <Status status={status} /> },
    { id: 'reason', header: words.reason, cell: ({ reason }) => (reason === null ? '' : inWords(reason)) },
    { id: 'runs', header: words.runs, cell: ({ runs }) => runs.map(({ status }) => inWords(status)).join(', ') },
    { id: 'at', header: words.at, cell: ({ created_at }) => time(created_at) },
  ]
}
