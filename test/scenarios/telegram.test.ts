/** A Telegram bot with webhook and polling, with a simulator. */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { simulateTelegram } from '../support/simulators/telegram.ts'
import { lockWaits } from '../support/lock-waits.ts'
import { until } from '../support/waiting.ts'
import { startWorld } from '../support/world.ts'

const bot_token = '110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw'
const https = 'https://messages.example.com'
const ada = 1_111_111

async function telegramWorld(t: TestContext, base_url = https) {
  let real = base_url
  const sim = await simulateTelegram(t, {
    bot_token,
    username: 'acme_bot',
    reach: (url) => url.replace(base_url, real),
  })
  const world = await startWorld(t, { settings: { base_url, provider_urls: { POSTHORN_TELEGRAM_URL: sim.url } } })
  real = world.base_url
  const { api } = await world.account({ mode: 'live', credit_micros: 1_000_000 })
  return {
    world,
    sim,
    api,
    connect: (more: object = {}) =>
      api.post('/v1/channels', {
        type: 'telegram',
        provider: 'telegram_bot',
        name: 'Orders',
        credentials: { bot_token },
        ...more,
      }),
    read: async (id: string) => (await api.get(`/v1/messages/${id}`)).body,
    received: async () => (await api.get('/v1/messages?direction=inbound')).body.data.toReversed(),
  }
}

async function connected(t: TestContext, base_url = https) {
  const parts = await telegramWorld(t, base_url)
  const { body: channel, status } = await parts.connect()
  assert.equal(status, 201)
  const send = (given: object = {}) =>
    parts.api.post('/v1/messages', {
      channel: channel.id,
      to: String(ada),
      type: 'text',
      text: { body: 'Hi' },
      ...given,
    })
  const hand = async (given: object = {}) => {
    const { body } = await send(given)
    await parts.world.settle()
    return body.id as string
  }
  return { ...parts, channel, send, hand }
}

test('connecting a bot reads its name and sets its webhook, and no other channel can use it', async (t) => {
  const { sim, api, connect } = await telegramWorld(t)

  const wrong = await connect({ credentials: { bot_token: '110201543:wrong-wrong-wrong-wrong' } })
  const malformed = await connect({ credentials: { bot_token: 'x/../y' } })
  const other = await connect({ identifier: 'other_bot' })
  const right = await connect({ identifier: '@Acme_Bot' })
  const webhook = sim.webhook()
  const again = await connect()
  const shown = await api.get(`/v1/channels/${right.body.id}`)
  await api.delete(`/v1/channels/${right.body.id}`)

  assert.deepEqual(
    [wrong, malformed, other, right, again].map(({ status, body }) => [status, body.error?.code]),
    [
      [422, 'upstream_rejected'],
      [400, 'parameter_invalid'],
      [400, 'parameter_invalid'],
      [201, undefined],
      [409, 'channel_identifier_taken'],
    ],
  )
  assert.deepEqual([right.body.identifier, webhook?.url], ['acme_bot', right.body.webhook_url])
  assert.deepEqual(right.body.capabilities, ['text', 'attachments', 'button', 'cta_url', 'location', 'contacts'])
  assert.ok(!JSON.stringify([right.body, shown.body]).includes('AAHdqTcv'))
  assert.equal(sim.webhook(), null, 'taken back when the channel is deleted')
})

test('when two channels connect one bot at once, the created one keeps the webhook', async (t) => {
  const { world, sim, connect } = await telegramWorld(t)
  const { id } = await world.account({ mode: 'live' })
  const [inserted, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const first = world.services.channels.create(
    world.pool,
    { account_id: id as `acc_${string}`, mode: 'live' },
    { type: 'telegram', provider: 'telegram_bot', name: 'First', credentials: { bot_token } },
    async (tx) => {
      await tx`set local idle_in_transaction_session_timeout = 0`
      inserted.resolve()
      await released.promise
    },
  )
  await inserted.promise

  const second = connect()
  await until(
    'the second channel to wait for the first',
    () => lockWaits(world.pool),
    (waits) => waits === 1,
  )
  released.resolve()
  const [made, refused] = [await first, await second]

  assert.deepEqual([refused.status, refused.body.error.code], [409, 'channel_identifier_taken'])
  assert.equal(sim.webhook()?.url, made.webhook_url)
})

test('a message is sent at no cost, and a refusal has its reason', async (t) => {
  const { world, sim, api, send, hand, read } = await connected(t)
  sim.refuse(2, 403, 'Forbidden: bot was blocked by the user')

  const [sent, blocked, nobody] = [await hand(), await hand({ to: '2' }), await hand({ to: 'nobody' })]
  const numberless = await send({ type: 'contacts', contacts: [{ name: { formatted_name: 'Ada' } }] })

  assert.equal((await read(sent)).status, 'sent')
  assert.deepEqual(
    [await read(blocked), await read(nobody)].map(({ status, error }) => [status, error.code, error.provider_code]),
    [
      ['failed', 'recipient_blocked', '403'],
      ['failed', 'provider_error', '400'],
    ],
  )
  assert.deepEqual(
    [numberless.status, numberless.body.error.code, numberless.body.error.param],
    [422, 'upstream_rejected', 'contacts[0].phones'],
  )
  assert.equal((await api.get('/v1/balance')).body.wallet_micros, 1_000_000)
  await world.invariants()
})

test('throttling lasts as long as Telegram says, and a revoked token disconnects the bot', async (t) => {
  const { world, sim, api, channel, hand, read } = await connected(t)
  sim.answerNext({
    status: 429,
    body: { ok: false, error_code: 429, description: 'Too Many Requests', parameters: { retry_after: 9 } },
  })
  const throttled = await hand()
  await world.clock.advance(8999)
  await world.settle()
  const early = sim.sent.length
  await world.clock.advance(1)
  await world.settle()
  const late = sim.sent.length

  sim.bot.bot_token = '110201543:another-another-another'
  const lost = await hand()
  const status = (await api.get(`/v1/channels/${channel.id}`)).body.connection_status

  assert.deepEqual([early, late, (await read(throttled)).status], [0, 1, 'sent'])
  assert.deepEqual([(await read(lost)).error.code, status], ['channel_not_connected', 'disconnected'])
  await world.invariants()
})

test('a message with several files is one message, and fails if one file cannot be sent', async (t) => {
  const { world, sim, hand, read } = await connected(t)
  const attachments = ['image', 'document'].map((type) => ({ type, url: `https://example.com/${type}` }))

  const whole = await hand({ type: 'attachments', attachments })
  sim.answerNext(
    { body: { ok: true, result: { message_id: 1, chat: { id: ada } } } },
    { status: 400, body: { ok: false, error_code: 400, description: 'Bad Request: failed to get HTTP URL content' } },
  )
  const broken = await hand({ type: 'attachments', attachments })
  await world.clock.advance(60_000)
  await world.settle()

  assert.deepEqual([(await read(whole)).status, (await read(broken)).status], ['sent', 'failed'])
  assert.match((await read(broken)).error.message, /^1 of its parts were sent, the others were not/)
  assert.equal(sim.sent.length, 2, 'nothing is sent twice')
  await world.invariants()
})

test('inbound messages are stored once; messages of groups and edits are ignored', async (t) => {
  const { world, sim, api, hand, received } = await connected(t)
  const asked = await hand()

  const first = await sim.say(ada, { text: 'Hello' })
  const answers = [await sim.repeat(first), await sim.repeat(first)]
  await sim.say(ada, { text: 'Yes', reply_to_message: { message_id: Number(sim.sent[0]!.id.split(':')[1]) } })
  await sim.say(ada, { location: { latitude: 52.5, longitude: 13.4 } })
  await sim.say(ada, { new_chat_title: 'x' })
  await sim.say(-5, { text: '/stop' }, { type: 'supergroup', title: 'Team' })
  await sim.report({
    update_id: 5,
    edited_message: { message_id: 1, chat: { id: ada, type: 'private' }, text: 'Edited' },
  })
  await world.settle()

  assert.deepEqual(
    answers.map((answer) => answer?.status),
    [200, 200],
  )
  assert.deepEqual(
    (await received()).map(
      ({ from, content, reply_to }: { from: string; content: unknown; reply_to: string | null }) => [
        from,
        content,
        reply_to,
      ],
    ),
    [
      [String(ada), { text: { body: 'Hello' } }, null],
      [String(ada), { text: { body: 'Yes' } }, asked],
      [String(ada), { location: { latitude: 52.5, longitude: 13.4 } }, null],
    ],
  )
  assert.equal((await api.get('/v1/contacts')).body.data[0].full_name, 'Ada Lovelace')
  await world.invariants()
})

test('an inbound file is served from our own address', async (t) => {
  const { world, sim, received } = await connected(t)
  sim.file('large', 'photos/file_1.jpg', Buffer.from('a picture'))

  const sizes = [
    { file_id: 'small', width: 90, height: 60 },
    { file_id: 'large', width: 1280, height: 960 },
  ]
  await sim.say(ada, { photo: sizes, caption: 'The leak' })
  await world.settle()

  const [{ content }] = await received()
  assert.deepEqual([content.attachments[0].type, content.attachments[0].caption], ['image', 'The leak'])
  const url = content.attachments[0].url as string
  assert.ok(url.startsWith(`${https}/`), url)
  const file = await until(
    'the picture to be copied',
    () => world.api().get(url.replace(https, '')),
    ({ status }) => status !== 503,
  )
  assert.equal(file.body, 'a picture')
})

test('a tapped button is reported with its id and title, however long the id is, and its spinner ends', async (t) => {
  const { world, sim, hand, received } = await connected(t)
  const long = `order-${'ä'.repeat(120)}`
  const buttons = [{ reply: { id: 'home_yes', title: 'Yes' } }, { reply: { id: long, title: 'Another day' } }]
  const asked = await hand({ type: 'button', button: { body: { text: 'At home?' }, action: { buttons } } })

  await sim.tap(sim.sent[0]!, 'Yes')
  const late = await sim.tap(sim.sent[0]!, 'Another day')
  await sim.repeat(late)
  await world.settle()

  assert.deepEqual(
    (await received()).map(({ type, content, reply_to }: { type: string; content: unknown; reply_to: string }) => [
      type,
      content,
      reply_to,
    ]),
    [
      ['button_reply', { button_reply: { id: 'home_yes', title: 'Yes' } }, asked],
      ['button_reply', { button_reply: { id: long, title: 'Another day' } }, asked],
    ],
  )
  assert.equal(new Set(sim.answeredButtons).size, 2)
  await world.invariants()
})

test('/stop and a button with the id stop opt out, and /start opts in again', async (t) => {
  const { world, sim, api, send, hand } = await connected(t)
  const statusOf = async () => (await api.get('/v1/contacts')).body.data[0]?.consent.telegram?.status ?? 'unknown'
  const say = async (text: string) => {
    await sim.say(ada, { text })
    await world.settle()
    return await statusOf()
  }
  await hand({
    type: 'button',
    button: { body: { text: 'More?' }, action: { buttons: [{ reply: { id: 'stop', title: 'No more' } }] } },
  })

  const seen = [await say('/start'), await say('/start campaign-7'), await say('/stop')]
  const stopped = await send()
  seen.push(await say('/start'))
  const lifted = await send()
  await world.settle()
  await sim.tap(sim.sent[0]!, 'No more')
  await world.settle()
  seen.push(await statusOf())

  assert.deepEqual(seen, ['unknown', 'unknown', 'opted_out', 'opted_in', 'opted_out'])
  assert.deepEqual([stopped.status, stopped.body.error.code, lifted.status], [422, 'recipient_blocked', 202])
  await world.invariants()
})

test('forged and malformed webhook calls change nothing, and the secret token is not stored with them', async (t) => {
  const { world, sim, channel, received } = await connected(t)
  const update = { update_id: 1, message: { message_id: 1, chat: { id: ada, type: 'private' }, text: 'Hi' } }
  const post = (body: string, secret: string) =>
    world.api().post(new URL(channel.webhook_url).pathname, body, { 'x-telegram-bot-api-secret-token': secret })
  const secret = sim.webhook()!.secret_token

  const forged = [
    await post(JSON.stringify(update), 'wrong'),
    await world.api().post(new URL(channel.webhook_url).pathname, JSON.stringify(update)),
  ]
  const odd = [
    await post('{"update_id":', secret),
    await post('[]', secret),
    await post(JSON.stringify({ ...update, message: { chat: null } }), secret),
  ]
  await world.settle()

  assert.deepEqual(
    forged.map(({ status, body }) => [status, body.error.code]),
    Array(2).fill([401, 'hook_token_invalid']),
  )
  assert.deepEqual(
    odd.map(({ status }) => status),
    [200, 200, 200],
  )
  assert.deepEqual(await received(), [])
  const kept = await world.pool<{ headers: object }[]>`select headers from provider_callbacks`
  assert.ok(kept.length === 3 && !JSON.stringify(kept).includes(secret))
  await world.invariants()
})

test('without an https address the bot is polled, and no update is lost', async (t) => {
  const { world, sim, channel, hand, read, received, api } = await connected(t, 'http://127.0.0.1:8080')
  const cameIn = async (count: number) => {
    await until(
      `${count} messages to come in`,
      async () => {
        await world.settle()
        return (await received()).length
      },
      (seen) => seen === count,
    )
  }
  await world.settle()
  await until('it to ask', () => sim.isPolled())

  const sent = await hand()
  const first = await sim.say(ada, { text: 'One' })
  await cameIn(1)
  await sim.repeat(first)
  await until('the repeated update to be received', () => sim.waiting() === 0 && sim.isPolled())
  const button = { body: { text: 'At home?' }, action: { buttons: [{ reply: { id: 'yes', title: 'Yes' } }] } }
  await hand({ type: 'button', button })
  await sim.tap(sim.sent[1]!, 'Yes')
  await cameIn(2)
  await until('the button to be answered', () => sim.answeredButtons.length === 1)
  sim.answerNext('reset')
  await sim.say(ada, { text: 'Two' })
  await until('the torn session to be opened again', async () => {
    await world.clock.advance(1000)
    await world.settle()
    return sim.waiting() === 0 && sim.isPolled()
  })
  await api.delete(`/v1/channels/${channel.id}`)
  await world.settle()
  await sim.say(ada, { text: 'Nobody asks any more' })
  await world.settle()

  assert.deepEqual([sim.waiting(), (await received()).length], [1, 3])
  assert.equal((await read(sent)).status, 'sent')
  await world.invariants()
})
