/** SQL of messages as they are read. What accepting and the workers write stands in their folders. */
import type { Tenant } from '../../api/caller.ts'
import type { OriginType } from '../../api/resources/message.ts'
import type { MessageRow } from './message.ts'
import type { Db } from '../../platform/database/sql.ts'

export async function findMessage(sql: Db, { account_id, mode }: Tenant, id: string): Promise<MessageRow | null> {
  const [message] = await sql<
    MessageRow[]
  >`select * from messages where account_id = ${account_id} and mode = ${mode} and id = ${id}`
  return message ?? null
}

export async function findMessages(
  sql: Db,
  { account_id, mode }: Tenant,
  ids: readonly string[],
): Promise<MessageRow[]> {
  if (ids.length === 0) return []
  return await sql<
    MessageRow[]
  >`select * from messages where account_id = ${account_id} and mode = ${mode} and id = any(${[...ids]}::text[])`
}

/** What messages of an origin were charged. */
export interface Charged {
  readonly origin_id: string | null
  readonly wallet_micros: number
  readonly package_credits: number
}

/** What these messages were charged when they were accepted, for each of their origins; what was given back since is not taken off. */
export async function sumCharged(sql: Db, { account_id, mode }: Tenant, ids: readonly string[]): Promise<Charged[]> {
  if (ids.length === 0) return []
  return await sql<Charged[]>`
    select origin_id, coalesce(sum(amount_micros) filter (where billing_source = 'wallet'), 0)::bigint as wallet_micros, count(*) filter (where billing_source = 'package')::int as package_credits
    from messages where account_id = ${account_id} and mode = ${mode} and id = any(${[...ids]}::text[]) group by origin_id`
}

export interface AttemptRow {
  id: string
  number: number
  provider: string
  outcome: string
  provider_code: string | null
  provider_message: string | null
  duration_ms: number
  created_at: string
}

export async function listAttempts(sql: Db, { account_id, mode }: Tenant, message_id: string): Promise<AttemptRow[]> {
  return await sql<AttemptRow[]>`
    select id, number, provider, outcome, provider_code, provider_message, duration_ms, created_at from message_attempts
    where account_id = ${account_id} and mode = ${mode} and message_id = ${message_id}
    order by number desc limit 1000`
}

/** Every message that somebody submitted for rows of its own, as a select of account_id, mode, id, origin_id, submission_key and status, for the invariants of whoever did. */
export const messagesOfOrigin = (sql: Db, type: OriginType) => sql`
  select account_id, mode, id, origin_id, submission_key, status from messages where direction = 'outbound' and origin_type = ${type}`
