/** Consent (behaviour: consent 1, 2, 3, 4, 5). */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Api } from '../support/api.ts'
import { lockWaits } from '../support/lock-waits.ts'
import { holdOpen } from '../support/open-transactions.ts'
import { until } from '../support/waiting.ts'
import { startWorld } from '../support/world.ts'

const phone = '+4915112345678'
const sms = (to = phone, more: object = {}) => ({
  channel: 'ch_test_sms',
  to,
  type: 'text',
  text: { body: 'Hi' },
  ...more,
})
const wrote = (api: Api, body: string, more: object = {}) =>
  api.post('/v1/test/inbound_messages', { channel: 'ch_test_sms', from: phone, type: 'text', text: { body }, ...more })
const statuses = (answer: { body: { data: { status: string }[] } }) => answer.body.data.map(({ status }) => status)

test('an unknown sender becomes a contact with the profile name', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()

  const message = (await wrote(api, 'Hello', { channel: 'ch_test_whatsapp', profile_name: ' Ada  King Lovelace ' }))
    .body
  const again = (
    await wrote(api, 'Hello again', { channel: 'ch_test_whatsapp', from: phone, profile_name: 'Somebody else' })
  ).body
  const contact = (await api.get(`/v1/contacts/${message.contact_id}`)).body

  assert.equal(again.contact_id, message.contact_id)
  assert.deepEqual(
    [contact.phone, contact.first_name, contact.last_name, contact.full_name, contact.country],
    [phone, 'Ada', 'King Lovelace', 'Ada King Lovelace', 'DE'],
  )
  assert.deepEqual([contact.last_seen_at, contact.last_message_at], [again.created_at, again.created_at])
  await world.invariants()
})

test('an inbound message finds the contact behind a national variant of its number', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()
  const ana = (await api.post('/v1/contacts', { phone: '+5511987654321' })).body

  const message = (await wrote(api, 'Oi', { channel: 'ch_test_whatsapp', from: '+551187654321' })).body

  assert.equal(message.contact_id, ana.id)
  assert.equal((await api.get('/v1/contacts')).body.data.length, 1)
  await world.invariants()
})

test('a whatsapp message opens the 24-hour window of its channel, and the contact shows it', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()

  const message = (await wrote(api, 'Hello', { channel: 'ch_test_whatsapp' })).body
  const open = (await api.get(`/v1/contacts/${message.contact_id}`)).body.windows
  await world.clock.advance(24 * 3600_000 + 1)
  const closed = (await api.get(`/v1/contacts/${message.contact_id}`)).body.windows

  assert.deepEqual(open, {
    ch_test_whatsapp: { window_expires_at: new Date(Date.parse(message.created_at) + 24 * 3600_000).toISOString() },
  })
  assert.deepEqual(closed, { ch_test_whatsapp: { window_expires_at: null } })
})

test('STOP is recorded with its message, blocks further messages, and is confirmed once', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()
  const scheduled = (
    await api.post('/v1/messages', sms(phone, { send_at: new Date(world.clock.now() + 3600_000).toISOString() }))
  ).body

  const stop = (await wrote(api, ' stop ')).body
  await wrote(api, 'STOP')
  await world.settle()

  const contact = (await api.get(`/v1/contacts/${stop.contact_id}`)).body
  assert.deepEqual(contact.consent.sms, { status: 'opted_out', source: 'keyword', updated_at: stop.created_at })
  const history = (await api.get(`/v1/contacts/${contact.id}/consent_history`)).body
  const [{ id, ...change }] = history.data
  assert.match(id, /^cns_/)
  assert.deepEqual(
    [history.data.length, change],
    [
      1,
      {
        object: 'consent_change',
        channel_type: 'sms',
        status: 'opted_out',
        source: 'keyword',
        message_id: stop.id,
        request_id: null,
        occurred_at: stop.created_at,
      },
    ],
  )
  const cancelled = (await api.get(`/v1/messages/${scheduled.id}`)).body
  assert.deepEqual(
    [cancelled.status, cancelled.error.code, cancelled.billing.refunded],
    ['failed', 'recipient_blocked', true],
  )
  const refused = await api.post('/v1/messages', sms())
  assert.deepEqual([refused.status, refused.body.error.code], [422, 'recipient_blocked'])
  assert.equal((await api.post('/v1/messages', { ...sms(), channel: 'ch_test_whatsapp' })).status, 202)
  const replies = (await api.get('/v1/messages?direction=outbound&channel=ch_test_sms')).body.data.filter(
    (message: { origin: { type: string } }) => message.origin.type === 'inbound',
  )
  assert.deepEqual(
    replies.map((message: { to: string; status: string }) => [message.to, message.status]),
    [[phone, 'delivered']],
  )
  await world.invariants()

  await wrote(api, 'start')
  assert.equal((await api.post('/v1/messages', sms())).status, 202)
  assert.deepEqual(statuses(await api.get(`/v1/contacts/${contact.id}/consent_history`)), ['opted_in', 'opted_out'])
  await world.invariants()
})

test('only a whole message is a keyword, in the languages that the operator configured', async (t) => {
  const world = await startWorld(t, { settings: { opt_out_keywords: ['STOP', 'STOP ALL', 'ARRET', 'baja', 'СТОП'] } })
  const { api } = await world.account()
  const stops = ['STOP', 'Stop  All', 'Arrêt', 'ARRET', '/stop', ' Baja\n', 'стоп']
  const others = ['STOP it', 'please stop', 'stopped', 'help', 'INFO', 'S T O P', 'unsubscribe']

  for (const [index, body] of [...stops, ...others].entries()) {
    const from = `+49151123457${String(index).padStart(2, '0')}`
    const message = (await wrote(api, body, { from })).body
    const { consent } = (await api.get(`/v1/contacts/${message.contact_id}`)).body
    assert.equal(consent.sms?.status === 'opted_out', stops.includes(body), body)
  }
})

test('a tapped button never opts in, and opts out whichever of its texts is the keyword', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()
  const tapped = (from: string, button_reply: object) =>
    api.post('/v1/test/inbound_messages', { channel: 'ch_test_whatsapp', from, type: 'button_reply', button_reply })

  const byId = (await tapped('+4915112345671', { id: 'STOP', title: 'No more, please' })).body
  const byTitle = (await tapped('+4915112345672', { id: 'b2', title: 'Stop' })).body
  const neither = (await tapped('+4915112345673', { id: 'b1', title: 'Yes, please' })).body
  const despite = (await tapped('+4915112345674', { id: 'help', title: 'STOP' })).body
  const answer = (await tapped('+4915112345675', { id: 'start', title: 'Yes' })).body
  await tapped('+4915112345671', { id: 'home_yes', title: 'Yes' })

  for (const [message, status] of [
    [byId, 'opted_out'],
    [byTitle, 'opted_out'],
    [neither, undefined],
    [despite, 'opted_out'],
    [answer, undefined],
  ] as const) {
    assert.equal((await api.get(`/v1/contacts/${message.contact_id}`)).body.consent.whatsapp?.status, status)
  }
  await world.invariants()
})

test('the Start button of a Telegram bot lifts an earlier opt-out and has no other effect', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()
  const says = async (from: string, body: string) =>
    (await api.post('/v1/test/inbound_messages', { channel: 'ch_test_telegram', from, type: 'text', text: { body } }))
      .body.contact_id as string
  const consentOf = async (contact_id: string) =>
    (await api.get(`/v1/contacts/${contact_id}`)).body.consent.telegram?.status
  const send = async (to: string) =>
    (await api.post('/v1/messages', { channel: 'ch_test_telegram', to, type: 'text', text: { body: 'Hi' } })).status

  const newcomer = await says('4711', '/start')
  assert.equal(await consentOf(newcomer), undefined)
  await says('4711', '/start campaign_7')
  assert.deepEqual((await api.get(`/v1/contacts/${newcomer}/consent_history`)).body.data, [])

  await says('4711', '/stop')
  assert.deepEqual([await consentOf(newcomer), await send('4711')], ['opted_out', 422])
  await says('4711', '/start campaign_7')
  assert.deepEqual([await consentOf(newcomer), await send('4711')], ['opted_in', 202])

  await says('4712', 'STOP')
  await api.delete(`/v1/contacts/${await says('4712', 'Bye')}`)
  const returned = await says('4712', '/start@shop_bot')
  assert.deepEqual([await consentOf(returned), await send('4712')], ['opted_in', 202])
  assert.equal(await consentOf(await says('4713', 'start')), 'opted_in')
  await world.invariants()
})

test('an opted-out chat cannot be written to by its ID with leading zeros', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()
  await api.post('/v1/test/inbound_messages', {
    channel: 'ch_test_telegram',
    from: '4711',
    type: 'text',
    text: { body: 'STOP' },
  })

  const sent = await api.post('/v1/messages', {
    channel: 'ch_test_telegram',
    to: '004711',
    type: 'text',
    text: { body: 'Hi' },
  })

  assert.deepEqual([sent.status, sent.body.error?.code, sent.body.error?.param], [400, 'parameter_invalid', 'to'])
})

test('an opt-out counts for every national variant of the number', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()
  const scheduled = (
    await api.post(
      '/v1/messages',
      sms('+551187654321', { send_at: new Date(world.clock.now() + 3600_000).toISOString() }),
    )
  ).body

  await wrote(api, 'STOP', { from: '+5511987654321' })

  assert.equal((await api.post('/v1/messages', sms('+551187654321'))).body.error.code, 'recipient_blocked')
  assert.equal((await api.get(`/v1/messages/${scheduled.id}`)).body.status, 'failed')
  await world.invariants()
})

test('an opt-out through the API stops messages at once, and only an explicit opt-in lifts it', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()
  const ada = (await api.post('/v1/contacts', { phone })).body
  const scheduled = (
    await api.post('/v1/messages', sms(phone, { send_at: new Date(world.clock.now() + 3600_000).toISOString() }))
  ).body

  const patched = await api.patch(`/v1/contacts/${ada.id}`, {
    consent: { sms: { status: 'opted_out', source: 'form', occurred_at: '2026-01-02T00:00:00+01:00' } },
  })

  assert.deepEqual(patched.body.consent.sms, {
    status: 'opted_out',
    source: 'form',
    updated_at: '2026-01-01T23:00:00.000Z',
  })
  assert.equal((await api.get(`/v1/messages/${scheduled.id}`)).body.error.code, 'recipient_blocked')
  assert.equal((await api.post('/v1/messages', sms())).body.error.code, 'recipient_blocked')
  await api.post('/v1/contacts/upsert', { phone, first_name: 'Ada', tags: ['a'] })
  await api.patch(`/v1/contacts/${ada.id}`, { tags: [], attributes: { a: 1 }, consent: { whatsapp: 'opted_in' } })
  assert.equal((await api.post('/v1/messages', sms())).body.error.code, 'recipient_blocked')
  const history = (await api.get(`/v1/contacts/${ada.id}/consent_history`)).body.data
  assert.deepEqual(
    history.map((change: { channel_type: string; source: string; request_id: string }) => [
      change.channel_type,
      change.source,
      change.request_id,
    ]),
    [
      ['whatsapp', 'api', history[0].request_id],
      ['sms', 'form', patched.headers['x-request-id']],
    ],
  )
  await world.invariants()

  await api.patch(`/v1/contacts/${ada.id}`, { consent: { sms: 'opted_in' } })
  assert.equal((await api.post('/v1/messages', sms())).status, 202)
  await api.patch(`/v1/contacts/${ada.id}`, { consent: { sms: 'opted_out' } })
  await api.patch(`/v1/contacts/${ada.id}`, { consent: { sms: null } })
  assert.equal((await api.post('/v1/messages', sms())).status, 202)
  assert.deepEqual(statuses(await api.get(`/v1/contacts/${ada.id}/consent_history`)), [
    'unknown',
    'opted_out',
    'opted_in',
    'opted_in',
    'opted_out',
  ])
  await world.invariants()
})

test('an opt-out follows the contact to a new number, and stays with the old one', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()
  const ada = (await api.post('/v1/contacts', { phone, consent: { sms: 'opted_out' } })).body

  await api.patch(`/v1/contacts/${ada.id}`, { phone: '+4915112345679' })

  assert.equal((await api.post('/v1/messages', sms('+4915112345679'))).body.error.code, 'recipient_blocked')
  assert.equal((await api.post('/v1/messages', sms(phone))).body.error.code, 'recipient_blocked')
  await world.invariants()
})

test('an opt-out outlives its contact and applies to the next contact with the number', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()
  const stop = (await wrote(api, 'STOP')).body
  await api.delete(`/v1/contacts/${stop.contact_id}`)

  assert.equal((await api.post('/v1/messages', sms())).body.error.code, 'recipient_blocked')
  const upserted = (await api.post('/v1/contacts/upsert', { phone, first_name: 'Ada' })).body
  assert.deepEqual([upserted.consent.sms.status, upserted.consent.sms.source], ['opted_out', 'keyword'])
  const [row] = await world.pool<{ text: string }[]>`select string_agg(s::text, ' ') as text from suppressions s`
  assert.ok(!row!.text.includes(phone.slice(1)))
  await world.invariants()
})

test("a stated consent overrides an earlier opt-out of the number, in the short and the long form, also when the contact's status stays the same", async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()
  let n = 0
  const stopped = async () => {
    const from = `+49151123457${String(n++).padStart(2, '0')}`
    const { contact_id } = (await wrote(api, 'STOP', { from })).body
    await api.delete(`/v1/contacts/${contact_id}`)
    return from
  }
  const known = async (body: object) => (await api.post('/v1/contacts', body)).body.id
  const consents = [null, 'unknown', 'opted_in'].flatMap((status) =>
    status === null ? [null] : [status, { status }, { status, source: 'form' }],
  )

  for (const said of consents) {
    const consent = { sms: said }
    const status = said === null ? 'unknown' : typeof said === 'string' ? said : said.status
    const writes: ((to: string) => ReturnType<Api['post']>)[] = [
      (to) => api.post('/v1/contacts', { phone: to, consent }),
      (to) => api.post('/v1/contacts/upsert', { phone: to, consent }),
      async (to) => api.patch(`/v1/contacts/${await known({ email: 'ada@example.com' })}`, { phone: to, consent }),
      async (to) =>
        api.patch(`/v1/contacts/${await known({ email: 'ada@example.com', consent: { sms: status } })}`, {
          phone: to,
          consent,
        }),
    ]
    for (const [index, write] of writes.entries()) {
      const to = await stopped()
      const written = await write(to)
      const shown = `${JSON.stringify(said)} ${index}`
      const contact = (await api.get(`/v1/contacts/${written.body.id}`)).body
      const [line] = (await api.get(`/v1/contacts/${contact.id}/consent_history`)).body.data
      assert.equal(contact.consent.sms?.status ?? 'unknown', status, shown)
      assert.equal((await api.post('/v1/messages', sms(to))).status, 202, shown)
      assert.deepEqual([line.status, line.request_id], [status, written.headers['x-request-id']], shown)
    }
  }
  const silent = await stopped()
  const adopted = await api.patch(
    `/v1/contacts/${await known({ email: 'ada@example.com', consent: { sms: 'opted_in' } })}`,
    {
      phone: silent,
      consent: { whatsapp: 'opted_in' },
    },
  )
  assert.equal(adopted.body.consent.sms.status, 'opted_out')
  await world.invariants()
})

test('the history of a contact that starts opted out names the request of the opt-out, not of the creation', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()
  const first = await api.post('/v1/contacts', { phone, consent: { sms: 'opted_out' } })
  await api.delete(`/v1/contacts/${first.body.id}`)

  const second = await api.post('/v1/contacts', { phone })

  const [change] = (await api.get(`/v1/contacts/${second.body.id}/consent_history`)).body.data
  assert.deepEqual(
    [change.status, change.source, change.request_id],
    ['opted_out', 'api', first.headers['x-request-id']],
  )
})

test('a blocked contact cannot be written to on any channel until it is unblocked', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()
  const ada = (await api.post('/v1/contacts', { phone, identifiers: { telegram: '4711' } })).body

  await api.patch(`/v1/contacts/${ada.id}`, { blocked: true })
  const refusals = [
    await api.post('/v1/messages', sms()),
    await api.post('/v1/messages', { channel: 'ch_test_telegram', to: '4711', type: 'text', text: { body: 'Hi' } }),
  ]
  await world.invariants()
  await api.patch(`/v1/contacts/${ada.id}`, { blocked: false })
  const sent = await api.post('/v1/messages', sms())

  assert.deepEqual(
    refusals.map((answer) => [answer.status, answer.body.error?.code]),
    [
      [422, 'recipient_blocked'],
      [422, 'recipient_blocked'],
    ],
  )
  assert.deepEqual([sent.status, sent.body.contact_id], [202, ada.id])
})

test('consent and window are refused before channel errors, and both before missing funds', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()
  const live = (await world.account({ mode: 'live' })).api
  const creation = {
    type: 'whatsapp',
    provider: 'simulator',
    name: 'Chat',
    identifier: '+15005550199',
    credentials: {},
  }
  const channel = (await live.post('/v1/channels', creation)).body.id
  await live.patch(`/v1/channels/${channel}`, { status: 'disabled' })
  const magic = ['+15005550003', '+15005550009', '+15005550011', '+15005550012', '+15005550013']
  const code = (answer: { status: number; body: { error?: { code: string } } }) =>
    answer.body.error?.code ?? answer.status
  const send = async (to: string, type = 'text') =>
    code(
      await live.post('/v1/messages', {
        channel,
        to,
        type,
        text: { body: 'Hi' },
        template: { name: 'hello', language: { code: 'en' } },
      }),
    )

  const open = []
  for (const to of magic) open.push(code(await api.post('/v1/messages', sms(to))))
  for (const to of magic) await api.post('/v1/contacts', { phone: to, consent: { sms: 'opted_out' } })
  const optedOut = []
  for (const to of magic) optedOut.push(code(await api.post('/v1/messages', sms(to))))
  const batch = await api.post('/v1/messages/batch', { messages: magic.map((to) => sms(to)) })
  await live.post('/v1/contacts', { phone, consent: { whatsapp: 'opted_out' } })
  const onDisabled = [await send(phone), await send('+4915112345679'), await send('+4915112345679', 'template')]

  assert.deepEqual(open, [
    'policy_violation',
    'upstream_rejected',
    'insufficient_balance',
    'upstream_unavailable',
    'channel_not_connected',
  ])
  assert.deepEqual(optedOut, Array(5).fill('recipient_blocked'))
  assert.deepEqual(
    batch.body.data.map((item: { error: { code: string } }) => item.error.code),
    Array(5).fill('recipient_blocked'),
  )
  assert.deepEqual(onDisabled, ['recipient_blocked', 'policy_violation', 'channel_not_connected'])
})

test('at the contact limit inbound messages are stored without a contact, and STOP still counts', async (t) => {
  const world = await startWorld(t, { settings: { contact_limit: 1 } })
  const { api } = await world.account()
  await api.post('/v1/contacts', { email: 'only@example.com' })

  const stop = (await wrote(api, 'STOP')).body

  assert.equal(stop.contact_id, null)
  assert.equal((await api.post('/v1/messages', sms())).body.error.code, 'recipient_blocked')
  await wrote(api, 'START')
  assert.equal((await api.post('/v1/messages', sms())).status, 202)
  await world.invariants()
})

test('concurrent messages of one unknown sender create one contact', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()

  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, index) => wrote(api, index % 2 === 0 ? 'STOP' : 'Hello')),
  )

  assert.deepEqual([...new Set(answers.map((answer) => answer.status))], [201])
  assert.equal(new Set(answers.map((answer) => answer.body.contact_id)).size, 1)
  assert.equal((await api.get('/v1/contacts')).body.data[0].consent.sms.status, 'opted_out')
  await world.invariants()
})

test("a provider's opt-out from marketing alone leaves everything else allowed", async (t) => {
  const world = await startWorld(t)
  const account = await world.account()
  const tenant = { account_id: account.id as `acc_${string}`, mode: 'test' as const }
  const ada = (await account.api.post('/v1/contacts', { phone })).body
  const signal = (status: 'opted_out' | 'opted_in') => ({
    ...tenant,
    channel_type: 'whatsapp',
    address: phone,
    status,
    marketing: true,
    occurred_at: '2026-01-01T00:00:00.000Z',
  })

  await world.pool.begin((tx) => world.services.contacts.receiveProviderConsent(tx, [signal('opted_out')]))
  const stopped = (await account.api.get(`/v1/contacts/${ada.id}`)).body
  await world.invariants()
  await world.pool.begin((tx) => world.services.contacts.receiveProviderConsent(tx, [signal('opted_in')]))
  const resumed = (await account.api.get(`/v1/contacts/${ada.id}`)).body

  assert.deepEqual(stopped.consent.whatsapp, {
    status: 'unknown',
    source: 'provider',
    updated_at: '2026-01-01T00:00:00.000Z',
    marketing: 'opted_out',
  })
  assert.equal((await account.api.post('/v1/messages', { ...sms(), channel: 'ch_test_whatsapp' })).status, 202)
  assert.equal(resumed.consent.whatsapp.marketing, 'opted_in')
  await world.invariants()
})

test('an opt-out reported by a provider holds for its number, although the contact is deleted or renumbered at the same time', async (t) => {
  const world = await startWorld(t)
  const { api, id } = await world.account()
  const tenant = { account_id: id as `acc_${string}`, mode: 'test' as const }
  const { contacts } = world.services
  const [deleted, moved, after] = ['+4915112345601', '+4915112345602', '+4915112345603']
  const gone = (await api.post('/v1/contacts', { phone: deleted })).body
  const ada = (await api.post('/v1/contacts', { phone: moved })).body
  const stop = (address: string) => ({
    ...tenant,
    channel_type: 'sms',
    address,
    status: 'opted_out' as const,
    marketing: false,
    occurred_at: world.clock.iso(),
  })

  const shown = await holdOpen(world.pool, async (tx) => {
    await contacts.remove(tx, tenant, gone.id)
    await contacts.save(tx, tenant, [{ kind: 'update', id: ada.id, change: { phone: after } }], {
      at: world.clock.iso(),
      source: 'api',
    })
    const telling = [deleted, moved].map((address) =>
      world.pool.begin((other) => contacts.receiveProviderConsent(other, [stop(address)])),
    )
    await until(
      'what the provider tells to wait for the contacts',
      () => lockWaits(world.pool),
      (waits) => waits === 2,
    )
    return { telling }
  })
  await Promise.all(shown.telling)

  const answers = await Promise.all([deleted, moved, after].map((to) => api.post('/v1/messages', sms(to))))
  assert.deepEqual(
    answers.map(({ status, body }) => [status, body.error?.code]),
    [
      [422, 'recipient_blocked'],
      [422, 'recipient_blocked'],
      [202, undefined],
    ],
  )
  assert.equal((await api.get(`/v1/contacts/${ada.id}`)).body.consent.sms, undefined)
  await world.invariants()
})

test('an opt-out counts for every address of the contact on that channel type', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()
  const ada = (await api.post('/v1/contacts', { phone, identifiers: { whatsapp: 'DE.13491208655302741918' } })).body

  const stop = (await wrote(api, 'STOP', { channel: 'ch_test_whatsapp', from: 'DE.13491208655302741918' })).body

  assert.equal(stop.contact_id, ada.id)
  for (const to of [phone, 'DE.13491208655302741918'])
    assert.equal(
      (await api.post('/v1/messages', { ...sms(to), channel: 'ch_test_whatsapp' })).body.error.code,
      'recipient_blocked',
    )
  assert.equal((await api.post('/v1/messages', sms())).status, 202)
  await world.invariants()
})

test('after a marketing opt-out no marketing template is sent, at acceptance or later, but everything else is', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()
  const template = (name: string, more: object = {}) => ({
    channel: 'ch_test_whatsapp',
    to: phone,
    type: 'template',
    template: { name, language: { code: 'en_US' } },
    ...more,
  })
  const templates = (await api.get('/v1/channels/ch_test_whatsapp/templates')).body.data as {
    name: string
    category: string
  }[]
  const marketing = templates.find(({ category }) => category === 'MARKETING')!.name
  const ada = (await api.post('/v1/contacts', { phone })).body
  const planned = (
    await api.post('/v1/messages', template(marketing, { send_at: new Date(world.clock.now() + 60_000).toISOString() }))
  ).body

  await api.patch(`/v1/contacts/${ada.id}`, { consent: { whatsapp: { marketing: 'opted_out' } } })
  const refused = await api.post('/v1/messages', template(marketing))
  const others = [
    await api.post('/v1/messages', template('hello_world')),
    await api.post('/v1/messages', template('anything')),
    await api.post('/v1/messages', { ...sms(), channel: 'ch_test_whatsapp' }),
  ]
  const stranger = await api.post('/v1/messages', template(marketing, { to: '+4915112345679' }))
  await world.clock.advance(61_000)
  await world.settle()
  const late = (await api.get(`/v1/messages/${planned.id}`)).body
  await api.patch(`/v1/contacts/${ada.id}`, { consent: { whatsapp: { marketing: 'opted_in' } } })
  const resumed = await api.post('/v1/messages', template(marketing))

  assert.deepEqual([refused.status, refused.body.error.code], [422, 'recipient_blocked'])
  assert.match(refused.body.error.message, /marketing/)
  assert.deepEqual(
    [...others, stranger, resumed].map(({ status }) => status),
    [202, 202, 202, 202, 202],
  )
  assert.deepEqual([late.status, late.error.code, late.billing.refunded], ['failed', 'recipient_blocked', true])
  await world.invariants()
})

test('a message accepted while its recipient opts out is not sent', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()
  await wrote(api, 'Hello')
  await wrote(api, 'STOP')
  // as if the opt-out were committed between its check and the acceptance
  await world.pool`create table apart as table suppressions`
  await world.pool`delete from suppressions`
  const planned = (
    await api.post('/v1/messages', sms(phone, { send_at: new Date(world.clock.now() + 1000).toISOString() }))
  ).body
  const atOnce = (await api.post('/v1/messages', sms())).body
  await world.pool`insert into suppressions table apart`
  await world.pool`drop table apart`

  await world.settle()
  await world.clock.advance(1000)
  await world.settle()

  for (const { id } of [planned, atOnce]) {
    const { status, error } = (await api.get(`/v1/messages/${id}`)).body
    assert.deepEqual([status, error?.code], ['failed', 'recipient_blocked'])
  }
  await world.invariants()
})
