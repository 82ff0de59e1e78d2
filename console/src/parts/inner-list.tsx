/** A list inside of a screen that is about something else: its table stays where it has no rows. */
import { Text } from '@mantine/core'
import type { RowData } from '@tanstack/react-table'
import { ListTable, RowsTable, type ListTableProps } from './list-table.tsx'

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
