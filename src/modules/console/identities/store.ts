/** SQL of identities: with which people sign in at the OIDC provider; and of one that waits in a session to be linked. */
import type { Db } from '../../../platform/database/sql.ts'

export interface IdentityRow {
  readonly id: `idn_${string}`
  readonly user_id: string
  readonly issuer: string
  readonly subject: string
  /** As the provider told it when it was linked. */
  readonly email: string | null
  readonly created_at: string
}

/** False where it is linked already. */
export async function insertIdentity(sql: Db, row: IdentityRow): Promise<boolean> {
  const { count } = await sql`
    insert into identities (id, user_id, issuer, subject, email, created_at)
    values (${row.id}, ${row.user_id}, ${row.issuer}, ${row.subject}, ${row.email}, ${row.created_at}) on conflict (issuer, subject) do nothing`
  return count > 0
}

export async function findIdentity(sql: Db, issuer: string, subject: string): Promise<IdentityRow | null> {
  const [row] = await sql<IdentityRow[]>`
    select id, user_id, issuer, subject, email, created_at from identities where issuer = ${issuer} and subject = ${subject}`
  return row ?? null
}

export async function listIdentities(sql: Db, user_id: string): Promise<IdentityRow[]> {
  return await sql<IdentityRow[]>`
    select id, user_id, issuer, subject, email, created_at from identities where user_id = ${user_id} order by id desc`
}

/** Whether a user can sign in with an identity of this issuer, other than `but`. */
export async function hasIdentity(sql: Db, user_id: string, issuer: string, but = ''): Promise<boolean> {
  const [row] =
    await sql`select from identities where user_id = ${user_id} and issuer = ${issuer} and id <> ${but} limit 1`
  return row !== undefined
}

/** False where the user has none of this id. */
export async function deleteIdentity(sql: Db, user_id: string, id: string): Promise<boolean> {
  return (await sql`delete from identities where user_id = ${user_id} and id = ${id}`).count > 0
}

/** Somebody at a provider. */
export interface PendingIdentity {
  readonly issuer: string
  readonly subject: string
  readonly email: string | null
}

/** Has an identity wait in a session, in the place of an earlier one; null: none. */
export async function keepPending(
  sql: Db,
  session_id: string,
  pending: PendingIdentity | null,
  until: string | null,
): Promise<void> {
  await sql`
    update sessions set pending_identity = ${pending === null ? null : JSON.stringify(pending)}::text::json, pending_until = ${until} where id = ${session_id}`
}

/** What waits in a session, locked until the transaction ends. */
export async function lockPending(
  tx: Db,
  session_id: string,
  at: string,
): Promise<(PendingIdentity & { readonly until: string }) | null> {
  const [row] = await tx<{ pending_identity: PendingIdentity; pending_until: string }[]>`
    select pending_identity, pending_until from sessions where id = ${session_id} and pending_until > ${at} for update`
  return row === undefined ? null : { ...row.pending_identity, until: row.pending_until }
}
