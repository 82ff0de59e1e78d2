import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Caller } from '../../api/caller.ts'
import { Problem } from '../../api/problem.ts'
import { startPlatform } from '../../../test/support/world.ts'
import { contactInvariants } from './invariants.ts'
import { contactService, type ContactService } from './service.ts'
import { effort } from '../../../test/support/effort.ts'

const phones = ['+5511987654321', '+551187654321', '+4915112345670', '+4915112345671']
const phone = fc.constantFrom(...phones)
const status = fc.constantFrom('opted_in', 'opted_out', 'unknown')
const fields = {
  identifiers: fc.dictionary(
    fc.constantFrom('telegram', 'messenger'),
    fc.option(fc.constantFrom('1', '2'), { nil: null }),
    { maxKeys: 2 },
  ),
  consent: fc.dictionary(fc.constantFrom('sms', 'whatsapp', 'telegram'), fc.option(status, { nil: null }), {
    maxKeys: 2,
  }),
  tags: fc.array(fc.constantFrom('a', 'A', 'b'), { maxLength: 3 }),
  attributes: fc.dictionary(fc.constantFrom('k', 'l'), fc.option(fc.oneof(fc.integer(), fc.boolean()), { nil: null }), {
    maxKeys: 2,
  }),
  blocked: fc.boolean(),
}
const body = fc.record({ phone, ...fields }, { requiredKeys: ['phone'] })
const patch = fc.record({ phone: fc.option(phone, { nil: null }), ...fields }, { requiredKeys: [] })
const nth = fc.nat({ max: 5 })
const action = fc.oneof(
  fc.record({ do: fc.constant('create' as const), body }),
  fc.record({ do: fc.constant('upsert' as const), body }),
  fc.record({ do: fc.constant('update' as const), nth, body: patch }),
  fc.record({ do: fc.constant('delete' as const), nth }),
  fc.record({
    do: fc.constant('inbound' as const),
    from: phone,
    channel_type: fc.constantFrom('sms', 'whatsapp'),
    text: fc.constantFrom('STOP', 'START', 'Hello'),
  }),
  fc.record({ do: fc.constant('tag' as const), phones: fc.array(phone, { minLength: 1, maxLength: 4 }) }),
  fc.record({ do: fc.constant('member' as const), nth, add: fc.boolean() }),
  fc.record({ do: fc.constant('fold' as const) }),
)
type Action = typeof action extends fc.Arbitrary<infer T> ? T : never

test('addresses, counters and suppressions agree after any concurrent changes', async (t) => {
  const { platform, pool } = await startPlatform(t)
  const contacts = contactService({ ...platform, settings: { ...platform.settings, contact_limit: 4 } })
  let round = 0

  await fc.assert(
    fc.asyncProperty(
      fc.array(action, { minLength: 1, maxLength: 30 }),
      fc.integer({ min: 1, max: 4 }),
      async (actions, width) => {
        const caller = { account_id: `acc_${round++}`, mode: 'live', request_id: 'req_1' } as unknown as Caller
        const list = await contacts.lists.create(pool, caller, { name: 'L' })
        for (let from = 0; from < actions.length; from += width) {
          await Promise.all(
            actions.slice(from, from + width).map((one) => perform(contacts, pool, caller, list.id, one)),
          )
        }
        for (const invariant of contactInvariants(platform))
          assert.deepEqual(await invariant.breaches(pool), [], invariant.name)
        assert.ok((await contacts.list(pool, caller, {}, { limit: 100, starting_after: undefined })).length <= 4)
      },
    ),
    { numRuns: effort(15, 80), seed: 7 },
  )
})

async function perform(
  contacts: ContactService,
  sql: Parameters<ContactService['create']>[0],
  caller: Caller,
  list: string,
  one: Action,
): Promise<void> {
  const all = async () => await contacts.list(sql, caller, {}, { limit: 100, starting_after: undefined })
  const pick = async (n: number) => (await all())[n]?.id ?? 'ct_00000000000000000000000000'
  try {
    if (one.do === 'create') await contacts.create(sql, caller, one.body)
    else if (one.do === 'upsert') await contacts.upsert(sql, caller, one.body)
    else if (one.do === 'update') await contacts.update(sql, caller, await pick(one.nth), one.body)
    else if (one.do === 'delete') await contacts.remove(sql, caller, await pick(one.nth))
    else if (one.do === 'tag') await contacts.tag(sql, caller, { phones: one.phones, add: ['a', 'c'], remove: ['b'] })
    else if (one.do === 'fold') for (const periodicJob of contacts.periodicJobs) await periodicJob.run()
    else if (one.do === 'member')
      await (one.add ? contacts.lists.addMembers : contacts.lists.removeMembers)(sql, caller, list, [
        await pick(one.nth),
      ])
    else {
      await contacts.receiveInbound(sql, [
        {
          account_id: caller.account_id,
          mode: caller.mode,
          message_id: 'msg_1',
          channel_id: 'ch_1',
          channel_type: one.channel_type,
          from: one.from,
          profile_name: null,
          type: 'text',
          content: { body: one.text },
          received_at: '2026-01-31T09:30:00.000Z',
        },
      ])
    }
  } catch (error) {
    if (!(error instanceof Problem)) throw error
  }
}
