/** Bounds of request bodies (behaviour: conventions 4.6, 4.7). */
import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { request } from 'undici'
import { campaignTo, numbers } from '../support/campaigns.ts'
import { startWorld } from '../support/world.ts'

const fields = (count: number, prefix = 'f'): Record<string, number> =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`${prefix}${i}`, i]))

const messageTo = (more: object = {}) => ({
  channel: 'ch_test_sms',
  to: '+15005550006',
  type: 'text',
  text: { body: 'Hello' },
  ...more,
})

interface Answer {
  readonly status: number
  readonly body: { readonly error?: { code: string; param?: string; details?: { param: string; code: string }[] } }
}

const outcome = ({ status, body }: Answer): string =>
  [
    status,
    body.error?.code,
    body.error?.param ?? 'null',
    body.error?.details?.[0]?.param,
    body.error?.details?.[0]?.code,
  ]
    .filter((part) => part !== undefined)
    .join(' ')

async function start(t: TestContext) {
  const world = await startWorld(t, { settings: { rate_limit_messages: 1_000, rate_limit_default: 1_000 } })
  return { world, api: (await world.account()).api }
}

test('a body with more fields and items than its operation takes is refused before it is parsed', async (t) => {
  const { world, api } = await start(t)
  const refused = '400 parameter_invalid null  too_many'

  assert.equal(outcome(await api.post('/v1/messages', messageTo({ text: { body: 'x', ...fields(20_000) } }))), refused)
  assert.equal(
    outcome(await api.post('/v1/contacts', { phone: '+4915112345678', tags: Array(20_001).fill('a') })),
    refused,
  )
  assert.equal(outcome(await api.post('/v1/segments', { name: 'x', rules: { any: Array(20_001).fill(1) } })), refused)
  // it is not even JSON
  const text = `{"a":[${'1,'.repeat(20_001)}`
  const headers = { 'content-type': 'application/json' }
  assert.match((await api.send('POST', '/v1/messages', headers, text)).body.error.message, /more than 20000 fields/)

  // audiences
  const recipients = numbers(10_000).map((one) => ({ ...one, variables: fields(6, 'a') }))
  assert.equal((await api.post('/v1/campaigns', campaignTo(recipients))).status, 201)
  const { body } = await api.post('/v1/campaigns', campaignTo(numbers(1), { x: Array(200_000).fill(0) }))
  assert.match(body.error.message, /more than 200000 fields/)
  assert.equal(outcome(await api.post('/v1/campaigns', campaignTo([{ to: '+1', variables: fields(30_000) }]))), refused)

  // webhooks of providers and shops, before the signature
  const hook = async (path: string, items: number) => {
    const { statusCode, body: stream } = await request(`${world.base_url}${path}`, {
      method: 'POST',
      headers,
      body: JSON.stringify(Array(items).fill(1)),
    })
    return { status: statusCode, body: JSON.parse(await stream.text()) }
  }
  const channel = await liveChannel(world)
  assert.equal(outcome(await hook(`/hooks/channels/${channel}`, 100_001)), refused)
  assert.notEqual(outcome(await hook(`/hooks/channels/${channel}`, 100_000)), refused)
})

async function liveChannel(world: Awaited<ReturnType<typeof startWorld>>): Promise<string> {
  const { api } = await world.account({ mode: 'live', credit_micros: 1 })
  const { body } = await api.post('/v1/channels', {
    type: 'sms',
    provider: 'simulator',
    name: 'Sender',
    identifier: '+4915100000000',
    credentials: {},
  })
  return body.id
}

test('a content object may have 64 KB and 2,000 fields, with those that are not known', async (t) => {
  const { api } = await start(t)
  const send = async (text: object) => outcome(await api.post('/v1/messages', messageTo({ text })))

  assert.match(await send({ body: 'x', ...fields(1_999) }), /^202/)
  assert.equal(await send({ body: 'x', ...fields(2_000) }), '400 parameter_invalid text text too_many')
  assert.equal(await send({ body: 'x', list: Array(1_999).fill(0) }), '400 parameter_invalid text text too_many')
  // {"body":"x","more":"…"}
  assert.match(await send({ body: 'x', more: 'é'.repeat((64 * 1024 - 22) / 2) }), /^202/)
  assert.equal(
    await send({ body: 'x', more: 'é'.repeat((64 * 1024 - 20) / 2) }),
    '400 parameter_invalid text text too_long',
  )

  const campaign = campaignTo(numbers(1), { message: { type: 'text', text: { body: 'x', ...fields(2_000) } } })
  assert.equal(
    outcome(await api.post('/v1/campaigns', campaign)),
    '400 parameter_invalid message.text message.text too_many',
  )
  const { body } = await api.post('/v1/messages/batch', {
    messages: [messageTo(), messageTo({ text: { body: 'x', ...fields(2_000) } })],
  })
  assert.deepEqual(
    body.data.map((item: Answer & { error?: { details: { code: string }[] } }) => [
      item.status,
      item.error?.details[0]?.code,
    ]),
    [
      [202, undefined],
      [400, 'too_many'],
    ],
  )
})

test('metadata may have 16 KB and 500 fields, wherever it stands', async (t) => {
  const { api } = await start(t)
  const bodies = {
    '/v1/messages': messageTo(),
    '/v1/contacts': { phone: '+4915112345678' },
    '/v1/contact_lists': { name: 'List' },
    '/v1/webhook_endpoints': { url: 'https://example.com/x', events: ['*'] },
  }
  for (const [path, body] of Object.entries(bodies)) {
    const write = async (metadata: object) => outcome(await api.post(path, { ...body, metadata }))
    assert.equal(await write(fields(501)), '400 parameter_invalid metadata metadata too_many', path)
    assert.equal(await write({ a: 'x'.repeat(16 * 1024) }), '400 parameter_invalid metadata metadata too_long', path)
    assert.match(await write(fields(500)), /^20[12]/, path)
  }
})

test('a body may have 100 unknown fields', async (t) => {
  const { api } = await start(t)

  assert.match(outcome(await api.post('/v1/messages', messageTo(fields(100)))), /^202/)
  assert.equal(outcome(await api.post('/v1/messages', messageTo(fields(101)))), '400 parameter_invalid null  too_many')
})
