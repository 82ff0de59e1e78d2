/** What follows from written contacts: suppressions and the domain event `opted_out`, the history of consent, counters, and names met for the first time. */
import type { Tenant } from '../../../api/caller.ts'
import type { ConsentEvent } from '../../../api/domain-events.ts'
import type { AttributeType, ConsentSource } from '../../../api/resources/contact.ts'
import {
  type ConsentChangeRow,
  type ContactRow,
  foldText,
  isEmpty,
  labelsOf,
  marketingType,
  statusOf,
} from '../contact.ts'
import { allSent, type Transaction } from '../../../platform/database/sql.ts'
import type { Platform } from '../../../platform/platform.ts'
import * as consentRepository from './repository.ts'
import { insertDeltas, type Delta } from '../counter-repository.ts'
import { phoneChannelTypes, suppressionHash, type AddressKey } from '../addresses.ts'
import type { LockedContact } from '../contact-locks.ts'
import type { CausedTransition, SaveContext } from '../save-item.ts'
import { defineNames } from '../repository.ts'

type Added = ReadonlyMap<string, readonly AddressKey[]>
/** Batches above this size first look whether there is any suppression at all. */
const bulk = 8
/** Channel types on which marketing alone can be stopped. */
const marketingTypes: readonly string[] = ['whatsapp']

/** Everything that suppressions may be written for at an address: its channel types, with `.marketing` where there is such. */
export const suppressibleTypes = (key: AddressKey): readonly string[] =>
  key.kind === 'phone' ? phoneTypes : withMarketing([key.kind])

const withMarketing = (types: readonly string[]): string[] =>
  types.flatMap((type) => (marketingTypes.includes(type) ? [type, marketingType(type)] : [type]))
const phoneTypes = withMarketing(phoneChannelTypes)

/** The contact's addresses on a channel type. */
export function addressesOn(row: Pick<ContactRow, 'phone_key' | 'identifiers'>, type: string): AddressKey[] {
  const base = type.split('.')[0]!
  const keys: AddressKey[] =
    row.phone_key !== null && phoneChannelTypes.includes(base) ? [{ kind: 'phone', address: row.phone_key }] : []
  const identifier = row.identifiers[base]
  return identifier === undefined ? keys : [...keys, { kind: base, address: identifier }]
}

/** Who has opted out of an address before (as a stranger, or as a contact deleted since) stays so under the contact that gets it. */
export async function adoptOptOuts(
  platform: Platform,
  tx: Transaction,
  tenant: Tenant,
  contacts: readonly LockedContact[],
  added: Added,
  context: SaveContext,
): Promise<void> {
  if (added.size === 0 || (added.size > bulk && !(await consentRepository.hasSuppressions(tx, tenant)))) return
  const questions = new Map<string, { contact: LockedContact; type: string }>()
  for (const contact of contacts) {
    for (const key of added.get(contact.row.id) ?? []) {
      for (const type of suppressibleTypes(key))
        questions.set(`${type}|${suppressionHash(platform.secrets, tenant, type, key.address)}`, { contact, type })
    }
  }
  const keys = [...questions.keys()].map((text) => ({
    channel_type: text.slice(0, text.indexOf('|')),
    address_hash: text.slice(text.indexOf('|') + 1),
  }))
  for (const found of await consentRepository.findSuppressions(tx, tenant, keys)) {
    const { contact, type } = questions.get(`${found.channel_type}|${found.address_hash}`)!
    adopt(contact, type, found, context)
  }
}

function adopt(
  contact: LockedContact,
  type: string,
  found: consentRepository.SuppressionRow,
  context: SaveContext,
): void {
  if (statusOf(contact.row.consent, type) === 'opted_out') return
  if (context.keep_opt_outs !== true) {
    if (contact.transitions.some(({ channel_type }) => channel_type === type)) return
    const restated = contact.restated.findLast(({ channel_type }) => channel_type === type)
    if (restated !== undefined) return lift(contact, restated)
  }
  const [base, part] = type.split('.') as [string, string | undefined]
  const before = contact.row.consent[base]
  const cause = { source: found.reason, updated_at: found.created_at }
  const state =
    part === undefined
      ? { ...before, status: 'opted_out' as const, ...cause }
      : { status: 'unknown' as const, ...cause, ...before, marketing: 'opted_out' as const }
  contact.changed = true
  contact.adopted.push(type)
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

/** What was said of the consent lifts the opt-out of a new address, although the contact's own stays as it was: a line of history proves it. */
function lift(contact: LockedContact, said: CausedTransition): void {
  contact.transitions.push({ ...said, before: 'opted_out' })
  const [type] = said.channel_type.split('.') as [string]
  const state = contact.row.consent[type]
  if (state === undefined) return
  contact.row = {
    ...contact.row,
    consent: { ...contact.row.consent, [type]: { ...state, source: said.source, updated_at: said.occurred_at } },
  }
}

/** Writes suppressions, publishes new opt-outs, keeps the history and counts. */
export async function settleConsequences(
  platform: Platform,
  tx: Transaction,
  tenant: Tenant,
  contacts: readonly LockedContact[],
  added: Added,
  context: SaveContext,
): Promise<void> {
  await settleSuppressions(platform, tx, tenant, contacts, added, context)
  const history: ConsentChangeRow[] = []
  const request_id = context.request_id ?? null
  for (const { row, transitions } of contacts) {
    for (const { channel_type, status, source, message_id, occurred_at, request_id: cause = request_id } of transitions)
      history.push({
        contact_id: row.id,
        id: platform.ids('cns'),
        channel_type,
        status,
        source,
        message_id,
        request_id: cause,
        occurred_at,
      })
  }
  const counted = new Counted()
  for (const { before, row } of contacts) counted.contact(before, row)
  await allSent([
    consentRepository.insertConsentChanges(tx, tenant, history, context.at),
    defineNames(tx, tenant, counted.tagNames(), counted.attributeTypes(), context.at),
    insertDeltas(tx, tenant, counted.deltas()),
  ])
}

async function settleSuppressions(
  platform: Platform,
  tx: Transaction,
  tenant: Tenant,
  contacts: readonly LockedContact[],
  added: Added,
  context: SaveContext,
): Promise<void> {
  const stops: Stop[] = []
  const lifts: { channel_type: string; key: AddressKey }[] = []
  const lifting =
    contacts.some(({ transitions }) => transitions.length > 0) &&
    (contacts.length <= bulk || (await consentRepository.hasSuppressions(tx, tenant)))
  for (const { row, transitions } of contacts) {
    if (!anyOptOut(row) && (!lifting || transitions.length === 0)) continue
    const changed = new Map(transitions.map((transition) => [transition.channel_type, transition]))
    for (const [channel_type, transition] of changed) {
      const stopped = statusOf(row.consent, channel_type) === 'opted_out'
      for (const key of addressesOn(row, channel_type)) {
        if (stopped) stops.push({ ...transition, key, contact_id: row.id })
        else if (lifting) lifts.push({ channel_type, key })
      }
    }
    for (const key of added.get(row.id) ?? []) {
      for (const channel_type of suppressibleTypes(key)) {
        if (changed.has(channel_type) || statusOf(row.consent, channel_type) !== 'opted_out') continue
        const { source, updated_at } = row.consent[channel_type.split('.')[0]!]!
        stops.push({ channel_type, key, source, occurred_at: updated_at, message_id: null, contact_id: row.id })
      }
    }
  }
  await consentRepository.deleteSuppressions(
    tx,
    tenant,
    lifts.map(({ channel_type, key }) => ({
      channel_type,
      address_hash: suppressionHash(platform.secrets, tenant, channel_type, key.address),
    })),
  )
  await stop(platform, tx, tenant, stops, context)
}

/** True when the contact has stopped anything. */
function anyOptOut({ consent }: ContactRow): boolean {
  for (const type in consent)
    if (consent[type]!.status === 'opted_out' || consent[type]!.marketing === 'opted_out') return true
  return false
}

/** An opt-out of an address. */
export interface Stop {
  /** `<type>.marketing` for marketing alone. */
  readonly channel_type: string
  readonly key: AddressKey
  readonly source: ConsentSource
  /** ISO 8601. */
  readonly occurred_at: string
  readonly message_id: string | null
  /** null: a stranger. */
  readonly contact_id: string | null
}

/** Suppresses addresses and publishes the domain event `opted_out` of those that were not before; resolves to these. Marketing alone is no opt-out of the channel type. */
export async function stop(
  platform: Platform,
  tx: Transaction,
  tenant: Tenant,
  stops: readonly Stop[],
  context: SaveContext,
): Promise<Stop[]> {
  const byHash = new Map(
    stops.map((one) => [
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
  const fresh = (await consentRepository.insertSuppressions(tx, tenant, rows)).map((key) =>
    byHash.get(`${key.channel_type}|${key.address_hash}`)!,
  )
  const events: ConsentEvent[] = fresh
    .filter(({ channel_type }) => !channel_type.includes('.'))
    .map(({ channel_type, key, contact_id }) => ({
      account_id: tenant.account_id,
      mode: tenant.mode,
      channel_type,
      address: key.address,
      contact_id,
    }))
  await platform.domain_events.publish(tx, 'opted_out', events)
  return fresh
}

type CountedFields = Pick<ContactRow, 'tags' | 'consent' | 'attributes'>
const nobody: CountedFields = { tags: [], consent: {}, attributes: {} }

/** Counts what contacts gained and lost. */
export class Counted {
  readonly #deltas = new Map<string, { kind: Delta['kind']; key: string; name: string; delta: number }>()
  readonly #tags = new Map<string, string>()
  readonly #attributes = new Map<string, AttributeType>()

  contact(before: ContactRow | null, after: ContactRow | null): void {
    this.add('contact', '', '', (after === null ? 0 : 1) - (before === null ? 0 : 1))
    this.#difference(before ?? nobody, after ?? nobody)
  }

  #difference(before: CountedFields, after: CountedFields): void {
    if (before.tags !== after.tags) {
      for (const tag of before.tags) this.add('tag', foldText(tag), '', -1)
      for (const tag of after.tags) {
        const key = foldText(tag)
        this.add('tag', key, '', 1)
        if (!this.#tags.has(key)) this.#tags.set(key, tag)
      }
    }
    if (before.consent !== after.consent) {
      this.#consents(before, -1)
      this.#consents(after, 1)
    }
    if (before.attributes === after.attributes) return
    for (const key in before.attributes) this.add('attribute', key, typeof before.attributes[key], -1)
    for (const key in after.attributes) {
      const type = typeof after.attributes[key]
      this.add('attribute', key, type, 1)
      if (!this.#attributes.has(key)) this.#attributes.set(key, type as AttributeType)
    }
  }

  /** `<channel type>:<status>` of every consent that is known. */
  #consents({ consent }: CountedFields, delta: number): void {
    if (isEmpty(consent)) return
    for (const label of labelsOf({ tags: [], consent })) this.add('consent', label.slice(2), '', delta)
  }

  add(kind: Delta['kind'], key: string, name: string, delta: number): void {
    const text = `${kind}|${name}|${key}`
    const entry = this.#deltas.get(text)
    if (entry === undefined) this.#deltas.set(text, { kind, key, name, delta })
    else entry.delta += delta
  }

  deltas = (): Delta[] => [...this.#deltas.values()].filter(({ delta }) => delta !== 0)
  tagNames = (): { key: string; name: string }[] => [...this.#tags].map(([key, name]) => ({ key, name }))
  attributeTypes = (): { key: string; type: AttributeType }[] =>
    [...this.#attributes].map(([key, type]) => ({ key, type }))
}
