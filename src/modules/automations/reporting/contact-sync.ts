/** The contacts that customers of reported events are: saved where their source is set so, else found (behaviour: integrations 3.9, 3.10). */
import { tenantOf, type Tenant } from '../../../api/caller.ts'
import { normalisePhone, phoneKey } from '../../../lib/phone.ts'
import type { Db, Transaction } from '../../../platform/database/sql.ts'
import type { ContactChange, ContactRow, ContactService, SaveContext, SaveItem } from '../../contacts/service.ts'
import type { ReportingSource } from '../sources/store.ts'
import type { Report } from './reported.ts'

/** The channel type on which a contact can agree to marketing, or stop it, apart from everything else. */
const marketingOn = 'whatsapp'

type Contacts = Pick<ContactService, 'keepable' | 'save' | 'sync' | 'ofPhones'>

/** Who has the phones of customers, by tenant and key of the phone. */
export type Owners = Map<string, Map<string, ContactRow>>

const tenantText = ({ account_id, mode }: Tenant): string => `${account_id} ${mode}`

const byTenant = (reports: readonly Report[]): Map<string, Report[]> =>
  Map.groupBy(
    reports.filter(({ event }) => event.unmapped !== true && phoneOf(event.customer) !== null),
    ({ event }) => tenantText(event.source),
  )

const keyOf = ({ event }: Report): string => phoneKey(phoneOf(event.customer)!)

export async function ownersOf(contacts: Contacts, tx: Transaction, reports: readonly Report[]): Promise<Owners> {
  const read = [...byTenant(reports)].map(
    async ([text, own]) =>
      [text, await contacts.ofPhones(tx, tenantOf(own[0]!.event.source), [...new Set(own.map(keyOf))])] as const,
  )
  return new Map(await Promise.all(read))
}

/** The contact of each report whose customer has a phone; in the order of tenants, which is the same for every process, since contacts stay locked until the transaction ends. */
export async function contactsOf(
  contacts: Contacts,
  tx: Transaction,
  reports: readonly Report[],
  sources: ReadonlyMap<string, ReportingSource>,
  owners: Owners,
): Promise<Map<Report, ContactRow>> {
  const found = new Map<Report, ContactRow>()
  for (const [text, own] of [...byTenant(reports)].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    const known = owners.get(text)!
    const saving = own.filter(({ event }) => sources.get(event.source.id)!.contact_sync)
    for (const [report, row] of await saved(contacts, tx, tenantOf(own[0]!.event.source), saving, known))
      known.set(keyOf(report), row)
    for (const report of own) {
      const row = known.get(keyOf(report))
      if (row !== undefined) found.set(report, row)
    }
  }
  return found
}

/** The contact as `contactsOf` would leave it, for one report that nothing is saved of. */
export async function foreseenContact(
  contacts: Pick<ContactService, 'keepable' | 'foreseen' | 'ofPhones'>,
  sql: Db,
  report: Report,
  source: Tenant & Pick<ReportingSource, 'contact_sync'>,
): Promise<ContactRow | undefined> {
  const phone = phoneOf(report.event.customer)
  if (phone === null) return undefined
  const tenant = tenantOf(source)
  if (source.contact_sync) {
    const change = changeOf(contacts, report)
    const context = contextOf(report.at)
    const row = await contacts.foreseen(sql, tenant, change, context)
    if (row !== null) return row
  }
  return (await contacts.ofPhones(sql, tenant, [phoneKey(phone)])).get(phoneKey(phone))
}

const contextOf = (at: string): SaveContext => ({ at, source: 'integration', keep_opt_outs: true, only_fitting: true })

/** E.164, where the customer has a phone that can be read. */
export const phoneOf = ({ phone }: { readonly phone?: string | null }): string | null =>
  phone ? normalisePhone(phone) : null

/** Saves contacts by what events tell; one that may not be saved, at the cap say, has none. */
async function saved(
  contacts: Contacts,
  tx: Transaction,
  tenant: Tenant,
  reports: readonly Report[],
  owners: ReadonlyMap<string, ContactRow>,
): Promise<[Report, ContactRow][]> {
  if (reports.length === 0) return []
  const context = contextOf(reports.at(-1)!.at)
  const results = await contacts.sync(
    tx,
    tenant,
    reports.map((report) => ({ kind: 'upsert', change: changeOf(contacts, report) })),
    context,
    owners,
  )
  const rows = reports.flatMap((report, index): [Report, ContactRow][] => {
    const result = results[index]!
    return result.outcome === 'refused' ? [] : [[report, result.row]]
  })
  return await withdrawn(contacts, tx, tenant, rows, context, owners)
}

function changeOf(
  contacts: Pick<Contacts, 'keepable'>,
  { event: { customer, consent, consent_passing }, at }: Report,
): ContactChange {
  const { external_id, phone, email, first_name, last_name, locale, tags, attributes } = customer
  const change = contacts.keepable({ external_id, phone, email, first_name, last_name, locale, tags, attributes }, at)
  return consent.marketing === true && consent_passing !== true
    ? { ...change, consent: { [marketingOn]: { marketing: 'opted_in' } } }
    : change
}

/**
 * A customer who agreed to marketing and whose source says now that he does not has withdrawn it. One who never agreed has refused nothing: his source may
 * say that he does later on. Events of one group count one after the other: a later word of it undoes no withdrawal.
 */
async function withdrawn(
  contacts: Contacts,
  tx: Transaction,
  tenant: Tenant,
  rows: [Report, ContactRow][],
  context: SaveContext,
  owners: ReadonlyMap<string, ContactRow>,
): Promise<[Report, ContactRow][]> {
  const hasAgreed = (row: ContactRow | undefined): boolean => row?.consent[marketingOn]?.marketing === 'opted_in'
  const saysYes = new Set(
    rows.flatMap(([{ event }, { id }]) =>
      event.consent.marketing === true && event.consent_passing !== true ? [id] : [],
    ),
  )
  // of whom no event of the group says yes, the row as it was saved tells it, too: owners were read before it was locked
  const agreed = new Set(
    rows.flatMap(([report, row]) =>
      hasAgreed(owners.get(keyOf(report))) || (hasAgreed(row) && !saysYes.has(row.id)) ? [row.id] : [],
    ),
  )
  const stopped = new Set<string>()
  for (const [{ event }, row] of rows) {
    if (event.consent.marketing === null || event.consent_passing === true || !hasAgreed(row)) continue
    if (event.consent.marketing) agreed.add(row.id)
    else if (agreed.has(row.id)) stopped.add(row.id)
  }
  if (stopped.size === 0) return rows
  const change: ContactChange = { consent: { [marketingOn]: { marketing: 'opted_out' } } }
  const results = await contacts.save(
    tx,
    tenant,
    [...stopped].map((id): SaveItem => ({ kind: 'update', id, change })),
    context,
  )
  const changed = new Map(
    results.flatMap((result) => (result.outcome === 'refused' ? [] : [[result.row.id, result.row]])),
  )
  return rows.map(([report, row]) => [report, changed.get(row.id) ?? row])
}
