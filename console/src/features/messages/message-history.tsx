/** Timeline of a message. */
import { List, Text, Title } from '@mantine/core'
import { own, problemOf, v1 } from '../../api/client.ts'
import type { operations } from '../../api/generated/v1.ts'
import { useApiQuery } from '../../api/use-api-query.ts'
import { pathTo, useWorkspace } from '../../app/paths.ts'
import { ProblemAlert } from '../../components/feedback/alerts.tsx'
import { LoadingIndicator } from '../../components/feedback/screen.tsx'
import { type Delivery, DeliveryAnswer } from '../../components/format/deliveries.tsx'
import { Status } from '../../components/format/facts.tsx'
import { formatNumber, useTimeFormat } from '../../components/format/intl.tsx'
import { ObjectLink, PathLink } from '../../components/format/links.tsx'
import { type Column, RowsTable } from '../../components/table/list-table.tsx'
import { humanize, text } from '../../text/en.ts'

const rowsMax = 100

export function Timeline({ id }: { id: string }) {
  const workspace = useWorkspace()
  const time = useTimeFormat()
  const events = useApiQuery(workspace, ['messages.list_events', id], () =>
    v1(workspace).GET('/v1/messages/{id}/events', { params: { path: { id }, query: { limit: rowsMax } } }),
  )
  if (events.isPending) return <LoadingIndicator />
  if (events.data === undefined)
    return <ProblemAlert problem={problemOf(events.error)} onRetry={() => void events.refetch()} />
  return (
    <List type="ordered" className="timeline" withPadding={false}>
      {events.data.data.toReversed().map(({ id: event, status, error, created_at }) => (
        <List.Item key={event}>
          <Text span fw={600}>
            {humanize(status)}
          </Text>{' '}
          <Text span size="sm" c="dimmed">
            {time(created_at)}
          </Text>
          {error !== null && (
            <Text size="sm" dir="auto">
              {error.message}
            </Text>
          )}
        </List.Item>
      ))}
    </List>
  )
}

type IdempotencyKeys =
  operations['messages.list_attempts']['responses'][200]['content']['application/json']['data'][number]

export function Attempts({ id }: { id: string }) {
  const workspace = useWorkspace()
  const attempts = useApiQuery(workspace, ['messages.list_attempts', id], () =>
    v1(workspace).GET('/v1/messages/{id}/attempts', { params: { path: { id }, query: { limit: rowsMax } } }),
  )
  const columns = useAttemptColumns()
  return (
    <section>
      <Title order={2} size="h4">
        {text.messages.attempts}
      </Title>
      {attempts.isError && <ProblemAlert problem={problemOf(attempts.error)} onRetry={() => void attempts.refetch()} />}
      <RowsTable name={text.messages.attempts} columns={columns} rows={attempts.data?.data ?? []} />
    </section>
  )
}

function useAttemptColumns(): Column<IdempotencyKeys>[] {
  const time = useTimeFormat()
  const { attemptColumns: columns, milliseconds, said } = text.messages
  return [
    { id: 'number', header: columns.number, cell: ({ number }) => number },
    { id: 'at', header: columns.at, cell: ({ created_at }) => time(created_at) },
    { id: 'provider', header: columns.provider, cell: ({ provider }) => humanize(provider) },
    { id: 'outcome', header: columns.outcome, cell: ({ outcome }) => <Status status={outcome} /> },
    {
      id: 'said',
      header: columns.said,
      cell: ({ provider_code, provider_message }) => <bdi>{said(provider_code, provider_message)}</bdi>,
    },
    { id: 'took', header: columns.took, cell: ({ duration_ms }) => milliseconds(formatNumber(duration_ms)) },
  ]
}

const deliveryRowsMax = 100

export function MessageDeliveries({ id }: { id: string }) {
  const workspace = useWorkspace()
  const deliveries = useApiQuery(workspace, ['messages.list_deliveries', id], () =>
    own(workspace).GET('/console/api/messages/{id}/deliveries', {
      params: { path: { id }, query: { limit: deliveryRowsMax } },
    }),
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
        <ProblemAlert problem={problemOf(deliveries.error)} onRetry={() => void deliveries.refetch()} />
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
  const workspace = useWorkspace()
  const time = useTimeFormat()
  const endpoints = useApiQuery(workspace, ['webhook_endpoints.list', deliveryRowsMax], () =>
    v1(workspace).GET('/v1/webhook_endpoints', { params: { query: { limit: deliveryRowsMax } } }),
  )
  const urls = new Map(endpoints.data?.data.map(({ id, url }) => [id, url]))
  const { deliveryColumns: columns } = text.messages
  return [
    {
      id: 'endpoint',
      header: columns.endpoint,
      cell: ({ endpoint_id }) => (
        <PathLink to={pathTo(workspace, 'webhooks', endpoint_id)}>{urls.get(endpoint_id) ?? endpoint_id}</PathLink>
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
