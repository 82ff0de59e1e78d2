/** Locks the contacts and address owners of a write, and retries after conflicts with other writers. */
import type { Tenant } from '../../api/caller.ts'
import { phoneKey } from '../../lib/phone.ts'
import { sqlState, transact, type Db, type Transaction } from '../../platform/database/sql.ts'
import type { Platform } from '../../platform/platform.ts'
import { addressesOf, type ContactChange, type ContactRow } from './contact.ts'
import { countContacts, lockCap } from './counter-repository.ts'
import type { AddressKey, AddressRow } from './addresses.ts'
import type { CausedTransition, SaveItem } from './save-item.ts'
import * as repository from './repository.ts'

/** A contact as locked (null: new) and as it will be written. */
export interface LockedContact {
  readonly before: ContactRow | null
  row: ContactRow
  changed: boolean
  transitions: CausedTransition[]
  restated: CausedTransition[]
  inherited_opt_outs: string[]
  seen_at: string | null
}

export const lockedContact = (before: ContactRow | null, row: ContactRow): LockedContact => ({
  before,
  row,
  changed: before === null,
  transitions: [],
  restated: [],
  inherited_opt_outs: [],
  seen_at: null,
})

export interface ContactLocks {
  readonly contacts: Map<string, LockedContact>
  readonly owners: Map<string, string>
  capacity: number
}

export const keyText = ({ kind, address }: AddressKey): string => `${kind}|${address}`
const attemptsMax = 5
/** Closer than this to the limit, contacts are created one transaction at a time, to make the limit exact. */
const capSlack = 5000

/** Another transaction used an address or deleted a contact meanwhile: retry. */
export class WriteConflict extends Error {}

/** With `expect_new`: an address turned out to have a contact. */
export class UnexpectedContact extends WriteConflict {}

export async function withConflictRetries<T>(sql: Db, work: (tx: Transaction) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await transact(sql, work)
    } catch (error) {
      const again = error instanceof WriteConflict || sqlState(error) === '40P01'
      if (!again || attempt === attemptsMax) throw error
    }
  }
}

export function matchKey(item: SaveItem): AddressKey | undefined {
  if (item.kind === 'link') return item.key
  if (item.kind !== 'upsert') return undefined
  return item.change.phone ? { kind: 'phone', address: phoneKey(item.change.phone) } : changedKeys(item.change)[0]
}

export function changedKeys(change: ContactChange | undefined): AddressKey[] {
  if (change === undefined) return []
  const keys: AddressKey[] = change.phone ? [{ kind: 'phone', address: phoneKey(change.phone) }] : []
  for (const [kind, address] of Object.entries(change.identifiers ?? {}))
    if (address !== null) keys.push({ kind, address })
  return keys
}

export async function acquireContactLocks(
  platform: Platform,
  tx: Transaction,
  tenant: Tenant,
  items: readonly SaveItem[],
  expectNew: boolean,
): Promise<ContactLocks> {
  const owners = new Map(
    (await findOwners(tx, tenant, expectNew ? [] : items)).map((row) => [keyText(row), row.contact_id]),
  )
  const matched = new Map<string, AddressKey>()
  const wanted = new Set<string>()
  let creations = 0
  for (const item of items) {
    const key = owners.size === 0 ? undefined : matchKey(item)
    const owner = key === undefined ? undefined : owners.get(keyText(key))
    if (item.kind === 'update') wanted.add(item.id!)
    else if (owner !== undefined) matched.set(owner, key!)
    else creations += 1
  }
  const rows = await repository.lockContacts(tx, tenant, [...wanted, ...matched.keys()])
  const contacts = new Map(rows.map((row) => [row.id, lockedContact(row, row)]))
  for (const [id, key] of matched) requireOwner(contacts.get(id)?.row, key)
  return { contacts, owners, capacity: creations === 0 ? 0 : await capacityFor(platform, tx, tenant, creations) }
}

/** Throws `WriteConflict` when a locked contact is gone or no longer has the address by which it was found. */
export function requireOwner(contact: ContactRow | undefined, key: AddressKey): void {
  if (contact === undefined || !addressesOf(contact).some((own) => keyText(own) === keyText(key)))
    throw new WriteConflict()
}

async function findOwners(tx: Transaction, tenant: Tenant, items: readonly SaveItem[]): Promise<AddressRow[]> {
  const keys = items.flatMap((item) => [
    ...changedKeys(item.change),
    ...changedKeys(item.creation),
    ...(item.key === undefined ? [] : [item.key]),
  ])
  return await repository.findAddresses(tx, tenant, keys)
}

async function capacityFor(platform: Platform, tx: Transaction, tenant: Tenant, creations: number): Promise<number> {
  const limit = platform.settings.contact_limit
  let count = await countContacts(tx, tenant)
  if (count + creations + capSlack > limit) {
    await lockCap(tx, tenant)
    count = await countContacts(tx, tenant)
  }
  return Math.max(limit - count, 0)
}

/** Sorted, so that transactions over several tenants lock them in one order. */
export function groupByTenant<T extends Tenant>(rows: readonly T[]): [Tenant, T[]][] {
  const groups = new Map<string, [Tenant, T[]]>()
  for (const row of rows) {
    const text = `${row.account_id}|${row.mode}`
    const group = groups.get(text)
    if (group === undefined) groups.set(text, [{ account_id: row.account_id, mode: row.mode }, [row]])
    else group[1].push(row)
  }
  return [...groups].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, group]) => group)
}
