/** Suppressions: opt-outs by address, which outlive contacts (behaviour: consent 1). */
import type { Tenant } from '../../../api/caller.ts'
import type { ConsentEvent } from '../../../api/domain-events.ts'
import type { ConsentSource, ConsentStatus } from '../../../api/resources/contact.ts'
import type { Transaction } from '../../../platform/database/sql.ts'
import type { Platform } from '../../../platform/platform.ts'
import { phoneChannelTypes, suppressionHash, type AddressKey } from '../addresses.ts'
import type { LockedContact } from '../contact-locks.ts'
import { marketingType, statusOf, type ContactRow } from '../contact.ts'
import type { CausedTransition, SaveContext } from '../save-item.ts'
import * as repository from './repository.ts'

type GainedAddresses = ReadonlyMap<string, readonly AddressKey[]>

const bulk = 8
const marketingTypes: readonly string[] = ['whatsapp']

export const suppressibleTypes = (key: AddressKey): readonly string[] =>
  key.kind === 'phone' ? phoneTypes : withMarketing([key.kind])

const withMarketing = (types: readonly string[]): string[] =>
  types.flatMap((type) => (marketingTypes.includes(type) ? [type, marketingType(type)] : [type]))
const phoneTypes = withMarketing(phoneChannelTypes)

export function addressesOn(row: Pick<ContactRow, 'phone_key' | 'identifiers'>, type: string): AddressKey[] {
  const base = type.split('.')[0]!
  const keys: AddressKey[] =
    row.phone_key !== null && phoneChannelTypes.includes(base) ? [{ kind: 'phone', address: row.phone_key }] : []
  const identifier = row.identifiers[base]
  return identifier === undefined ? keys : [...keys, { kind: base, address: identifier }]
}

export async function inheritOptOuts(
  platform: Platform,
  tx: Transaction,
  tenant: Tenant,
  contacts: readonly LockedContact[],
  gained: GainedAddresses,
  context: SaveContext,
): Promise<void> {
  if (gained.size === 0 || (gained.size > bulk && !(await repository.hasSuppressions(tx, tenant)))) return
  const candidates = new Map<string, { contact: LockedContact; type: string }>()
  for (const contact of contacts) {
    for (const key of gained.get(contact.row.id) ?? []) {
      for (const type of suppressibleTypes(key))
        candidates.set(`${type}|${suppressionHash(platform.secrets, tenant, type, key.address)}`, { contact, type })
    }
  }
  const keys = [...candidates.keys()].map((text) => ({
    channel_type: text.slice(0, text.indexOf('|')),
    address_hash: text.slice(text.indexOf('|') + 1),
  }))
  for (const found of await repository.findSuppressions(tx, tenant, keys)) {
    const { contact, type } = candidates.get(`${found.channel_type}|${found.address_hash}`)!
    inheritOptOut(contact, type, found, context)
  }
}

function inheritOptOut(
  contact: LockedContact,
  type: string,
  found: repository.SuppressionRow,
  context: SaveContext,
): void {
  if (statusOf(contact.row.consent, type) === 'opted_out') return
  if (context.keep_opt_outs !== true) {
    if (contact.transitions.some(({ channel_type }) => channel_type === type)) return
    const restated = contact.restated.findLast(({ channel_type }) => channel_type === type)
    if (restated !== undefined) return liftOptOut(contact, restated)
  }
  const [base, part] = type.split('.') as [string, string | undefined]
  const before = contact.row.consent[base]
  const cause = { source: found.reason, updated_at: found.created_at }
  const state =
    part === undefined
      ? { ...before, status: 'opted_out' as const, ...cause }
      : { status: 'unknown' as const, ...cause, ...before, marketing: 'opted_out' as const }
  contact.changed = true
  contact.inherited_opt_outs.push(type)
  contact.transitions = contact.transitions.filter((transition) => transition.channel_type !== type)
  contact.transitions.push({
    channel_type: type,
    before: 'unknown',
    status: 'opted_out',
    source: found.reason,
    occurred_at: found.created_at,
    message_id: found.message_id,
    request_id: found.request_id,
  })
  contact.row = { ...contact.row, consent: { ...contact.row.consent, [base]: state }, updated_at: context.at }
}

function liftOptOut(contact: LockedContact, stated: CausedTransition): void {
  contact.transitions.push({ ...stated, before: 'opted_out' })
  const [type] = stated.channel_type.split('.') as [string]
  const state = contact.row.consent[type]
  if (state === undefined) return
  contact.row = {
    ...contact.row,
    consent: { ...contact.row.consent, [type]: { ...state, source: stated.source, updated_at: stated.occurred_at } },
  }
}

export async function updateSuppressions(
  platform: Platform,
  tx: Transaction,
  tenant: Tenant,
  contacts: readonly LockedContact[],
  gained: GainedAddresses,
  context: SaveContext,
): Promise<void> {
  const optOuts: OptOut[] = []
  const lifted: { channel_type: string; key: AddressKey }[] = []
  const lifting =
    contacts.some(({ transitions }) => transitions.length > 0) &&
    (contacts.length <= bulk || (await repository.hasSuppressions(tx, tenant)))
  for (const { row, transitions } of contacts) {
    if (!hasAnyOptOut(row) && (!lifting || transitions.length === 0)) continue
    const changed = new Map(transitions.map((transition) => [transition.channel_type, transition]))
    for (const [channel_type, transition] of changed) {
      const isOptedOut = statusOf(row.consent, channel_type) === 'opted_out'
      for (const key of addressesOn(row, channel_type)) {
        if (isOptedOut) optOuts.push({ ...transition, key, contact_id: row.id })
        else if (lifting) lifted.push({ channel_type, key })
      }
    }
    for (const key of gained.get(row.id) ?? []) {
      for (const channel_type of suppressibleTypes(key)) {
        if (changed.has(channel_type) || statusOf(row.consent, channel_type) !== 'opted_out') continue
        const { source, updated_at } = row.consent[channel_type.split('.')[0]!]!
        optOuts.push({ channel_type, key, source, occurred_at: updated_at, message_id: null, contact_id: row.id })
      }
    }
  }
  await repository.deleteSuppressions(
    tx,
    tenant,
    lifted.map(({ channel_type, key }) => ({
      channel_type,
      address_hash: suppressionHash(platform.secrets, tenant, channel_type, key.address),
    })),
  )
  await suppress(platform, tx, tenant, optOuts, context)
}

function hasAnyOptOut({ consent }: ContactRow): boolean {
  for (const type in consent)
    if (consent[type]!.status === 'opted_out' || consent[type]!.marketing === 'opted_out') return true
  return false
}

interface OptOut {
  readonly channel_type: string
  readonly key: AddressKey
  readonly source: ConsentSource
  readonly occurred_at: string
  readonly message_id: string | null
  /** null if no contact has the address. */
  readonly contact_id: string | null
}

async function suppress(
  platform: Platform,
  tx: Transaction,
  tenant: Tenant,
  optOuts: readonly OptOut[],
  context: SaveContext,
): Promise<boolean> {
  const byHash = new Map(
    optOuts.map((one) => [
      `${one.channel_type}|${suppressionHash(platform.secrets, tenant, one.channel_type, one.key.address)}`,
      one,
    ]),
  )
  const rows = [...byHash].map(([text, { channel_type, source, occurred_at, message_id }]) => ({
    channel_type,
    address_hash: text.slice(text.indexOf('|') + 1),
    reason: source,
    message_id,
    request_id: context.request_id ?? null,
    created_at: occurred_at,
  }))
  const inserted = (await repository.insertSuppressions(tx, tenant, rows)).map((key) =>
    byHash.get(`${key.channel_type}|${key.address_hash}`)!,
  )
  const events: ConsentEvent[] = inserted
    .filter(({ channel_type }) => !channel_type.includes('.'))
    .map(({ channel_type, key, contact_id }) => ({
      account_id: tenant.account_id,
      mode: tenant.mode,
      channel_type,
      address: key.address,
      contact_id,
    }))
  await platform.domain_events.publish(tx, 'opted_out', events)
  return inserted.length > 0
}

export interface AddressConsent {
  readonly channel_type: string
  readonly key: AddressKey
  readonly status: ConsentStatus
  readonly source: ConsentSource
  readonly occurred_at: string
  readonly message_id: string | null
}

/** Returns whether it changed. A provider's late report does not lift a later opt-out. */
export async function setAddressConsent(
  platform: Platform,
  tx: Transaction,
  tenant: Tenant,
  consent: AddressConsent,
  context: SaveContext,
): Promise<boolean> {
  if (consent.status === 'opted_out')
    return await suppress(platform, tx, tenant, [{ ...consent, contact_id: null }], context)
  const { channel_type, key, source, occurred_at } = consent
  const address_hash = suppressionHash(platform.secrets, tenant, channel_type, key.address)
  const until = source === 'provider' ? { until: occurred_at } : {}
  return (await repository.deleteSuppressions(tx, tenant, [{ channel_type, address_hash, ...until }])) > 0
}
