/** Contact lists and their members. */
import type { Tenant } from '../../../api/caller.ts'
import type { Detail } from '../../../api/errors.ts'
import { isId } from '../../../api/ids.ts'
import { metadataFailures } from '../../../api/body-sizes.ts'
import { missing, throwFailures } from '../../../api/problem.ts'
import type { ContactList } from '../../../api/resources/contact.ts'
import { isoTime } from '../../../lib/clock.ts'
import { transact, type Db } from '../../../platform/database/sql.ts'
import { requireCursor, type Page } from '../../../platform/http/paging.ts'
import type { PeriodicJob, Platform } from '../../../platform/platform.ts'
import { insertDeltas } from '../counter-repository.ts'
import type { ListRow } from './repository.ts'
import * as repository from './repository.ts'
import { idExisted, insertTombstone } from '../repository.ts'

export interface ListBody {
  readonly name?: string
  readonly description?: string | null
  readonly metadata?: Record<string, unknown> | null
}

export type ListService = ReturnType<typeof listService>

/** Members deleted per transaction, to stay under a second. */
const chunk = 5000

export const listService = (platform: Platform) => ({
  list: listLists,
  get: getList,
  exists: async (sql: Db, tenant: Tenant, id: string): Promise<boolean> =>
    (await repository.findList(sql, tenant, id)) !== null,
  create: (sql: Db, tenant: Tenant, body: ListBody): Promise<ContactList> => createList(platform, sql, tenant, body),
  update: (sql: Db, tenant: Tenant, id: string, body: ListBody): Promise<ContactList> =>
    updateList(platform, sql, tenant, id, body),
  remove: removeList,
  addMembers: (sql: Db, tenant: Tenant, id: string, contacts: readonly string[]) =>
    addMembers(platform, sql, tenant, id, contacts),
  removeMembers,
  periodicJobs: [emptyDeleted(platform)],
})

async function listLists(sql: Db, tenant: Tenant, page: Page): Promise<ContactList[]> {
  await requireCursor(
    page.starting_after,
    'No contact list has the id',
    async (id) => isId('lst', id) && (await idExisted(sql, tenant, id)),
  )
  return (await repository.listLists(sql, tenant, page)).map(listObject)
}

async function getList(sql: Db, tenant: Tenant, id: string): Promise<ContactList> {
  const row = isId('lst', id) ? await repository.findList(sql, tenant, id) : null
  if (row === null) throw missing('contact list', id)
  return listObject(row)
}

async function createList(platform: Platform, sql: Db, tenant: Tenant, body: ListBody): Promise<ContactList> {
  const id = platform.ids('lst')
  await repository.insertList(
    sql,
    tenant,
    id,
    { name: '', description: '', metadata: {}, ...fieldsOf(body) },
    isoTime(platform.clock.now()),
  )
  return await getList(sql, tenant, id)
}

async function updateList(
  platform: Platform,
  sql: Db,
  tenant: Tenant,
  id: string,
  body: ListBody,
): Promise<ContactList> {
  if (!isId('lst', id)) throw missing('contact list', id)
  const fields = fieldsOf(body)
  if (
    Object.keys(fields).length > 0 &&
    !(await repository.updateList(sql, tenant, id, fields, isoTime(platform.clock.now())))
  )
    throw missing('contact list', id)
  return await getList(sql, tenant, id)
}

async function removeList(sql: Db, tenant: Tenant, id: string): Promise<void> {
  await transact(sql, async (tx) => {
    if (!isId('lst', id) || !(await repository.deleteList(tx, tenant, id))) throw missing('contact list', id)
    await insertTombstone(tx, tenant, id, true)
  })
}

async function addMembers(platform: Platform, sql: Db, tenant: Tenant, id: string, contacts: readonly string[]) {
  return await transact(sql, async (tx) => {
    const { requested, found } = await members(tx, tenant, id, contacts)
    const added = await repository.insertMembers(tx, tenant, id, found, isoTime(platform.clock.now()))
    if (added > 0) await insertDeltas(tx, tenant, [{ kind: 'list', key: id, name: '', delta: added }])
    const { contacts_count } = await getList(tx, tenant, id)
    return {
      object: 'contact_list_members' as const,
      list_id: id,
      added,
      already_members: found.length - added,
      not_found: missingOf(requested, found),
      contacts_count,
    }
  })
}

async function removeMembers(sql: Db, tenant: Tenant, id: string, contacts: readonly string[]) {
  return await transact(sql, async (tx) => {
    const { requested, found } = await members(tx, tenant, id, contacts)
    const removed = await repository.deleteMembers(tx, tenant, id, found)
    if (removed > 0) await insertDeltas(tx, tenant, [{ kind: 'list', key: id, name: '', delta: -removed }])
    const { contacts_count } = await getList(tx, tenant, id)
    return {
      object: 'contact_list_members' as const,
      list_id: id,
      removed,
      not_members: found.length - removed,
      not_found: missingOf(requested, found),
      contacts_count,
    }
  })
}

/** Lock order: the list, then the contacts. */
async function members(
  tx: Db,
  tenant: Tenant,
  id: string,
  contacts: readonly string[],
): Promise<{ requested: string[]; found: string[] }> {
  if (!isId('lst', id) || !(await repository.lockList(tx, tenant, id))) throw missing('contact list', id)
  const requested = [...new Set(contacts)]
  return {
    requested,
    found: await repository.lockContacts(
      tx,
      tenant,
      requested.filter((contact) => isId('ct', contact)),
    ),
  }
}

const emptyDeleted = ({ pool }: Platform): PeriodicJob => ({
  name: 'empty-deleted-lists',
  every_ms: 1000,
  async run() {
    const emptying = await repository.findEmptying(pool)
    if (emptying === null) return 0
    const tenant = emptying as Tenant
    const deleted = await repository.deleteSomeMembers(pool, tenant, emptying.id, chunk)
    if (deleted < chunk) await transact(pool, (tx) => repository.finishEmptying(tx, tenant, emptying.id))
    return deleted
  },
})

function missingOf(requested: readonly string[], found: readonly string[]): string[] {
  const there = new Set(found)
  return requested.filter((id) => !there.has(id))
}

export function listFailures({ name, metadata }: ListBody): Detail[] {
  const found: Detail[] = []
  if (name?.trim() === '') found.push({ param: 'name', code: 'too_short', message: '`name` must not be empty.' })
  found.push(...metadataFailures(metadata))
  return found
}

function fieldsOf(body: ListBody) {
  throwFailures(listFailures(body))
  return {
    ...(body.name === undefined ? {} : { name: body.name.trim() }),
    ...(body.description === undefined ? {} : { description: body.description ?? '' }),
    ...(body.metadata === undefined ? {} : { metadata: body.metadata ?? {} }),
  }
}

const listObject = (row: ListRow): ContactList => ({
  id: row.id,
  object: 'contact_list',
  mode: row.mode,
  name: row.name,
  description: row.description,
  metadata: row.metadata,
  contacts_count: row.contacts_count,
  created_at: row.created_at,
  updated_at: row.updated_at,
})
