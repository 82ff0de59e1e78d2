/** A paginated list of the API as a table. */
import { Box, Button, Group, Table, Text } from '@mantine/core'
import type { UseQueryResult } from '@tanstack/react-query'
import { type ColumnDef, createColumnHelper, type RowData, tableFeatures, useTable } from '@tanstack/react-table'
import type { ReactNode } from 'react'
import { problemOf } from '../../api/client.ts'
import { text } from '../../text/en.ts'
import { ProblemAlert } from '../feedback/alerts.tsx'
import { EmptyState, LoadingIndicator } from '../feedback/screen.tsx'
import { useCursorOf } from './filters.tsx'

const features = tableFeatures({})

const theCursor = 'starting_after'

export interface Column<R> {
  readonly id: string
  readonly header: string
  readonly cell: (row: R) => ReactNode
}

export interface ListPage<R> {
  readonly data: readonly R[]
  readonly has_more: boolean
  readonly next_cursor: string | null
}

interface ListTableProps<R> {
  readonly name: string
  readonly columns: readonly Column<R>[]
  readonly query: UseQueryResult<ListPage<R>>
  readonly cursor?: string
  readonly isFiltered?: boolean
  readonly onClearFilters?: () => void
  readonly empty: string
  readonly emptyAction?: ReactNode
}

export function ListTable<R extends RowData & { readonly id: string }>(props: ListTableProps<R>) {
  const { query, isFiltered } = props
  const { isFirst } = useCursorOf(props.cursor ?? theCursor)
  if (query.isPending) return <LoadingIndicator />
  if (query.isError && query.data === undefined)
    return <ProblemAlert problem={problemOf(query.error)} onRetry={() => void query.refetch()} />
  const { data } = query.data
  if (data.length === 0 && isFiltered) {
    const clear = <Button onClick={props.onClearFilters}>{text.list.clear}</Button>
    return <EmptyState why={text.list.noMatch} action={clear} />
  }
  if (data.length === 0 && isFirst) return <EmptyState why={props.empty} action={props.emptyAction} />
  return (
    <div aria-busy={query.isPlaceholderData}>
      {query.isError && <ProblemAlert problem={problemOf(query.error)} onRetry={() => void query.refetch()} />}
      <RowsTable name={props.name} columns={props.columns} rows={data} />
      <Pager page={query.data} cursor={props.cursor} />
    </div>
  )
}

export function Pager({
  page: { has_more, next_cursor },
  cursor = theCursor,
}: {
  page: ListPage<unknown>
  cursor?: string | undefined
}) {
  const { isFirst, newer, older } = useCursorOf(cursor)
  return (
    <Group justify="flex-end" mt="sm">
      {!isFirst && (
        <Button variant="default" onClick={newer}>
          {text.list.newer}
        </Button>
      )}
      {has_more && next_cursor !== null && (
        <Button variant="default" onClick={() => older(next_cursor)}>
          {text.list.older}
        </Button>
      )}
    </Group>
  )
}

export function RowsTable<R extends RowData & { readonly id: string }>({
  name,
  columns,
  rows,
}: {
  name: string
  columns: readonly Column<R>[]
  rows: readonly R[]
}) {
  const table = useTable({ features, columns: definitionsOf(columns), data: rows as R[], getRowId: (row) => row.id })
  return (
    <Box component="section" className="scroll-x" aria-label={name} tabIndex={0}>
      <Table aria-label={name} verticalSpacing="xs">
        <Table.Thead>
          {table.getHeaderGroups().map((group) => (
            <Table.Tr key={group.id}>
              {group.headers.map((header) => (
                <Table.Th key={header.id} scope="col">
                  <table.FlexRender header={header} />
                </Table.Th>
              ))}
            </Table.Tr>
          ))}
        </Table.Thead>
        <Table.Tbody>
          {table.getRowModel().rows.map((row) => (
            <Table.Tr key={row.id}>
              {row.getAllCells().map((cell) => (
                <Table.Td key={cell.id} data-label={cell.column.columnDef.header || undefined}>
                  <table.FlexRender cell={cell} />
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Box>
  )
}

function definitionsOf<R extends RowData>(columns: readonly Column<R>[]): ColumnDef<typeof features, R>[] {
  const helper = createColumnHelper<typeof features, R>()
  return columns.map(({ id, header, cell }) => helper.display({ id, header, cell: ({ row }) => cell(row.original) }))
}

/** Its table stays visible when empty. */
export function InnerList<R extends RowData & { readonly id: string }>(props: ListTableProps<R>) {
  const { query, isFiltered, name, columns, empty } = props
  if (isFiltered || query.data === undefined || query.data.data.length > 0) return <ListTable {...props} />
  return (
    <>
      <RowsTable name={name} columns={columns} rows={[]} />
      <Text size="sm" p="xs">
        {empty}
      </Text>
    </>
  )
}
