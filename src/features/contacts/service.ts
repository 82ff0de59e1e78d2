/** What contacts mean: created, updated, found, tagged and deleted. Owns their transactions; other features enter here. */
import type { Caller, Tenant } from '../../contract/caller.ts'
import type { Detail } from '../../contract/errors.ts'
import { isId } from '../../contract/ids.ts'
import { invalid, missing, Problem } from '../../contract/problem.ts'
import { contactLimits, type ConsentChange, type Contact } from '../../contract/resources/contact.ts'
import { contactObject } from './present.ts'
import type { ContactRow, Windows } from './rows.ts'
import { isoTime } from '../../lib/clock.ts'
import { normalisePhone, phoneKey } from '../../lib/phone.ts'
import type { Db, Transaction } from '../../platform/database/sql.ts'
import { requireCursor, type Page } from '../../platform/http/paging.ts'
import type { Chore, Platform } from '../../platform/platform.ts'
import { activity } from './activity.ts'
import { checkedContact, readContact, readTags, throwFailures, type ContactBody } from './contact-input.ts'
import { addressesOf, foldText, type ContactChange } from './contact.ts'
import { Counted } from './consequences.ts'
import * as consentStore from './consent-store.ts'
import { countContacts, countLabels, foldCounters, insertDeltas } from './counter-store.ts'
import { readFilters, type ContactQuery } from './filters.ts'
import { inboundPart } from './inbound.ts'
import { deleteErrorsOf } from './imports/store.ts'
import { deleteMemberships } from './list-store.ts'
import { listService } from './lists.ts'
import { saveContacts } from './saving.ts'
import { withRaces } from './lock-set.ts'
import type { SaveContext, SaveItem, SaveResult } from './save-item.ts'
import { segmentService } from './segments/service.ts'
import * as store from './store.ts'

export { addressKeyOf, recipientsOf, suppressionHash, type AddressKey } from './recipients.ts'
export type { ProviderConsent, Received } from './inbound.ts'
export { marketingType, type ContactChange } from './contact.ts'
export type { SaveContext, SaveItem, SaveResult } from './save-item.ts'

export type ContactService = ReturnType<typeof contactService>

export interface TaggingBody {
  readonly contacts?: readonly string[]
  readonly phones?: readonly string[]
  readonly add?: readonly string[]
  readonly remove?: readonly string[]
}

/** Up to this many contacts are gathered and put in order within some tens of milliseconds; more are met soon when walking from the newest on. */
const fewMax = 20_000
/** Counters folded at a time. */
const foldKeys = 200

export function contactService(platform: Platform) {
  const now = () => isoTime(platform.clock.now())
  const lists = listService(platform)
  const segments = segmentService(platform)
  const active = activity(platform)
  const contextOf = (caller: Caller): SaveContext => ({ at: now(), source: 'api', request_id: caller.request_id })

  /** Writes contacts in a transaction of their own, or in the caller's: see `saveContacts`. For imports, events and campaigns. */
  const save = (sql: Db, tenant: Tenant, items: readonly SaveItem[], context: SaveContext): Promise<SaveResult[]> =>
    withRaces(sql, (tx) => saveContacts(platform, tx, tenant, items, context))

  async function saveOne(sql: Db, caller: Caller, item: SaveItem): Promise<{ created: boolean; contact: Contact }> {
    return await withRaces(sql, async (tx) => {
      const [result] = await saveContacts(platform, tx, caller, [item], contextOf(caller))
      if (result!.outcome === 'refused') throw refusal(result!, item.id ?? '')
      return { created: result!.outcome === 'created', contact: await shown(tx, caller, result!.row) }
    })
  }

  /** Everything that is wrong with what a body says of a contact. */
  const failuresOf = (body: ContactBody): readonly Detail[] => readContact(body, { at: now() }).failures

  const create = async (sql: Db, caller: Caller, body: ContactBody): Promise<Contact> =>
    (await saveOne(sql, caller, { kind: 'create', change: checkedContact(body, { at: now() }) })).contact

  /** By `phone`; tags are added, everything else is as in `update`. */
  async function upsert(sql: Db, caller: Caller, body: ContactBody): Promise<{ created: boolean; contact: Contact }> {
    const { tags, ...change } = checkedContact(body, { at: now() })
    if (!change.phone) throw invalid('phone', 'missing_field', '`phone` is required: it decides which contact is meant.')
    return await saveOne(sql, caller, { kind: 'upsert', change: { ...change, ...(tags === undefined ? {} : { add_tags: tags }) } })
  }

  async function update(sql: Db, caller: Caller, id: string, body: ContactBody): Promise<Contact> {
    const change = checkedContact(body, { at: now() })
    if (!isId('ct', id)) throw missing('contact', id)
    return (await saveOne(sql, caller, { kind: 'update', id, change })).contact
  }

  /** 404 `resource_missing` when there is none. */
  async function get(sql: Db, tenant: Tenant, id: string): Promise<Contact> {
    const row = isId('ct', id) ? await store.findContact(sql, tenant, id) : null
    if (row === null) throw missing('contact', id)
    return await shown(sql, tenant, row)
  }

  async function list(sql: Db, tenant: Tenant, query: ContactQuery, page: Page): Promise<Contact[]> {
    const read = await reader(sql, tenant, query)
    await requireCursor(page.starting_after, 'No contact has the id', async (id) => isId('ct', id) && (await store.idExisted(sql, tenant, id)))
    return await shownAll(sql, tenant, await read(page))
  }

  /** Reads pages of the contacts that fit a query, newest first, each with one row more than asked. */
  async function reader(sql: Db, tenant: Tenant, query: ContactQuery): Promise<(page: Page) => Promise<ContactRow[]>> {
    const nothing = () => Promise.resolve([])
    const filters = readFilters(query)
    if (filters === null || (filters.list_id !== undefined && !(await lists.exists(sql, tenant, filters.list_id)))) return nothing
    const audience = query.segment === undefined ? undefined : await segments.audience(sql, tenant, query.segment)
    if (audience === null) return nothing
    const expected = await expectedSize(sql, tenant, filters)
    if (expected === 'none') return nothing
    return (page) => store.listContacts(sql, tenant, { filters, segment: audience?.where(sql), expected }, page)
  }

  /** How many contacts labels or a prefix will find: what the way of searching hangs on. */
  async function expectedSize(sql: Db, tenant: Tenant, filters: store.ContactFilters): Promise<'none' | store.Search['expected']> {
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

  /**
   * Deletes a contact with its addresses, history, windows and memberships. Its opt-outs stay as keyed hashes; its messages keep
   * their own record. Tells `contact_deleted`.
   */
  async function remove(sql: Db, tenant: Tenant, id: string): Promise<void> {
    await withRaces(sql, async (tx) => {
      const [row] = isId('ct', id) ? await store.lockContacts(tx, tenant, [id]) : []
      if (row === undefined) throw missing('contact', id)
      const addresses = addressesOf(row)
      await store.deleteAddresses(
        tx,
        tenant,
        addresses.map((key) => ({ ...key, contact_id: id })),
      )
      const listIds = await deleteMemberships(tx, tenant, id)
      await consentStore.deleteConsentChanges(tx, tenant, id)
      await consentStore.deleteWindows(
        tx,
        tenant,
        addresses.map((key) => key.address),
      )
      await deleteErrorsOf(tx, tenant, row.phone_key, row.email === null ? null : foldText(row.email))
      await store.deleteContact(tx, tenant, id)
      await store.insertTombstone(tx, tenant, id, false)
      const counted = new Counted()
      counted.contact(row, null)
      for (const listId of listIds) counted.add('list', listId, '', -1)
      await insertDeltas(tx, tenant, counted.deltas())
      await platform.reactions.publish(tx, 'contact_deleted', [{ account_id: tenant.account_id, mode: tenant.mode, contact_id: id }])
    })
  }

  /** Adds and removes tags of many contacts, all or none of them. */
  async function tag(sql: Db, caller: Caller, body: TaggingBody) {
    const change = taggingChange(body)
    return await withRaces(sql, async (tx) => {
      const { ids, not_found } = await tagged(tx, caller, body)
      const items = ids.map(({ id }): SaveItem => ({ kind: 'update', id, change }))
      const results = await saveContacts(platform, tx, caller, items, contextOf(caller))
      let updated = 0
      for (const [index, result] of results.entries()) {
        if (result.outcome === 'updated') updated += 1
        if (result.outcome !== 'refused') continue
        if (result.reason !== 'resource_missing') throw refusal(result, ids[index]!.id)
        not_found.push(ids[index]!.asked)
      }
      return { object: 'contact_tags_result' as const, updated, not_found }
    })
  }

  /** The contacts that a tagging means, each with how the caller named it. */
  async function tagged(tx: Transaction, tenant: Tenant, body: TaggingBody): Promise<{ ids: { id: string; asked: string }[]; not_found: string[] }> {
    const asked = [...new Set(body.contacts ?? body.phones ?? [])]
    if (body.contacts !== undefined)
      return { ids: asked.filter((id) => isId('ct', id)).map((id) => ({ id, asked: id })), not_found: asked.filter((id) => !isId('ct', id)) }
    const numbers = asked.map((text) => ({ text, phone: normalisePhone(text) }))
    const keys = numbers.flatMap(({ phone }) => (phone === null ? [] : [{ kind: 'phone', address: phoneKey(phone) }]))
    const owners = new Map((await store.findAddresses(tx, tenant, keys)).map((row) => [row.address, row.contact_id]))
    const ids = new Map<string, string>()
    const not_found: string[] = []
    for (const { text, phone } of numbers) {
      const id = phone === null ? undefined : owners.get(phoneKey(phone))
      if (id === undefined) not_found.push(text)
      else if (!ids.has(id)) ids.set(id, text)
    }
    return { ids: [...ids].map(([id, text]) => ({ id, asked: text })), not_found }
  }

  /** A page of tags by name, with one more than asked where a limit was given. */
  async function tags(sql: Db, tenant: Tenant, after: string | undefined, limit: number) {
    const key = after === undefined ? undefined : foldText(after)
    await requireCursor(key, 'No tag has the name', (name) => store.tagExists(sql, tenant, name))
    return (await store.listTags(sql, tenant, key, limit + 1)).map(({ name, contacts_count }) => ({ object: 'contact_tag' as const, name, contacts_count }))
  }

  async function attributes(sql: Db, tenant: Tenant, after: string | undefined, limit: number) {
    await requireCursor(after, 'No attribute has the key', (name) => store.attributeExists(sql, tenant, name))
    return (await store.listAttributes(sql, tenant, after, limit + 1)).map(({ key, type, contacts_count }) => ({
      object: 'contact_attribute' as const,
      key,
      type,
      contacts_count,
    }))
  }

  async function consentHistory(sql: Db, tenant: Tenant, id: string, page: Page): Promise<ConsentChange[]> {
    if (!isId('ct', id) || (await store.findContact(sql, tenant, id)) === null) throw missing('contact', id)
    await requireCursor(page.starting_after, 'This contact has no consent change with the id', (change) =>
      consentStore.consentChangeExists(sql, tenant, id, change),
    )
    return await consentStore.listConsentChanges(sql, tenant, id, page)
  }

  const shown = async (sql: Db, tenant: Tenant, row: ContactRow): Promise<Contact> => (await shownAll(sql, tenant, [row]))[0]!

  /** Contacts as the interface shows them, with their service windows. */
  async function shownAll(sql: Db, tenant: Tenant, rows: readonly ContactRow[]): Promise<Contact[]> {
    const windows = await consentStore.findWindows(sql, tenant, rows.flatMap(windowAddresses))
    const at = now()
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

  const folding: Chore = { name: 'fold-contact-counters', every_ms: 1000, run: () => foldCounters(platform.pool, foldKeys) }

  return {
    failuresOf,
    create,
    upsert,
    update,
    get,
    list,
    reader,
    remove,
    tag,
    tags,
    attributes,
    consentHistory,
    save,
    shownAll,
    lists,
    segments,
    ...inboundPart(platform),
    messagesAccepted: active.messagesAccepted,
    flushActivity: active.flush,
    chores: [folding, ...lists.chores],
  }
}

/** Windows are opened on whatsapp alone, whose recipients are phones and business-scoped ids. */
const windowAddresses = (row: ContactRow): string[] =>
  [row.phone_key, row.identifiers['whatsapp']].filter((address) => address !== null && address !== undefined)

function taggingChange(body: TaggingBody): ContactChange {
  if (body.contacts === undefined && body.phones === undefined)
    throw invalid('contacts', 'missing_field', 'Name the contacts: `contacts` with their ids, or `phones`.')
  if (body.contacts !== undefined && body.phones !== undefined)
    throw invalid('phones', 'invalid_value', 'Name the contacts either by `contacts` or by `phones`, not both.')
  if ((body.add ?? []).length === 0 && (body.remove ?? []).length === 0) throw invalid('add', 'missing_field', 'Give tags to `add` or to `remove`.')
  const failures: Parameters<typeof readTags>[2] = []
  const change = { add_tags: readTags('add', body.add ?? [], failures), remove_tags: readTags('remove', body.remove ?? [], failures) }
  throwFailures(failures)
  return change
}

function refusal(result: SaveResult & { outcome: 'refused' }, id: string): Problem {
  const { reason, param } = result
  switch (reason) {
    case 'contact_exists':
      return new Problem(
        'contact_exists',
        `The contact ${result.contact_id} already has this ${param === 'phone' ? 'phone number' : 'identifier'}. Update that contact, or use POST /v1/contacts/upsert.`,
        { param },
      )
    case 'contact_limit_reached':
      return new Problem('contact_limit_reached')
    case 'resource_missing':
      return missing('contact', id)
    case 'address_missing':
      return invalid('phone', 'missing_field', 'A contact needs a `phone`, an `email` or one of `identifiers`.')
    case 'too_many_tags':
      return invalid(param, 'too_many', `A contact has at most ${contactLimits.tags_max} tags${id === '' ? '' : `; ${id} would have more`}.`)
    case 'too_many_attributes':
      return invalid(param, 'too_many', `A contact has at most ${contactLimits.attributes_max} attributes.`)
  }
}
