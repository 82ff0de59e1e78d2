/** What was refused and what was changed: by its id, or the newest first. */
import { Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { answered, own } from '../../api/client.ts'
import type { components } from '../../api/generated/own.ts'
import { problemOf } from '../../api/problem.ts'
import { listQuery, useRead } from '../../api/use-read.ts'
import { ChoiceField } from '../../parts/fields.tsx'
import { FilterText } from '../../parts/filter-text.tsx'
import { ListTable, RowsTable, type Column } from '../../parts/list-table.tsx'
import { ProblemAlert } from '../../parts/problem-alert.tsx'
import { Waiting } from '../../parts/states.tsx'
import { useTime } from '../../parts/times.ts'
import { useFilters } from '../../parts/use-filters.ts'
import { usePlace } from '../../parts/use-place.ts'
import { text } from '../../text/en.ts'

type LoggedRequest = components['schemas']['LoggedRequest']

export function Requests() {
  const place = usePlace()
  const { query, isFiltered, set, clear } = useFilters(['refused', 'request_id'])
  const { request_id, ...listed } = query
  const requests = useRead(place, ['requests.list', listed], () =>
    own(place).GET('/console/api/requests', { params: { query: listQuery(listed) } }),
  )
  const columns = useColumns()
  const words = text.developers
  return (
    <Stack>
      <Text size="sm">{words.requestsWhy}</Text>
      <div className="filters">
        <FilterText
          label={words.requestId}
          type="search"
          value={request_id ?? ''}
          onApply={(value) => set('request_id', value)}
        />
        <ChoiceField
          label={words.refused}
          any={words.all}
          choices={[{ value: 'true', label: words.refusedOnly }]}
          value={query['refused'] ?? ''}
          onChange={(value) => set('refused', value)}
        />
      </div>
      {request_id === undefined ? (
        <ListTable
          name={words.tabs.requests}
          columns={columns}
          query={requests}
          isFiltered={isFiltered}
          onClearFilters={clear}
          empty={words.requestsEmpty}
        />
      ) : (
        <OneRequest id={request_id} columns={columns} />
      )}
    </Stack>
  )
}

function OneRequest({ id, columns }: { id: string; columns: readonly Column<LoggedRequest>[] }) {
  const place = usePlace()
  const found = useQuery({
    queryKey: [place.account, place.mode, 'requests.retrieve', id],
    queryFn: () => answered(own(place).GET('/console/api/requests/{id}', { params: { path: { id } } })),
  })
  if (found.isError) return <ProblemAlert problem={problemOf(found.error)} />
  return found.data === undefined ? (
    <Waiting />
  ) : (
    <RowsTable name={text.developers.tabs.requests} columns={columns} rows={[found.data]} />
  )
}

function useColumns(): Column<LoggedRequest>[] {
  const time = useTime()
  const { requestColumns: columns, took } = text.developers
  return [
    { id: 'at', header: columns.at, cell: ({ created_at }) => time(created_at) },
    { id: 'id', header: columns.id, cell: ({ id }) => id },
    { id: 'what', header: columns.what, cell: ({ method, path }) => <bdi className="code">{`${method} ${path}`}</bdi> },
    { id: 'status', header: columns.status, cell: ({ status }) => status },
    { id: 'code', header: columns.code, cell: ({ code }) => code ?? '–' },
    { id: 'by', header: columns.by, cell: ({ key_id, user_id }) => key_id ?? user_id ?? '–' },
    { id: 'took', header: columns.took, cell: ({ duration_ms }) => took(duration_ms) },
  ]
}
