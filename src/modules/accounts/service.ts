/** Accounts and API keys: authentication, and the operations of the operator. */
import type { Caller, Mode } from '../../api/caller.ts'
import { isId } from '../../api/ids.ts'
import { limits } from '../../api/limits.ts'
import { Problem, invalid, missing } from '../../api/problem.ts'
import { type Account, accountCapabilities } from '../../api/resources/account.ts'
import { scopes, type Scope } from '../../api/scopes.ts'
import { isTimezone } from '../../api/validation.ts'
import { isoTime } from '../../lib/clock.ts'
import { isEmailAddress } from '../../lib/email-address.ts'
import { isCountry } from '../../lib/phone.ts'
import { isOneLine } from '../../lib/text.ts'
import { transact, type Db } from '../../platform/database/sql.ts'
import type { FindKey, KeyFacts } from '../../platform/http/auth.ts'
import { addressList, isAddressRange } from '../../platform/http/headers.ts'
import { requireCursor, type Page } from '../../platform/http/paging.ts'
import type { Platform } from '../../platform/platform.ts'
import { keyCache, isKeyText, keyHash, newKey } from './keys.ts'
import * as repository from './repository.ts'
import type { AccountRow, KeyRow, KeysOf, KeyWithAccount } from './repository.ts'

export { keyCache } from './keys.ts'
export { isKeyText, isSourceKeyText, keyHash, newKey } from './keys.ts'
export { defaultCountryOf, phoneHint, withPhoneHint } from './phone-hint.ts'
export { ownerEmailOf, suspensions, type AccountRow, type KeyRow } from './repository.ts'

export interface NewKey {
  readonly account_id: string
  readonly mode: Mode
  readonly name?: string
  readonly scopes?: readonly Scope[]
  readonly expires_at?: string | null
  readonly ip_allowlist?: readonly string[]
}

/** The text is never shown again. */
export type CreatedKey = KeyRow & { readonly key: string }

export interface AccountChanges {
  readonly name?: string
  readonly timezone?: string
  /** ISO 3166 alpha-2, upper or lower case. */
  readonly default_country?: string | null
  readonly owner_email?: string | null
}

export type NewAccount = Pick<AccountChanges, 'owner_email' | 'default_country'> & { readonly name: string }

export interface AccountService {
  readonly findKey: FindKey
  /** After a change, and whenever one may have been missed. */
  forgetKeys(): void
  /** Forgets keys in every process. Call it after the transaction of a change. */
  publishKeys(): void
  me(caller: Caller): Account
  /** null for an unknown account. */
  stateOf(sql: Db, account_id: string): Promise<{ name: string; suspended: boolean } | null>
  namesOf(sql: Db, ids: readonly string[]): Promise<ReadonlyMap<string, string>>
  suspendedOf(sql: Db, ids: readonly string[]): Promise<ReadonlySet<string>>
  /** An IANA name; UTC until it is set. */
  timezoneOf(sql: Db, account_id: string): Promise<string>
  /** Problems: parameter_invalid for an empty or overlong name, a malformed e-mail address and an unknown country. */
  create(account: NewAccount, sql?: Db): Promise<AccountRow>
  list(): Promise<AccountRow[]>
  listPage(sql: Db, page: Page): Promise<AccountRow[]>
  /** Throws `resource_missing`. */
  find(sql: Db, id: string): Promise<AccountRow>
  /** `on`, here and below: the transaction to join. */
  update(id: string, changes: AccountChanges, on?: Db): Promise<AccountRow>
  /** Rejects the account's keys from now on. Publishes `account_suspended`. */
  suspend(id: string, on?: Db): Promise<AccountRow>
  reinstate(id: string, on?: Db): Promise<AccountRow>
  /** Locks it against suspension. Throws 403 `account_suspended`. */
  requireUnsuspended(tx: Db, id: string): Promise<void>
  /**
   * Problems: resource_missing; parameter_invalid for an expiry in the past; `api_key_limit` beyond 50 unrevoked keys.
   */
  createKey(key: NewKey, on?: Db): Promise<CreatedKey>
  listKeys(account_id: string): Promise<KeyRow[]>
  pageOfKeys(sql: Db, of: KeysOf, page: Page): Promise<KeyRow[]>
  /** `owner`: the account that must own the key. */
  revokeKey(id: string, on?: Db, owner?: string): Promise<KeyRow>
  /** An empty list allows all addresses. */
  setAllowlist(id: string, ip_allowlist: readonly string[], on?: Db): Promise<KeyRow>
}

const nameLengthMax = 120

export function accountService(platform: Platform): AccountService {
  const { pool, clock } = platform
  const cache = keyCache(clock, isKeyText, async (text) => {
    const row = await repository.findKeyByHash(pool, keyHash(text))
    return row === null ? null : keyFacts(row)
  })
  const changed = () => {
    cache.forget()
    platform.notify('forget-keys')
  }
  const suspending =
    (suspended: boolean) =>
    async (id: string, on: Db = pool) => {
      const row = await setSuspended(platform, on, id, suspended)
      changed()
      return row
    }
  return {
    findKey: (text) => cache.find(text),
    forgetKeys: () => cache.forget(),
    publishKeys: changed,
    me: accountObject,
    stateOf,
    namesOf: async (sql, ids) => new Map((await repository.listNames(sql, ids)).map(({ id, name }) => [id, name])),
    suspendedOf: async (sql, ids) => new Set((await repository.listSuspended(sql, ids)).map(({ id }) => id)),
    timezoneOf: async (sql, account_id) => (await repository.findAccount(sql, account_id))?.timezone ?? 'UTC',
    create: (account, sql = pool) => create(platform, sql, account),
    list: () => repository.listAccounts(pool),
    listPage: repository.listAccountsPage,
    find: (sql, id) => accountOf(sql, id),
    async update(id, changes, on = pool) {
      const row = await update(on, id, changes)
      changed()
      return row
    },
    suspend: suspending(true),
    reinstate: suspending(false),
    async requireUnsuspended(tx, id) {
      if (await repository.isSuspended(tx, id)) throw new Problem('account_suspended')
    },
    ...keysOf(platform, changed),
  }
}

type KeyMethods = Pick<AccountService, 'createKey' | 'listKeys' | 'pageOfKeys' | 'revokeKey' | 'setAllowlist'>

function keysOf(platform: Platform, changed: () => void): KeyMethods {
  const { pool, clock } = platform
  return {
    async createKey(key, on = pool) {
      const created = await createKey(platform, on, key)
      changed()
      return created
    },
    async listKeys(account_id) {
      await accountOf(pool, account_id)
      return await repository.listKeys(pool, account_id)
    },
    async pageOfKeys(sql, of, page) {
      const exists = async (id: string) =>
        isId('key', id) && (await repository.findKey(sql, id))?.account_id === of.account_id
      await requireCursor(page.starting_after, 'No API key has the id', exists)
      return await repository.pageOfKeys(sql, of, page)
    },
    async revokeKey(id, on = pool, owner) {
      const row = await transact(on, (tx) => repository.revokeKey(tx, id, owner ?? null, isoTime(clock.now())))
      if (row === null) throw owner === undefined ? noKey(id) : missing('API key', id)
      changed()
      return row
    },
    async setAllowlist(id, ip_allowlist, on = pool) {
      const row = await repository.setAllowlist(on, id, checkedAllowlist(ip_allowlist))
      if (row === null) throw noKey(id)
      changed()
      return row
    },
  }
}

async function stateOf(sql: Db, account_id: string): ReturnType<AccountService['stateOf']> {
  const row = await repository.findAccount(sql, account_id)
  return row === null ? null : { name: row.name, suspended: row.suspended_at !== null }
}

const keyFacts = (row: KeyWithAccount): KeyFacts => ({
  account_id: row.account_id,
  mode: row.mode,
  account_name: row.account_name,
  key_id: row.id,
  key_name: row.name,
  scopes: row.scopes as Scope[],
  expires_at: row.expires_at === null ? null : Date.parse(row.expires_at),
  revoked: row.revoked_at !== null,
  suspended: row.suspended_at !== null,
  allowlist: row.ip_allowlist.length === 0 ? null : addressList(row.ip_allowlist),
  source_status: null,
})

async function create(platform: Platform, sql: Db, account: NewAccount): Promise<AccountRow> {
  const row: AccountRow = {
    id: platform.ids('acc'),
    name: checkedAccountName(account.name),
    owner_email: checkedEmail(account.owner_email ?? null),
    timezone: 'UTC',
    default_country: checkedCountry(account.default_country ?? null),
    suspended_at: null,
    created_at: isoTime(platform.clock.now()),
  }
  await repository.insertAccount(sql, row)
  return row
}

async function accountOf(sql: Db, id: string): Promise<AccountRow> {
  const row = isId('acc', id) ? await repository.findAccount(sql, id) : null
  if (row === null) throw unknownAccount(id)
  return row
}

/** Only the operator can name other accounts. */
export const unknownAccount = (id: string): Problem =>
  new Problem('resource_missing', `There is no account ${id}. \`posthorn accounts list\` shows them all.`)
const noKey = (id: string): Problem =>
  new Problem(
    'resource_missing',
    `There is no API key ${id}. \`posthorn keys list --account A\` shows those of an account.`,
  )

async function update(on: Db, id: string, changes: AccountChanges): Promise<AccountRow> {
  return await transact(on, async (sql) => {
    const row = await repository.lockAccount(sql, id)
    if (row === null) throw unknownAccount(id)
    const next: AccountRow = {
      ...row,
      name: changes.name === undefined ? row.name : checkedAccountName(changes.name),
      timezone: changes.timezone === undefined ? row.timezone : checkedTimezone(changes.timezone),
      default_country:
        changes.default_country === undefined ? row.default_country : checkedCountry(changes.default_country),
      owner_email: changes.owner_email === undefined ? row.owner_email : checkedEmail(changes.owner_email),
    }
    await repository.updateAccount(sql, next)
    return next
  })
}

async function setSuspended(platform: Platform, on: Db, id: string, suspended: boolean): Promise<AccountRow> {
  return await transact(on, async (sql) => {
    const row = await repository.lockAccount(sql, id)
    if (row === null) throw unknownAccount(id)
    if ((row.suspended_at !== null) === suspended) return row
    const at = isoTime(platform.clock.now())
    const next: AccountRow = { ...row, suspended_at: suspended ? at : null }
    await repository.updateAccount(sql, next)
    if (!suspended) await repository.setReinstated(sql, id, at)
    else await platform.domain_events.publish(sql, 'account_suspended', [{ account_id: row.id }])
    return next
  })
}

async function createKey(platform: Platform, on: Db, wanted: NewKey): Promise<CreatedKey> {
  const text = newKey(wanted.mode)
  return await transact(on, async (sql) => {
    // the lock makes the limit exact under concurrency
    const account = isId('acc', wanted.account_id) ? await repository.lockAccount(sql, wanted.account_id) : null
    if (account === null) throw unknownAccount(wanted.account_id)
    if ((await repository.countUnrevokedKeys(sql, account.id)) >= limits.keys_per_account_max) {
      throw new Problem(
        'api_key_limit',
        `The account has ${limits.keys_per_account_max} keys that are not revoked, which is the limit. Revoke one that is no longer used.`,
      )
    }
    const row: KeyRow = {
      id: platform.ids('key'),
      account_id: account.id,
      mode: wanted.mode,
      name: wanted.name === undefined ? `${wanted.mode} key` : checkedName(wanted.name),
      last_four: text.slice(-4),
      scopes: [...new Set(wanted.scopes ?? scopes)],
      ip_allowlist: checkedAllowlist(wanted.ip_allowlist ?? []),
      expires_at: checkedExpiry(wanted.expires_at ?? null, platform.clock.now()),
      revoked_at: null,
      created_at: isoTime(platform.clock.now()),
    }
    await repository.insertKey(sql, { ...row, hash: keyHash(text) })
    return { ...row, key: text }
  })
}

function checkedName(name: string): string {
  const length = [...name.trim()].length
  if (length < 1 || length > nameLengthMax || !name.isWellFormed() || name.includes('\0'))
    throw invalid('name', 'invalid_value', `A name has 1 to ${nameLengthMax} characters.`)
  return name.trim()
}

function checkedAccountName(name: string): string {
  const checked = checkedName(name)
  if (!isOneLine(checked))
    throw invalid('name', 'invalid_value', 'A name has no line breaks or control characters. Leave them out.')
  return checked
}

function checkedExpiry(expires_at: string | null, now_ms: number): string | null {
  if (expires_at !== null && Date.parse(expires_at) <= now_ms)
    throw invalid(
      'expires_at',
      'invalid_value',
      `A key that expires at ${expires_at} is of no use: that time has passed.`,
    )
  return expires_at
}

function checkedEmail(email: string | null): string | null {
  if (email !== null && !isEmailAddress(email))
    throw invalid('owner_email', 'invalid_format', `${JSON.stringify(email)} is not an e-mail address.`)
  return email
}

function checkedTimezone(timezone: string): string {
  if (!isTimezone(timezone))
    throw invalid(
      'timezone',
      'invalid_format',
      `${JSON.stringify(timezone)} is not an IANA time zone name, such as Europe/Berlin.`,
    )
  return timezone
}

function checkedCountry(country: string | null): string | null {
  if (country !== null && !isCountry(country))
    throw invalid(
      'default_country',
      'invalid_value',
      `${JSON.stringify(country)} is not an ISO 3166 country code of two letters, such as DE.`,
    )
  return country === null ? null : country.toUpperCase()
}

function checkedAllowlist(entries: readonly string[]): string[] {
  const bad = entries.find((entry) => !isAddressRange(entry))
  if (bad !== undefined)
    throw invalid('ip_allowlist', 'invalid_format', `${JSON.stringify(bad)} is neither an IP address nor a CIDR range.`)
  return [...entries]
}

export const accountObject = (caller: Caller): Account => ({
  id: caller.account_id,
  object: 'account',
  name: caller.account_name,
  mode: caller.mode,
  api_key: { id: caller.key_id!, name: caller.key_name, scopes: [...caller.scopes] },
  capabilities: [...accountCapabilities],
})
