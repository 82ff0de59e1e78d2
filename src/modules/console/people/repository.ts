/** SQL of users, memberships and one-time links. */
import { hash, randomBytes } from 'node:crypto'
import { type Db, type Fragment, sqlState } from '../../../platform/database/sql.ts'
import type { Page } from '../../../platform/http/paging.ts'
import type { Role } from '../roles.ts'

export interface UserRow {
  readonly id: `usr_${string}`
  /** Lower case. */
  readonly email: string
  readonly name: string
  readonly password_hash: string | null
  readonly admin: boolean
  readonly two_factor: boolean
  readonly created_at: string
}

const columns = (sql: Db): Fragment =>
  sql`id, email, name, password_hash, admin, second_factor_at is not null as two_factor, created_at`

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
    set email = ${row.email}, name = ${row.name}, password_hash = ${row.password_hash}
    where id = ${row.id}`
}

export async function rehashPassword(sql: Db, id: string, from: string, to: string): Promise<void> {
  await sql`
    update users
    set password_hash = ${to}
    where id = ${id} and password_hash = ${from}`
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
  readonly kind: 'setup' | 'reset'
  readonly user_id: string | null
  readonly expires_at: string
  readonly created_at: string
}

export async function replaceToken(tx: Db, row: TokenRow): Promise<void> {
  await deleteTokens(tx, row.kind, row.user_id)
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

export async function deleteTokens(tx: Db, kind: TokenRow['kind'], user_id: string | null): Promise<void> {
  await tx`delete from user_tokens where kind = ${kind} and user_id is not distinct from ${user_id}`
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

export function newLink(base_url: string, page: 'setup' | 'reset' | 'invitation'): Link {
  const token = randomBytes(32).toString('base64url')
  return { token_hash: tokenHash(token), url: `${base_url}/console/${page}#${token}` }
}
