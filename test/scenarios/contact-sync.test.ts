/** Customers of reported events as contacts. */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { startProcess } from '../support/process.ts'
import { startWorld, type PlatformOptions } from '../support/world.ts'

const phone = '+4915112345678'

async function shopWorld(t: TestContext, options: PlatformOptions = {}) {
  const world = await startWorld(t, { ...options, settings: { rate_limit_default: 10_000, ...options.settings } })
  const account = await world.account()
  const { api } = account
  const source = (await api.post('/v1/integration_sources', { platform: 'custom', external_id: 'shop' })).body
  let n = 0
  const report = async (event: object) =>
    (
      await api.post('/v1/automation_events', {
        source: source.id,
        type: 'customer.updated',
        event_id: `e${++n}`,
        ...event,
      })
    ).body
  const contact = async (id: string) => (await api.get(`/v1/contacts/${id}`)).body
  return { world, account, api, source, report, contact }
}

test('the customer of an event becomes a contact, with the fields that a contact can hold', async (t) => {
  const { api, report, contact } = await shopWorld(t)

  const receipt = await report({
    customer: {
      external_id: '207119551',
      phone: '+49 (0) 151 1234-5678',
      email: 'no address',
      first_name: ` ${'A'.repeat(150)} `,
      last_name: 'Lovelace',
      locale: 'de_AT',
      tags: ['VIP', ' ', 'x'.repeat(65), 'vip'],
      attributes: { orders: 3, 'Total Spent': 5, nested: {}, plan: 'pro', note: null },
      favourite: 'blue',
    },
  })
  const made = await contact(receipt.contact_id)
  const again = await report({
    customer: {
      phone,
      first_name: null,
      last_name: ' ',
      email: 'ada@example.com',
      tags: ['new'],
      attributes: { plan: 'max' },
    },
  })
  const updated = await contact(receipt.contact_id)

  assert.deepEqual(
    [
      made.phone,
      made.email,
      made.first_name,
      made.last_name,
      made.locale,
      made.external_id,
      made.tags,
      made.attributes,
    ],
    [phone, null, 'A'.repeat(150), 'Lovelace', 'de-AT', '207119551', ['VIP'], { orders: 3, plan: 'pro' }],
  )
  assert.equal(again.contact_id, receipt.contact_id)
  assert.deepEqual(
    [updated.email, updated.first_name, updated.last_name, updated.tags, updated.attributes],
    ['ada@example.com', 'A'.repeat(150), 'Lovelace', ['VIP', 'new'], { orders: 3, plan: 'max' }],
  )
  assert.equal((await api.get('/v1/contacts')).body.data.length, 1)
})

test('a customer without a valid phone is no contact, and without contact_sync contacts are found but not written', async (t) => {
  const { api, source, report, contact } = await shopWorld(t)
  const known = (await api.post('/v1/contacts', { phone, first_name: 'Ada' })).body

  const without = [
    await report({ customer: { email: 'ada@example.com' } }),
    await report({ customer: { phone: '0151 2345678' } }),
    await report({}),
  ]
  await api.patch(`/v1/integration_sources/${source.id}`, { settings: { contact_sync: false } })
  const found = await report({ customer: { phone, first_name: 'Augusta' } })
  const unknown = await report({ customer: { phone: '+4915100000001' } })

  assert.deepEqual(
    without.map(({ contact_id }) => contact_id),
    [null, null, null],
  )
  assert.deepEqual(
    [found.contact_id, (await contact(known.id)).first_name, unknown.contact_id],
    [known.id, 'Ada', null],
  )
  assert.equal((await api.get('/v1/contacts')).body.data.length, 1)
})

test('an event lifts no opt-out: of a contact, of marketing alone, or of an unknown number that sent STOP', async (t) => {
  const { world, api, report, contact } = await shopWorld(t)
  const stopped = { sms: 'opted_out', whatsapp: { status: 'opted_in', marketing: 'opted_out' } }
  const known = (await api.post('/v1/contacts', { phone, consent: stopped })).body
  const stranger = '+4915100000002'
  await api.post('/v1/test/inbound_messages', { channel: 'ch_test_sms', from: stranger, text: { body: 'STOP' } })
  const { id } = (await api.get(`/v1/contacts?phone=${encodeURIComponent(stranger)}`)).body.data[0]
  await api.delete(`/v1/contacts/${id}`)

  await report({ customer: { phone }, consent: { marketing: true, transactional: true } })
  const anew = await report({ customer: { phone: stranger }, consent: { marketing: true } })

  const kept = await contact(known.id)
  assert.deepEqual(
    [kept.consent.sms.status, kept.consent.whatsapp.status, kept.consent.whatsapp.marketing],
    ['opted_out', 'opted_in', 'opted_out'],
  )
  assert.equal((await contact(anew.contact_id)).consent.sms.status, 'opted_out')
  await world.invariants()
})

test("a source's marketing flag is stored as consent: a withdrawn one is an opt-out, one never given may be given later", async (t) => {
  const { api, report, contact } = await shopWorld(t)
  const marketing = async (id: string) => (await contact(id)).consent.whatsapp?.marketing

  const { contact_id: id } = await report({ customer: { phone }, consent: { marketing: false } })
  const never = await marketing(id)
  await report({ customer: { phone }, consent: { marketing: true } })
  const agreed = await marketing(id)
  await report({ customer: { phone }, consent: { marketing: null } })
  await report({ customer: { phone } })
  const silent = await marketing(id)
  await report({ customer: { phone }, consent: { marketing: false } })
  const stopped = await marketing(id)
  await report({ customer: { phone }, consent: { marketing: true } })

  assert.deepEqual(
    [never, agreed, silent, stopped, await marketing(id)],
    [undefined, 'opted_in', 'opted_in', 'opted_out', 'opted_out'],
  )
  const history = (await api.get(`/v1/contacts/${id}/consent_history`)).body.data
  assert.deepEqual(
    history.map(({ channel_type, status, source }: Record<string, string>) => [channel_type, status, source]),
    [
      ['whatsapp.marketing', 'opted_out', 'integration'],
      ['whatsapp.marketing', 'opted_in', 'integration'],
    ],
  )
})

test('at the contact limit events are still accepted, and known customers updated', async (t) => {
  const { report, contact } = await shopWorld(t, { settings: { contact_limit: 1 } })

  const first = await report({ customer: { phone } })
  const second = await report({ customer: { phone: '+4915100000003' } })
  const again = await report({ customer: { phone, first_name: 'Ada' } })

  assert.deepEqual([typeof first.contact_id, second.contact_id, second.status], ['string', null, 'ignored'])
  assert.equal((await contact(again.contact_id)).first_name, 'Ada')
})

test("only the tags and attributes beyond a contact's limits are dropped", async (t) => {
  const { api, source, report, contact } = await shopWorld(t)
  const tags = (from: number) => Array.from({ length: 30 }, (_, n) => `t${String(from + n).padStart(3, '0')}`)
  const attributes = (from: number, count: number, value: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, n) => [`a${from + n}`, value]))

  await report({ customer: { phone, tags: tags(0), attributes: attributes(0, 20, 1) } })
  await api.post('/v1/contacts', { email: 'bob@example.com', attributes: { new: 1 } })
  const full = { phone, tags: [...tags(0), ...tags(30)], attributes: { new: 2 }, first_name: 'Ada' }
  const automation = await api.post('/v1/automations', {
    name: 'Tagged',
    source_id: source.id,
    event_type: 'customer.updated',
    channel_id: 'ch_test_sms',
    message: { type: 'text', text: { body: '{{attributes.new}}' } },
  })
  const foreseen = (
    await api.post(`/v1/automations/${automation.body.id}/simulate`, {
      event: { type: 'customer.updated', event_id: 'e', customer: full },
    })
  ).body
  const { contact_id } = await report({ customer: full })
  const tagged = await contact(contact_id)
  await report({ customer: { phone, tags: ['none'], attributes: attributes(0, 199, 3), last_name: 'L' } })
  await api.patch(`/v1/contacts/${contact_id}`, { tags: ['x'] })
  await report({ customer: { phone, tags: ['tt'], attributes: { a0: 4, beyond: 5 } } })

  const kept = [...tags(0), ...tags(30).slice(0, 20)]
  assert.equal(foreseen.message?.text.body, '2', JSON.stringify([automation.body, foreseen]))
  assert.deepEqual(
    [tagged.first_name, tagged.tags, tagged.attributes],
    ['Ada', kept, { ...attributes(0, 20, 1), new: 2 }],
  )
  const held = await contact(contact_id)
  assert.deepEqual(
    [held.last_name, held.tags, held.attributes],
    ['L', ['tt', 'x'], { ...attributes(0, 199, 3), a0: 4, new: 2 }],
  )
})

test('events of the same customers, concurrent with other writers in two processes, are all recorded', async (t) => {
  const { world, account, api, source } = await shopWorld(t)
  const sibling = (await startProcess(t, world, 'sibling')).api(account.key)
  const numberOf = (n: number) => `+49151000000${String(n % 7).padStart(2, '0')}`

  const answers = await Promise.all(
    Array.from({ length: 120 }, (_, n) => {
      const by = n % 2 === 0 ? api : sibling
      if (n % 5 === 0)
        return by.post('/v1/contacts/upsert', {
          phone: numberOf(n),
          consent: { sms: n % 3 === 0 ? 'opted_out' : 'opted_in' },
        })
      const customer = { phone: numberOf(n * 3), first_name: `N${n}` }
      return by.post('/v1/automation_events', {
        source: source.id,
        type: 'order.paid',
        event_id: `o${n}`,
        customer,
        consent: { marketing: n % 3 === 0 },
      })
    }),
  )

  assert.deepEqual(
    answers.filter(({ status }) => status > 202).map(({ body }) => body),
    [],
  )
  assert.equal((await api.get('/v1/contacts')).body.data.length, 7)
  assert.ok(answers.every(({ body }) => body.object !== 'automation_event' || typeof body.contact_id === 'string'))
  await world.invariants()
})
