/** Tags of many contacts at once, and the tags and attributes in use. */
import type { Caller, Tenant } from '../../api/caller.ts'
import { isId } from '../../api/ids.ts'
import { invalid, throwFailures } from '../../api/problem.ts'
import { normalisePhone, phoneKey } from '../../lib/phone.ts'
import type { Db, Transaction } from '../../platform/database/sql.ts'
import { requireCursor } from '../../platform/http/paging.ts'
import type { Platform } from '../../platform/platform.ts'
import { readTags } from './contact-input.ts'
import { foldText, type ContactChange } from './contact.ts'
import { withConflictRetries } from './contact-locks.ts'
import type { SaveItem } from './save-item.ts'
import { saveContacts } from './contact-writer.ts'
import * as repository from './repository.ts'
import { contextOf, refusal } from './contact-commands.ts'

export interface TaggingBody {
  readonly contacts?: readonly string[]
  readonly phones?: readonly string[]
  readonly add?: readonly string[]
  readonly remove?: readonly string[]
}

/** All or none. */
export async function tagContacts(platform: Platform, sql: Db, caller: Caller, body: TaggingBody) {
  const change = taggingChange(body)
  return await withConflictRetries(sql, async (tx) => {
    const { ids, not_found } = await tagged(tx, caller, body)
    const items = ids.map(({ id }): SaveItem => ({ kind: 'update', id, change }))
    const results = await saveContacts(platform, tx, caller, items, contextOf(platform, caller))
    let updated = 0
    for (const [index, result] of results.entries()) {
      if (result.outcome === 'updated') updated += 1
      if (result.outcome !== 'refused') continue
      if (result.reason !== 'resource_missing') throw refusal(result, ids[index]!.id)
      not_found.push(ids[index]!.requested)
    }
    return { object: 'contact_tags_result' as const, updated, not_found }
  })
}

async function tagged(
  tx: Transaction,
  tenant: Tenant,
  body: TaggingBody,
): Promise<{ ids: { id: string; requested: string }[]; not_found: string[] }> {
  const requested = [...new Set(body.contacts ?? body.phones ?? [])]
  if (body.contacts !== undefined)
    return {
      ids: requested.filter((id) => isId('ct', id)).map((id) => ({ id, requested: id })),
      not_found: requested.filter((id) => !isId('ct', id)),
    }
  const numbers = requested.map((text) => ({ text, phone: normalisePhone(text) }))
  const keys = numbers.flatMap(({ phone }) => (phone === null ? [] : [{ kind: 'phone', address: phoneKey(phone) }]))
  const owners = new Map((await repository.findAddresses(tx, tenant, keys)).map((row) => [row.address, row.contact_id]))
  const ids = new Map<string, string>()
  const not_found: string[] = []
  for (const { text, phone } of numbers) {
    const id = phone === null ? undefined : owners.get(phoneKey(phone))
    if (id === undefined) not_found.push(text)
    else if (!ids.has(id)) ids.set(id, text)
  }
  return { ids: [...ids].map(([id, text]) => ({ id, requested: text })), not_found }
}

function taggingChange(body: TaggingBody): ContactChange {
  if (body.contacts === undefined && body.phones === undefined)
    throw invalid('contacts', 'missing_field', 'Name the contacts: `contacts` with their ids, or `phones`.')
  if (body.contacts !== undefined && body.phones !== undefined)
    throw invalid('phones', 'invalid_value', 'Name the contacts either by `contacts` or by `phones`, not both.')
  if ((body.add ?? []).length === 0 && (body.remove ?? []).length === 0)
    throw invalid('add', 'missing_field', 'Give tags to `add` or to `remove`.')
  const failures: Parameters<typeof readTags>[2] = []
  const change = {
    add_tags: readTags('add', body.add ?? [], failures),
    remove_tags: readTags('remove', body.remove ?? [], failures),
  }
  throwFailures(failures)
  return change
}

export async function listTags(sql: Db, tenant: Tenant, after: string | undefined, limit: number) {
  const key = after === undefined ? undefined : foldText(after)
  await requireCursor(key, 'No tag has the name', (name) => repository.tagExists(sql, tenant, name))
  return (await repository.listTags(sql, tenant, key, limit + 1)).map(({ name, contacts_count }) => ({
    object: 'contact_tag' as const,
    name,
    contacts_count,
  }))
}

export async function listAttributes(sql: Db, tenant: Tenant, after: string | undefined, limit: number) {
  await requireCursor(after, 'No attribute has the key', (name) => repository.attributeExists(sql, tenant, name))
  return (await repository.listAttributes(sql, tenant, after, limit + 1)).map(({ key, type, contacts_count }) => ({
    object: 'contact_attribute' as const,
    key,
    type,
    contacts_count,
  }))
}
