/** Reads contacts, pages of contacts with filters, and consent history. */
import type { Tenant } from '../../api/caller.ts'
import { isId } from '../../api/ids.ts'
import { missing, invalid } from '../../api/problem.ts'
import { type ConsentChange, type Contact, consentStatuses, consentTypes } from '../../api/resources/contact.ts'
import { isoTime } from '../../lib/clock.ts'
import type { Db } from '../../platform/database/sql.ts'
import { requireCursor, type Page } from '../../platform/http/paging.ts'
import type { Platform } from '../../platform/platform.ts'
import * as consentRepository from './consent/repository.ts'
import { countContacts, countLabels } from './counter-repository.ts'
import { findList } from './lists/repository.ts'
import { contactObject, type ContactRow, type Windows, consentLabel, foldText, tagLabel } from './contact.ts'
import { audienceOfSegment } from './segments/audience.ts'
import * as repository from './repository.ts'
import { parseDateTime } from '../../api/times.ts'
import { idFloor } from '../../lib/ids.ts'
import { normalisePhone, phoneKey } from '../../lib/phone.ts'
import type { ContactFilters } from './repository.ts'

/** Up to this many matches are collected and sorted; for more, scanning from the newest contact is faster. */
const fewMax = 20_000

export async function getContact(platform: Platform, sql: Db, tenant: Tenant, id: string): Promise<Contact> {
  const row = isId('ct', id) ? await repository.findContact(sql, tenant, id) : null
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
    async (id) => isId('ct', id) && (await repository.idExisted(sql, tenant, id)),
  )
  return await contactObjects(platform, sql, tenant, await read(sql, page))
}

export type ContactReader = (sql: Db, page: Page) => Promise<ContactRow[]>

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
    return (using, page) => repository.listContacts(using, tenant, { filters, segment: undefined, expected }, page)
  return (using, page) =>
    audience.withNarrowingHint(() =>
      repository.listContacts(using, tenant, { filters, segment: audience.where(using), expected }, page),
    )
}

async function expectedSize(
  sql: Db,
  tenant: Tenant,
  filters: repository.ContactFilters,
): Promise<'none' | repository.Search['expected']> {
  if (filters.labels.length > 0) {
    const fewest = Math.min(...(await countLabels(sql, tenant, filters.labels)))
    return fewest === 0 ? 'none' : fewest <= fewMax ? 'few' : 'many'
  }
  if (filters.without.length > 0) {
    const [total, ...others] = [await countContacts(sql, tenant), ...(await countLabels(sql, tenant, filters.without))]
    if (others.reduce((left, count) => left - count, total) <= 0) return 'none'
  }
  if (filters.name_prefix === undefined) return undefined
  return (await repository.countPrefix(sql, tenant, filters, fewMax + 1)) > fewMax ? 'many' : 'few'
}

export async function consentHistory(sql: Db, tenant: Tenant, id: string, page: Page): Promise<ConsentChange[]> {
  if (!isId('ct', id) || (await repository.findContact(sql, tenant, id)) === null) throw missing('contact', id)
  await requireCursor(page.starting_after, 'This contact has no consent change with the id', (change) =>
    consentRepository.consentChangeExists(sql, tenant, id, change),
  )
  return await consentRepository.listConsentChanges(sql, tenant, id, page)
}

export const shown = async (platform: Platform, sql: Db, tenant: Tenant, row: ContactRow): Promise<Contact> =>
  (await contactObjects(platform, sql, tenant, [row]))[0]!

export async function contactObjects(
  platform: Platform,
  sql: Db,
  tenant: Tenant,
  rows: readonly ContactRow[],
): Promise<Contact[]> {
  const windows = await consentRepository.findWindows(sql, tenant, rows.flatMap(windowAddresses))
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

const windowAddresses = (row: ContactRow): string[] =>
  [row.phone_key, row.identifiers['whatsapp']].filter((address) => address !== null && address !== undefined)

export interface ContactQuery {
  readonly phone?: string
  readonly email?: string
  readonly external_id?: string
  readonly tag?: string
  readonly list?: string
  readonly segment?: string
  readonly consent?: string
  readonly query?: string
  readonly created_after?: string
  readonly created_before?: string
  readonly updated_after?: string
}

/** An ID may be older than its row's `created_at` by up to this much. */
const idSlackMs = 60_000

type Writable<T> = { -readonly [K in keyof T]: T[K] }

/** Null when nothing can match. Throws for a malformed `consent` or time. */
function readFilters(query: ContactQuery): ContactFilters | null {
  const labels: string[] = []
  const without: string[] = []
  if (query.tag !== undefined) labels.push(tagLabel(query.tag.trim()))
  if (query.consent !== undefined) readConsent(query.consent, labels, without)
  const filters: Writable<ContactFilters> = { labels, without }
  readTimes(query, filters)
  if (query.email !== undefined) filters.email_key = foldText(query.email.trim().replaceAll(' ', '+')) // an unescaped `+`
  if (query.external_id !== undefined) filters.external_id = query.external_id
  if (query.query !== undefined) readPrefix(query.query, filters)
  if (query.phone !== undefined) {
    const phone = readPhone(query.phone)
    if (phone === null) return null
    filters.phone_key = phoneKey(phone)
  }
  if (query.list !== undefined) {
    if (!isId('lst', query.list)) return null
    filters.list_id = query.list
  }
  if (query.segment !== undefined && !isId('seg', query.segment)) return null
  return filters
}

/** An unescaped `+` arrives as a space, or not at all. */
const readPhone = (text: string): string | null => normalisePhone(text) ?? normalisePhone(`+${text.trim()}`)

function readConsent(text: string, labels: string[], without: string[]): void {
  const [type, status, ...others] = text.split(':')
  const known = consentStatuses.find((word) => word === status)
  if (type === undefined || !consentTypes.includes(type) || known === undefined || others.length > 0) {
    throw invalid(
      'consent',
      'invalid_value',
      `\`consent\` must be a channel type and one of ${consentStatuses.join(', ')}, such as sms:opted_in.`,
    )
  }
  if (known !== 'unknown') labels.push(consentLabel(type, known))
  else without.push(consentLabel(type, 'opted_in'), consentLabel(type, 'opted_out'))
}

function readPrefix(text: string, filters: Writable<ContactFilters>): void {
  if (text.trim() === '')
    throw invalid(
      'query',
      'invalid_value',
      '`query` is blank. Give it the beginning of a name, phone number or e-mail address, or leave it out.',
    )
  filters.name_prefix = foldText(text.trim())
  const digits = text.replace(/[\s.()/-]/g, '')
  if (/^\+?\d{1,15}$/.test(digits)) filters.phone_prefix = digits.startsWith('+') ? digits : `+${digits}`
}

function readTimes(query: ContactQuery, filters: Writable<ContactFilters>): void {
  for (const name of ['created_after', 'created_before', 'updated_after'] as const) {
    const text = query[name]
    if (text === undefined) continue
    const time = parseDateTime(text)
    if (time === null)
      throw invalid(
        name,
        'invalid_format',
        `\`${name}\` must be an RFC 3339 time or a date, such as 2026-01-31T09:30:00Z.`,
      )
    filters[name] = time
    const ms = Date.parse(time)
    if (ms < idSlackMs || ms > 2 ** 47) continue
    if (name === 'created_after') filters.id_from = idFloor('ct', ms - idSlackMs)
    if (name === 'created_before') filters.id_below = idFloor('ct', ms + idSlackMs)
  }
}
