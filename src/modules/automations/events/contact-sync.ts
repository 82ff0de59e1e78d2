/**
 * Customers' contacts: saved if the source has `contact_sync`, otherwise only looked up (behaviour: integrations 3.9,
 * 3.10).
 */
import { tenantOf, type Tenant } from '../../../api/caller.ts'
import { normalisePhone, phoneKey } from '../../../lib/phone.ts'
import type { Db, Transaction } from '../../../platform/database/sql.ts'
import type { ContactChange, ContactRow, ContactService, SaveContext, SaveItem } from '../../contacts/service.ts'
import type { ReportingSource } from '../sources/repository.ts'
import type { PendingEvent } from './event.ts'

const marketingOn = 'whatsapp'

type Contacts = Pick<ContactService, 'sanitize' | 'save' | 'sync' | 'findByPhones'>

export type Owners = Map<string, Map<string, ContactRow>>

const tenantText = ({ account_id, mode }: Tenant): string => `${account_id} ${mode}`

const byTenant = (batch: readonly PendingEvent[]): Map<string, PendingEvent[]> =>
  Map.groupBy(
    batch.filter(({ event }) => event.unmapped !== true && phoneOf(event.customer) !== null),
    ({ event }) => tenantText(event.source),
  )

const keyOf = ({ event }: PendingEvent): string => phoneKey(phoneOf(event.customer)!)

export async function ownersOf(contacts: Contacts, tx: Transaction, batch: readonly PendingEvent[]): Promise<Owners> {
  const read = [...byTenant(batch)].map(
    async ([text, own]) =>
      [text, await contacts.findByPhones(tx, tenantOf(own[0]!.event.source), [...new Set(own.map(keyOf))])] as const,
  )
  return new Map(await Promise.all(read))
}

/** Tenants are visited in one order, because contacts stay locked. */
export async function contactsOf(
  contacts: Contacts,
  tx: Transaction,
  batch: readonly PendingEvent[],
  sources: ReadonlyMap<string, ReportingSource>,
  owners: Owners,
): Promise<Map<PendingEvent, ContactRow>> {
  const found = new Map<PendingEvent, ContactRow>()
  for (const [text, own] of [...byTenant(batch)].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    const known = owners.get(text)!
    const synced = own.filter(({ event }) => sources.get(event.source.id)!.contact_sync)
    for (const [pending, row] of await save(contacts, tx, tenantOf(own[0]!.event.source), synced, known))
      known.set(keyOf(pending), row)
    for (const pending of own) {
      const row = known.get(keyOf(pending))
      if (row !== undefined) found.set(pending, row)
    }
  }
  return found
}

export async function expectedContact(
  contacts: Pick<ContactService, 'sanitize' | 'previewUpsert' | 'findByPhones'>,
  sql: Db,
  pending: PendingEvent,
  source: Tenant & Pick<ReportingSource, 'contact_sync'>,
): Promise<ContactRow | undefined> {
  const phone = phoneOf(pending.event.customer)
  if (phone === null) return undefined
  const tenant = tenantOf(source)
  if (source.contact_sync) {
    const row = await contacts.previewUpsert(sql, tenant, changeOf(contacts, pending), contextOf(pending.at))
    if (row !== null) return row
  }
  return (await contacts.findByPhones(sql, tenant, [phoneKey(phone)])).get(phoneKey(phone))
}

const contextOf = (at: string): SaveContext => ({ at, source: 'integration', keep_opt_outs: true, drop_excess: true })

/** null without a valid phone number. */
export const phoneOf = ({ phone }: { readonly phone?: string | null }): string | null =>
  phone ? normalisePhone(phone) : null

async function save(
  contacts: Contacts,
  tx: Transaction,
  tenant: Tenant,
  batch: readonly PendingEvent[],
  owners: ReadonlyMap<string, ContactRow>,
): Promise<[PendingEvent, ContactRow][]> {
  if (batch.length === 0) return []
  const context = contextOf(batch.at(-1)!.at)
  const results = await contacts.sync(
    tx,
    tenant,
    batch.map((pending) => ({ kind: 'upsert', change: changeOf(contacts, pending) })),
    context,
    owners,
  )
  const rows = batch.flatMap((pending, index): [PendingEvent, ContactRow][] => {
    const result = results[index]!
    return result.outcome === 'refused' ? [] : [[pending, result.row]]
  })
  return await withdrawConsent(contacts, tx, tenant, rows, context, owners)
}

function changeOf(
  contacts: Pick<Contacts, 'sanitize'>,
  { event: { customer, consent, consent_this_event_only }, at }: PendingEvent,
): ContactChange {
  const { external_id, phone, email, first_name, last_name, locale, tags, attributes } = customer
  const change = contacts.sanitize({ external_id, phone, email, first_name, last_name, locale, tags, attributes }, at)
  return consent.marketing === true && consent_this_event_only !== true
    ? { ...change, consent: { [marketingOn]: { marketing: 'opted_in' } } }
    : change
}

/** Only customers who agreed before are opted out. A later yes in the batch does not undo a withdrawal. */
async function withdrawConsent(
  contacts: Contacts,
  tx: Transaction,
  tenant: Tenant,
  rows: [PendingEvent, ContactRow][],
  context: SaveContext,
  owners: ReadonlyMap<string, ContactRow>,
): Promise<[PendingEvent, ContactRow][]> {
  const hasAgreed = (row: ContactRow | undefined): boolean => row?.consent[marketingOn]?.marketing === 'opted_in'
  const saysYes = new Set(
    rows.flatMap(([{ event }, { id }]) =>
      event.consent.marketing === true && event.consent_this_event_only !== true ? [id] : [],
    ),
  )
  // owners were read before the contact was locked; the saved row shows earlier consent too, unless this batch gave it
  const agreed = new Set(
    rows.flatMap(([pending, row]) =>
      hasAgreed(owners.get(keyOf(pending))) || (hasAgreed(row) && !saysYes.has(row.id)) ? [row.id] : [],
    ),
  )
  const withdrawn = new Set<string>()
  for (const [{ event }, row] of rows) {
    if (event.consent.marketing === null || event.consent_this_event_only === true || !hasAgreed(row)) continue
    if (event.consent.marketing) agreed.add(row.id)
    else if (agreed.has(row.id)) withdrawn.add(row.id)
  }
  if (withdrawn.size === 0) return rows
  const change: ContactChange = { consent: { [marketingOn]: { marketing: 'opted_out' } } }
  const results = await contacts.save(
    tx,
    tenant,
    [...withdrawn].map((id): SaveItem => ({ kind: 'update', id, change })),
    context,
  )
  const changed = new Map(
    results.flatMap((result) => (result.outcome === 'refused' ? [] : [[result.row.id, result.row]])),
  )
  return rows.map(([pending, row]) => [pending, changed.get(row.id) ?? row])
}
