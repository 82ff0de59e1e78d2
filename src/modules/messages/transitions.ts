/** Changes the status of messages, with event, refund and projections in one transaction. Nothing else may. */
import type { Tenant } from '../../api/caller.ts'
import type { Id } from '../../api/ids.ts'
import type { Db } from '../../platform/database/sql.ts'
import { type EventRow, type NewEvent, recordEvents } from '../../platform/events/outbox.ts'
import {
  allows,
  eventOf,
  messageObject,
  type MessageRow,
  providerCodeOf,
  stamps,
  type Transition,
  transitions,
} from './message.ts'
import type { Platform } from '../../platform/platform.ts'
import type { BillingService } from '../billing/service.ts'
import type { Projections } from './projections.ts'
import { readRows, type TransitionWrite, writeTransitions } from './transitions-repository.ts'

export interface TransitionRequest extends Tenant {
  readonly message_id: string
  readonly transition: Transition
  readonly at: string
  readonly error?: MessageRow['error']
  /** May be stale. */
  readonly row?: MessageRow
}

export interface TransitionDeps {
  readonly platform: Platform
  readonly billing: BillingService
  readonly projections: Projections
}

export interface Step {
  readonly before: MessageRow
  readonly after: MessageRow
  readonly emitted: readonly MessageRow[]
}

const roundsMax = 20

/** Skips transitions that are not allowed. Resolves to the changed rows. */
export async function applyTransitions(
  { platform, billing, projections }: TransitionDeps,
  tx: Db,
  requests: readonly TransitionRequest[],
): Promise<Map<string, MessageRow>> {
  const changed = new Map<string, MessageRow>()
  const byMessage = Map.groupBy(requests, (request) => request.message_id)
  const rows = new Map(requests.flatMap(({ row }) => (row === undefined ? [] : [[row.id, row] as const])))
  const done: Step[] = []
  let open = [...byMessage.keys()]
  for (let round = 0; open.length > 0; round++) {
    if (round === roundsMax) throw new Error('messages kept changing under set-wise transitions')
    const unread = open.filter((id) => !rows.has(id)).flatMap((id) => byMessage.get(id)![0]!)
    for (const row of await readRows(tx, unread)) rows.set(row.id, row)
    const steps = open.flatMap((id) => {
      const row = rows.get(id)
      const step = row === undefined ? null : stepOf(row, byMessage.get(id)!)
      return step === null ? [] : [step]
    })
    const won = await writeTransitions(
      tx,
      projections,
      steps.map((step) => writeOf(platform, step)),
    )
    for (const step of steps) {
      if (!won.has(step.before.id)) rows.delete(step.before.id)
      else {
        done.push(step)
        changed.set(step.after.id, step.after)
      }
    }
    open = steps.filter((step) => !won.has(step.before.id)).map((step) => step.before.id)
  }
  await emit(platform, billing, tx, done)
  return changed
}

/** Null if nothing changes. No step is earlier than the one before: clocks differ by milliseconds. */
export function stepOf(before: MessageRow, requests: readonly TransitionRequest[]): Step | null {
  let row = before
  const emitted: MessageRow[] = []
  for (const { transition, at: requested_at, error } of requests) {
    if (!allows(row.status, transition)) continue
    const status = transitions[transition].to
    if (status === row.status) continue
    const at = requested_at < row.updated_at ? row.updated_at : requested_at
    row = { ...row, status, updated_at: at }
    for (const stamp of stamps[status]) row[stamp] ??= at
    if (status === 'failed') {
      const reported = error ?? {
        code: 'provider_error',
        message: 'The provider could not deliver the message.',
        provider_code: null,
      }
      row.error = { ...reported, provider_code: providerCodeOf(reported.provider_code) }
      row.refunded = true
    }
    if (status in eventOf) emitted.push(row)
  }
  return row === before ? null : { before, after: row, emitted }
}

export function writeOf(
  { ids, recent_events, tracing }: Platform,
  { before, after, emitted: [first] }: Step,
): TransitionWrite {
  const event = first === undefined ? null : eventRow(ids('evt'), first)
  if (event !== null) {
    recent_events.add(event)
    tracing.follow(event.id, after.id)
  }
  return {
    account_id: after.account_id,
    mode: after.mode,
    id: after.id,
    origin_type: after.origin_type,
    from_status: before.status,
    status: after.status,
    at: after.updated_at,
    sending_at: after.sending_at,
    error: after.error,
    event,
  }
}

/** In UTC, as usage counts it. */
const dayOf = ({ updated_at }: MessageRow): string => updated_at.slice(0, 10)

const typeOf = (row: MessageRow) => eventOf[row.status as keyof typeof eventOf]

const eventRow = (id: string, row: MessageRow): EventRow => ({
  id,
  mode: row.mode,
  type: typeOf(row),
  created_at: row.updated_at,
  object: JSON.stringify(messageObject(row)),
})

async function emit(platform: Platform, billing: BillingService, tx: Db, steps: readonly Step[]): Promise<void> {
  const failed = steps.filter(({ after }) => after.status === 'failed').map(({ after }) => after)
  // a batch may span midnight, and a refund counts on the day of its own message
  for (const [, sameDay] of [...Map.groupBy(failed, dayOf)].toSorted(([one], [other]) => (one < other ? -1 : 1))) {
    await billing.refund(
      tx,
      sameDay.map((row) => ({ ...row, message_id: row.id })),
      sameDay[0]!.updated_at,
    )
  }
  await recordEvents(
    tx,
    steps.flatMap(({ emitted }) =>
      emitted.slice(1).map((row) => newEvent(traced(platform, platform.ids('evt'), row), row)),
    ),
  )
}

const newEvent = (id: NewEvent['id'], row: MessageRow): NewEvent => ({
  id,
  account_id: row.account_id as Tenant['account_id'],
  mode: row.mode,
  type: typeOf(row),
  object_id: row.id,
  object: messageObject(row),
  created_at: row.updated_at,
})

function traced({ tracing }: Platform, event_id: Id<'evt'>, { id }: MessageRow): Id<'evt'> {
  tracing.follow(event_id, id)
  return event_id
}
