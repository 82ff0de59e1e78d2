/** Rows of an import, and the effect of earlier rows on later ones (behaviour: imports 3). */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { lockWaits } from '../support/lock-waits.ts'
import { holdOpen } from '../support/open-transactions.ts'
import { until } from '../support/waiting.ts'
import { startWorld } from '../support/world.ts'

async function start(t: TestContext) {
  const world = await startWorld(t)
  const { api } = await world.account()
  const imported = async (csv: string) => {
    const started = await api.send(
      'POST',
      '/v1/contact_imports?consent_declared=true',
      { 'content-type': 'text/csv' },
      csv,
    )
    assert.equal(started.status, 202, JSON.stringify(started.body))
    await world.settle()
    return (await api.get(`/v1/contact_imports/${started.body.id}`)).body
  }
  return { world, api, imported }
}

test('a row has a warning if an opt-out overrides it, but not if a later row does', async (t) => {
  const { world, api, imported } = await start(t)
  const from = '+15005551015'
  const stop = await api.post('/v1/test/inbound_messages', {
    channel: 'ch_test_sms',
    from,
    type: 'text',
    text: { body: 'STOP' },
  })
  await api.delete(`/v1/contacts/${stop.body.contact_id}`)
  await api.post('/v1/contacts', { phone: '+15005551013', consent: { sms: 'opted_in' } })
  await api.post('/v1/contacts', { phone: '+15005551016', consent: { whatsapp: 'opted_out' } })
  const rows = [
    '+15005551011,A,opted_in,',
    '+15005551011,B,opted_out,',
    '+15005551011,C,opted_in,',
    '+15005551012,A,,opted_in',
    '+15005551012,B,,opted_out',
    '+15005551013,A,opted_in,',
    '+15005551013,B,opted_out,',
    '+15005551014,A,opted_out,opted_out',
    '+15005551014,B,unknown,opted_in',
    `${from},A,opted_in,opted_in`,
    `${from},B,,`,
    '+15005551016,A,,opted_in',
  ]

  const done = await imported(['phone,first_name,consent.sms,consent.whatsapp.marketing', ...rows, ''].join('\n'))

  const errors = (await api.get(`/v1/contact_imports/${done.id}/errors`)).body as string
  const reported = [...errors.matchAll(/,(\d+),applied in part,"?Applied without ([^:]+):/g)].map(
    ([, row, without]) => [row, without],
  )
  const [first] = (await api.get('/v1/contacts?phone=%2B15005551011')).body.data
  const history = (await api.get(`/v1/contacts/${first.id}/consent_history`)).body.data
  assert.equal(done.warnings, 4)
  assert.deepEqual(reported, [
    ['4', 'consent.sms'],
    ['10', 'consent.sms and consent.whatsapp.marketing'],
    ['11', 'consent.sms'],
    ['13', 'consent.whatsapp.marketing'],
  ])
  assert.deepEqual(
    [first.first_name, history.map(({ status }: { status: string }) => status)],
    ['C', ['opted_out', 'opted_in']],
  )
  await world.invariants()
})

test('a row opts out of marketing although an opt-out of the channel overrides the rest', async (t) => {
  const { world, api, imported } = await start(t)
  const contact = (await api.post('/v1/contacts', { phone: '+15005551017', consent: { whatsapp: 'opted_out' } })).body

  const done = await imported('phone,consent.whatsapp,consent.whatsapp.marketing\n+15005551017,opted_in,opted_out\n')

  const { consent } = (await api.get(`/v1/contacts/${contact.id}`)).body
  assert.deepEqual([consent.whatsapp.status, consent.whatsapp.marketing, done.warnings], ['opted_out', 'opted_out', 1])
  await world.invariants()
})

test("rows matched by e-mail address do not undo each other's opt-outs, and empty cells change nothing", async (t) => {
  const { world, api, imported } = await start(t)
  const rows = [
    'ada@example.com,A,,opted_out,',
    'ada@example.com,B,opted_in,,',
    'bob@example.com,A,,,opted_out',
    'BOB@example.com,B,,,opted_in',
  ]

  const done = await imported(
    ['email,first_name,consent.whatsapp,consent.whatsapp.marketing,consent.sms', ...rows, ''].join('\n'),
  )

  const [ada] = (await api.get('/v1/contacts?email=ada@example.com')).body.data
  const [bob] = (await api.get('/v1/contacts?email=bob@example.com')).body.data
  const errors = (await api.get(`/v1/contact_imports/${done.id}/errors`)).body as string
  const reported = [...errors.matchAll(/,(\d+),applied in part,"?Applied without ([^:]+):/g)].map(
    ([, row, without]) => [row, without],
  )
  assert.deepEqual(
    [ada.first_name, ada.consent.whatsapp.status, ada.consent.whatsapp.marketing],
    ['B', 'opted_in', 'opted_out'],
  )
  assert.deepEqual([bob.first_name, bob.consent.sms.status], ['B', 'opted_out'])
  assert.deepEqual([done.created, done.updated, done.warnings, reported], [2, 2, 1, [['5', 'consent.sms']]])
  await world.invariants()
})

test('of two rows for one contact, far apart in the file, the later wins, whatever field identifies it', async (t) => {
  const { world, api } = await start(t)
  const make = async (body: object) => (await api.post('/v1/contacts', body)).body.id as string
  const held = await make({ phone: '+15005551018' })
  await make({ phone: '+15005551019', email: 'ada@example.com' })
  await make({ phone: '+15005551021', identifiers: { telegram: '77' } })
  const others = (from: number) => Array.from({ length: 999 }, (_, i) => `+1500556${from + i},,,`)
  const pieces = [
    ['+15005551020,,,First', ...others(1000)],
    ['+15005551018,,,Held', ...others(3000).slice(2), '+15005551019,,,By phone', '+15005551021,,,By phone'],
    [',ada@example.com,,By e-mail', ',,77,By identifier'],
  ]
  const csv = ['phone,email,identifiers.telegram,first_name', ...pieces.flat(), ''].join('\n')
  const started = await api.send(
    'POST',
    '/v1/contact_imports?consent_declared=true',
    { 'content-type': 'text/csv' },
    csv,
  )
  assert.equal(started.status, 202, JSON.stringify(started.body))

  const { pass } = await holdOpen(world.pool, async (tx) => {
    await tx`select from contacts where id = ${held} for update`
    const begun = world.tick('imports')
    await until('the second piece to wait', async () => (await lockWaits(world.pool)) > 0)
    // another chunk that may run would overtake it now
    for (let looks = 0; looks < 100; looks++) await world.pool`select 1`
    return { pass: begun }
  })
  await pass
  await world.settle('imports')

  const { status, updated, rejected } = (await api.get(`/v1/contact_imports/${started.body.id}`)).body
  assert.deepEqual([status, updated, rejected], ['completed', 5, 0])
  const nameOf = async (phone: string) => (await api.get(`/v1/contacts?phone=%2B${phone}`)).body.data[0].first_name
  assert.deepEqual([await nameOf('15005551019'), await nameOf('15005551021')], ['By e-mail', 'By identifier'])
  await world.invariants()
})
