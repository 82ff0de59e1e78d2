/** A checked message, its row in a batch, and the message it becomes. */
import type { Tracing } from '../../../platform/observability/tracing.ts'
import { isoTime } from '../../../lib/clock.ts'
import type { IdMaker } from '../../../lib/ids.ts'
import { type Priority, ranks } from '../../../api/resources/message.ts'
import type { MessageRow } from '../message.ts'
import type { Tenant } from '../../../api/caller.ts'

export interface AcceptRow {
  readonly n: number
  readonly id: string
  readonly txn: string
  readonly account_id: string
  readonly mode: 'live' | 'test'
  readonly channel_id: string
  readonly channel_type: string
  readonly to: string
  readonly from: string
  readonly type: string
  readonly content: unknown
  readonly reference: string | null
  readonly metadata: Record<string, unknown>
  readonly price: number
  readonly origin_type: MessageRow['origin_type']
  readonly origin_id: string | null
  readonly submission_key: string | null
  readonly reply_to: string | null
  readonly segments: number | null
  readonly encoding: 'gsm7' | 'ucs2' | null
  readonly priority: MessageRow['priority']
  readonly rank: number
  readonly send_at: string | null
  readonly expires_at: string | null
  readonly queue: string
  readonly next_run_at: string
  /** Set if this process queues the message in memory: its job is written as claimed. */
  readonly process_id: string | null
  readonly kind: string
  readonly address: string
  readonly suppression: string
  readonly windowed: boolean
  readonly producer_values: Readonly<Record<string, string>>
  poisoned: boolean
}

export interface MemoryQueue {
  accepts(message: CheckedMessage): boolean
  readonly process_id: string
  readonly lease_ms: number
  offer(rows: readonly MessageRow[], lease_until_ms: number): void
}

/** Times of a batch. */
export interface Moment {
  readonly at: string
  readonly at_ms: number
  /** Decides which Idempotency-Keys have expired; `at_ms` unless the clock has jumped. */
  readonly aged_ms: number
  /** balance.low is repeated only after this time. */
  readonly low_cutoff: string
  readonly lease_until_ms: number
}

export const momentAt = (at_ms: number, lease_ms: number, aged_ms = at_ms): Moment => ({
  at: isoTime(at_ms),
  at_ms,
  aged_ms,
  low_cutoff: isoTime(at_ms - 24 * 3600_000),
  lease_until_ms: at_ms + lease_ms,
})

export interface RowMaker {
  readonly ids: IdMaker
  readonly entryId: () => string
  readonly memoryQueue: MemoryQueue
  readonly tracing: Pick<Tracing, 'remember'>
}

export interface RowSource {
  readonly message: CheckedMessage
  readonly origin: { readonly type: MessageRow['origin_type']; readonly id: string | null }
  readonly submission_key: string | undefined
  readonly producer_values: Readonly<Record<string, string>> | undefined
}

const nothing = {}

export function rowOf(
  { ids, entryId, memoryQueue }: Omit<RowMaker, 'tracing'>,
  { message, origin, submission_key, producer_values }: RowSource,
  n: number,
  moment: Moment,
): AcceptRow {
  const due_ms = message.send_at === null ? moment.at_ms : Math.max(moment.at_ms, Date.parse(message.send_at))
  const inMemory = due_ms === moment.at_ms && memoryQueue.accepts(message)
  return {
    n,
    id: ids('msg'),
    txn: entryId(),
    account_id: message.account_id,
    mode: message.mode,
    channel_id: message.channel_id,
    channel_type: message.channel_type,
    to: message.to,
    from: message.from,
    type: message.type,
    content: message.content,
    reference: message.reference,
    metadata: message.metadata,
    price: message.price_micros,
    origin_type: origin.type,
    origin_id: origin.id,
    submission_key: submission_key ?? null,
    reply_to: message.reply_to,
    segments: message.segments,
    encoding: message.encoding,
    priority: message.priority,
    rank: ranks[message.priority],
    send_at: message.send_at,
    expires_at: message.expires_in_seconds === null ? null : isoTime(due_ms + message.expires_in_seconds * 1000),
    queue: `${message.account_id}:${message.channel_id}`,
    next_run_at: isoTime(inMemory ? moment.lease_until_ms : due_ms),
    process_id: inMemory ? memoryQueue.process_id : null,
    kind: message.kind,
    address: message.address,
    suppression: message.suppression,
    windowed: message.windowed,
    producer_values: producer_values ?? nothing,
    poisoned: false,
  }
}

export interface Paid {
  readonly contact_id: string | null
  readonly billing_source: 'wallet' | 'package'
  readonly amount_micros: number
  readonly package_grant_id: string | null
}

export function messageOf(row: AcceptRow, paid: Paid, at: string): MessageRow {
  return {
    account_id: row.account_id,
    mode: row.mode,
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
    metadata: row.metadata,
    billing_source: paid.billing_source,
    amount_micros: paid.amount_micros,
    package_grant_id: paid.package_grant_id,
    refunded: false,
    contact_id: paid.contact_id,
    origin_type: row.origin_type,
    origin_id: row.origin_id,
    submission_key: row.submission_key,
    reply_to: row.reply_to,
    segments: row.segments,
    encoding: row.encoding,
    priority: row.priority,
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

/** Id and times are set at the commit. */
export interface CheckedMessage {
  account_id: Tenant['account_id']
  mode: Tenant['mode']
  channel_id: string
  channel_type: string
  to: string
  from: string
  type: string
  content: unknown
  reference: string | null
  metadata: Record<string, unknown>
  reply_to: string | null
  segments: number | null
  encoding: 'gsm7' | 'ucs2' | null
  priority: Priority
  send_at: string | null
  expires_in_seconds: number | null
  price_micros: number
  /** Key of the recipient in `contact_addresses`. */
  kind: string
  address: string
  suppression: string
  /** Allowed only inside the customer service window: free-form on live WhatsApp. */
  windowed: boolean
  /** Costs nothing; any process may send it. */
  sandbox: boolean
}
