/** SQL of sessions, failed sign-ins and linked identities. */
import type { Db } from '../../../platform/database/sql.ts'
import type { UserRow } from '../people/repository.ts'

export interface SessionRow {
  readonly id: `ses_${string}`
  readonly user_id: `usr_${string}`
  readonly token_hash: string
  readonly authenticated_at: string
  readonly seen_at: string
  readonly address: string
  readonly user_agent: string
  readonly created_at: string
}

export interface OpenSession extends SessionRow {
  readonly email: string
  readonly pending_email: string | null
  readonly name: string
  readonly admin: boolean
  readonly has_password: boolean
  readonly two_factor: boolean
  readonly impersonated_account_id: `acc_${string}` | null
  readonly impersonated_user_id: `usr_${string}` | null
  readonly impersonation_reason: string | null
  readonly impersonation_until: string | null
}

export interface Impersonation {
  readonly account_id: `acc_${string}`
  /** null for an account without an owner. */
  readonly user_id: `usr_${string}` | null
  readonly reason: string
  readonly expires_at: string
}

/** False if the password or second factor has changed since `proved` was read. */
export async function insertSession(
  sql: Db,
  row: SessionRow,
  proved: Pick<UserRow, 'password_hash' | 'two_factor'>,
): Promise<boolean> {
  const rows = await sql`
    insert into sessions (id, user_id, token_hash, authenticated_at, seen_at, address, user_agent, created_at)
    select ${row.id}, id, ${row.token_hash}, ${row.authenticated_at}::timestamptz,
      ${row.seen_at}::timestamptz, ${row.address}, ${row.user_agent}, ${row.created_at}::timestamptz
    from users
    where id = ${row.user_id}
      and password_hash is not distinct from ${proved.password_hash}
      and (second_factor_at is not null) = ${proved.two_factor}
    for share returning id`
  return rows.length > 0
}

export async function sessionExists(sql: Db, user_id: string, id: string): Promise<boolean> {
  return (await sql`select from sessions where user_id = ${user_id} and id = ${id}`).length > 0
}

/** Unless idle since the first time or created before the second. */
export async function findSession(
  sql: Db,
  token_hash: string,
  seen_after: string,
  created_after: string,
): Promise<OpenSession | null> {
  const [row] = await sql<OpenSession[]>`
    select s.id, s.user_id, s.token_hash, s.authenticated_at, s.seen_at, s.address, s.user_agent,
      s.created_at, u.email, u.pending_email, u.name, u.admin, u.password_hash is not null as has_password,
      u.second_factor_at is not null as two_factor, s.impersonated_account_id, s.impersonated_user_id,
      s.impersonation_reason, s.impersonation_until
    from sessions s join users u on u.id = s.user_id
    where s.token_hash = ${token_hash} and s.seen_at > ${seen_after} and s.created_at > ${created_after}`
  return row ?? null
}

/** By cookie hash: accounts of the user, or the impersonated one. */
export async function listEntrances(
  sql: Db,
  hashes: readonly string[],
  seen_after: string,
  created_after: string,
  at: string,
): Promise<{ token_hash: string; account_id: string; role: string }[]> {
  return await sql<{ token_hash: string; account_id: string; role: string }[]>`
    with open as (
      select s.token_hash, s.user_id,
        case when u.admin and s.impersonation_until > ${at} then s.impersonated_account_id end as acts_for
      from sessions s join users u on u.id = s.user_id
      where s.token_hash = any(${[...hashes]}::text[])
        and s.seen_at > ${seen_after}
        and s.created_at > ${created_after}
    )
    select o.token_hash, m.account_id, m.role
    from open o
    join memberships m on m.user_id = o.user_id
    where o.acts_for is null
    union all
    select o.token_hash, o.acts_for, 'owner' from open o where o.acts_for is not null`
}

export async function touchSession(sql: Db, id: string, at: string): Promise<void> {
  await sql`update sessions set seen_at = ${at} where id = ${id} and seen_at < ${at}`
}

export async function renewSession(sql: Db, id: string, at: string): Promise<void> {
  await sql`update sessions set authenticated_at = ${at} where id = ${id}`
}

export async function listSessions(
  sql: Db,
  user_id: string,
  seen_after: string,
  created_after: string,
): Promise<SessionRow[]> {
  return await sql<SessionRow[]>`
    select id, user_id, token_hash, authenticated_at, seen_at, address, user_agent, created_at from sessions
    where user_id = ${user_id} and seen_at > ${seen_after} and created_at > ${created_after}
    order by id desc
    limit 100`
}

export async function deleteSession(sql: Db, user_id: string, id: string): Promise<boolean> {
  return (await sql`delete from sessions where user_id = ${user_id} and id = ${id}`).count > 0
}

export async function deleteOtherSessions(sql: Db, user_id: string, kept_id: string): Promise<number> {
  return (await sql`delete from sessions where user_id = ${user_id} and id <> ${kept_id}`).count
}

export async function updateImpersonation(sql: Db, id: string, impersonation: Impersonation | null): Promise<void> {
  await sql`
    update sessions
    set impersonated_account_id = ${impersonation?.account_id ?? null},
      impersonated_user_id = ${impersonation?.user_id ?? null}, impersonation_reason = ${impersonation?.reason ?? null},
      impersonation_until = ${impersonation?.expires_at ?? null}
    where id = ${id}`
}

export async function deleteAllSessions(sql: Db, user_id: string): Promise<void> {
  await sql`delete from sessions where user_id = ${user_id}`
}

export async function forgetSessions(
  sql: Db,
  seen_before: string,
  created_before: string,
  failed_before: string,
): Promise<number> {
  const { count } = await sql`
    delete from sessions where seen_at <= ${seen_before} or created_at <= ${created_before}`
  const { count: failures } = await sql`delete from sign_in_failures where at <= ${failed_before}`
  return count + failures
}

/** null: not locked. */
export async function lockedUntil(sql: Db, email_hash: string, origins: readonly string[]): Promise<string | null> {
  const [row] = await sql<{ locked_until: string | null }[]>`
    select max(locked_until) as locked_until
    from sign_in_failures
    where email_hash = ${email_hash} and origin = any (${origins as string[]})`
  return row!.locked_until
}

export interface Failure {
  readonly email_hash: string
  readonly origin: string
  readonly at: string
  readonly failures_max: number
  /** Older failures do not count. */
  readonly since: string
  readonly locked_until: string
}

/** The failure that reaches the limit locks, and resets the count. */
export async function countFailure(sql: Db, given: Failure): Promise<void> {
  const { email_hash, origin, at, failures_max, since, locked_until } = given
  const counted = sql`array(select t from unnest(f.failed_at) as t where t > ${since}::timestamptz) || ${at}::timestamptz`
  await sql`
    insert into sign_in_failures as f (email_hash, origin, failed_at, locked_until, at)
    values (${email_hash}, ${origin}, array[${at}::timestamptz], null, ${at})
    on conflict (email_hash, origin) do update set
      failed_at = case when cardinality(${counted}) >= ${failures_max} then '{}' else ${counted} end,
      locked_until = case
        when cardinality(${counted}) >= ${failures_max} then ${locked_until}::timestamptz
        else f.locked_until
      end,
      at = excluded.at`
}

export async function clearFailures(sql: Db, email_hash: string, origin: string): Promise<void> {
  await sql`delete from sign_in_failures where email_hash = ${email_hash} and origin = ${origin}`
}

export async function clearAllFailures(sql: Db, email_hash: string): Promise<void> {
  await sql`delete from sign_in_failures where email_hash = ${email_hash}`
}

export interface IdentityRow {
  readonly id: `idn_${string}`
  readonly user_id: string
  readonly issuer: string
  readonly subject: string
  /** As reported by the provider when it was linked. */
  readonly email: string | null
  readonly created_at: string
}

export async function insertIdentity(sql: Db, row: IdentityRow): Promise<boolean> {
  const { count } = await sql`
    insert into identities (id, user_id, issuer, subject, email, created_at)
    values (${row.id}, ${row.user_id}, ${row.issuer}, ${row.subject}, ${row.email}, ${row.created_at})
    on conflict (issuer, subject) do nothing`
  return count > 0
}

export async function findIdentity(sql: Db, issuer: string, subject: string): Promise<IdentityRow | null> {
  const [row] = await sql<IdentityRow[]>`
    select id, user_id, issuer, subject, email, created_at
    from identities
    where issuer = ${issuer} and subject = ${subject}`
  return row ?? null
}

export async function listIdentities(sql: Db, user_id: string): Promise<IdentityRow[]> {
  return await sql<IdentityRow[]>`
    select id, user_id, issuer, subject, email, created_at
    from identities
    where user_id = ${user_id}
    order by id desc`
}

export async function hasIdentity(sql: Db, user_id: string, issuer: string, except_id = ''): Promise<boolean> {
  const [row] = await sql`
      select from identities where user_id = ${user_id} and issuer = ${issuer} and id <> ${except_id} limit 1`
  return row !== undefined
}

export async function deleteIdentities(sql: Db, user_id: string): Promise<number> {
  return (await sql`delete from identities where user_id = ${user_id}`).count
}

export async function deleteIdentity(sql: Db, user_id: string, id: string): Promise<boolean> {
  return (await sql`delete from identities where user_id = ${user_id} and id = ${id}`).count > 0
}

export interface PendingIdentity {
  readonly issuer: string
  readonly subject: string
  readonly email: string | null
}

/** null removes it. */
export async function replacePending(
  sql: Db,
  session_id: string,
  pending: PendingIdentity | null,
  until: string | null,
): Promise<void> {
  await sql`
    update sessions
    set pending_identity = ${pending === null ? null : JSON.stringify(pending)}::text::json,
      pending_until = ${until}
    where id = ${session_id}`
}

export async function lockPending(
  tx: Db,
  session_id: string,
  at: string,
): Promise<(PendingIdentity & { readonly until: string }) | null> {
  const [row] = await tx<{ pending_identity: PendingIdentity; pending_until: string }[]>`
    select pending_identity, pending_until
    from sessions
    where id = ${session_id} and pending_until > ${at}
    for update`
  return row === undefined ? null : { ...row.pending_identity, until: row.pending_until }
}
