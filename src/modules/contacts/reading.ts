/** How contacts are read: one, pages of those that fit a query, and the history of their consent. */
import type { Tenant } from '../../api/caller.ts'
import { isId } from '../../api/ids.ts'
import { missing } from '../../api/problem.ts'
import type { ConsentChange, Contact } from '../../api/resources/contact.ts'
import { isoTime } from '../../lib/clock.ts'
import type { Db } from '../../platform/database/sql.ts'
import { requireCursor, type Page } from '../../platform/http/paging.ts'
import type { Platform } from '../../platform/platform.ts'
import * as consentStore from './consent-store.ts'
import { countContacts, countLabels } from './counter-store.ts'
import { readFilters, type ContactQuery } from './filters.ts'
import { findList } from './list-store.ts'
import { contactObject } from './present.ts'
import type { ContactRow, Windows } from './rows.ts'
import { audienceOfSegment } from './segments/audience.ts'
import * as store from './store.ts'

/** Up to this many contacts are gathered and put in order within some tens of milliseconds; more are met soon when walking from the newest on. */
const fewMax = 20_000

/** 404 `resource_missing` when there is none. */
export async function getContact(platform: Platform, sql: Db, tenant: Tenant, id: string): Promise<Contact> {
  const row = isId('ct', id) ? await store.findContact(sql, tenant, id) : null
  if (row === null) throw missing('contact', id)
  return await shown(platform, sql, tenant, row)
}

export async function listContacts(
  platform: Platform,
  sql: Db,
  tenant: Tenant,
  query: ContactQuery,
  page: Page,
): Promise<Contact[]> {
  const read = await readerOf(platform, sql, tenant, query)
  await requireCursor(
    page.starting_after,
    'No contact has the id',
    async (id) => isId('ct', id) && (await store.idExisted(sql, tenant, id)),
  )
  return await shownAll(platform, sql, tenant, await read(sql, page))
}

/** Reads a page of contacts, newest first, with one row more than asked. */
export type ContactReader = (sql: Db, page: Page) => Promise<ContactRow[]>

/** Reads pages of the contacts that fit a query: of a segment, those who fit it now. */
export async function readerOf(
  platform: Platform,
  sql: Db,
  tenant: Tenant,
  query: ContactQuery,
): Promise<ContactReader> {
  const nothing = () => Promise.resolve([])
  const filters = readFilters(query)
  if (filters === null || (filters.list_id !== undefined && (await findList(sql, tenant, filters.list_id)) === null))
    return nothing
  const audience =
    query.segment === undefined ? undefined : await audienceOfSegment(platform, sql, tenant, query.segment)
  if (audience === null) return nothing
  const expected = await expectedSize(sql, tenant, filters)
  if (expected === 'none') return nothing
  if (audience === undefined)
    return (using, page) => store.listContacts(using, tenant, { filters, segment: undefined, expected }, page)
  return (using, page) =>
    audience.naming(() =>
      store.listContacts(using, tenant, { filters, segment: audience.where(using), expected }, page),
    )
}

/** How many contacts labels or a prefix will find: what the way of searching hangs on. */
async function expectedSize(
  sql: Db,
  tenant: Tenant,
  filters: store.ContactFilters,
): Promise<'none' | store.Search['expected']> {
  if (filters.labels.length > 0) {
    const fewest = Math.min(...(await countLabels(sql, tenant, filters.labels)))
    return fewest === 0 ? 'none' : fewest <= fewMax ? 'few' : 'many'
  }
  if (filters.without.length > 0) {
    const [total, ...others] = [await countContacts(sql, tenant), ...(await countLabels(sql, tenant, filters.without))]
    if (others.reduce((left, count) => left - count, total) <= 0) return 'none'
  }
  if (filters.name_prefix === undefined) return undefined
  return (await store.countPrefix(sql, tenant, filters, fewMax + 1)) > fewMax ? 'many' : 'few'
}

export async function consentHistory(sql: Db, tenant: Tenant, id: string, page: Page): Promise<ConsentChange[]> {
  if (!isId('ct', id) || (await store.findContact(sql, tenant, id)) === null) throw missing('contact', id)
  await requireCursor(page.starting_after, 'This contact has no consent change with the id', (change) =>
    consentStore.consentChangeExists(sql, tenant, id, change),
  )
  return await consentStore.listConsentChanges(sql, tenant, id, page)
}

export const shown = async (platform: Platform, sql: Db, tenant: Tenant, row: ContactRow): Promise<Contact> =>
  (await shownAll(platform, sql, tenant, [row]))[0]!

/** Contacts as the API shows them, with their service windows. */
export async function shownAll(
  platform: Platform,
  sql: Db,
  tenant: Tenant,
  rows: readonly ContactRow[],
): Promise<Contact[]> {
  const windows = await consentStore.findWindows(sql, tenant, rows.flatMap(windowAddresses))
  const at = isoTime(platform.clock.now())
  return rows.map((row) => {
    const own = new Set(windowAddresses(row))
    const open: Windows = {}
    for (const { address, channel_id, expires_at } of windows) {
      if (!own.has(address)) continue
      const before = open[channel_id]?.window_expires_at ?? null
      const until = expires_at >= at ? expires_at : null
      open[channel_id] = { window_expires_at: before !== null && (until === null || before > until) ? before : until }
    }
    return contactObject(row, open)
  })
}

/** Windows are opened on whatsapp alone, whose recipients are phones and business-scoped ids. */
const windowAddresses = (row: ContactRow): string[] =>
  [row.phone_key, row.identifiers['whatsapp']].filter((address) => address !== null && address !== undefined)
