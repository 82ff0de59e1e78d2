/** The only writer of contacts: creates, upserts, updates and links, in sets and safe against concurrent writers. */
import type { Tenant } from '../../api/caller.ts'
import { contactLimits } from '../../api/resources/contact.ts'
import { phoneKey } from '../../lib/phone.ts'
import { allInOrder, violatedConstraint, type Transaction } from '../../platform/database/sql.ts'
import type { Platform } from '../../platform/platform.ts'
import {
  addressesOf,
  applyChange,
  foldText,
  marketingType,
  newContact,
  statusOf,
  type ConsentChangeRow,
  type ConsentStatuses,
  type ConsentTransition,
  type ConsentWrite,
  type ContactChange,
  type ContactRow,
} from './contact.ts'
import { inheritOptOuts, updateSuppressions } from './consent/suppressions.ts'
import { insertConsentChanges } from './consent/repository.ts'
import { CounterDeltas, insertDeltas } from './counter-repository.ts'
import {
  acquireContactLocks,
  keyText,
  lockedContact,
  WriteConflict,
  matchKey,
  UnexpectedContact,
  type LockedContact,
  type ContactLocks,
} from './contact-locks.ts'
import type { AddressKey, AddressRow } from './addresses.ts'
import type { CausedTransition, SaveContext, SaveItem, SaveResult } from './save-item.ts'
import * as repository from './repository.ts'

/** Applies items in order, one result each; a refused item changes nothing. Call it inside `withConflictRetries`. */
export async function saveContacts(
  platform: Platform,
  tx: Transaction,
  tenant: Tenant,
  items: readonly SaveItem[],
  context: SaveContext,
): Promise<SaveResult[]> {
  const locks = await acquireContactLocks(platform, tx, tenant, items, context.expect_new === true)
  const results = items.map((item) => applyItem(platform, tenant, locks, item, context))
  // an existing contact might have been accepted
  if (context.expect_new === true && results.some(({ outcome }) => outcome === 'refused')) throw new UnexpectedContact()
  const written = [...locks.contacts.values()].filter(
    (contact) => contact.changed || contact.transitions.length > 0 || contact.seen_at !== null,
  )
  const changes = addressChangesOf(written)
  // statements run in the order of sending
  await allInOrder([
    writeAddresses(tx, tenant, changes),
    inheritOptOuts(platform, tx, tenant, written, changes.gainedBy, context),
  ])
  await allInOrder([
    writeRows(tx, tenant, written),
    updateSuppressions(platform, tx, tenant, written, changes.gainedBy, context),
  ])
  await allInOrder([
    insertConsentChanges(tx, tenant, consentHistory(platform, written, context), context.at),
    writeCounters(tx, tenant, written, context.at),
  ])
  return results.map((result, n) => {
    if (result.outcome === 'refused') return result
    const { row, transitions, inherited_opt_outs } = locks.contacts.get(result.row.id)!
    if (row === result.row && transitions === result.transitions) return result
    const refused_opt_ins =
      inherited_opt_outs.length === 0
        ? result.refused_opt_ins
        : [...result.refused_opt_ins, ...optIns(items[n]!.change).filter((type) => inherited_opt_outs.includes(type))]
    return { ...result, row, transitions, refused_opt_ins }
  })
}

export const previewSave = (
  platform: Platform,
  tenant: Tenant,
  known: ContactLocks,
  items: readonly SaveItem[],
  context: SaveContext,
): SaveResult[] => items.map((item) => applyItem(platform, tenant, known, item, context))

function applyItem(
  platform: Platform,
  tenant: Tenant,
  locks: ContactLocks,
  item: SaveItem,
  context: SaveContext,
): SaveResult {
  const key = matchKey(item)
  const id = item.kind === 'update' ? item.id! : key === undefined ? undefined : locks.owners.get(keyText(key))
  const existing = id === undefined ? undefined : locks.contacts.get(id)
  if (item.kind === 'update' && existing === undefined)
    return { outcome: 'refused', reason: 'resource_missing', param: 'id' }
  const start = existing?.row ?? newContact(tenant, platform.ids('ct'), context.at)
  const created =
    existing === undefined && item.creation !== undefined ? applyChange(start, item.creation, context).row : start
  const allowed = allowedChange(item, existing?.row, context)
  const { row, transitions, restated } = applyChange(created, allowed, context)
  const own = addressesOf(row).map(({ kind, address }) => ({ kind, address, text: keyText({ kind, address }) }))
  const refusal = refusalOf(locks, row, own, existing === undefined, item)
  if (refusal !== null) return refusal
  if (existing === undefined) locks.capacity -= 1
  if (existing !== undefined) for (const before of addressesOf(start)) locks.owners.delete(keyText(before))
  for (const { text } of own) locks.owners.set(text, row.id)
  const contact = existing ?? lockedContact(null, row)
  contact.changed ||= row !== start
  contact.row = seen(row, item.seen_at)
  const caused = (statement: ConsentTransition): CausedTransition => ({
    ...statement,
    message_id: item.message_id ?? null,
  })
  contact.transitions.push(...transitions.map(caused))
  contact.restated.push(...restated.map(caused))
  if (item.seen_at !== undefined) contact.seen_at = item.seen_at
  locks.contacts.set(row.id, contact)
  return {
    outcome: existing === undefined ? 'created' : row === start && transitions.length === 0 ? 'unchanged' : 'updated',
    row,
    transitions: contact.transitions,
    refused_opt_ins: refusedOptIns(item.change, allowed),
  }
}

/** `<type>.marketing` for marketing alone. */
export function refusedOptIns(requested: ContactChange, allowed: ContactChange): string[] {
  if (requested.consent === allowed.consent) return []
  const left = optIns(allowed)
  return optIns(requested).filter((type) => !left.includes(type))
}

function optIns({ consent }: ContactChange): string[] {
  return Object.entries(consent ?? {}).flatMap(([type, write]) => [
    ...(write?.status !== undefined && write.status !== 'opted_out' ? [type] : []),
    ...(write?.marketing !== undefined && write.marketing !== 'opted_out' ? [marketingType(type)] : []),
  ])
}

function seen(row: ContactRow, at: string | undefined): ContactRow {
  if (at === undefined) return row
  const later = (before: string | null) => (before !== null && before > at ? before : at)
  return { ...row, last_seen_at: later(row.last_seen_at), last_message_at: later(row.last_message_at) }
}

/**
 * Drops changes that the item may not make: opt-outs (bulk sources), the spelling of a known phone (upserts), and those
 * beyond the limits (`drop_excess`).
 */
export function allowedChange(item: SaveItem, existing: ContactRow | undefined, context: SaveContext): ContactChange {
  let change = item.change
  if (existing !== undefined && item.kind === 'upsert') {
    const { phone, ...others } = change
    if (phone === undefined || phone === null || existing.phone_key === phoneKey(phone)) change = others
  }
  if (existing !== undefined && context.keep_opt_outs === true) change = withoutLiftedOptOuts(existing.consent, change)
  return existing !== undefined && context.drop_excess === true ? withinLimits(existing, change) : change
}

function withinLimits({ tags, attributes }: ContactRow, change: ContactChange): ContactChange {
  const known = new Set(tags.map(foldText))
  let tagsLeft = contactLimits.tags_max - tags.length
  let attributesLeft = contactLimits.attributes_max - Object.keys(attributes).length
  const add_tags = change.add_tags?.filter((tag) => known.has(foldText(tag)) || tagsLeft-- > 0)
  const remaining = Object.entries(change.attributes ?? {}).filter(
    ([key]) => Object.hasOwn(attributes, key) || attributesLeft-- > 0,
  )
  return {
    ...change,
    ...(add_tags === undefined ? {} : { add_tags }),
    ...(change.attributes === undefined ? {} : { attributes: Object.fromEntries(remaining) }),
  }
}

export function withoutLiftedOptOuts(consent: ConsentStatuses, change: ContactChange): ContactChange {
  if (change.consent === undefined) return change
  const remaining = Object.entries(change.consent).flatMap(([type, write]) => {
    const left = withoutLift(consent, type, write)
    return left === undefined ? [] : [[type, left] as const]
  })
  return { ...change, consent: Object.fromEntries(remaining) }
}

function withoutLift(
  consent: ConsentStatuses,
  type: string,
  write: ConsentWrite | null,
): ConsentWrite | null | undefined {
  const [stopped, stoppedMarketing] = [
    statusOf(consent, type) === 'opted_out',
    statusOf(consent, marketingType(type)) === 'opted_out',
  ]
  if (write === null) return stopped || stoppedMarketing ? undefined : null
  const { status, marketing, ...proof } = write
  const keepsStatus = status !== undefined && (!stopped || status === 'opted_out')
  const keepsMarketing =
    marketing !== undefined && (marketing === 'opted_out' || (!stoppedMarketing && (!stopped || keepsStatus)))
  if (!keepsStatus && !keepsMarketing) return undefined
  return { ...proof, ...(keepsStatus ? { status } : {}), ...(keepsMarketing ? { marketing } : {}) }
}

type Own = AddressKey & { readonly text: string }

function refusalOf(
  locks: ContactLocks,
  row: ContactRow,
  own: readonly Own[],
  isNew: boolean,
  item: SaveItem,
): SaveResult | null {
  if (own.length === 0 && row.email === null) return { outcome: 'refused', reason: 'address_missing', param: 'phone' }
  for (const key of own) {
    const owner = locks.owners.get(key.text)
    if (owner !== undefined && owner !== row.id)
      return {
        outcome: 'refused',
        reason: 'contact_exists',
        param: key.kind === 'phone' ? 'phone' : `identifiers.${key.kind}`,
        contact_id: owner,
      }
  }
  if (row.tags.length > contactLimits.tags_max)
    return {
      outcome: 'refused',
      reason: 'too_many_tags',
      param: item.change.add_tags === undefined || item.kind === 'upsert' ? 'tags' : 'add',
    }
  if (Object.keys(row.attributes).length > contactLimits.attributes_max)
    return { outcome: 'refused', reason: 'too_many_attributes', param: 'attributes' }
  if (isNew && locks.capacity <= 0) return { outcome: 'refused', reason: 'contact_limit_reached', param: 'phone' }
  return null
}

interface AddressChanges {
  readonly lost: readonly (AddressKey & { readonly contact_id: string })[]
  readonly gained: readonly AddressRow[]
  readonly blocked: readonly AddressRow[]
  readonly gainedBy: ReadonlyMap<string, readonly AddressKey[]>
}

function addressChangesOf(contacts: readonly LockedContact[]): AddressChanges {
  const lost: (AddressKey & { contact_id: string })[] = []
  const gained: AddressRow[] = []
  const blocked: AddressRow[] = []
  for (const { before, row } of contacts) {
    if (before?.phone_key === row.phone_key && before.identifiers === row.identifiers && before.blocked === row.blocked)
      continue
    const addresses = addressesOf(row).map(({ kind, address }) => ({
      kind,
      address,
      contact_id: row.id,
      blocked: row.blocked,
    }))
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
  const gainedBy = new Map<string, AddressKey[]>()
  for (const address of gained) {
    const known = gainedBy.get(address.contact_id)
    if (known === undefined) gainedBy.set(address.contact_id, [address])
    else known.push(address)
  }
  return { lost, gained, blocked, gainedBy }
}

/** Rejects with `WriteConflict` when another contact has one of the new addresses. */
async function writeAddresses(
  tx: Transaction,
  tenant: Tenant,
  { lost, gained, blocked }: AddressChanges,
): Promise<void> {
  try {
    await allInOrder([
      repository.deleteAddresses(tx, tenant, lost),
      repository.blockAddresses(tx, tenant, blocked),
      repository.insertAddresses(tx, tenant, gained),
    ])
  } catch (error) {
    throw violatedConstraint(error) === 'contact_addresses_pkey' ? new WriteConflict() : error
  }
}

async function writeRows(tx: Transaction, tenant: Tenant, contacts: readonly LockedContact[]): Promise<void> {
  const created = contacts.filter(({ before }) => before === null)
  const changed = contacts.filter((contact) => contact.before !== null && contact.changed)
  const onlySeen = contacts.filter((contact) => contact.before !== null && !contact.changed && contact.seen_at !== null)
  const rowsOf = (some: readonly LockedContact[]) => some.map(({ row }) => row)
  await allInOrder([
    repository.insertContacts(tx, tenant, rowsOf(created)),
    repository.updateContacts(tx, tenant, rowsOf(changed)),
    repository.touchSeen(
      tx,
      tenant,
      onlySeen.map(({ row, seen_at }) => ({ id: row.id, at: seen_at! })),
    ),
  ])
}

function consentHistory(
  platform: Platform,
  contacts: readonly LockedContact[],
  context: SaveContext,
): ConsentChangeRow[] {
  const own = context.request_id ?? null
  return contacts.flatMap(({ row, transitions }) =>
    transitions.map(({ channel_type, status, source, message_id, occurred_at, request_id = own }) => ({
      contact_id: row.id,
      id: platform.ids('cns'),
      channel_type,
      status,
      source,
      message_id,
      request_id,
      occurred_at,
    })),
  )
}

async function writeCounters(
  tx: Transaction,
  tenant: Tenant,
  contacts: readonly LockedContact[],
  at: string,
): Promise<void> {
  const counted = new CounterDeltas()
  for (const { before, row } of contacts) counted.contact(before, row)
  await allInOrder([
    repository.defineNames(tx, tenant, counted.tagNames(), counted.attributeTypes(), at),
    insertDeltas(tx, tenant, counted.deltas()),
  ])
}
