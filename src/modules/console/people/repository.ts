/** SQL of users, memberships and one-time links. */
import { hash, randomBytes } from 'node:crypto'
import { type Db, type Fragment, sqlState } from '../../../platform/database/sql.ts'
import type { Page } from '../../../platform/http/paging.ts'
import type { Role } from '../roles.ts'

export interface UserRow {
  readonly id: `usr_${string}`
  /** Lower case. */
  readonly email: string
  /** Not confirmed yet; null for none. */
  readonly pending_email: string | null
  readonly name: string
  readonly password_hash: string | null
  readonly admin: boolean
  readonly two_factor: boolean
  readonly created_at: string
}

const columns = (sql: Db): Fragment =>
  sql`id, email, pending_email, name, password_hash, admin, second_factor_at is not null as two_factor, created_at`

export async function insertUser(sql: Db, row: UserRow): Promise<void> {
  await sql`
    insert into users (id, email, name, password_hash, admin, created_at)
    values (${row.id}, ${row.email}, ${row.name}, ${row.password_hash}, ${row.admin}, ${row.created_at})`
}

export const wasTaken = (error: unknown): boolean => sqlState(error) === '23505'

export async function findUserByEmail(sql: Db, email: string): Promise<UserRow | null> {
  const [row] = await sql<UserRow[]>`select ${columns(sql)} from users where email = ${email}`
  return row ?? null
}

export async function findUser(sql: Db, id: string): Promise<UserRow | null> {
  const [row] = await sql<UserRow[]>`select ${columns(sql)} from users where id = ${id}`
  return row ?? null
}

export async function lockUserByEmail(tx: Db, email: string): Promise<UserRow | null> {
  const [row] = await tx<UserRow[]>`select ${columns(tx)} from users where email = ${email} for update`
  return row ?? null
}

export async function listUsers(sql: Db, page: Page): Promise<UserRow[]> {
  return await sql<UserRow[]>`
    select ${columns(sql)}
    from users ${page.starting_after === undefined ? sql`` : sql`where id < ${page.starting_after}`}
    order by id desc limit ${page.limit + 1}`
}

export async function lockUser(tx: Db, id: string): Promise<UserRow | null> {
  const [row] = await tx<UserRow[]>`select ${columns(tx)} from users where id = ${id} for update`
  return row ?? null
}

export async function updateUser(sql: Db, row: UserRow): Promise<void> {
  await sql`
    update users
    set email = ${row.email}, pending_email = ${row.pending_email}, name = ${row.name},
      password_hash = ${row.password_hash}
    where id = ${row.id}`
}

export async function rehashPassword(sql: Db, id: string, from: string, to: string): Promise<void> {
  await sql`
    update users
    set password_hash = ${to}
    where id = ${id} and password_hash = ${from}`
}

/** Those who have asked for this address and not confirmed it. */
export async function listUsersByPendingEmail(sql: Db, email: string): Promise<UserRow[]> {
  return await sql<UserRow[]>`select ${columns(sql)} from users where pending_email = ${email} order by id limit 2`
}

/** Whether a user with this address, other than `user_id`, belongs to an account of `user_id`. */
export async function isColleague(sql: Db, user_id: string, email: string): Promise<boolean> {
  const [row] = await sql`
    select
    from users u
    join memberships theirs on theirs.user_id = u.id
    join memberships mine on mine.account_id = theirs.account_id
    where u.email = ${email} and u.id <> ${user_id} and mine.user_id = ${user_id}
    limit 1`
  return row !== undefined
}

export async function anyUser(sql: Db): Promise<boolean> {
  const [row] = await sql`select from users limit 1`
  return row !== undefined
}

export interface MembershipRow {
  readonly account_id: `acc_${string}`
  readonly user_id: string
  readonly role: Role
}

export async function insertMembership(sql: Db, row: MembershipRow, at: string): Promise<void> {
  await sql`
    insert into memberships (account_id, user_id, role, created_at)
    values (${row.account_id}, ${row.user_id}, ${row.role}, ${at})`
}

export async function membershipsOf(sql: Db, user_ids: readonly string[]): Promise<MembershipRow[]> {
  return await sql<MembershipRow[]>`
    select account_id, user_id, role
    from memberships
    where user_id = any (${user_ids as string[]})
    order by account_id`
}

export async function firstOwner(sql: Db, account_id: string): Promise<`usr_${string}` | null> {
  const [row] = await sql<{ user_id: `usr_${string}` }[]>`
    select user_id
    from memberships
    where account_id = ${account_id} and role = 'owner'
    order by created_at, user_id
    limit 1`
  return row?.user_id ?? null
}

export async function listMemberships(sql: Db, user_id: string): Promise<MembershipRow[]> {
  return await sql<
    MembershipRow[]
  >`select account_id, user_id, role from memberships where user_id = ${user_id} order by account_id`
}

export interface TokenRow {
  readonly token_hash: string
  /** `email`: confirms the pending address of the user. */
  readonly kind: 'setup' | 'reset' | 'email'
  readonly user_id: string | null
  readonly expires_at: string
  readonly created_at: string
}

export async function insertToken(tx: Db, row: TokenRow): Promise<void> {
  await tx`
    insert into user_tokens (token_hash, kind, user_id, expires_at, created_at)
    values (${row.token_hash}, ${row.kind}, ${row.user_id}, ${row.expires_at}, ${row.created_at})`
}

/** null if the link was used, has expired, is unknown, or has no user yet. */
export async function userOfToken(
  sql: Db,
  kind: TokenRow['kind'],
  token_hash: string,
  at: string,
): Promise<string | null> {
  const [row] = await sql<{ user_id: string | null }[]>`
    select user_id from user_tokens where token_hash = ${token_hash} and kind = ${kind} and expires_at > ${at}`
  return row?.user_id ?? null
}

export async function deleteTokens(tx: Db, kinds: readonly TokenRow['kind'][], user_id: string | null): Promise<void> {
  await tx`
    delete from user_tokens
    where kind = any (${kinds as TokenRow['kind'][]}) and user_id is not distinct from ${user_id}`
}

/** null if it was used, has expired or is unknown. */
export async function useToken(
  tx: Db,
  kind: TokenRow['kind'],
  token_hash: string,
  at: string,
): Promise<TokenRow | null> {
  const [row] = await tx<TokenRow[]>`
    delete from user_tokens where token_hash = ${token_hash} and kind = ${kind} and expires_at > ${at}
    returning token_hash, kind, user_id, expires_at, created_at`
  return row ?? null
}

export async function ownersOf(sql: Db, account_id: string): Promise<string[]> {
  const rows = await sql<{ email: string }[]>`
    select u.email
    from memberships m
    join users u on u.id = m.user_id
    where m.account_id = ${account_id} and m.role = 'owner'
    order by u.id`
  return rows.map(({ email }) => email)
}

/**
 * The secret is in the URL fragment, which browsers send to no server; the database stores its hash (behaviour: console
 * 3.10).
 */
export interface Link {
  readonly token_hash: string
  readonly url: string
}

export const tokenHash = (token: string): string => hash('sha256', token, 'hex')

export function newLink(base_url: string, page: 'setup' | 'reset' | 'invitation' | 'confirm-email'): Link {
  const token = randomBytes(32).toString('base64url')
  return { token_hash: tokenHash(token), url: `${base_url}/console/${page}#${token}` }
}

/** Until the transaction ends. Times of the action, oldest first. */
export async function lockActionTimes(tx: Db, kind: string, subject_hash: string, at: string): Promise<string[]> {
  const [row] = await tx<{ times: string[] }[]>`
    insert into limited_actions as l (kind, subject_hash, times, at)
    values (${kind}, ${subject_hash}, '{}', ${at})
    on conflict (kind, subject_hash) do update set at = excluded.at
    returning times`
  return row!.times
}

export async function setActionTimes(
  tx: Db,
  kind: string,
  subject_hash: string,
  times: readonly string[],
): Promise<void> {
  await tx`
    update limited_actions
    set times = ${times as string[]}::text[]::timestamptz[]
    where kind = ${kind} and subject_hash = ${subject_hash}`
}

export async function forgetPeople(sql: Db, expired_before: string, acted_before: string): Promise<number> {
  const { count: tokens } = await sql`delete from user_tokens where expires_at <= ${expired_before}`
  const { count: actions } = await sql`delete from limited_actions where at <= ${acted_before}`
  return tokens + actions
}
