/** SQL of messages as they are read. What the door and the lanes write stands beside them. */
import type { Tenant } from '../../contract/caller.ts'
import type { MessageRow } from './rows.ts'
import type { Db } from '../../platform/database/sql.ts'

export async function findMessage(sql: Db, { account_id, mode }: Tenant, id: string): Promise<MessageRow | null> {
  const [message] = await sql<MessageRow[]>`select * from messages where account_id = ${account_id} and mode = ${mode} and id = ${id}`
  return message ?? null
}

export async function findMessages(sql: Db, { account_id, mode }: Tenant, ids: readonly string[]): Promise<MessageRow[]> {
  if (ids.length === 0) return []
  return await sql<MessageRow[]>`select * from messages where account_id = ${account_id} and mode = ${mode} and id = any(${[...ids]}::text[])`
}

export interface Recipient extends Tenant {
  readonly channel_id: string
  readonly channel_type: string
  readonly kind: string
  readonly address: string
  readonly suppression: string
}

/** Whether a recipient is blocked or has opted out, and whether it has written to the channel in the last 24 hours. */
export async function findStanding(sql: Db, recipient: Recipient, at: string): Promise<{ blocked: boolean; window_open: boolean }> {
  const { account_id, mode, channel_id, channel_type, kind, address, suppression } = recipient
  const [standing] = await sql<{ blocked: boolean; window_open: boolean }[]>`
    select
      exists (select from suppressions where account_id = ${account_id} and mode = ${mode} and channel_type = ${channel_type} and address_hash = ${suppression})
        or exists (select from contact_addresses where account_id = ${account_id} and mode = ${mode} and kind = ${kind} and address = ${address} and blocked) as blocked,
      exists (select from service_windows where account_id = ${account_id} and mode = ${mode} and address = ${address} and channel_id = ${channel_id} and expires_at >= ${at}) as window_open`
  return standing!
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

export interface EventOfMessage {
  id: string
  type: string
  created_at: string
}

/** The public events of a message that are still kept, oldest first. */
export async function eventsOfMessage(sql: Db, { account_id, mode }: Tenant, message_id: string): Promise<EventOfMessage[]> {
  return await sql<EventOfMessage[]>`
    select id, type, created_at from events
    where account_id = ${account_id} and mode = ${mode} and object_id = ${message_id}
    order by position, id limit 100`
}
