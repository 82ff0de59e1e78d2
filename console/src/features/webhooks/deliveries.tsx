/** Deliveries of a webhook endpoint, with retry and replay. */
import { Title } from '@mantine/core'
import { useEffect, useRef, useState } from 'react'
import { unwrap, own, v1 } from '../../api/client.ts'
import { deliveryStatuses } from '../../api/generated/tables.ts'
import { useDisabledReason } from '../../api/session.ts'
import { useApiMutation } from '../../api/use-action.ts'
import { listQuery, useApiQuery, useInvalidate } from '../../api/use-api-query.ts'
import { type Workspace, useWorkspace } from '../../app/paths.ts'
import { SuccessNotice, ProblemAlert } from '../../components/feedback/alerts.tsx'
import { ConfirmDialog } from '../../components/feedback/dialog.tsx'
import { ActionButton } from '../../components/form/action-button.tsx'
import { ChoiceField } from '../../components/form/fields.tsx'
import { type Delivery, DeliveryAnswer } from '../../components/format/deliveries.tsx'
import { Status } from '../../components/format/facts.tsx'
import { useTimeFormat } from '../../components/format/intl.tsx'
import { ObjectLink } from '../../components/format/links.tsx'
import { useFilters } from '../../components/table/filters.tsx'
import { type Column, InnerList } from '../../components/table/list-table.tsx'
import { humanize, text } from '../../text/en.ts'
import type { Endpoint } from './endpoint-form.tsx'

const choices = deliveryStatuses.map((value) => ({ value, label: humanize(value) }))

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
  return error === null ? words.waiting(event_type) : words.failed(event_type, error_message ?? humanize(error))
}

export function Deliveries({ endpoint: { id } }: { endpoint: Endpoint }) {
  const workspace = useWorkspace()
  const invalidate = useInvalidate(workspace)
  const { query, isFiltered, set, clear } = useFilters(['status'])
  const [done, setDone] = useState('')
  const deliveries = useApiQuery(workspace, ['webhook_endpoints.list_deliveries', id, query], () =>
    v1(workspace).GET('/v1/webhook_endpoints/{id}/deliveries', { params: { path: { id }, query: listQuery(query) } }),
  )
  const retry = useApiMutation(
    (delivery_id: string, key) =>
      unwrap(
        v1(workspace).POST('/v1/webhook_endpoints/{id}/deliveries/{delivery_id}/retry', {
          params: { path: { id, delivery_id } },
          headers: { 'Idempotency-Key': key },
        }),
      ),
    (delivery) => {
      setDone(outcomeOf(delivery))
      return invalidate('webhook_endpoints.list_deliveries')
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
      <SuccessNotice text={done} />
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
  const time = useTimeFormat()
  const notYours = useDisabledReason(useWorkspace())('webhooks:write', 'webhook_endpoints.retry_delivery')
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
          disabledReason={notYours ?? (status === 'pending' ? pending : undefined)}
          variant="default"
          size="xs"
          onPress={() => onRetry(id)}
        />
      ),
    },
  ]
}

/** Per request. */
const atOnce = 5_000

interface ReplayFailedProps {
  readonly id: string
  readonly disabledReason: string | undefined
  readonly onOutcome: (said: string) => unknown
}

export function ReplayFailed({ id, disabledReason, onOutcome }: ReplayFailedProps) {
  const workspace = useWorkspace()
  const words = text.webhooks.replay
  const count = useApiMutation(
    () => failedOf(workspace, id),
    (found) => (found === 0 ? onOutcome(words.none) : undefined),
  )
  const follow = useReplayOutcome(id, onOutcome)
  const replay = useApiMutation(
    (endpoint: string, key) =>
      unwrap(
        own(workspace).POST('/console/api/deliveries/retry', {
          body: { endpoint },
          headers: { 'Idempotency-Key': key },
        }),
      ),
    async (made) => {
      count.reset()
      await onOutcome(words.begun(made.count))
      follow(made.count)
    },
  )
  const found = count.result ?? 0
  return (
    <>
      <ActionButton
        label={words.button}
        variant="default"
        disabledReason={disabledReason}
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

async function failedOf(workspace: Workspace, endpoint: string): Promise<number> {
  return (await unwrap(own(workspace).POST('/console/api/deliveries/retry', { body: { endpoint, dry_run: true } })))
    .count
}

/** First minute, and afterwards. */
const pollEveryMs = 1_000
const laterEveryMs = 5_000
const fastPolls = 60

function useReplayOutcome(id: string, onOutcome: (said: string) => unknown): (count: number) => void {
  const workspace = useWorkspace()
  const [begun, begin] = useState<{ readonly count: number }>()
  const report = useRef(onOutcome)
  useEffect(() => {
    report.current = onOutcome
  })
  const { account, mode } = workspace
  useEffect(() => {
    if (begun === undefined) return
    const controller = new AbortController()
    // the table shows errors
    follow({ account, mode }, id, begun.count, controller.signal, (said) => report.current(said)).catch(() => undefined)
    return () => controller.abort()
  }, [begun, account, mode, id])
  return (count) => begin({ count })
}

async function follow(
  workspace: Workspace,
  endpoint: string,
  count: number,
  signal: AbortSignal,
  report: (said: string) => unknown,
): Promise<void> {
  const words = text.webhooks.replay
  const { created_until } = await progressOf(workspace, { endpoint })
  let reported = count
  for (let polls = 0; !signal.aborted; polls++) {
    const { pending, failed } = await progressOf(workspace, { endpoint, created_until })
    if (signal.aborted) return
    if (pending === 0) {
      const again = Math.min(count, failed)
      await report(words.ended(count - again, again))
      return
    }
    if (pending < reported) await report(words.begun((reported = pending)))
    await new Promise((resolve) => setTimeout(resolve, polls < fastPolls ? pollEveryMs : laterEveryMs))
  }
}

const progressOf = (workspace: Workspace, query: { endpoint: string; created_until?: string }) =>
  unwrap(own(workspace).GET('/console/api/deliveries/retry', { params: { query } }))
