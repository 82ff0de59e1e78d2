/** What goes through the accepting door: units of one request, their rows, and what becomes of them. */
import type { ErrorCode } from '../../../contract/errors.ts'
import { limits } from '../../../contract/limits.ts'
import { Problem } from '../../../contract/problem.ts'
import { ranks } from '../../../contract/resources/message.ts'
import type { MessageRow } from '../rows.ts'
import { isoTime } from '../../../lib/clock.ts'
import type { IdMaker } from '../../../lib/ids.ts'
import type { AcceptRow } from './optimistic-store.ts'
import type { StoredReply, UnitKey } from './locking-store.ts'
import { timesOf, type Item } from './check.ts'

export type ItemOutcome = { readonly kind: 'accepted'; readonly row: MessageRow } | { readonly kind: 'refused'; readonly code: ErrorCode }

/** What one request hands in: one message, or the valid ones of a batch. */
export interface Unit {
  readonly items: readonly Item[]
  readonly key?: UnitKey
  /** What the key of a batch stores; a single message stores itself. Its presence sends the unit through the locking path. */
  readonly storedReply?: (outcomes: readonly ItemOutcome[]) => StoredReply
}

/** `known`: the key was used before, and its stored answer is to be given. */
export type UnitOutcome = { readonly kind: 'done'; readonly items: readonly ItemOutcome[] } | { readonly kind: 'known' }

/** Where accepted messages go next: in memory, when this process dispatches their channel, else through the table alone. */
export interface Handoff {
  /** True when this process takes the item in memory; its job is then written as claimed until `lease_until`. */
  takes(item: Item): boolean
  readonly process_id: string
  readonly lease_ms: number
  offer(rows: readonly MessageRow[], lease_until_ms: number): void
}

/** A unit on its way through the door. */
export interface Pending {
  readonly unit: Unit
  readonly rows: AcceptRow[]
  /** Outcomes by position in the unit. */
  readonly outcomes: (ItemOutcome | undefined)[]
  readonly resolve: (outcome: UnitOutcome) => void
  readonly reject: (error: unknown) => void
  settled: boolean
}

/** The moment of a batch, and the ages that count from it (ISO 8601). */
export interface Moment {
  readonly at: string
  readonly at_ms: number
  readonly key_cutoff: string
  readonly low_cutoff: string
  readonly lease_until_ms: number
}

/** The moment of a batch committed now. */
export const momentAt = (at_ms: number, lease_ms: number): Moment => {
  return {
    at: isoTime(at_ms),
    at_ms,
    key_cutoff: isoTime(at_ms - limits.idempotency_window_ms),
    low_cutoff: isoTime(at_ms - 24 * 3600_000),
    lease_until_ms: at_ms + lease_ms,
  }
}

/** The row of an item; handed on in memory where this process dispatches its channel, and then written as claimed. */
export function rowOf(ids: IdMaker, entryId: () => string, handoff: Handoff, item: Item, key: UnitKey | undefined, n: number, moment: Moment): AcceptRow {
  const { due_at, expires_at } = timesOf(item, moment.at_ms)
  const inMemory = due_at === moment.at && handoff.takes(item)
  return {
    n,
    id: ids('msg'),
    txn: entryId(),
    account_id: item.account_id,
    mode: item.mode,
    channel_id: item.channel_id,
    channel_type: item.channel_type,
    to: item.to,
    from: item.from,
    type: item.type,
    content: item.content,
    reference: item.reference,
    metadata: item.metadata,
    price: item.price_micros,
    origin_type: item.origin_type,
    origin_id: item.origin_id,
    reply_to: item.reply_to,
    segments: item.segments,
    encoding: item.encoding,
    priority: item.priority,
    rank: ranks[item.priority],
    send_at: item.send_at,
    expires_at,
    queue: `${item.account_id}:${item.channel_id}`,
    due_at: inMemory ? isoTime(moment.lease_until_ms) : due_at,
    process_id: inMemory ? handoff.process_id : null,
    kind: item.kind,
    address: item.address,
    suppression: item.suppression,
    windowed: item.windowed,
    ignores_suppression: item.ignores_suppression,
    operation: key?.operation ?? null,
    key: key?.key ?? null,
    fingerprint: key?.fingerprint ?? null,
  }
}

/** What the key of a unit answers from now on: a message stands for its own 202, a refusal for itself. */
export function replyToStore(unit: Unit, outcomes: readonly ItemOutcome[]): StoredReply {
  if (unit.storedReply !== undefined) return unit.storedReply(outcomes)
  const outcome = outcomes[0]!
  if (outcome.kind === 'accepted') return { status: 202, message_id: outcome.row.id, response: null }
  const problem = new Problem(outcome.code)
  return { status: problem.status, message_id: null, response: { code: outcome.code } }
}

/** The message of an accepted row. */
export function messageOf(
  row: AcceptRow,
  contact_id: string | null,
  billing_source: 'wallet' | 'package',
  amount_micros: number,
  package_grant_id: string | null,
  at: string,
): MessageRow {
  return {
    account_id: row.account_id,
    mode: row.mode as MessageRow['mode'],
    id: row.id,
    channel_id: row.channel_id,
    channel_type: row.channel_type,
    direction: 'outbound',
    to: row.to,
    from: row.from,
    type: row.type,
    content: row.content,
    status: 'queued',
    error: null,
    reference: row.reference,
    metadata: row.metadata as Record<string, unknown>,
    billing_source,
    amount_micros,
    package_grant_id,
    refunded: false,
    contact_id,
    origin_type: row.origin_type as MessageRow['origin_type'],
    origin_id: row.origin_id,
    submission_key: null,
    reply_to: row.reply_to,
    segments: row.segments,
    encoding: row.encoding as MessageRow['encoding'],
    priority: row.priority as MessageRow['priority'],
    send_at: row.send_at,
    expires_at: row.expires_at,
    created_at: at,
    updated_at: at,
    sending_at: null,
    sent_at: null,
    delivered_at: null,
    read_at: null,
    failed_at: null,
  }
}
