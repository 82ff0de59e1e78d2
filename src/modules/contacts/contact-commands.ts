/** Creates, updates and deletes single contacts. */
import type { Caller, Tenant } from '../../api/caller.ts'
import { isId } from '../../api/ids.ts'
import { invalid, missing, Problem, throwFailures } from '../../api/problem.ts'
import { contactLimits, type Contact } from '../../api/resources/contact.ts'
import { isoTime } from '../../lib/clock.ts'
import type { Db } from '../../platform/database/sql.ts'
import type { Platform } from '../../platform/platform.ts'
import { withPhoneHint } from '../accounts/service.ts'
import * as consentRepository from './consent/repository.ts'
import { readContact, type ContactBody } from './contact-input.ts'
import { addressesOf, foldText, type ContactChange } from './contact.ts'
import { CounterDeltas, insertDeltas } from './counter-repository.ts'
import { deleteErrorsOf } from './imports/repository.ts'
import { deleteMemberships } from './lists/repository.ts'
import { withConflictRetries } from './contact-locks.ts'
import { shown } from './contact-queries.ts'
import type { SaveContext, SaveItem, SaveResult } from './save-item.ts'
import { saveContacts } from './contact-writer.ts'
import * as repository from './repository.ts'

export const contextOf = (platform: Platform, caller: Caller): SaveContext => ({
  at: isoTime(platform.clock.now()),
  source: caller.user_id === null ? 'api' : 'console',
  request_id: caller.request_id,
})

async function checkedContact(platform: Platform, sql: Db, tenant: Tenant, body: ContactBody): Promise<ContactChange> {
  const { change, failures } = readContact(body, { at: isoTime(platform.clock.now()) })
  if (failures.length > 0) throwFailures(await withPhoneHint(sql, tenant, failures, 'phone', body.phone))
  return change
}

export const createContact = async (platform: Platform, sql: Db, caller: Caller, body: ContactBody): Promise<Contact> =>
  (await saveOne(platform, sql, caller, { kind: 'create', change: await checkedContact(platform, sql, caller, body) }))
    .contact

/** Finds the contact by `phone`. Tags are added; otherwise as `updateContact`. */
export async function upsertContact(
  platform: Platform,
  sql: Db,
  caller: Caller,
  body: ContactBody,
): Promise<{ created: boolean; contact: Contact }> {
  const { tags, ...change } = await checkedContact(platform, sql, caller, body)
  if (!change.phone) throw invalid('phone', 'missing_field', '`phone` is required: it decides which contact is meant.')
  return await saveOne(platform, sql, caller, {
    kind: 'upsert',
    change: { ...change, ...(tags === undefined ? {} : { add_tags: tags }) },
  })
}

export async function updateContact(
  platform: Platform,
  sql: Db,
  caller: Caller,
  id: string,
  body: ContactBody,
): Promise<Contact> {
  const change = await checkedContact(platform, sql, caller, body)
  if (!isId('ct', id)) throw missing('contact', id)
  return (await saveOne(platform, sql, caller, { kind: 'update', id, change })).contact
}

async function saveOne(
  platform: Platform,
  sql: Db,
  caller: Caller,
  item: SaveItem,
): Promise<{ created: boolean; contact: Contact }> {
  return await withConflictRetries(sql, async (tx) => {
    const [result] = await saveContacts(platform, tx, caller, [item], contextOf(platform, caller))
    if (result!.outcome === 'refused') throw refusal(result!, item.id ?? '')
    return { created: result!.outcome === 'created', contact: await shown(platform, tx, caller, result!.row) }
  })
}

/** Opt-outs stay as keyed hashes, messages keep their own record. Publishes `contact_deleted`. */
export async function removeContact(platform: Platform, sql: Db, tenant: Tenant, id: string): Promise<void> {
  await withConflictRetries(sql, async (tx) => {
    const [row] = isId('ct', id) ? await repository.lockContacts(tx, tenant, [id]) : []
    if (row === undefined) throw missing('contact', id)
    const addresses = addressesOf(row)
    await repository.deleteAddresses(
      tx,
      tenant,
      addresses.map((key) => ({ ...key, contact_id: id })),
    )
    const listIds = await deleteMemberships(tx, tenant, id)
    await consentRepository.deleteConsentChanges(tx, tenant, id)
    await consentRepository.deleteWindows(
      tx,
      tenant,
      addresses.map((key) => key.address),
    )
    await deleteErrorsOf(tx, tenant, row.phone_key, row.email === null ? null : foldText(row.email))
    await repository.deleteContact(tx, tenant, id)
    await repository.insertTombstone(tx, tenant, id, false)
    const counted = new CounterDeltas()
    counted.contact(row, null)
    for (const listId of listIds) counted.add('list', listId, '', -1)
    await insertDeltas(tx, tenant, counted.deltas())
    await platform.domain_events.publish(tx, 'contact_deleted', [
      { account_id: tenant.account_id, mode: tenant.mode, contact_id: id },
    ])
  })
}

export function refusal(result: SaveResult & { outcome: 'refused' }, id: string): Problem {
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
      return invalid(
        param,
        'too_many',
        `A contact has at most ${contactLimits.tags_max} tags${id === '' ? '' : `; ${id} would have more`}.`,
      )
    case 'too_many_attributes':
      return invalid(param, 'too_many', `A contact has at most ${contactLimits.attributes_max} attributes.`)
  }
}
