/** The one door through which contacts are written: creates, upserts, updates and links from inbound messages, set-wise and safe against races. */
import type { Tenant } from '../../contract/caller.ts'
import { contactLimits, type ConsentSource } from '../../contract/resources/contact.ts'
import type { ContactRow } from './rows.ts'
import { phoneKey } from '../../lib/phone.ts'
import { sqlState, transact, violatedConstraint, type Db, type Transaction } from '../../platform/database/sql.ts'
import type { Platform } from '../../platform/platform.ts'
import { addressesOf, applyChange, newContact, statusOf, type ConsentMove, type ContactChange } from './contact.ts'
import { adoptOptOuts, settleConsequences } from './consequences.ts'
import { countContacts, lockCap } from './counter-store.ts'
import type { AddressKey } from './recipients.ts'
import * as store from './store.ts'

export interface SaveItem {
  /**
   * `create` refuses known addresses; `upsert` finds the contact by `change.phone` (without one by its identifiers);
   * `update` by `id`; `link` by `key`, and creates the contact from `creation`.
   */
  readonly kind: 'create' | 'upsert' | 'update' | 'link'
  readonly id?: string
  readonly key?: AddressKey
  readonly change: ContactChange
  readonly creation?: ContactChange
  /** ISO 8601: the contact wrote to us then. */
  readonly seen_at?: string
  /** The inbound message behind changes of consent. */
  readonly message_id?: string
}

/** A change of consent with the inbound message behind it, and the request where it is not the one in hand. */
export type CausedMove = ConsentMove & { readonly message_id: string | null; readonly request_id?: string | null }

export type RefusalReason = 'contact_exists' | 'contact_limit_reached' | 'resource_missing' | 'address_missing' | 'too_many_tags' | 'too_many_attributes'

export type SaveResult =
  | { readonly outcome: 'created' | 'updated' | 'unchanged'; readonly row: ContactRow; readonly moves: readonly CausedMove[] }
  /** Nothing of the item was done. `param` is the field at fault. */
  | { readonly outcome: 'refused'; readonly reason: RefusalReason; readonly param: string; readonly contact_id?: string }

export interface SaveContext {
  /** ISO 8601. */
  readonly at: string
  /** The source of consents that name none. */
  readonly source: ConsentSource
  readonly request_id?: string
  /** Bulk sources (imports, events) never lift an opt-out, not even by saying `opted_in`. */
  readonly keep_opt_outs?: boolean
  /** Upserts that are expected to meet no known address: none is looked up, and `LostRace` thrown when there may be one. */
  readonly expect_new?: boolean
}

/** A contact in hand: as it was locked (null: new), and as it will be written. */
export interface Touched {
  readonly before: ContactRow | null
  row: ContactRow
  /** Something but `last_seen_at` and `last_message_at` is different. */
  changed: boolean
  moves: CausedMove[]
  seen_at: string | null
}

interface Hand {
  readonly touched: Map<string, Touched>
  /** Owner of every address in question, by `kind|address`. */
  readonly owners: Map<string, string>
  /** How many contacts may still be created. */
  room: number
}

const keyText = ({ kind, address }: AddressKey): string => `${kind}|${address}`
const attemptsMax = 5
/** From this distance to the cap creations go one after the other, so that the cap holds exactly. */
const capSlack = 5000

/** Another transaction took an address, or removed a contact, in between: everything is done once more. */
export class LostRace extends Error {}

/** Runs `work` in a transaction, again when it lost a race against another writer of the same contacts. */
export async function withRaces<T>(sql: Db, work: (tx: Transaction) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await transact(sql, work)
    } catch (error) {
      const again = error instanceof LostRace || sqlState(error) === '40P01'
      if (!again || attempt === attemptsMax) throw error
    }
  }
}

/**
 * Writes contacts with all that follows from it: addresses, suppressions, history, counters, the fact `opted_out`. Items are
 * applied in order, one result each; a refused one leaves no trace. Call it inside `withRaces`.
 */
export async function saveContacts(
  platform: Platform,
  tx: Transaction,
  tenant: Tenant,
  items: readonly SaveItem[],
  context: SaveContext,
): Promise<SaveResult[]> {
  const hand = await takeInHand(platform, tx, tenant, items, context.expect_new === true)
  const results = items.map((item) => applyItem(platform, tenant, hand, item, context))
  // a known contact might not have been refused what a stranger is
  if (context.expect_new === true && results.some(({ outcome }) => outcome === 'refused')) throw new LostRace()
  const touched = [...hand.touched.values()].filter((contact) => contact.changed || contact.moves.length > 0 || contact.seen_at !== null)
  const added = await moveAddresses(tx, tenant, touched)
  await adoptOptOuts(platform, tx, tenant, touched, added, context)
  await writeRows(tx, tenant, touched)
  await settleConsequences(platform, tx, tenant, touched, added, context)
  return results.map((result) => {
    if (result.outcome === 'refused') return result
    const { row, moves } = hand.touched.get(result.row.id)!
    return row === result.row && moves === result.moves ? result : { ...result, row, moves }
  })
}

/** The address by which an item finds its contact; none for creates, and for updates by id. */
function matchKey(item: SaveItem): AddressKey | undefined {
  if (item.kind === 'link') return item.key
  if (item.kind !== 'upsert') return undefined
  return item.change.phone ? { kind: 'phone', address: phoneKey(item.change.phone) } : changedKeys(item.change)[0]
}

/** The addresses that a change names. */
function changedKeys(change: ContactChange | undefined): AddressKey[] {
  if (change === undefined) return []
  const keys: AddressKey[] = change.phone ? [{ kind: 'phone', address: phoneKey(change.phone) }] : []
  for (const [kind, address] of Object.entries(change.identifiers ?? {})) if (address !== null) keys.push({ kind, address })
  return keys
}

/** Reads who owns the addresses, locks the contacts that items mean, and sees how many more there may be. */
async function takeInHand(platform: Platform, tx: Transaction, tenant: Tenant, items: readonly SaveItem[], expectNew: boolean): Promise<Hand> {
  const owners = new Map((await findOwners(tx, tenant, expectNew ? [] : items)).map((row) => [keyText(row), row.contact_id]))
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
  const rows = await store.lockContacts(tx, tenant, [...wanted, ...matched.keys()])
  const touched = new Map<string, Touched>(rows.map((row) => [row.id, { before: row, row, changed: false, moves: [], seen_at: null }]))
  for (const [id, key] of matched) {
    const held = touched.get(id)
    if (held === undefined || !addressesOf(held.row).some((own) => keyText(own) === keyText(key))) throw new LostRace()
  }
  return { touched, owners, room: creations === 0 ? 0 : await roomFor(platform, tx, tenant, creations) }
}

/** Who owns the addresses that items name. */
async function findOwners(tx: Transaction, tenant: Tenant, items: readonly SaveItem[]): Promise<store.AddressRow[]> {
  const keys = items.flatMap((item) => [...changedKeys(item.change), ...changedKeys(item.creation), ...(item.key === undefined ? [] : [item.key])])
  return await store.findAddresses(tx, tenant, keys)
}

async function roomFor(platform: Platform, tx: Transaction, tenant: Tenant, creations: number): Promise<number> {
  const limit = platform.settings.contact_limit
  let count = await countContacts(tx, tenant)
  if (count + creations + capSlack > limit) {
    await lockCap(tx, tenant)
    count = await countContacts(tx, tenant)
  }
  return Math.max(limit - count, 0)
}

function applyItem(platform: Platform, tenant: Tenant, hand: Hand, item: SaveItem, context: SaveContext): SaveResult {
  const key = matchKey(item)
  const id = item.kind === 'update' ? item.id! : key === undefined ? undefined : hand.owners.get(keyText(key))
  const held = id === undefined ? undefined : hand.touched.get(id)
  if (item.kind === 'update' && held === undefined) return { outcome: 'refused', reason: 'resource_missing', param: 'id' }
  const start = held?.row ?? newContact(tenant, platform.ids('ct'), context.at)
  const created = held === undefined && item.creation !== undefined ? applyChange(start, item.creation, context).row : start
  const { row, moves } = applyChange(created, allowedChange(item, held, context), context)
  const own = addressesOf(row).map(({ kind, address }) => ({ kind, address, text: keyText({ kind, address }) }))
  const refusal = refusalOf(hand, row, own, held === undefined, item)
  if (refusal !== null) return refusal
  if (held === undefined) hand.room -= 1
  if (held !== undefined) for (const before of addressesOf(start)) hand.owners.delete(keyText(before))
  for (const { text } of own) hand.owners.set(text, row.id)
  const touched = held ?? { before: null, row, changed: true, moves: [], seen_at: null }
  touched.changed ||= row !== start
  touched.row = seen(row, item.seen_at)
  for (const move of moves) touched.moves.push({ ...move, message_id: item.message_id ?? null })
  if (item.seen_at !== undefined) touched.seen_at = item.seen_at
  hand.touched.set(row.id, touched)
  return { outcome: held === undefined ? 'created' : row === start && moves.length === 0 ? 'unchanged' : 'updated', row, moves: touched.moves }
}

function seen(row: ContactRow, at: string | undefined): ContactRow {
  if (at === undefined) return row
  const later = (before: string | null) => (before !== null && before > at ? before : at)
  return { ...row, last_seen_at: later(row.last_seen_at), last_message_at: later(row.last_message_at) }
}

/** The change without what the item may not do: a known phone keeps its spelling on upsert, and bulk sources lift no opt-out. */
function allowedChange(item: SaveItem, held: Touched | undefined, context: SaveContext): ContactChange {
  let change = item.change
  if (held !== undefined && item.kind === 'upsert') {
    const { phone, ...others } = change
    if (phone === undefined || phone === null || held.row.phone_key === phoneKey(phone)) change = others
  }
  if (held !== undefined && context.keep_opt_outs === true && change.consent !== undefined) {
    const kept = Object.entries(change.consent).filter(([type, write]) => statusOf(held.row.consent, type) !== 'opted_out' || write?.status === 'opted_out')
    change = { ...change, consent: Object.fromEntries(kept) }
  }
  return change
}

/** An address of a contact, and its key in `owners`. */
type Own = AddressKey & { readonly text: string }

function refusalOf(hand: Hand, row: ContactRow, own: readonly Own[], isNew: boolean, item: SaveItem): SaveResult | null {
  if (own.length === 0 && row.email === null) return { outcome: 'refused', reason: 'address_missing', param: 'phone' }
  for (const key of own) {
    const owner = hand.owners.get(key.text)
    if (owner !== undefined && owner !== row.id)
      return { outcome: 'refused', reason: 'contact_exists', param: key.kind === 'phone' ? 'phone' : `identifiers.${key.kind}`, contact_id: owner }
  }
  if (row.tags.length > contactLimits.tags_max)
    return { outcome: 'refused', reason: 'too_many_tags', param: item.change.add_tags === undefined || item.kind === 'upsert' ? 'tags' : 'add' }
  if (Object.keys(row.attributes).length > contactLimits.attributes_max) return { outcome: 'refused', reason: 'too_many_attributes', param: 'attributes' }
  if (isNew && hand.room <= 0) return { outcome: 'refused', reason: 'contact_limit_reached', param: 'phone' }
  return null
}

/** Gives up addresses that contacts lost, takes those that are new, and tells them by contact. */
async function moveAddresses(tx: Transaction, tenant: Tenant, touched: readonly Touched[]): Promise<Map<string, AddressKey[]>> {
  const lost: (AddressKey & { contact_id: string })[] = []
  const gained: store.AddressRow[] = []
  const blocked: store.AddressRow[] = []
  for (const { before, row } of touched) {
    if (before?.phone_key === row.phone_key && before.identifiers === row.identifiers && before.blocked === row.blocked) continue
    const addresses = addressesOf(row).map(({ kind, address }) => ({ kind, address, contact_id: row.id, blocked: row.blocked }))
    if (before === null) {
      gained.push(...addresses)
      continue
    }
    const had = new Map(addressesOf(before).map((key) => [keyText(key), key]))
    for (const address of addresses) {
      if (!had.delete(keyText(address))) gained.push(address)
      else if (before.blocked !== row.blocked) blocked.push(address)
    }
    for (const key of had.values()) lost.push({ ...key, contact_id: row.id })
  }
  await store.deleteAddresses(tx, tenant, lost)
  await store.blockAddresses(tx, tenant, blocked)
  try {
    await store.insertAddresses(tx, tenant, gained)
  } catch (error) {
    throw violatedConstraint(error) === 'contact_addresses_pkey' ? new LostRace() : error
  }
  const added = new Map<string, AddressKey[]>()
  for (const address of gained) {
    const known = added.get(address.contact_id)
    if (known === undefined) added.set(address.contact_id, [address])
    else known.push(address)
  }
  return added
}

async function writeRows(tx: Transaction, tenant: Tenant, touched: readonly Touched[]): Promise<void> {
  const changed = touched.filter((contact) => contact.before !== null && contact.changed)
  const onlySeen = touched.filter((contact) => contact.before !== null && !contact.changed && contact.seen_at !== null)
  await store.insertContacts(
    tx,
    tenant,
    touched.filter(({ before }) => before === null).map(({ row }) => row),
  )
  await store.updateContacts(
    tx,
    tenant,
    changed.map(({ row }) => row),
  )
  await store.touchSeen(
    tx,
    tenant,
    onlySeen.map(({ row, seen_at }) => ({ id: row.id, at: seen_at! })),
  )
}
