/** The locking path of the accepting door: what the optimistic statement did not cover, under row locks and in order, in one transaction. */
import type { ErrorCode } from '../../../contract/errors.ts'
import { jsonRows, type Db } from '../../../platform/database/sql.ts'
import type { BillingService, Charge } from '../../billing/service.ts'
import { usageOfCharge } from '../../billing/service.ts'
import { acceptedTransitions } from '../transitions/follower-store.ts'
import type { Followers } from '../transitions/followers.ts'
import { inputOf, type AcceptRow } from './optimistic-store.ts'

/** An idempotency key as a unit of the door carries it. */
export interface UnitKey {
  readonly account_id: string
  readonly mode: string
  readonly operation: string
  readonly key: string
  readonly fingerprint: string
}

/** Takes these keys for this transaction; returns those that were free. A twin in another process is waited for. */
export async function takeKeys(sql: Db, keys: readonly UnitKey[], at: string, cutoff: string): Promise<Set<string>> {
  if (keys.length === 0) return new Set()
  const taken = await sql<UnitKey[]>`
    insert into idempotency_keys (account_id, mode, operation, key, fingerprint, created_at)
    select account_id, mode, operation, key, fingerprint, ${at} from (
      select * from json_to_recordset(${jsonRows(keys)}::text::json) as t(account_id text, mode text, operation text, key text, fingerprint text) order by account_id, mode, operation, key
    ) k
    on conflict on constraint idempotency_keys_pkey do update
      set fingerprint = excluded.fingerprint, status = null, message_id = null, response = null, encrypted_response = null, lease_until = null, created_at = excluded.created_at
      where idempotency_keys.created_at <= ${cutoff}
    returning account_id, mode, operation, key, fingerprint`
  return new Set(taken.map(keyText))
}

export const keyText = (key: Omit<UnitKey, 'fingerprint'>): string => `${key.account_id}|${key.mode}|${key.operation}|${key.key}`

export interface StoredReply {
  readonly status: number
  readonly message_id: string | null
  readonly response: unknown
}

/** Writes what a taken key answers from now on. */
export async function storeReplies(sql: Db, replies: readonly (UnitKey & StoredReply)[]): Promise<void> {
  if (replies.length === 0) return
  await sql`
    update idempotency_keys k set status = t.status, message_id = t.message_id, response = t.response
    from json_to_recordset(${jsonRows(replies)}::text::json) as t(account_id text, mode text, operation text, key text, status int, message_id text, response json)
    where k.account_id = t.account_id and k.mode = t.mode and k.operation = t.operation and k.key = t.key`
}

interface Standing {
  n: number
  verdict: 'recipient_blocked' | 'policy_violation' | null
  contact_id: string | null
}

async function standings(sql: Db, rows: readonly AcceptRow[], at: string): Promise<Standing[]> {
  return await sql<Standing[]>`
    select i.n, a.contact_id,
      case
        when not i.ignores_suppression and (s.address_hash is not null or a.blocked) then 'recipient_blocked'
        when i.windowed and w.address is null then 'policy_violation'
      end as verdict
    from (${inputOf(sql, rows)}) i
    left join contact_addresses a on a.account_id = i.account_id and a.mode = i.mode and a.kind = i.kind and a.address = i.address
    left join suppressions s on s.account_id = i.account_id and s.mode = i.mode and s.channel_type = i.channel_type and s.address_hash = i.suppression
    left join service_windows w on i.windowed and w.account_id = i.account_id and w.mode = i.mode and w.address = i.address and w.channel_id = i.channel_id and w.expires_at >= ${at}`
}

export type LockedOutcome =
  | { readonly kind: 'accepted'; readonly contact_id: string | null; readonly charge: Extract<Charge, { outcome: 'charged' }> }
  | { readonly kind: 'refused'; readonly code: ErrorCode }

/** Checks, charges and stores these rows in the transaction `tx`; one outcome a row, in order. */
export async function acceptLocked(tx: Db, billing: BillingService, followers: Followers, rows: readonly AcceptRow[], at: string): Promise<LockedOutcome[]> {
  if (rows.length === 0) return []
  const standing = new Map((await standings(tx, rows, at)).map((entry) => [entry.n, entry]))
  const clear = rows.filter((row) => standing.get(row.n)?.verdict === null)
  const charges = await billing.chargeInOrder(
    tx,
    clear.map((row) => ({
      message_id: row.id,
      account_id: row.account_id,
      mode: row.mode as 'live' | 'test',
      channel_type: row.channel_type,
      channel_id: row.channel_id,
      price_micros: row.price,
      created_at: at,
    })),
  )
  const charged = new Map(clear.map((row, index) => [row.n, charges[index]!]))
  const outcomes = rows.map((row): LockedOutcome => {
    const { verdict, contact_id } = standing.get(row.n)!
    if (verdict !== null) return { kind: 'refused', code: verdict }
    const charge = charged.get(row.n)!
    return charge.outcome === 'charged' ? { kind: 'accepted', contact_id, charge } : { kind: 'refused', code: 'insufficient_balance' }
  })
  await insertAccepted(tx, followers, rows, outcomes, at)
  await billing.addUsage(
    tx,
    rows.flatMap((row, index) => {
      const outcome = outcomes[index]!
      return outcome.kind === 'accepted' ? [usageOfCharge({ ...row, mode: row.mode as 'live' | 'test', created_at: at }, outcome.charge)] : []
    }),
  )
  return outcomes
}

async function insertAccepted(tx: Db, followers: Followers, rows: readonly AcceptRow[], outcomes: readonly LockedOutcome[], at: string): Promise<void> {
  const accepted = rows.flatMap((row, index) => {
    const outcome = outcomes[index]!
    if (outcome.kind !== 'accepted') return []
    return [
      {
        ...row,
        contact_id: outcome.contact_id,
        billing_source: outcome.charge.source,
        amount_micros: outcome.charge.amount_micros,
        package_grant_id: outcome.charge.package_grant_id,
      },
    ]
  })
  if (accepted.length > 0) await insertMessages(tx, followers, accepted, at)
}

/** Writes messages and their jobs. */
export async function insertMessages(
  tx: Db,
  followers: Followers,
  rows: readonly (AcceptRow & { contact_id: string | null; billing_source: string; amount_micros: number; package_grant_id: string | null })[],
  at: string,
): Promise<void> {
  const followed = followers.follow(rows)
    ? tx`,
    transition as (${acceptedTransitions(tx, followers, tx`select account_id, mode, id, origin_type, origin_id from i`, at)})`
    : tx``
  await tx`
    with i as materialized (
      select * from json_to_recordset(${jsonRows(rows)}::text::json) as t(n int, id text, account_id text, mode text, channel_id text, channel_type text, "to" text, "from" text, type text,
        content json, reference text, metadata json, origin_type text, origin_id text, reply_to text, segments smallint, encoding text, priority text, rank smallint, send_at timestamptz,
        expires_at timestamptz, queue text, due_at timestamptz, process_id text, contact_id text, billing_source text, amount_micros bigint, package_grant_id text)
    ),
    job as (
      insert into dispatch_jobs (account_id, mode, message_id, channel_id, queue, priority, due_at, process_id)
      select account_id, mode, id, channel_id, queue, rank, due_at, process_id from i order by n
    )${followed}
    insert into messages (account_id, mode, id, channel_id, channel_type, direction, "to", "from", type, content, status, reference, metadata, billing_source, amount_micros,
      package_grant_id, contact_id, origin_type, origin_id, reply_to, segments, encoding, priority, send_at, expires_at, created_at, updated_at)
    select account_id, mode, id, channel_id, channel_type, 'outbound', "to", "from", type, content, 'queued', reference, metadata, billing_source, amount_micros,
      package_grant_id, contact_id, origin_type, origin_id, reply_to, segments, encoding, priority, send_at, expires_at, ${at}, ${at}
    from i order by n`
}
