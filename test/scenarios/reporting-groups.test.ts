/** Concurrently reported events share a transaction but not their errors, and sources share the queue fairly (behaviour: integrations 3.4, 3.5). */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { tenantOf } from '../../src/api/caller.ts'
import { Problem } from '../../src/api/problem.ts'
import type { IncomingEvent } from '../../src/modules/automations/events/event.ts'
import { startWorld } from '../support/world.ts'

async function shopWorld(t: TestContext) {
  const world = await startWorld(t)
  const { api, id: account_id } = await world.account()
  const sourceOf = async (external_id: string) =>
    (await api.post('/v1/integration_sources', { platform: 'custom', external_id })).body.id as string
  const { events } = world.services.automations
  const eventOf = (source_id: string, event_id: string, more: Partial<IncomingEvent> = {}): IncomingEvent => ({
    source: { ...tenantOf({ account_id, mode: 'test' }), id: source_id },
    origin: 'native_webhook',
    type: 'order.paid',
    event_id,
    occurred_at: world.clock.iso(),
    customer: {},
    consent: { transactional: null, marketing: null },
    data: {},
    ...more,
  })
  return { world, api, events, eventOf, source: await sourceOf('shop'), sourceOf }
}

const codeOf = (error: unknown): string => (error instanceof Problem ? error.code : String(error))

test('an event that cannot be stored as a contact gets a failed receipt, and others are unaffected', async (t) => {
  const { api, events, eventOf, source } = await shopWorld(t)
  const unstorable = { phone: '+4915112345678', external_id: 'a\u0000b' }

  const [one, failed, other] = await Promise.all([
    events.accept(eventOf(source, '1')),
    events.accept(eventOf(source, '2', { customer: unstorable })),
    events.accept(eventOf(source, '3')),
  ])
  const again = await events.accept(eventOf(source, '2'))

  assert.deepEqual(
    [one.receipt.status, failed.receipt.status, failed.receipt.reason, other.receipt.status],
    ['ignored', 'failed', null, 'ignored'],
  )
  assert.deepEqual([again.duplicate, again.receipt.id], [true, failed.receipt.id])
  const listed = await api.get('/v1/automation_events?status=failed')
  assert.deepEqual(
    listed.body.data.map(({ id }: { id: string }) => id),
    [failed.receipt.id],
  )
})

test('an event whose answer cannot be stored is not accepted, and others are', async (t) => {
  const { api, events, eventOf, source } = await shopWorld(t)
  const refusing = () => Promise.reject(new Problem('idempotency_key_in_use'))

  const [one, refused, other] = await Promise.all([
    events.accept(eventOf(source, '1')),
    events.accept(eventOf(source, '2'), refusing).catch(codeOf),
    events.accept(eventOf(source, '3')),
  ])
  const again = await events.accept(eventOf(source, '2'))

  assert.deepEqual(
    [one.duplicate, refused, other.duplicate, again.duplicate],
    [false, 'idempotency_key_in_use', false, false],
  )
  assert.equal((await api.get('/v1/automation_events')).body.data.length, 3)
})

test('a source with a flood of events uses a quarter of the queue and delays no other', async (t) => {
  const { events, eventOf, source, sourceOf } = await shopWorld(t)
  const other = await sourceOf('other')
  let stored = 0

  const flood = Array.from({ length: 2600 }, (_, n) =>
    events.accept(eventOf(source, String(n))).then(
      () => {
        stored += 1
        return 'stored'
      },
      (error: unknown) => codeOf(error),
    ),
  )
  const waiting = events.load()
  await events.accept(eventOf(other, '1'))
  const before = stored
  const answers = await Promise.all(flood)

  assert.deepEqual(
    [waiting, answers.filter((answer) => answer === 'upstream_unavailable').length, stored],
    [2500, 100, 2500],
  )
  assert.ok(before <= 400, `${before} of the flood went first`)
})

test('events of one customer in a group apply in order: a later marketing yes does not undo a withdrawal', async (t) => {
  const { api, events, eventOf, source } = await shopWorld(t)
  const says = (event_id: string, phone: string, marketing: boolean) =>
    events.accept(
      eventOf(source, event_id, {
        type: 'customer.updated',
        customer: { phone },
        consent: { transactional: null, marketing },
      }),
    )
  const [ada, bob, cem] = ['+4915112345671', '+4915112345672', '+4915112345673']
  await says('1', ada, true)

  await Promise.all([
    says('2', ada, false),
    says('3', ada, true),
    says('4', bob, false),
    says('5', bob, true),
    says('6', cem, true),
    says('7', cem, false),
  ])

  const marketing = async (phone: string) =>
    (await api.get(`/v1/contacts?phone=${encodeURIComponent(phone)}`)).body.data[0].consent.whatsapp.marketing
  assert.deepEqual(
    [await marketing(ada), await marketing(bob), await marketing(cem)],
    ['opted_out', 'opted_in', 'opted_out'],
  )
})

test("an order's status counts once, whichever topic reports it first, unless that names no recipient", async (t) => {
  const { api, events, eventOf, source } = await shopWorld(t)
  const shipped = (event_id: string, more: Partial<IncomingEvent> = {}) =>
    events.accept(
      eventOf(source, event_id, {
        type: 'order.shipped',
        dedup_key: 'order.shipped 1001',
        customer: { phone: '+4915112345678' },
        ...more,
      }),
    )
  const message = { type: 'text', text: { body: 'On its way' } }
  await api.post('/v1/automations', {
    source_id: source,
    name: 'A',
    event_type: 'order.shipped',
    channel_id: 'ch_test_sms',
    message,
  })

  const nobody = await shipped('1', { customer: {} })
  const [first, same] = await Promise.all([shipped('2'), shipped('3')])
  const later = await shipped('4')
  const another = await shipped('5', { dedup_key: 'order.shipped 1002' })

  assert.deepEqual([nobody.receipt.status, nobody.receipt.reason], ['skipped', 'no_identifier'])
  assert.deepEqual([first.duplicate, first.receipt.status], [false, 'accepted'])
  assert.deepEqual(
    [same.receipt.id, same.duplicate, later.receipt.id, later.receipt.status],
    [first.receipt.id, true, first.receipt.id, 'duplicate'],
  )
  assert.equal(another.duplicate, false)
})

test('a topic with the customer counts, also beside a concurrent one without', async (t) => {
  const { world, api, events, eventOf, source, sourceOf } = await shopWorld(t)
  const message = { type: 'text', text: { body: 'On its way' } }
  await api.post('/v1/automations', {
    source_id: source,
    name: 'A',
    event_type: 'order.shipped',
    channel_id: 'ch_test_sms',
    message,
  })
  const other = await sourceOf('other')
  const known = { customer: { phone: '+4915112345678' } }
  const shipped = (event_id: string, more: Partial<IncomingEvent> = {}, from = source) =>
    events.accept(eventOf(from, event_id, { type: 'order.shipped', dedup_key: 'order.shipped 1001', ...more }))

  const [nobody, first, after, same, elsewhere] = await Promise.all([
    shipped('1'),
    shipped('2', known),
    events.accept(eventOf(source, '3')),
    shipped('4', known),
    shipped('1', known, other),
  ])
  await world.settle()

  assert.deepEqual([nobody.receipt.status, nobody.receipt.reason], ['skipped', 'no_identifier'])
  assert.deepEqual([first.duplicate, first.receipt.status], [false, 'accepted'])
  assert.deepEqual([same.duplicate, same.receipt.id], [true, first.receipt.id])
  assert.deepEqual([after.receipt.status, elsewhere.duplicate, elsewhere.receipt.status], ['ignored', false, 'ignored'])
  assert.equal((await api.get('/v1/messages')).body.data.length, 1)
})
