/** Error texts name the value, the reason and the next step (behaviour: authentication 3.1; conventions 1.3, 4.4, 5.1). */
import assert from 'node:assert/strict'
import test from 'node:test'
import type { Answered } from '../support/api.ts'
import { startWorld } from '../support/world.ts'

const message = { channel: 'ch_test_whatsapp', to: '+15005550006', type: 'text', text: { body: 'Hello' } }
const reported = (answer: Answered): [number, string, string] => [
  answer.status,
  answer.body.error.code,
  answer.body.error.message,
]

function says(answer: Answered, status: number, code: string, ...words: readonly RegExp[]): void {
  const [had, named, text] = reported(answer)
  assert.deepEqual([had, named], [status, code], text)
  for (const word of words) assert.match(text, word)
}

test('a key sent as Basic, bare or as X-API-Key gets advice, and the key is not repeated', async (t) => {
  const world = await startWorld(t)
  const { key } = await world.account()
  const ask = (headers: Record<string, string>) => world.api().get('/v1/me', headers)

  const answers = await Promise.all([
    ask({ authorization: `Basic ${Buffer.from(`${key}:`).toString('base64')}` }),
    ask({ authorization: key }),
    ask({ 'x-api-key': key }),
    ask({ authorization: `Bearer${key}` }),
    ask({}),
  ])

  for (const answer of answers) {
    says(answer, 401, 'api_key_missing', /Authorization: Bearer <API_KEY>/)
    assert.ok(!JSON.stringify(answer.body).includes(key.slice(10)), 'the key is in the answer')
  }
  assert.match(answers[0].body.error.message, /Basic/)
  assert.match(answers[1].body.error.message, /the word Bearer/)
  assert.match(answers[2].body.error.message, /X-API-Key/)
})

test('a known path with another method is 404 and lists its methods, also in Allow, for a valid key', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()

  const put = await api.send('PUT', '/v1/messages')
  const options = await api.send('OPTIONS', '/v1/me')
  const beside = await api.get('/v1/contacts/upsert')
  const inner = await api.send('DELETE', '/v1/contacts/ct_1/export/')
  const stranger = await world.api().send('PUT', '/v1/messages')
  const unknown = await api.get('/v1/nothing')

  says(put, 404, 'resource_missing', /no operation PUT \/v1\/messages\. This path takes GET and POST\./)
  assert.equal(put.headers['allow'], 'GET, POST')
  assert.equal(options.headers['allow'], 'GET')
  says(beside, 404, 'resource_missing', /no operation GET \/v1\/contacts\/upsert\. This path takes POST\./)
  assert.equal(beside.headers['allow'], 'POST')
  assert.equal(inner.status, 404)
  assert.equal(stranger.headers['allow'], undefined)
  assert.equal(unknown.headers['allow'], undefined)
})

test('a page requested with another method lists its methods, also in Allow', async (t) => {
  const world = await startWorld(t)

  const pages = [
    '/docs',
    '/docs/',
    '/docs/openapi.json',
    '/docs/api/messages',
    '/docs/api/messages.send',
    '/docs/errors/resource_missing',
    '/docs/guides/webhooks',
  ]
  for (const path of [
    ...pages,
    '/docs/search.json',
    '/docs/postman.json',
    '/console',
    '/console/messages',
    '/healthz',
    '/metrics',
    '/',
  ]) {
    const answer = await world.api().send('POST', path)
    says(answer, 404, 'resource_missing', /This path takes GET\./)
    assert.equal(answer.headers['allow'], 'GET', path)
  }
  for (const path of [
    '/v1',
    '/nothing',
    '/docs/nothing/at/all',
    '/docs/api/nothing',
    '/docs/*',
    '/console/api/nothing',
  ])
    assert.equal((await world.api().send('POST', path)).headers['allow'], undefined)
})

test('an unknown path suggests the likely one', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()
  const meant: [string, string, RegExp][] = [
    ['GET', '/v1/message', /Did you mean GET \/v1\/messages\?/],
    ['POST', '/messages', /Did you mean POST \/v1\/messages\?/],
    ['GET', '/v1/webhook-endpoints', /Did you mean GET \/v1\/webhook_endpoints\?/],
    ['GET', '/api/v1/contactLists', /Did you mean GET \/v1\/contact_lists\?/],
    ['POST', '/v1/messages/batches', /Did you mean POST \/v1\/messages\/batch\?/],
    ['GET', '/v1/v1/messages/msg_0/event', /Did you mean GET \/v1\/messages\/msg_0\/events\?/],
    ['PUT', '/v1/mesages', /Did you mean GET or POST \/v1\/messages\?/],
    ['POST', '/v1/messages/send', /Did you mean POST \/v1\/messages\?/],
    ['POST', '/v1/message/send_text', /Did you mean POST \/v1\/messages\?/],
    [
      'POST',
      '/v1/contacts/create',
      /^There is no operation POST \/v1\/contacts\/create\. Did you mean POST \/v1\/contacts\?/,
    ],
    ['GET', '/v1/message/msg_0/status', /Did you mean GET \/v1\/messages\/msg_0\?/],
    ['POST', '/2010-04-01/Accounts/AC0123456789/Messages.json', /Did you mean POST \/v1\/messages\?/],
    ['GET', '/2010-04-01/Accounts/AC0123456789/Messages.json?PageSize=50', /Did you mean GET \/v1\/messages\?/],
    [
      'GET',
      '/2010-04-01/Accounts/AC0123456789/Messages/SM0123456789.json',
      /Did you mean GET \/v1\/messages\/\{id\}\?/,
    ],
    ['POST', '/v1/send', /Did you mean POST \/v1\/messages\?/],
  ]

  for (const [method, path, words] of meant) says(await api.send(method, path), 404, 'resource_missing', words)
  for (const path of ['/v1/qqqqqq', '/v1', `/v1/${'a/'.repeat(3000)}`, `/v1/${'m'.repeat(5000)}`]) {
    const answer = await api.get(path)
    says(answer, 404, 'resource_missing')
    assert.doesNotMatch(answer.body.error.message, /Did you mean/)
    assert.ok(answer.body.error.message.length < 500)
  }
})

test('unknown fields beside an error get suggestions; beside a success the header names them', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()

  const foreign = await api.post('/v1/messages', { From: '+15005550006', To: '+15005550010', Body: 'Hi' })
  const typo = await api.post('/v1/messages', {
    chanel: 'ch_test_sms',
    to: '+15005550006',
    type: 'text',
    text: { body: 'Hi' },
  })
  const elsewhere = await api.post('/v1/webhook_endpoints', { link: 'https://example.org', evnts: ['message.*'] })
  const flood = await api.post(
    '/v1/messages',
    Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`${'x'.repeat(100)}${i}`, i])),
  )
  const taken = await api.post('/v1/messages', { ...message, refrence: 'order-1' })

  says(
    foreign,
    400,
    'parameter_missing',
    /`From` is not known here\. Did you mean `channel`\?/,
    /`To` is .* Did you mean `to`\?/,
    /`Body` .* Did you mean `text\.body`\?/,
  )
  assert.equal(foreign.body.error.param, 'channel')
  says(typo, 400, 'parameter_missing', /`chanel` is not known here\. Did you mean `channel`\?/)
  says(elsewhere, 400, 'parameter_missing', /`evnts` is not known here\. Did you mean `events`\?/)
  says(flood, 400, 'parameter_invalid', /5000 unknown fields/)
  assert.ok(JSON.stringify(flood.body).length < 64 * 1024)
  assert.equal(taken.status, 202)
  assert.equal(taken.headers['service-ignored-fields'], 'refrence')
})

test('an unknown query parameter gets a suggestion and the list of valid ones', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()

  const answer = await api.get('/v1/messages?created_aftr=2026-01-01')
  const flood = await api.get(`/v1/messages?${Array.from({ length: 900 }, (_, i) => `statu${i}=1`).join('&')}`)

  says(
    answer,
    400,
    'parameter_invalid',
    /`created_aftr` is not known here\. Did you mean `created_after`\? Known are: .*\bcursor|starting_after/,
  )
  assert.equal(answer.body.error.param, 'created_aftr')
  assert.equal(flood.status, 400)
  assert.ok(JSON.stringify(flood.body).length < 64 * 1024)
})

test('swapped letters and list values get the right suggestion in body, parts and query', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()
  const inbound = (type: string) =>
    api.post('/v1/test/inbound_messages', {
      channel: 'ch_test_sms',
      from: '+4915112345678',
      type,
      text: { body: 'Hi' },
    })

  says(await api.get('/v1/messages?limti=5'), 400, 'parameter_invalid', /Did you mean `limit`\?/)
  says(
    await api.get('/v1/messages?status=snet'),
    400,
    'parameter_invalid',
    /`status` must be one of .*\. Did you mean `sent`\?/,
  )
  says(
    await api.get('/v1/events?type=message.delivred'),
    400,
    'parameter_invalid',
    /Did you mean `message\.delivered`\?/,
  )
  says(await api.get('/v1/events?type=mesage.*'), 400, 'parameter_invalid', /Did you mean `message\.\*`\?/)
  says(
    await api.post('/v1/messages', { ...message, type: 'txet' }),
    400,
    'unsupported_message_type',
    /Did you mean `text`\?/,
  )
  const button = {
    header: { type: 'iamge', url: 'https://example.org/a.png' },
    body: 'x',
    action: { buttons: [{ type: 'reply', reply: { id: 'a', title: 'A' } }] },
  }
  says(
    await api.post('/v1/messages', { ...message, type: 'button', button }),
    400,
    'parameter_invalid',
    /`button\.header\.type` .* Did you mean `image`\?/,
  )
  says(await inbound('txet'), 400, 'parameter_invalid', /Did you mean `text`\?/)
  says(
    await api.post('/v1/webhook_endpoints', { url: 'https://example.org', events: ['message.snet'] }),
    400,
    'parameter_invalid',
    /Did you mean `message\.sent`\?/,
  )
  says(
    await api.post('/v1/contacts', { phone: '+4915112345678', consent: { sms: 'opted_ni' } }),
    400,
    'parameter_invalid',
    /Did you mean `opted_in`\?/,
  )
  const strange = await inbound('x'.repeat(5_000))
  says(strange, 400, 'parameter_invalid')
  assert.doesNotMatch(strange.body.error.message, /Did you mean/)
})

test('a channel type in place of an id gets the ids of such channels, and an id of the other mode is explained', async (t) => {
  const world = await startWorld(t)
  const sandbox = await world.account()
  const live = await world.account({ mode: 'live' })
  const sent = (api: typeof live.api, channel: string) => api.post('/v1/messages', { ...message, channel })

  says(await sent(sandbox.api, 'sms'), 404, 'resource_missing', /ch_test_sms/)
  says(await sent(live.api, 'sms'), 404, 'resource_missing', /no channel of it yet.*POST \/v1\/channels/)
  const made = await live.api.post('/v1/channels', {
    type: 'sms',
    provider: 'simulator',
    name: 'Shop',
    identifier: '+4915100000009',
    credentials: {},
  })
  const id: string = made.body.id
  says(await sent(live.api, 'SMS'), 404, 'resource_missing', new RegExp(id))
  says(await live.api.get('/v1/channels/sms'), 404, 'resource_missing', new RegExp(id))
  says(
    await sent(live.api, 'ch_test_sms'),
    404,
    'resource_missing',
    /test keys .* alone can use; this request came with a live key/,
  )
  says(await sent(sandbox.api, id), 404, 'resource_missing', /live mode; this request came with a test key/)
  const plain = await sent(live.api, 'x'.repeat(5000))
  says(plain, 404, 'resource_missing')
  assert.ok(plain.body.error.message.length < 300)
})

test('a channel that cannot be connected lists each invalid field once, and a taken sender gets advice that fits the caller', async (t) => {
  const world = await startWorld(t)
  const live = await world.account({ mode: 'live' })
  const connect = (provider: string, more: object) =>
    live.api.post('/v1/channels', {
      type: 'sms',
      provider,
      name: 'Shop',
      identifier: '+4915100000009',
      credentials: {},
      ...more,
    })
  const smpp = { host: 'smpp.example.com', system_id: 'shop', password: 'secret' }

  const ranges = await connect('smpp', { credentials: smpp, settings: { source_ton: 7, source_npi: 'one' } })
  const misspelt = await connect('twilio', { settings: { mmss: true } })
  await connect('simulator', {})
  const taken = await (
    await world.account({ mode: 'live' })
  ).api.post('/v1/channels', {
    type: 'sms',
    provider: 'simulator',
    name: 'Mine',
    identifier: '+4915100000009',
    credentials: {},
  })

  assert.deepEqual(
    ranges.body.error.details.map(({ param, code }: { param: string; code: string }) => `${param} ${code}`),
    ['settings.source_ton invalid_value', 'settings.source_npi invalid_type'],
  )
  assert.ok(
    misspelt.body.error.details.some(({ message }: { message: string }) =>
      message.endsWith('It takes max_messages_per_second, mms.'),
    ),
  )
  says(taken, 409, 'channel_identifier_taken', /Delete that channel first if it is yours, or connect another sender/)
  says(
    await live.api.get('/v1/channels/ch_test_sms/templates'),
    404,
    'resource_missing',
    /this request came with a live key/,
  )
})

test('a phone number in another international form is refused with its E.164 form, a national one without a guess', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()
  const sent = (to: string) =>
    api.post('/v1/messages', { channel: 'ch_test_sms', to, type: 'text', text: { body: 'Hi' } })

  for (const to of ['+49 151 1234-5678', '0049 151 12345678', '+49 (0) 151 12345678']) {
    const answer = await sent(to)
    says(answer, 400, 'parameter_invalid', /Did you mean \+4915112345678\?/)
    assert.equal(answer.body.error.param, 'to')
  }
  assert.doesNotMatch((await sent('0151 12345678')).body.error.message, /Did you mean/)
})

test('a national number is refused with its E.164 form in every field if the account has a default country', async (t) => {
  const world = await startWorld(t)
  const { id, api } = await world.account()
  const national = '0151 12345678'
  const content = { type: 'text', text: { body: 'Hi' } }
  const send = () => api.post('/v1/messages', { channel: 'ch_test_sms', to: national, ...content })

  assert.doesNotMatch((await send()).body.error.message, /Did you mean/)
  await world.services.accounts.update(id, { default_country: 'de' })

  const meant = /Did you mean \+4915112345678\?/
  const sent = await send()
  says(sent, 400, 'parameter_invalid', meant)
  assert.deepEqual([sent.body.error.param, sent.body.error.details.length], ['to', 1])
  const batch = await api.post('/v1/messages/batch', {
    messages: [{ channel: 'ch_test_sms', to: national, ...content }],
  })
  assert.match(batch.body.data[0].error.message, meant)
  const inbound = await api.post('/v1/test/inbound_messages', {
    channel: 'ch_test_sms',
    from: national,
    text: { body: 'Hi' },
  })
  says(inbound, 400, 'parameter_invalid', meant)
  assert.equal(inbound.body.error.param, 'from')
  const made = await api.post('/v1/contacts', { phone: '+4915100000001' })
  for (const answer of [
    await api.post('/v1/contacts', { phone: national }),
    await api.post('/v1/contacts/upsert', { phone: national }),
    await api.patch(`/v1/contacts/${made.body.id}`, { phone: national }),
  ]) {
    says(answer, 400, 'parameter_invalid', meant)
    assert.equal(answer.body.error.param, 'phone')
  }
  says(await api.post('/v1/contacts', { phone: '0049 151 12345678' }), 400, 'parameter_invalid', meant)
  assert.doesNotMatch((await api.post('/v1/contacts', { phone: 'nobody' })).body.error.message, /Did you mean/)
  const sms = {
    channel: 'ch_test_sms',
    audience: { type: 'adhoc', recipients: [{ to: '+15005550006' }] },
    message: content,
  }
  const draft = await api.post('/v1/campaigns', { name: 'Draft', ...sms })
  const tried = await api.post(`/v1/campaigns/${draft.body.id}/test`, { to: national })
  says(tried, 400, 'parameter_invalid', meant)
  assert.equal(tried.body.error.param, 'to')
})

test('the sender of a channel is refused with its E.164 form', async (t) => {
  const world = await startWorld(t)
  const { id, api } = await world.account({ mode: 'live' })
  await world.services.accounts.update(id, { default_country: 'DE' })

  const answer = await api.post('/v1/channels', {
    type: 'sms',
    provider: 'simulator',
    name: 'Shop',
    identifier: '0151 12345678',
    credentials: {},
  })

  says(answer, 400, 'parameter_invalid', /Did you mean \+4915112345678\?/)
  assert.equal(answer.body.error.param, 'identifier')
})

test('a row of an import is refused with the E.164 form of its national number', async (t) => {
  const world = await startWorld(t)
  const { id, api } = await world.account()
  await world.services.accounts.update(id, { default_country: 'DE' })

  const file = ['phone,first_name', '0151 12345678,Ada', '+4915112345679,Bob', 'nobody,Eve', ''].join('\n')
  const started = await api.send(
    'POST',
    '/v1/contact_imports?consent_declared=true',
    { 'content-type': 'text/csv' },
    file,
  )
  assert.equal(started.status, 202)
  await world.settle()
  const { body: done } = await api.get(`/v1/contact_imports/${started.body.id}`)
  const errors = await api.get(`/v1/contact_imports/${done.id}/errors`)

  assert.deepEqual([done.created, done.rejected], [1, 2])
  assert.match(errors.body, /0151 12345678,Ada.*Did you mean \+4915112345678\?/)
  assert.doesNotMatch(errors.body, /nobody,Eve.*Did you mean/)
})

test('simulated inbound messages name channels as messages do', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()
  const inbound = (channel: string) =>
    api.post('/v1/test/inbound_messages', { channel, from: '+4915112345678', text: { body: 'Hi' } })

  says(await inbound('sms'), 404, 'resource_missing', /That is a type; .* ch_test_sms\./)
  says(await inbound('ch_01h00000000000000000000000'), 404, 'resource_missing', /\bchannel\b/)
})

test('a refused batch item names its own unknown fields, within limits', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()
  const flood = Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`${'long'.repeat(500)}${i}`, 1]))

  const { status, body } = await api.post('/v1/messages/batch', {
    messages: [
      { From: 'ch_test_sms', To: '+15005550006', Body: 'Hi' },
      { ...message, refrence: 'a' },
      { refrence: 'a' },
      { ...flood, to: 5 },
      5,
      [],
      null,
    ],
  })
  const errors = body.data.map(({ error }: { error?: { message: string } }) => error)

  assert.deepEqual([status, body.accepted, body.rejected], [207, 1, 6])
  assert.match(
    errors[0].message,
    /`From` is not known here\. Did you mean `channel`\?.*`To` .* `to`\?.*`Body` .* `text\.body`\?/,
  )
  assert.equal(errors[0].param, 'channel')
  assert.match(errors[2].message, /`refrence` is not known here\. Did you mean `reference`\?/)
  assert.match(errors[3].message, /There are 290 more of that kind/)
  for (const error of errors) assert.ok(JSON.stringify(error ?? '').length <= 8 * 1024)
  for (const at of [4, 5, 6]) assert.doesNotMatch(errors[at].message, /not known here/)
})
