/** Template look-ups at WhatsApp and their limits (behaviour: channels 6.5). */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { Answered } from '../support/api.ts'
import { approvedTemplate, whatsappWorld } from '../support/whatsapp-world.ts'

const minuteMs = 60_000

/** A connected channel with the template `order_update`, at the beginning of a minute. */
async function connected(t: TestContext) {
  const { graph, world, api, connect } = await whatsappWorld(t)
  graph.templates.push(approvedTemplate('order_update'))
  const channel = (await connect()).body.id as string
  await world.clock.advance(minuteMs - (world.clock.now() % minuteMs))
  const send = (name: string, code = 'en_US', headers = {}) =>
    api.post(
      '/v1/messages',
      { channel, to: '+4915112345678', type: 'template', template: { name, language: { code } } },
      headers,
    )
  return {
    graph,
    world,
    api,
    channel,
    send,
    questions: () => graph.calls.filter((call) => call.endsWith('/message_templates')).length,
    async misspell(names: number) {
      for (let n = 0; n < names; n++) assert.equal((await send(`misspelt_${n}`)).status, 422)
    },
  }
}

const codeOf = ({ status, body }: Answered) => [status, body.error?.code]

test('while the provider may not be queried, a template missing from our copy is not reported missing: send and campaign can be retried', async (t) => {
  const { graph, world, api, channel, send, questions, misspell } = await connected(t)
  await misspell(30)
  graph.templates.push(approvedTemplate('new_one'), { ...approvedTemplate('order_update'), id: '2', language: 'de' })
  const before = questions()
  const campaign = {
    name: 'Spring',
    channel,
    audience: { type: 'adhoc', recipients: [{ to: '+4915112345678' }] },
    message: { type: 'template', template: { name: 'new_one', language: { code: 'en_US' } } },
  }

  await world.clock.advance(15_000)
  const unasked = [
    await send('new_one', 'en_US', { 'idempotency-key': 'k' }),
    await send('order_update', 'de'),
    await api.post('/v1/campaigns', campaign),
  ]
  const [known, held] = [await send('misspelt_0'), await send('order_update')]
  const asked = questions() - before
  await world.clock.advance(Number(unasked[0]!.headers['retry-after']) * 1000)
  const later = [
    await send('new_one', 'en_US', { 'idempotency-key': 'k' }),
    await send('order_update', 'de'),
    await api.post('/v1/campaigns', campaign),
  ]

  assert.deepEqual(unasked.map(codeOf), Array(3).fill([503, 'upstream_unavailable']))
  assert.deepEqual(
    unasked.map(({ headers }) => headers['retry-after']),
    ['45', '45', '45'],
  )
  assert.deepEqual([codeOf(known), codeOf(held), asked], [[422, 'upstream_rejected'], [202, undefined], 0])
  assert.deepEqual(
    later.map(({ status }) => status),
    [202, 202, 201],
  )
  await world.invariants()
})

test('repeated misspelt names leave capacity to look up the templates of others', async (t) => {
  const { graph, world, send, questions, misspell } = await connected(t)
  const before = questions()
  for (let round = 0; round < 4; round++) {
    await misspell(10)
    await world.clock.advance(12_000)
  }
  const asked = questions() - before
  graph.templates.push(approvedTemplate('new_one'))

  const fresh = await send('new_one')

  assert.deepEqual([asked, fresh.status], [15, 202])
})
