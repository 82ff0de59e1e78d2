/** SQL of accounts and API keys. */
import type { Mode } from '../../api/caller.ts'
import type { Db, Fragment } from '../../platform/database/sql.ts'
import type { Page } from '../../platform/http/paging.ts'

export interface AccountRow {
  readonly id: `acc_${string}`
  readonly name: string
  readonly owner_email: string | null
  readonly timezone: string
  /** ISO 3166 alpha-2. */
  readonly default_country: string | null
  readonly suspended_at: string | null
  readonly created_at: string
}

export interface KeyRow {
  readonly id: `key_${string}`
  readonly account_id: `acc_${string}`
  readonly mode: Mode
  readonly name: string
  readonly last_four: string
  readonly scopes: string[]
  readonly ip_allowlist: string[]
  readonly expires_at: string | null
  readonly revoked_at: string | null
  readonly created_at: string
}

export interface KeyWithAccount extends KeyRow {
  readonly account_name: string
  readonly suspended_at: string | null
}

/** An SQL expression; null when the account has none. */
export const ownerEmailOf = (sql: Db, account_id: string): Fragment =>
  sql`(select owner_email from accounts where id = ${account_id})`

export async function insertAccount(sql: Db, row: AccountRow): Promise<void> {
  await sql`
    insert into accounts (id, name, owner_email, timezone, default_country, suspended_at, created_at)
    values (${row.id}, ${row.name}, ${row.owner_email}, ${row.timezone}, ${row.default_country},
      ${row.suspended_at}, ${row.created_at})`
}

export async function findAccount(sql: Db, id: string): Promise<AccountRow | null> {
  const [row] = await sql<AccountRow[]>`
    select id, name, owner_email, timezone, default_country, suspended_at, created_at
    from accounts
    where id = ${id}`
  return row ?? null
}

export async function lockAccount(sql: Db, id: string): Promise<AccountRow | null> {
  const [row] = await sql<AccountRow[]>`
    select id, name, owner_email, timezone, default_country, suspended_at, created_at
    from accounts
    where id = ${id} for update`
  return row ?? null
}

export async function isSuspended(tx: Db, id: string): Promise<boolean> {
  const [row] = await tx<
    { suspended: boolean }[]
  >`select suspended_at is not null as suspended from accounts where id = ${id} for share`
  return row!.suspended
}

export async function listSuspended(sql: Db, ids: readonly string[]): Promise<{ id: string }[]> {
  return await sql<{ id: string }[]>`
    select id from accounts where id = any(${[...ids]}::text[]) and suspended_at is not null`
}

export async function listAccounts(sql: Db): Promise<AccountRow[]> {
  return await sql<AccountRow[]>`
    select id, name, owner_email, timezone, default_country, suspended_at, created_at
    from accounts
    order by id`
}

export async function listAccountsPage(sql: Db, page: Page): Promise<AccountRow[]> {
  return await sql<AccountRow[]>`
    select id, name, owner_email, timezone, default_country, suspended_at, created_at from accounts
    ${page.starting_after === undefined ? sql`` : sql`where id < ${page.starting_after}`}
    order by id desc
    limit ${page.limit + 1}`
}

export async function listNames(sql: Db, ids: readonly string[]): Promise<Pick<AccountRow, 'id' | 'name'>[]> {
  return await sql<
    Pick<AccountRow, 'id' | 'name'>[]
  >`select id, name from accounts where id = any(${ids as string[]}::text[])`
}

export async function updateAccount(sql: Db, row: AccountRow): Promise<void> {
  await sql`
    update accounts
    set name = ${row.name}, owner_email = ${row.owner_email}, timezone = ${row.timezone},
      default_country = ${row.default_country}, suspended_at = ${row.suspended_at}
    where id = ${row.id}`
}

/** null until it is set. */
export async function findDefaultCountry(sql: Db, account_id: string): Promise<string | null> {
  const [row] = await sql<
    Pick<AccountRow, 'default_country'>[]
  >`select default_country from accounts where id = ${account_id}`
  return row?.default_country ?? null
}

/** Messages that waited during the suspension are not sent. */
export async function setReinstated(sql: Db, id: string, at: string): Promise<void> {
  await sql`update accounts set reinstated_at = ${at} where id = ${id}`
}

export async function insertKey(sql: Db, row: KeyRow & { hash: string }): Promise<void> {
  await sql`
    insert into api_keys (id, account_id, mode, name, hash, last_four, scopes, ip_allowlist, expires_at,
      revoked_at, created_at)
    values (${row.id}, ${row.account_id}, ${row.mode}, ${row.name}, ${row.hash}, ${row.last_four},
      ${row.scopes}::text[], ${row.ip_allowlist}::text[], ${row.expires_at}, ${row.revoked_at},
      ${row.created_at})`
}

export async function findKeyByHash(sql: Db, hash: string): Promise<KeyWithAccount | null> {
  const [row] = await sql<KeyWithAccount[]>`
    select k.id, k.account_id, k.mode, k.name, k.last_four, k.scopes, k.ip_allowlist, k.expires_at,
      k.revoked_at, k.created_at, a.name as account_name, a.suspended_at
    from api_keys k join accounts a on a.id = k.account_id
    where k.hash = ${hash}`
  return row ?? null
}

export async function findKey(sql: Db, id: string): Promise<KeyRow | null> {
  const [row] = await sql<KeyRow[]>`
    select id, account_id, mode, name, last_four, scopes, ip_allowlist, expires_at, revoked_at, created_at
    from api_keys
    where id = ${id}`
  return row ?? null
}

/** Both modes, newest first. */
export async function listKeys(sql: Db, account_id: string): Promise<KeyRow[]> {
  return await sql<KeyRow[]>`
    select id, account_id, mode, name, last_four, scopes, ip_allowlist, expires_at, revoked_at, created_at
    from api_keys where account_id = ${account_id} order by id desc`
}

/** `mode` null: both. */
export interface KeysOf {
  readonly account_id: string
  readonly mode: Mode | null
}

export async function pageOfKeys(
  sql: Db,
  { account_id, mode }: KeysOf,
  { limit, starting_after }: Page,
): Promise<KeyRow[]> {
  return await sql<KeyRow[]>`
    select id, account_id, mode, name, last_four, scopes, ip_allowlist, expires_at, revoked_at, created_at
    from api_keys
    where account_id = ${account_id}
      ${mode === null ? sql`` : sql`and mode = ${mode}`}
      ${starting_after === undefined ? sql`` : sql`and id < ${starting_after}`}
    order by id desc limit ${limit + 1}`
}

export async function countUnrevokedKeys(sql: Db, account_id: string): Promise<number> {
  const [row] = await sql<{ keys: number }[]>`
    select count(*)::int as keys
    from api_keys
    where account_id = ${account_id} and revoked_at is null`
  return row!.keys
}

/** null when there is no such key, or not in this account. */
export async function revokeKey(sql: Db, id: string, account_id: string | null, at: string): Promise<KeyRow | null> {
  const [row] = await sql<KeyRow[]>`
    update api_keys
    set revoked_at = coalesce(revoked_at, ${at})
    where id = ${id} and account_id = coalesce(${account_id}::text, account_id)
    returning id, account_id, mode, name, last_four, scopes, ip_allowlist, expires_at, revoked_at, created_at`
  return row ?? null
}

export async function setAllowlist(sql: Db, id: string, ip_allowlist: readonly string[]): Promise<KeyRow | null> {
  const [row] = await sql<KeyRow[]>`
    update api_keys set ip_allowlist = ${[...ip_allowlist]}::text[] where id = ${id}
    returning id, account_id, mode, name, last_four, scopes, ip_allowlist, expires_at, revoked_at, created_at`
  return row ?? null
}

/** For statements of other modules: accounts that are or were suspended. */
export const suspensions = (sql: Db) =>
  sql`
    select id, suspended_at, reinstated_at
    from accounts
    where suspended_at is not null or reinstated_at is not null`
