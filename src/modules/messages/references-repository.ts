/** SQL of `provider_references`, the provider's ids of messages. */
import type { Tenant } from '../../api/caller.ts'
import { jsonRows, type Db, type Fragment } from '../../platform/database/sql.ts'

export interface Reference extends Tenant {
  readonly channel_id: string
  readonly provider_id: string
  readonly message_id: string
  /** From 0. */
  readonly part: number
  readonly parts: number
}

export interface NewReference extends Reference {
  readonly created_at: string
}

/** SMS receipts arrive within a message's validity, three days at most with nearly all operators. */
const reusedAfter = '4 days'

/** Reads `changed` of the statement. An existing reference is an error (23505). */
export const referencesOfAccepted = (sql: Db): Fragment => sql`
  insert into provider_references (channel_id, provider_id, account_id, mode, message_id, part, parts, created_at)
  select channel_id, provider_id, account_id, mode, id, 0, 1, at from changed`

/**
 * Reassigns a reference if its message is final or so old that the provider has restarted its ids (behaviour: messages
 * 7.3).
 */
export async function insertAnswered(tx: Db, references: readonly NewReference[]): Promise<void> {
  if (references.length === 0) return
  await tx`
    ${inserted(tx, references)}
    on conflict (channel_id, provider_id) do update set account_id = excluded.account_id, mode = excluded.mode,
      message_id = excluded.message_id, part = excluded.part,
      parts = excluded.parts, status = null, created_at = excluded.created_at
    where provider_references.message_id <> excluded.message_id
      and (provider_references.created_at < excluded.created_at - ${reusedAfter}::interval
      or exists (select from messages m where m.account_id = provider_references.account_id and m.mode = provider_references.mode
          and m.id = provider_references.message_id
          and m.status in ('delivered', 'read', 'failed')))`
}

/** Never replaces references. Resolves to the keys of the new ones. */
export async function saveReferences(tx: Db, references: readonly NewReference[]): Promise<Set<string>> {
  if (references.length === 0) return new Set()
  const fresh = await tx<Pick<Reference, 'channel_id' | 'provider_id'>[]>`
    ${inserted(tx, references)}
    on conflict (channel_id, provider_id) do nothing
    returning channel_id, provider_id`
  return new Set(fresh.map(referenceKey))
}

export const referenceKey = ({
  channel_id,
  provider_id,
}: {
  readonly channel_id: string
  readonly provider_id: string | null
}): string => `${channel_id} ${provider_id}`

const inserted = (tx: Db, references: readonly NewReference[]): Fragment => tx`
  insert into provider_references (channel_id, provider_id, account_id, mode, message_id, part, parts, created_at)
  select distinct on (channel_id, provider_id) channel_id, provider_id, account_id, mode, message_id, part,
    parts, created_at
  from json_to_recordset(${jsonRows(references.map(rowOf))}::text::json)
    as t(
      channel_id text, provider_id text, account_id text, mode text, message_id text, part smallint,
      parts smallint, created_at timestamptz
    )
  order by channel_id, provider_id, message_id, part`

const rowOf = ({
  channel_id,
  provider_id,
  account_id,
  mode,
  message_id,
  part,
  parts,
  created_at,
}: NewReference): NewReference => ({
  channel_id,
  provider_id,
  account_id,
  mode,
  message_id,
  part,
  parts,
  created_at,
})

/** Unknown ones are missing. */
export async function findReferences(
  tx: Db,
  names: readonly { readonly channel_id: string; readonly provider_id: string | null }[],
): Promise<Reference[]> {
  if (names.length === 0) return []
  const wanted = names.map(({ channel_id, provider_id }) => ({ channel_id, provider_id }))
  return await tx<Reference[]>`
    select r.channel_id, r.provider_id, r.account_id, r.mode, r.message_id, r.part, r.parts
    from json_to_recordset(${jsonRows(wanted)}::text::json) as t(channel_id text, provider_id text)
    join provider_references r on r.channel_id = t.channel_id and r.provider_id = t.provider_id`
}

export async function findMessageId(
  tx: Db,
  { account_id, mode }: Tenant,
  channel_id: string,
  provider_id: string,
): Promise<string | null> {
  const [row] = await tx<{ message_id: string }[]>`
    select message_id
    from provider_references
    where account_id = ${account_id}
      and mode = ${mode}
      and channel_id = ${channel_id}
      and provider_id = ${provider_id}`
  return row?.message_id ?? null
}

export async function findProviderId(
  sql: Db,
  { account_id, mode }: Tenant,
  channel_id: string,
  message_id: string,
): Promise<string | null> {
  const [row] = await sql<{ provider_id: string }[]>`
    select provider_id
    from provider_references
    where account_id = ${account_id}
      and mode = ${mode}
      and channel_id = ${channel_id}
      and message_id = ${message_id}
      and part = 0
    union all
    select provider_id
    from inbound_references
    where account_id = ${account_id}
      and channel_id = ${channel_id}
      and message_id = ${message_id}
    limit 1`
  return row?.provider_id ?? null
}
