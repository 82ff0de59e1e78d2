/** A WhatsApp channel, with a simulator of Meta's Graph API. */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { businessNumber } from '../support/simulators/whatsapp.ts'
import { until } from '../support/waiting.ts'
import { approvedTemplate, whatsappWorld } from '../support/whatsapp-world.ts'

const to = '+4915112345678'
const template = (name: string, more: object = {}) =>
  approvedTemplate(name, {
    id: `1${name.length}${name}`,
    components: [{ type: 'BODY', text: 'Your order {{1}} is {{2}}. {{1}}!' }],
    ...more,
  })

async function connected(t: TestContext, templates: readonly object[] = []) {
  const { graph, world, api, connect } = await whatsappWorld(t, { credit_micros: 1_000_000 })
  graph.templates.push(...templates)
  const { status, body: channel } = await connect()
  assert.equal(status, 201, JSON.stringify(channel))
  const hook = `${world.base_url}/hooks/channels/${channel.id}`
  return {
    graph,
    world,
    api,
    channel,
    hook,
    send: (type: string, content: unknown, more: object = {}) =>
      api.post('/v1/messages', { channel: channel.id, to, type, [type]: content, ...more }),
    sendTemplate: (name: string, texts: readonly string[] = ['A', 'B'], code = 'en_US') => {
      const components = [{ type: 'body', parameters: texts.map((text) => ({ type: 'text', text })) }]
      return api.post('/v1/messages', {
        channel: channel.id,
        to,
        type: 'template',
        template: { name, language: { code }, components },
      })
    },
    callBack: async (...changes: readonly unknown[]) => {
      const status = await graph.report(hook, changes)
      await world.settle()
      return status
    },
    write: async (more: object = {}) => {
      const contacts = [{ profile: { name: 'Ada Lovelace' }, wa_id: to.slice(1) }]
      const said = {
        id: `wamid.IN${Math.random()}`,
        from: to.slice(1),
        timestamp: '1750030073',
        type: 'text',
        text: { body: 'Hello' },
        ...more,
      }
      await graph.report(hook, [graph.messages({ contacts, messages: [said] })])
      await world.settle()
    },
    read: async (id: string) => (await api.get(`/v1/messages/${id}`)).body,
  }
}

test('connecting tests everything and reads the number; failures are named, and nothing is created', async (t) => {
  const { graph, api, connect } = await whatsappWorld(t, { credit_micros: 1_000_000 })
  const { verify_token: _, ...withoutWord } = graph.credentials
  const wrong = [
    await connect({ access_token: 'another' }),
    await connect({ app_secret: 'another' }),
    await connect({ phone_number_id: '7' }),
    await connect({ business_account_id: '7' }),
    await connect({}, { identifier: '+4915199999999' }),
  ]
  graph.trouble(graph.credentials.phone_number_id, 'gateway')
  const away = await connect()
  graph.trouble('/message_templates', 'none', 'nonsense')
  const unread = await connect()
  Object.assign(graph.number, {
    health_status: {
      can_send_message: 'BLOCKED',
      entities: [{ errors: [{ error_description: 'No payment method.' }] }],
    },
  })
  const blocked = await connect()
  Object.assign(graph.number, { health_status: { can_send_message: 'LIMITED' } })
  const none = (await api.get('/v1/channels')).body.data

  const { status, body } = await api.post('/v1/channels', {
    type: 'whatsapp',
    provider: 'whatsapp_cloud',
    name: 'Shop',
    credentials: withoutWord,
  })
  const again = await connect()

  assert.deepEqual(
    wrong.map(({ status, body }) => [status, body.error.code, /credentials\.(\w+)/.exec(body.error.message)?.[1]]),
    [
      [422, 'upstream_rejected', 'access_token'],
      [422, 'upstream_rejected', 'app_secret'],
      [422, 'upstream_rejected', 'phone_number_id'],
      [422, 'upstream_rejected', 'business_account_id'],
      [400, 'parameter_invalid', undefined],
    ],
  )
  assert.deepEqual([away.status, unread.status, none], [503, 503, []])
  assert.match(blocked.body.error.message, /No payment method/)
  assert.deepEqual([status, body.identifier, body.connection_status], [201, businessNumber, 'connected'])
  assert.ok(body.verify_token.length >= 20 && graph.subscribed())
  assert.equal((await api.get(`/v1/channels/${body.id}`)).body.verify_token, undefined)
  assert.deepEqual([again.status, again.body.error.code], [409, 'channel_identifier_taken'])
})

test('an access token that is no valid header is malformed, not a provider failure', async (t) => {
  const { graph, api, connect } = await whatsappWorld(t)
  const tokens = [`${graph.credentials.access_token}\n`, 'EAA\u0007', 'EAA…', 'EA A']

  const answers = []
  for (const access_token of tokens) answers.push(await connect({ access_token }))
  const { body: channel } = await connect()
  const changed = await api.patch(`/v1/channels/${channel.id}`, {
    credentials: { ...graph.credentials, access_token: tokens[0] },
  })

  for (const { status, body } of [...answers, changed])
    assert.deepEqual(
      [status, body.error.code, body.error.param],
      [400, 'parameter_invalid', 'credentials.access_token'],
    )
})

test("Meta's handshake needs our verify token", async (t) => {
  const { world, channel, graph } = await connected(t)
  const shake = (word: string) =>
    world
      .api()
      .get(
        `/hooks/channels/${channel.id}?hub.mode=subscribe&hub.verify_token=${encodeURIComponent(word)}&hub.challenge=1158201444`,
      )

  const [right, wrong] = [await shake(graph.credentials.verify_token), await shake('another')]

  assert.deepEqual([right.status, String(right.body)], [200, '1158201444'])
  assert.deepEqual([wrong.status, wrong.body.error.code], [401, 'hook_token_invalid'])
})

test('a message is sent, and its receipts apply in any order and number', async (t) => {
  const { graph, world, send, write, callBack, read, api } = await connected(t)
  const closed = await send('text', { body: 'Hi' })
  await write()
  const { body: sent } = await send('text', { body: 'Hi' })
  await world.settle()
  const [wire] = graph.sent
  const status = (said: string, more: object = {}) => graph.messages({ statuses: [graph.status(wire, said, more)] })
  const before = (await read(sent.id)).status

  await callBack(status('read', { timestamp: 1750030075000 }), status('delivered'))
  await callBack(status('sent'), status('read'), status('failed', { errors: [{ code: 131026 }] }))

  assert.deepEqual([closed.status, closed.body.error.code], [422, 'policy_violation'])
  assert.deepEqual([wire.to, wire.text.body, wire.biz_opaque_callback_data], [to.slice(1), 'Hi', sent.id])
  const message = await read(sent.id)
  assert.deepEqual([before, message.status, message.delivered_at], ['sent', 'read', message.read_at])
  const types = (await api.get(`/v1/events?object_id=${sent.id}&order=asc`)).body.data.map(
    (event: { type: string }) => event.type,
  )
  assert.deepEqual(types, ['message.sent', 'message.read'])
  await world.invariants()
})

test('a later failure is refunded, and a refused attempt has the error code', async (t) => {
  const { graph, world, send, write, callBack, read, api } = await connected(t)
  await write()
  const { body: late } = await send('text', { body: 'Hi' })
  await world.settle()
  await callBack(
    graph.messages({
      statuses: [graph.status(graph.sent[0], 'failed', { errors: [{ code: 131049, title: 'Not delivered' }] })],
    }),
  )
  graph.trouble('/messages', { error: 131053 })
  const { body: refused } = await send('attachments', [{ type: 'image', url: 'https://example.com/a.jpg' }])
  await world.settle()

  const [one, other] = [await read(late.id), await read(refused.id)]

  assert.deepEqual(
    [one.status, one.error.code, one.error.provider_code, one.billing.refunded],
    ['failed', 'policy_violation', '131049', true],
  )
  assert.deepEqual([other.status, other.error.provider_code, other.billing.refunded], ['failed', '131053', true])
  assert.equal((await api.get(`/v1/messages/${refused.id}/attempts`)).body.data[0].provider_code, '131053')
  await world.invariants()
})

test('throttling is no failure, and a revoked token makes the channel wait until it is valid again', async (t) => {
  const { graph, world, send, write, read, api, channel } = await connected(t)
  await write()
  graph.trouble('/messages', { error: 130429, status: 429 }, { error: 131056 })
  const { body: throttled } = await send('text', { body: 'Hi' })
  await world.settle()
  for (let n = 0; n < 3; n++) {
    await world.clock.advance(30_000)
    await world.settle()
  }
  graph.trouble('/messages', { error: 190, status: 401 })
  graph.trouble(graph.credentials.phone_number_id, { error: 190, status: 401 })
  const { body: lost } = await send('text', { body: 'Hi' })
  await world.settle()
  const down = (await api.get(`/v1/channels/${channel.id}`)).body.connection_status
  for (let n = 0; n < 4; n++) {
    await world.clock.advance(60_000)
    await world.settle()
  }

  assert.equal((await read(throttled.id)).status, 'sent')
  assert.deepEqual([(await read(lost.id)).error.code, down], ['channel_not_connected', 'disconnected'])
  assert.equal((await api.get(`/v1/channels/${channel.id}`)).body.connection_status, 'connected')
  await world.invariants()
})

test('inbound messages are stored once with their sender; replies and reactions reference our message', async (t) => {
  const { graph, world, hook, send, write, callBack, api } = await connected(t)
  await write()
  const { body: ours } = await send('button', {
    body: { text: 'At home?' },
    action: { buttons: [{ reply: { id: 'yes', title: 'Yes' } }] },
  })
  await world.settle()
  const { id } = graph.status(graph.sent[0], 'sent')
  const answer = {
    type: 'interactive',
    interactive: { type: 'button_reply', button_reply: { id: 'yes', title: 'Yes' } },
    context: { id },
  }
  const said = graph.messages({
    contacts: [{ profile: { name: 'Ada Lovelace' }, wa_id: to.slice(1) }],
    messages: [
      { id: 'wamid.A', from: to.slice(1), ...answer },
      { id: 'wamid.B', from: to.slice(1), type: 'reaction', reaction: { message_id: id, emoji: '👍' } },
      { id: 'wamid.C', from_user_id: 'DE.1349', type: 'text', text: { body: 'Grüße' } },
    ],
  })

  const taken = [await callBack(said), await callBack(said)]
  const forged = await graph.report(hook, [said], { secret: 'another' })
  const other = await callBack(
    graph.messages({ messages: [{ id: 'wamid.X', from: to.slice(1), type: 'text', text: { body: 'Hi' } }] }, '7'),
  )
  const nonsense = await graph.report(hook, [], { raw: '{"object":' })

  assert.deepEqual([...taken, forged, other, nonsense], [200, 200, 401, 200, 200])
  const inbound = (await api.get('/v1/messages?direction=inbound')).body.data.slice(0, -1).toReversed()
  assert.deepEqual(
    inbound.map((message: Record<string, unknown>) => [message['from'], message['content'], message['reply_to']]),
    [
      [to, { button_reply: { id: 'yes', title: 'Yes' } }, ours.id],
      [to, { reaction: { message_id: ours.id, emoji: '👍' } }, ours.id],
      ['DE.1349', { text: { body: 'Grüße' } }, null],
    ],
  )
  const contacts = (await api.get('/v1/contacts')).body.data
  assert.deepEqual(contacts.map(({ full_name }: { full_name: string }) => full_name).toSorted()[0], 'Ada Lovelace')
  await world.invariants()
})

test('inbound content always has the documented format: degrees become numbers, and unknown content is unsupported', async (t) => {
  const { graph, api, callBack } = await connected(t)
  const contacts = [{ profile: { name: { first: 7 } }, wa_id: to.slice(1) }]
  const say = (type: string, content: unknown) => ({
    id: `wamid.${Math.random()}`,
    from: to.slice(1),
    timestamp: 'never',
    type,
    [type]: content,
  })
  const card = {
    name: { formatted_name: 'Ada' },
    birthday: 'yesterday',
    phones: [{ phone: '+14155550100', type: 7 }],
    emails: 'none',
  }
  const said = [
    say('location', { latitude: '52.5', longitude: '13.25', name: 'Gate' }),
    say('location', { latitude: 52.5, longitude: 13.25, name: { de: 'Tor' }, address: null }),
    ...[{ latitude: 'north', longitude: 1 }, { latitude: 91, longitude: 1 }, { latitude: null, longitude: '' }, {}].map(
      (place) => say('location', place),
    ),
    say('contacts', [card]),
    ...[[], [null], [{ name: 'Ada' }], [{}]].map((cards) => say('contacts', cards)),
    say('order', { catalog_id: '1', product_items: [] }),
    say('button', {}),
    say('text', { body: { deep: 1 } }),
  ]

  const status = await callBack(graph.messages({ contacts, messages: said }))

  const { status: listed, body } = await api.get('/v1/messages?direction=inbound&limit=100')
  const { status: reported } = await api.get('/v1/events?limit=100')
  const read = (body.data as { type: string; content: Record<string, unknown> }[])
    .map(({ type, content }) => content[type])
    .toReversed()
  const unsupported = (provider_type: string) => ({ provider_type })
  assert.deepEqual([status, listed, reported], [200, 200, 200])
  assert.deepEqual(read, [
    { latitude: 52.5, longitude: 13.25, name: 'Gate' },
    { latitude: 52.5, longitude: 13.25, address: null },
    ...Array.from({ length: 4 }, () => unsupported('location')),
    [{ name: { formatted_name: 'Ada' }, phones: [{ phone: '+14155550100' }] }],
    ...Array.from({ length: 4 }, () => unsupported('contacts')),
    unsupported('order'),
    unsupported('button_reply'),
    { body: '' },
  ])
})

test('the later of a stop and a resume of marketing applies, in any order of arrival', async (t) => {
  const { graph, world, callBack, write, api } = await connected(t)
  await write()
  const seconds = Math.floor(world.clock.now() / 1000)
  const preference = (value: string, ago_seconds: number) => ({
    ...graph.messages({
      user_preferences: [
        { wa_id: to.slice(1), category: 'marketing_messages', value, timestamp: seconds - ago_seconds },
      ],
    }),
    field: 'user_preferences',
  })
  const marketing = async () => (await api.get('/v1/contacts')).body.data[0].consent.whatsapp.marketing
  const afterTelling = async (value: string, ago_seconds: number) => {
    await callBack(preference(value, ago_seconds))
    return await marketing()
  }

  const reported = [
    await afterTelling('stop', 300),
    await afterTelling('resume', 400),
    await afterTelling('resume', 200),
    await afterTelling('stop', 250),
    await afterTelling('stop', 100),
  ]
  await callBack(preference('resume', 40), preference('stop', 50))
  const together = await marketing()

  assert.deepEqual([...reported, together], ['opted_out', 'opted_out', 'opted_in', 'opted_in', 'opted_out', 'opted_in'])
  await world.invariants()
})

test('a stop of marketing blocks marketing templates, and a resume allows them', async (t) => {
  const { graph, world, sendTemplate, callBack, write, api } = await connected(t, [
    template('offer', { category: 'MARKETING' }),
    template('order_update'),
  ])
  await write()
  const preference = (value: string) => ({
    ...graph.messages({
      user_preferences: [{ wa_id: to.slice(1), category: 'marketing_messages', value, timestamp: 1750030073 }],
    }),
    field: 'user_preferences',
  })

  await callBack(preference('stop'))
  const stopped = [await sendTemplate('offer'), await sendTemplate('order_update')]
  const [contact] = (await api.get('/v1/contacts')).body.data
  await callBack(preference('resume'))
  const resumed = await sendTemplate('offer')
  await world.settle()
  await callBack(
    graph.messages({ statuses: [graph.status(graph.sent.at(-1), 'failed', { errors: [{ code: 131050 }] })] }),
  )
  const again = await sendTemplate('offer')

  assert.deepEqual(
    [...stopped, resumed, again].map(({ status, body }) => [status, body.error?.code]),
    [
      [422, 'recipient_blocked'],
      [202, undefined],
      [202, undefined],
      [422, 'recipient_blocked'],
    ],
  )
  assert.equal(contact.consent.whatsapp.marketing, 'opted_out')
  await world.invariants()
})

test('a send refused by WhatsApp for a marketing stop counts as that stop only', async (t) => {
  const { graph, world, sendTemplate, write, api } = await connected(t, [
    template('offer', { category: 'MARKETING' }),
    template('order_update'),
  ])
  await write()
  graph.trouble('/messages', { error: 131050 })

  const first = await sendTemplate('offer')
  await world.settle()
  const later = [await sendTemplate('offer'), await sendTemplate('order_update')]

  const { body: refused } = await api.get(`/v1/messages/${first.body.id}`)
  assert.deepEqual(
    [refused.status, refused.error.code, refused.billing.refunded],
    ['failed', 'recipient_blocked', true],
  )
  assert.deepEqual(
    later.map(({ status, body }) => [status, body.error?.code]),
    [
      [422, 'recipient_blocked'],
      [202, undefined],
    ],
  )
  await world.invariants()
})

test('templates are copied on connecting, and sends are checked against them', async (t) => {
  const { graph, sendTemplate, api, channel } = await connected(t, [
    template('order_update'),
    template('offer', { status: 'PAUSED', rejected_reason: 'SPAM' }),
  ])

  const { body: list } = await api.get(`/v1/channels/${channel.id}/templates`)
  const good = await sendTemplate('order_update')
  const calls = graph.calls.length
  const bad = [
    await sendTemplate('order_update', ['A']),
    await sendTemplate('offer'),
    await sendTemplate('order_update', ['A', 'B'], 'de'),
    await sendTemplate('nothing'),
  ]

  assert.deepEqual(
    list.data.map((one: Record<string, unknown>) => [
      one['name'],
      one['status'],
      one['rejected_reason'],
      /^tpl_[0-9a-z]{26}$/.test(String(one['id'])),
    ]),
    [
      ['offer', 'PAUSED', 'SPAM', true],
      ['order_update', 'APPROVED', null, true],
    ],
  )
  assert.equal(good.status, 202)
  assert.deepEqual(
    bad.map(({ status, body }) => [status, body.error.code, body.error.param]),
    [
      [422, 'upstream_rejected', 'template.components'],
      [422, 'upstream_rejected', 'template.name'],
      [422, 'upstream_rejected', 'template.language.code'],
      [422, 'upstream_rejected', 'template.name'],
    ],
  )
  assert.match(bad[1]!.body.error.message, /PAUSED.*templates lists/)
  assert.ok(graph.calls.length - calls <= 4, 'each name is asked for at most once')
})

test('an unknown template is looked up before a send is refused; if the look-up fails, the send may be repeated', async (t) => {
  const { graph, sendTemplate } = await connected(t)
  graph.templates.push(template('new_one'))

  const fresh = await sendTemplate('new_one')
  graph.trouble('/message_templates', 'gateway')
  const unknown = await sendTemplate('other')
  const missing = await sendTemplate('other')

  assert.deepEqual(
    [fresh, unknown, missing].map(({ status, body }) => [status, body.error?.code]),
    [
      [202, undefined],
      [503, 'upstream_unavailable'],
      [422, 'upstream_rejected'],
    ],
  )
})

test('templates are refreshed when WhatsApp reports a change, and every ten minutes', async (t) => {
  const { graph, world, callBack, sendTemplate, api, channel } = await connected(t, [
    template('order_update'),
    template('offer'),
  ])
  const names = async () =>
    (await api.get(`/v1/channels/${channel.id}/templates`)).body.data.map(
      (one: Record<string, unknown>) => `${one['name']} ${one['status']}`,
    )
  Object.assign(graph.templates[0], { status: 'PAUSED' })
  const before = await sendTemplate('order_update')

  await callBack({ field: 'message_template_status_update', value: { event: 'PAUSED' } })
  const [reported, after] = [await names(), await sendTemplate('order_update')]
  graph.templates.pop()
  await world.clock.advance(9 * 60_000)
  await world.settle()
  const kept = await names()
  graph.trouble('/message_templates', 'nonsense')
  await world.clock.advance(60_000)
  await world.settle()
  const failed = await names()
  await world.clock.advance(60_000)
  await world.settle()

  assert.deepEqual([before.status, after.status], [202, 422])
  assert.deepEqual(
    [reported, kept, failed, await names()],
    [['offer APPROVED', 'order_update PAUSED'], reported, reported, ['order_update PAUSED']],
  )
})

test('an account disabled at Meta loses its connection', async (t) => {
  const { graph, callBack, api, channel } = await connected(t)
  Object.assign(graph.number, { status: 'BANNED' })

  await callBack({
    field: 'account_update',
    value: { event: 'DISABLED_UPDATE', ban_info: { waba_ban_state: 'DISABLE' } },
  })

  assert.equal((await api.get(`/v1/channels/${channel.id}`)).body.connection_status, 'disconnected')
})

test('a send attempt whose answer was lost is resolved by its receipt, and not repeated', async (t) => {
  const { graph, world, send, write, callBack, read } = await connected(t)
  await write()
  graph.refuse(to, 'cut')
  const { body: sent } = await send('text', { body: 'Hi' })
  await world.settle()
  const before = (await read(sent.id)).status

  await callBack(graph.messages({ statuses: [graph.status(graph.sent[0], 'delivered')] }))
  await world.clock.advance(60_000)
  await world.settle()

  assert.deepEqual([before, (await read(sent.id)).status, graph.sent.length], ['sending', 'delivered', 1])
  await world.invariants()
})

test('a callback may hold a thousand changes, which all apply', async (t) => {
  const { graph, world, api, callBack, channel } = await connected(t)
  const people = Array.from({ length: 500 }, (_, n) => `49151${String(n).padStart(8, '0')}`)
  const inbound = people.map((from, n) =>
    graph.messages({ messages: [{ id: `wamid.IN${n}`, from, type: 'text', text: { body: `Hi ${n}` } }] }),
  )
  const stops = people.map((wa_id) => ({
    ...graph.messages({
      user_preferences: [{ wa_id, category: 'marketing_messages', value: 'stop', timestamp: 1750030073 }],
    }),
    field: 'user_preferences',
  }))

  const status = await callBack(...inbound, ...stops)

  const [{ messages }] = await world.pool<
    [{ messages: number }]
  >`select count(*)::int as messages from messages where channel_id = ${channel.id}`
  const [{ stopped }] = await world.pool<
    [{ stopped: number }]
  >`select count(*)::int as stopped from suppressions where channel_type = 'whatsapp.marketing'`
  assert.deepEqual([status, messages, stopped], [200, 500, 500])
  assert.equal((await api.get('/v1/contacts?limit=1')).body.data[0].consent.whatsapp.marketing, 'opted_out')
  await world.invariants()
})

test('a message of several parts has the status of the least advanced part, and replies to each part are matched', async (t) => {
  const { graph, world, send, write, callBack, read } = await connected(t)
  await write()
  const { body: sent } = await send('attachments', [
    { type: 'image', url: 'https://example.com/a.jpg', caption: 'A' },
    { type: 'document', url: 'https://example.com/b.pdf', filename: 'b.pdf' },
  ])
  await world.settle()
  const status = (part: number, said: string) => graph.messages({ statuses: [graph.status(graph.sent[part], said)] })

  await callBack(status(0, 'read'), status(1, 'delivered'))

  assert.equal(graph.sent.length, 2)
  assert.equal((await read(sent.id)).status, 'delivered')
})

test('a failure after delivery changes nothing: the message is delivered with its last part, without a refund', async (t) => {
  const { graph, world, send, write, callBack, read } = await connected(t)
  await write()
  const { body: sent } = await send('attachments', [
    { type: 'image', url: 'https://example.com/a.jpg' },
    { type: 'image', url: 'https://example.com/b.jpg' },
  ])
  await world.settle()
  const status = (part: number, said: string) => graph.messages({ statuses: [graph.status(graph.sent[part], said)] })

  await callBack(status(0, 'delivered'))
  await callBack(status(0, 'failed'))
  const between = await read(sent.id)
  await callBack(status(1, 'delivered'))
  const last = await read(sent.id)

  assert.deepEqual([between.status, last.status, last.billing.refunded], ['sent', 'delivered', false])
  await world.invariants()
})

test('a part whose answer was lost is resolved by its receipt, and the remaining parts are sent once', async (t) => {
  const { graph, world, send, write, callBack, read } = await connected(t)
  await write()
  graph.refuse(to, 'cut')
  const content = ['a', 'b', 'c'].map((name) => ({ type: 'image', url: `https://example.com/${name}.jpg` }))
  const { body: sent } = await send('attachments', content)
  await world.settle()
  const before = await read(sent.id)

  graph.refuse(to, 'none')
  await callBack(graph.messages({ statuses: [graph.status(graph.sent[0], 'delivered')] }))
  const after = await read(sent.id)
  await world.clock.advance(60_000)
  await world.settle()
  await callBack(...graph.sent.map((one) => graph.messages({ statuses: [graph.status(one, 'delivered')] })))

  assert.deepEqual([before.status, after.status, (await read(sent.id)).status], ['sending', 'sent', 'delivered'])
  assert.deepEqual(
    graph.sent.map(({ image }) => image.link.at(-5)),
    ['a', 'b', 'c'],
  )
  await world.invariants()
})

test('deleting a channel deletes its templates, and later callbacks are 404', async (t) => {
  const { graph, world, api, channel, hook } = await connected(t, [template('order_update')])

  await api.delete(`/v1/channels/${channel.id}`)

  assert.equal((await world.pool`select id from channel_templates`).length, 0)
  assert.equal(await graph.report(hook, [{ field: 'message_template_status_update', value: { event: 'PAUSED' } }]), 404)
  await world.clock.advance(20 * 60_000)
  await world.settle()
})

test('an inbound picture is downloaded with the token and served from our own address', async (t) => {
  const { graph, world, write, api } = await connected(t)
  const body = Buffer.from([0xff, 0xd8, 0xff, 0xe0, 1, 2, 3])
  graph.files.set('1908647269898587', { mime_type: 'image/jpeg', body })

  await write({
    type: 'image',
    image: { id: '1908647269898587', mime_type: 'image/jpeg', caption: 'Look', sha256: 'abc=' },
  })
  await world.settle()

  const [message] = (await api.get('/v1/messages?direction=inbound')).body.data
  const [{ url, ...picture }] = message.content.attachments
  const served = await until(
    'the picture to be copied',
    async () => {
      await world.tick('media')
      return await fetch(url.replace(world.platform.settings.base_url, world.base_url))
    },
    ({ status }) => status !== 503,
  )
  assert.deepEqual(picture, { type: 'image', mime_type: 'image/jpeg', caption: 'Look', sha256: 'abc=' })
  assert.deepEqual(
    [served.status, served.headers.get('content-type'), Buffer.from(await served.arrayBuffer())],
    [200, 'image/jpeg', body],
  )
  await world.invariants()
})

test('a scheduled marketing template fails if its recipient stops marketing before its time', async (t) => {
  const { graph, world, api, channel, callBack, read } = await connected(t, [
    template('offer', { category: 'MARKETING', components: [{ type: 'BODY', text: 'Hi' }] }),
  ])
  const { body: planned } = await api.post('/v1/messages', {
    channel: channel.id,
    to,
    type: 'template',
    template: { name: 'offer', language: { code: 'en_US' } },
    send_at: world.clock.iso(3600_000),
  })

  const stop = { wa_id: to.slice(1), category: 'marketing_messages', value: 'stop', timestamp: 1750030073 }
  await callBack({ ...graph.messages({ user_preferences: [stop] }), field: 'user_preferences' })
  await world.clock.advance(3600_000)
  await world.settle()

  const { status, error, billing } = await read(planned.id)
  assert.deepEqual([status, error.code, billing.refunded, graph.sent.length], ['failed', 'recipient_blocked', true, 0])
  await world.invariants()
})

test('an odd template does not prevent the others from being read and sent', async (t) => {
  const { api, channel, sendTemplate } = await connected(t, [
    template('x'.repeat(5000)),
    template('nul\0', { components: [{ type: 'BODY', text: 'half \ud83d, none \0' }] }),
    template('deep', {
      components: [{ type: 'BODY', text: 'Hi', example: JSON.parse('['.repeat(500) + ']'.repeat(500)) }],
    }),
    template('order_update'),
    template('order_update'),
    { id: null, name: [], language: {} },
  ])

  const { status, body } = await api.get(`/v1/channels/${channel.id}/templates`)

  assert.deepEqual(
    [status, body.data.map((one: { name: string }) => one.name)],
    [200, ['deep', 'nul\uFFFD', 'order_update']],
  )
  assert.equal((await sendTemplate('order_update')).status, 202)
})

test('sandbox channels of other types have no templates', async (t) => {
  const { world } = await whatsappWorld(t, { credit_micros: 1_000_000 })
  const { api } = await world.account()
  const counts = []
  for (const type of ['whatsapp', 'sms', 'telegram'])
    counts.push((await api.get(`/v1/channels/ch_test_${type}/templates`)).body.data.length)

  assert.deepEqual(counts, [5, 0, 0])
})
