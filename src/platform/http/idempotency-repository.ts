/** SQL of `idempotency_keys`. */
import type { Tenant } from '../../api/caller.ts'
import { errorCatalogue } from '../../api/errors.ts'
import { limits } from '../../api/limits.ts'
import { isoTime } from '../../lib/clock.ts'
import type { Db } from '../database/sql.ts'

export interface KeyedRequest extends Tenant {
  /** Method and path with its ids, and the user of console requests. */
  readonly operation: string
  readonly key: string
  readonly fingerprint: string
}

export interface KeyRow {
  readonly fingerprint: string
  readonly status: number | null
  readonly response: unknown
  readonly encrypted_response: string | null
  readonly message_id: string | null
  readonly lease_until: string | null
  readonly created_at: string
}

/** False if the key is taken; expired keys and ended leases are taken over. */
export async function claimKey(
  sql: Db,
  request: KeyedRequest,
  lease_until: string | null,
  now: number,
  aged_ms: number,
): Promise<boolean> {
  const { account_id, mode, operation, key, fingerprint } = request
  const at = isoTime(now)
  const rows = await sql`
    insert into idempotency_keys as k (account_id, mode, operation, key, fingerprint, lease_until, created_at)
    values (${account_id}, ${mode}, ${operation}, ${key}, ${fingerprint}, ${lease_until}, ${at})
    on conflict on constraint idempotency_keys_pkey do update
      set fingerprint = excluded.fingerprint, status = null, response = null, encrypted_response = null,
        message_id = null, lease_until = excluded.lease_until, created_at = excluded.created_at
      where k.created_at <= ${isoTime(aged_ms - limits.idempotency_window_ms)}
        or (k.status is null and k.lease_until <= ${at} and k.fingerprint = excluded.fingerprint)
    returning 1 as taken`
  return rows.length === 1
}

export async function findKey(sql: Db, request: KeyedRequest): Promise<KeyRow | null> {
  const [row] = await sql<KeyRow[]>`
    select fingerprint, status, response, encrypted_response, message_id, lease_until, created_at
    from idempotency_keys
    where account_id = ${request.account_id} and mode = ${request.mode}
      and operation = ${request.operation} and key = ${request.key}`
  return row ?? null
}

/** False if the key is taken. */
export async function insertReply(
  sql: Db,
  request: KeyedRequest,
  reply: { status: number; response: object },
  now: number,
  aged_ms: number,
): Promise<boolean> {
  const { account_id, mode, operation, key, fingerprint } = request
  const rows = await sql`
    insert into idempotency_keys (account_id, mode, operation, key, fingerprint, status, response, created_at)
    values (${account_id}, ${mode}, ${operation}, ${key}, ${fingerprint}, ${reply.status},
      ${JSON.stringify(reply.response)}::text::json, ${isoTime(now)})
    on conflict on constraint idempotency_keys_pkey do update ${replacing(sql, aged_ms)}
    returning 1 as stored`
  return rows.length === 1
}

const replacing = (sql: Db, aged_ms: number) => sql`
      set fingerprint = excluded.fingerprint, status = excluded.status, message_id = excluded.message_id,
        response = excluded.response, encrypted_response = null, lease_until = null, created_at = excluded.created_at
      where idempotency_keys.created_at <= ${isoTime(aged_ms - limits.idempotency_window_ms)}`

/** `claimed_at` distinguishes it from a later claim of the key. */
export interface Claim {
  readonly request: KeyedRequest
  readonly claimed_at: string
}

/** False if another request has claimed the key. */
export async function storeReply(
  sql: Db,
  { request, claimed_at }: Claim,
  reply: { fingerprint: string; status: number; response: string | null; encrypted_response: string | null },
): Promise<boolean> {
  const result = await sql`
    update idempotency_keys
    set fingerprint = ${reply.fingerprint}, status = ${reply.status}, response = ${reply.response}::text::json,
      encrypted_response = ${reply.encrypted_response}, lease_until = null
    where account_id = ${request.account_id} and mode = ${request.mode}
      and operation = ${request.operation} and key = ${request.key}
      and created_at = ${claimed_at}`
  return result.count > 0
}

export async function extendLease(sql: Db, { request, claimed_at }: Claim, lease_until: string): Promise<void> {
  await sql`
    update idempotency_keys set lease_until = ${lease_until}
    where account_id = ${request.account_id} and mode = ${request.mode}
      and operation = ${request.operation} and key = ${request.key}
      and created_at = ${claimed_at} and status is null`
}

export async function releaseKey(sql: Db, { request, claimed_at }: Claim): Promise<void> {
  await sql`
    delete from idempotency_keys
    where account_id = ${request.account_id} and mode = ${request.mode}
      and operation = ${request.operation} and key = ${request.key}
      and created_at = ${claimed_at} and status is null`
}

export async function expireKeys(sql: Db, now: number, limit: number): Promise<number> {
  const rows = await sql`
    delete from idempotency_keys
    where ctid = any(array(
      select ctid
      from idempotency_keys
      where created_at <= ${isoTime(now - limits.idempotency_window_ms)}
      limit ${limit}
    ))`
  return rows.count
}

export const keyColumns = ['operation', 'idempotency_key', 'fingerprint'] as const

/** Yields a row if the row `i` (account_id, mode, `keyColumns`) has no key, or one that expired at `aged_ms`. */
export const unusedKey = (sql: Db, aged_ms: number) => sql`
  select from (values (true)) as one
  where i.idempotency_key is null or not exists (
    select from idempotency_keys
    where account_id = i.account_id and mode = i.mode and operation = i.operation and key = i.idempotency_key
      and created_at > ${isoTime(aged_ms - limits.idempotency_window_ms)}
  )`

/** A 400 leaves its key free (behaviour: idempotency 3.2). */
const hasStoredKey = (sql: Db) =>
  sql`idempotency_key is not null and (value is not null or code is distinct from 'parameter_invalid')`

const statuses = JSON.stringify(
  Object.fromEntries(Object.entries(errorCatalogue).map(([code, { status }]) => [code, status])),
)

/**
 * Replays a message as its 202, a `code` as that error, a `value` {status, response} unchanged. The first of rows with
 * the same key counts.
 */
export const insertKeys = (sql: Db, now: number, aged_ms: number) => sql`
  insert into idempotency_keys (account_id, mode, operation, key, fingerprint, status, message_id, response, created_at)
  select distinct on (account_id, mode, operation, idempotency_key)
    account_id, mode, operation, idempotency_key, fingerprint,
    case
      when value is not null then (value ->> 'status')::int
      when message_id is not null then 202
      else (${statuses}::text::json ->> code)::int
    end,
    case when value is null then message_id end,
    case
      when value is not null then value -> 'response'
      when message_id is null then json_build_object('code', code)
    end,
    ${isoTime(now)}
  from submitted
  where ${hasStoredKey(sql)}
  order by account_id, mode, operation, idempotency_key, n
  on conflict on constraint idempotency_keys_pkey do update ${replacing(sql, aged_ms)}
  returning 1`

/** `completed`: the result of `insertKeys`. */
export const allKeysWereFree = (sql: Db) => sql`
  (select count(*) from completed) = (
    select count(distinct (account_id, mode, operation, idempotency_key))
    from submitted
    where ${hasStoredKey(sql)}
  )`
