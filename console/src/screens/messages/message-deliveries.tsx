/** What webhook endpoints were told of a message, and how that went. */
import { Title, Text } from '@mantine/core'
import { own, v1 } from '../../api/client.ts'
import { problemOf } from '../../api/problem.ts'
import { useRead } from '../../api/use-read.ts'
import { RowsTable, type Column } from '../../parts/list-table.tsx'
import { ObjectLink } from '../../parts/object-link.tsx'
import { PathLink } from '../../parts/path-link.tsx'
import { ProblemAlert } from '../../parts/problem-alert.tsx'
import { Status } from '../../parts/status.tsx'
import { useTime } from '../../parts/times.ts'
import { usePlace } from '../../parts/use-place.ts'
import { pathTo } from '../../paths.ts'
import { text } from '../../text/en.ts'
import { DeliveryAnswer, type Delivery } from '../webhooks/delivery-cells.tsx'

const rowsMax = 100

export function MessageDeliveries({ id }: { id: string }) {
  const place = usePlace()
  const deliveries = useRead(place, ['messages.list_deliveries', id], () =>
    own(place).GET('/console/api/messages/{id}/deliveries', { params: { path: { id }, query: { limit: rowsMax } } }),
  )
  const columns = useColumns()
  const words = text.messages
  const rows = deliveries.data?.data ?? []
  return (
    <section aria-busy={deliveries.isPending}>
      <Title order={2} size="h4">
        {words.deliveries}
      </Title>
      {deliveries.isError && (
        <ProblemAlert problem={problemOf(deliveries.error)} onAgain={() => void deliveries.refetch()} />
      )}
      <RowsTable name={words.deliveries} columns={columns} rows={rows} />
      {deliveries.isSuccess && rows.length === 0 && (
        <Text size="sm" p="xs">
          {words.noDeliveries}
        </Text>
      )}
    </section>
  )
}

function useColumns(): Column<Delivery>[] {
  const place = usePlace()
  const time = useTime()
  const endpoints = useRead(place, ['webhook_endpoints.list', rowsMax], () =>
    v1(place).GET('/v1/webhook_endpoints', { params: { query: { limit: rowsMax } } }),
  )
  const urls = new Map(endpoints.data?.data.map(({ id, url }) => [id, url]))
  const { deliveryColumns: columns } = text.messages
  return [
    {
      id: 'endpoint',
      header: columns.endpoint,
      cell: ({ endpoint_id }) => (
        <PathLink to={pathTo(place, 'webhooks', endpoint_id)}>{urls.get(endpoint_id) ?? endpoint_id}</PathLink>
      ),
    },
    { id: 'event', header: columns.event, cell: ({ event_id }) => <ObjectLink id={event_id} /> },
    { id: 'type', header: columns.type, cell: ({ event_type }) => event_type },
    { id: 'status', header: columns.status, cell: ({ status }) => <Status status={status} /> },
    { id: 'attempts', header: columns.attempts, cell: ({ attempts }) => attempts },
    { id: 'answer', header: columns.answer, cell: (delivery) => <DeliveryAnswer delivery={delivery} /> },
    { id: 'created_at', header: columns.at, cell: ({ created_at }) => time(created_at) },
  ]
}
