/** What was delivered to an endpoint, by its status, and once more. */
import { Title } from '@mantine/core'
import { useState } from 'react'
import { answered, v1 } from '../../api/client.ts'
import { deliveryStatuses } from '../../api/generated/tables.ts'
import { useBecause } from '../../api/may.ts'
import { useAction } from '../../api/use-action.ts'
import { listQuery, useRead } from '../../api/use-read.ts'
import { useStale } from '../../api/use-stale.ts'
import { ActionButton } from '../../parts/action-button.tsx'
import { Done } from '../../parts/done.tsx'
import { ChoiceField } from '../../parts/fields.tsx'
import { InnerList } from '../../parts/inner-list.tsx'
import type { Column } from '../../parts/list-table.tsx'
import { ObjectLink } from '../../parts/object-link.tsx'
import { ProblemAlert } from '../../parts/problem-alert.tsx'
import { Status } from '../../parts/status.tsx'
import { useTime } from '../../parts/times.ts'
import { useFilters } from '../../parts/use-filters.ts'
import { usePlace } from '../../parts/use-place.ts'
import { inWords, text } from '../../text/en.ts'
import { DeliveryAnswer, type Delivery } from './delivery-cells.tsx'
import type { Endpoint } from './endpoint.ts'

const choices = deliveryStatuses.map((value) => ({ value, label: inWords(value) }))

/** What became of an attempt, in a sentence. */
export function outcomeOf({
  event_type,
  status,
  response_status,
  duration_ms,
  error,
  error_message,
}: Delivery): string {
  const words = text.webhooks.one
  if (status === 'delivered') return words.delivered(event_type, response_status, duration_ms)
  return error === null ? words.waiting(event_type) : words.failed(event_type, error_message ?? inWords(error))
}

export function Deliveries({ endpoint: { id } }: { endpoint: Endpoint }) {
  const place = usePlace()
  const stale = useStale(place)
  const { query, isFiltered, set, clear } = useFilters(['status'])
  const [done, setDone] = useState('')
  const deliveries = useRead(place, ['webhook_endpoints.list_deliveries', id, query], () =>
    v1(place).GET('/v1/webhook_endpoints/{id}/deliveries', { params: { path: { id }, query: listQuery(query) } }),
  )
  const retry = useAction(
    (delivery_id: string, key) =>
      answered(
        v1(place).POST('/v1/webhook_endpoints/{id}/deliveries/{delivery_id}/retry', {
          params: { path: { id, delivery_id } },
          headers: { 'Idempotency-Key': key },
        }),
      ),
    (delivery) => {
      setDone(outcomeOf(delivery))
      return stale('webhook_endpoints.list_deliveries')
    },
  )
  const columns = useColumns(retry.run)
  const words = text.webhooks.deliveries
  return (
    <div>
      <Title order={2} size="h4" mb="xs">
        {words.title}
      </Title>
      <div className="filters">
        <ChoiceField
          label={words.status}
          any={words.anyStatus}
          choices={choices}
          value={query['status'] ?? ''}
          onChange={(status) => set('status', status)}
        />
      </div>
      <Done text={done} />
      {retry.problem !== undefined && <ProblemAlert problem={retry.problem} />}
      <InnerList
        name={words.title}
        columns={columns}
        query={deliveries}
        isFiltered={isFiltered}
        onClearFilters={clear}
        empty={words.empty}
      />
    </div>
  )
}

function useColumns(onRetry: (id: string) => void): Column<Delivery>[] {
  const time = useTime()
  const notYours = useBecause(usePlace())('webhooks:write', 'webhook_endpoints.retry_delivery')
  const { columns, retry, pending } = text.webhooks.deliveries
  return [
    { id: 'event', header: columns.event, cell: ({ event_id }) => <ObjectLink id={event_id} /> },
    { id: 'type', header: columns.type, cell: ({ event_type }) => event_type },
    { id: 'status', header: columns.status, cell: ({ status }) => <Status status={status} /> },
    { id: 'attempts', header: columns.attempts, cell: ({ attempts }) => attempts },
    { id: 'answer', header: columns.answer, cell: (delivery) => <DeliveryAnswer delivery={delivery} /> },
    { id: 'created_at', header: columns.at, cell: ({ created_at }) => time(created_at) },
    { id: 'next', header: columns.next, cell: ({ next_attempt_at }) => time(next_attempt_at) },
    {
      id: 'retry',
      header: '',
      cell: ({ id, status }) => (
        <ActionButton
          label={retry}
          because={notYours ?? (status === 'pending' ? pending : undefined)}
          variant="default"
          size="xs"
          onPress={() => onRetry(id)}
        />
      ),
    },
  ]
}
