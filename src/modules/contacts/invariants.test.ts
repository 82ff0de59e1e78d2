import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Caller } from '../../api/caller.ts'
import { startPlatform } from '../../../test/support/world.ts'
import { contactInvariants } from './invariants.ts'
import { contactService } from './service.ts'

const caller = { account_id: 'acc_1', mode: 'live', request_id: 'req_1' } as unknown as Caller

test('each inconsistency of contacts is reported by its invariant', async (t) => {
  const { platform, pool } = await startPlatform(t)
  const contacts = contactService(platform)
  const ada = await contacts.create(pool, caller, {
    phone: '+4915112345678',
    identifiers: { telegram: '1' },
    tags: ['a'],
    consent: { sms: 'opted_out' },
  })
  await contacts.create(pool, caller, { phone: '+4915112345679' })
  const list = await contacts.lists.create(pool, caller, { name: 'L' })
  await contacts.lists.addMembers(pool, caller, list.id, [ada.id])
  const broken = async () => {
    const found: string[] = []
    for (const invariant of contactInvariants(platform))
      if ((await invariant.breaches(pool)).length > 0) found.push(invariant.name)
    return found
  }
  const whenDamaged = async (statement: string) => {
    let found: string[] = []
    await pool
      .begin(async (tx) => {
        await tx.unsafe(statement)
        for (const invariant of contactInvariants(platform))
          if ((await invariant.breaches(tx)).length > 0) found = [...found, invariant.name]
        throw new Error('back')
      })
      .catch(() => undefined)
    return found
  }

  assert.deepEqual(await broken(), [])
  assert.deepEqual(await whenDamaged(`delete from contact_addresses where kind = 'phone'`), [
    'addresses-follow-contacts',
  ])
  assert.deepEqual(await whenDamaged(`update contact_addresses set blocked = true where kind = 'telegram'`), [
    'addresses-follow-contacts',
  ])
  assert.deepEqual(
    await whenDamaged(
      `insert into contact_addresses (account_id, mode, kind, address, contact_id) values ('acc_1', 'live', 'phone', '+1', 'ct_1')`,
    ),
    ['addresses-follow-contacts'],
  )
  assert.deepEqual(await whenDamaged(`delete from contact_counters where kind = 'contact'`), [
    'contact-counters-equal-counts',
  ])
  assert.deepEqual(await whenDamaged(`delete from contact_list_members`), ['contact-counters-equal-counts'])
  assert.deepEqual(await whenDamaged(`update contacts set labels = '{}'`), [
    'contact-counters-equal-counts',
    'consent-equals-suppressions',
  ])
  assert.deepEqual(await whenDamaged(`delete from suppressions`), ['consent-equals-suppressions'])
  assert.deepEqual(await whenDamaged(`update contacts set consent = '{}', labels = '{t:a}'`), [
    'contact-counters-equal-counts',
    'consent-equals-suppressions',
  ])
  assert.deepEqual(await broken(), [])
})
