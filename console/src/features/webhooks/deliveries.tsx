/** What was delivered to an endpoint, by its status, and once more. */
import { Title } from '@mantine/core'
import { useEffect, useRef, useState } from 'react'
import { answered, own, v1 } from '../../api/client.ts'
import { deliveryStatuses } from '../../api/generated/tables.ts'
import { useBecause } from '../../api/session.ts'
import { useAction } from '../../api/use-action.ts'
import { listQuery, useRead, useStale } from '../../api/use-api-query.ts'
import { type Place, usePlace } from '../../app/paths.ts'
import { Done, ProblemAlert } from '../../components/feedback/alerts.tsx'
import { ConfirmDialog } from '../../components/feedback/dialog.tsx'
import { ActionButton } from '../../components/form/action-button.tsx'
import { ChoiceField } from '../../components/form/fields.tsx'
import { type Delivery, DeliveryAnswer } from '../../components/format/deliveries.tsx'
import { Status } from '../../components/format/facts.tsx'
import { useTime } from '../../components/format/intl.tsx'
import { ObjectLink } from '../../components/format/links.tsx'
import { useFilters } from '../../components/table/filters.tsx'
import { type Column, InnerList } from '../../components/table/list-table.tsx'
import { inWords, text } from '../../text/en.ts'
import type { Endpoint } from './endpoint-form.tsx'

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

/** As many as one request makes again. */
const atOnce = 5_000

/** `Replay failed`: how many those are, one attempt of each, and what became of them. */
interface ReplayFailedProps {
  readonly id: string
  readonly because: string | undefined
  /** Is told how it stands, again and again. */
  readonly onTold: (said: string) => unknown
}

export function ReplayFailed({ id, because, onTold }: ReplayFailedProps) {
  const place = usePlace()
  const words = text.webhooks.replay
  const count = useAction(
    () => failedOf(place, id),
    (found) => (found === 0 ? onTold(words.none) : undefined),
  )
  const follow = useReplayOutcome(id, onTold)
  const replay = useAction(
    (endpoint: string, key) =>
      answered(
        own(place).POST('/console/api/deliveries/retry', { body: { endpoint }, headers: { 'Idempotency-Key': key } }),
      ),
    async (made) => {
      count.reset()
      await onTold(words.begun(made.count))
      follow(made.count)
    },
  )
  const found = count.result ?? 0
  return (
    <>
      <ActionButton
        label={words.button}
        variant="default"
        because={because}
        loading={count.isRunning}
        onPress={() => count.run(undefined)}
      />
      {count.problem !== undefined && <ProblemAlert problem={count.problem} />}
      <ConfirmDialog
        title={words.button}
        why={found < atOnce ? words.why(found) : words.whyMany(atOnce)}
        isOpen={found > 0}
        onClose={() => {
          count.reset()
          replay.reset()
        }}
        action={replay}
        onConfirm={() => replay.run(id)}
      />
    </>
  )
}

/** How many would be made again. */
async function failedOf(place: Place, endpoint: string): Promise<number> {
  return (await answered(own(place).POST('/console/api/deliveries/retry', { body: { endpoint, dry_run: true } }))).count
}

/** Between two looks, and after the first minute. */
const lookEveryMs = 1_000
const laterEveryMs = 5_000
const looksSoon = 60

/** What is answered takes how many were begun; `onTold` hears in a sentence how many are left, and last what became of them. */
function useReplayOutcome(id: string, onTold: (said: string) => unknown): (count: number) => void {
  const place = usePlace()
  const [begun, begin] = useState<{ readonly count: number }>()
  const tell = useRef(onTold)
  useEffect(() => {
    tell.current = onTold
  })
  const { account, mode } = place
  useEffect(() => {
    if (begun === undefined) return
    const leaving = new AbortController()
    // the table asks as well, and says what is wrong
    follow({ account, mode }, id, begun.count, leaving.signal, (said) => tell.current(said)).catch(() => undefined)
    return () => leaving.abort()
  }, [begun, account, mode, id])
  return (count) => begin({ count })
}

async function follow(
  place: Place,
  endpoint: string,
  count: number,
  leaving: AbortSignal,
  tell: (said: string) => unknown,
): Promise<void> {
  const words = text.webhooks.replay
  const { created_until } = await progressOf(place, { endpoint })
  let told = count
  for (let looks = 0; !leaving.aborted; looks++) {
    const { pending, failed } = await progressOf(place, { endpoint, created_until })
    if (leaving.aborted) return
    if (pending === 0) {
      const again = Math.min(count, failed)
      await tell(words.ended(count - again, again))
      return
    }
    if (pending < told) await tell(words.begun((told = pending)))
    await new Promise((resolve) => setTimeout(resolve, looks < looksSoon ? lookEveryMs : laterEveryMs))
  }
}

const progressOf = (place: Place, query: { endpoint: string; created_until?: string }) =>
  answered(own(place).GET('/console/api/deliveries/retry', { params: { query } }))
