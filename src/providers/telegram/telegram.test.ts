import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { test, type TestContext } from 'node:test'
import { adapterSuite } from '../../../test/support/adapter-suite.ts'
import { fakeClock } from '../../../test/support/clock.ts'
import { closing } from '../../../test/support/closing.ts'
import { messageOf, openingOf } from '../../../test/support/conformance/send-attempts.ts'
import { providerTools } from '../../../test/support/provider-tools.ts'
import { simulateTelegram } from '../../../test/support/simulators/telegram.ts'
import { until, within } from '../../../test/support/waiting.ts'
import type { Callback, Connection, OutboundMessage, Outcome, CallbackItem } from '../provider.ts'
import { secretOf } from './connect.ts'
import { telegramBot } from './telegram.ts'

type Sample = { readonly update: object; readonly items: readonly CallbackItem[] }
const samples = JSON.parse(readFileSync(new URL('samples/updates.json', import.meta.url), 'utf8')) as Record<
  string,
  Sample
>

const bot_token = '110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw'
const connection: Connection = {
  channel_id: 'ch_1',
  type: 'telegram',
  identifier: 'acme_bot',
  credentials: { bot_token },
  settings: {},
  webhook_url: 'https://example.com/hooks/channels/ch_1',
}
const polled: Connection = { ...connection, webhook_url: 'http://127.0.0.1:8080/hooks/channels/ch_1' }
const chat = 1_111_111
const never = new AbortController().signal

async function started(t: TestContext, channel = connection) {
  const clock = fakeClock()
  const sim = await simulateTelegram(t, { bot_token, username: 'acme_bot' })
  const tools = providerTools({ url: sim.url, clock })
  closing(t, () => tools.http.close())
  const adapter = telegramBot.adapter(tools)
  return {
    clock,
    sim,
    tools,
    adapter,
    send: (type: string, content: unknown, more: Partial<OutboundMessage> = {}): Promise<Outcome> =>
      adapter.send!(messageOf(channel, { to: String(chat), type, content, ...more }), channel, never),
    last: () => sim.sent.at(-1)!,
  }
}

const withoutChat = (parameters: object) =>
  Object.fromEntries(Object.entries(parameters).filter(([name]) => name !== 'chat_id'))

const callOf = (update: object): Callback => ({
  method: 'POST',
  url: connection.webhook_url,
  query: {},
  headers: { 'content-type': 'application/json', 'x-telegram-bot-api-secret-token': secretOf(connection) },
  body: Buffer.from(JSON.stringify(update)),
})

adapterSuite(telegramBot, async (t) => {
  const { sim, tools } = await started(t)
  sim.file('f1', 'photos/file_1.jpg', Buffer.from('a picture'))
  sim.file('huge', 'videos/file_2.mp4', Buffer.alloc(21 * 1024 * 1024))
  const badRequest = (description: string) =>
    sim.answerNext({ status: 400, body: { ok: false, error_code: 400, description } })
  const refused = (to: number, code: number, description: string, expected: object) => ({
    to: String(to),
    before: () => sim.refuse(to, code, description),
    expected: { provider_code: String(code), ...expected },
  })
  return {
    tools,
    connection,
    wrongConnection: { ...connection, credentials: { bot_token: '110201543:wrong-wrong-wrong-wrong-wrong' } },
    outcomes: {
      accepted: { to: String(chat) },
      refused: [
        refused(2, 403, 'Forbidden: bot was blocked by the user', { code: 'recipient_blocked' }),
        refused(3, 403, "Forbidden: bot can't initiate conversation with a user", { code: 'policy_violation' }),
        refused(4, 403, 'Forbidden: user is deactivated', { code: 'provider_error' }),
        refused(5, 400, 'Bad Request: message is something new', {
          code: 'provider_error',
          message: 'Bad Request: message is something new',
        }),
        refused(6, 401, 'Unauthorized', { code: 'channel_not_connected', channel_lost: true }),
        { to: 'nobody', expected: { code: 'provider_error', provider_code: '400' } },
      ],
      throttled: [
        {
          to: '7',
          before: () => sim.refuse(7, 429, 'Too Many Requests: retry after 35', { retry_after: 35 }),
          expected: { limit_on: 'unspecified', retry_after_ms: 35_000, provider_code: '429' },
        },
        {
          to: String(chat),
          before: () => sim.answerNext({ status: 429, body: 'Slow down', headers: { 'retry-after': '6' } }),
          expected: { retry_after_ms: 6000, provider_code: '429' },
        },
      ],
      unavailable: {
        to: String(chat),
        before: () =>
          sim.answerNext({ status: 503, body: { ok: false, error_code: 503, description: 'Service Unavailable' } }),
      },
      unknown: [
        { to: String(chat), before: () => sim.answerNext('lost') },
        {
          to: String(chat),
          before: () =>
            sim.answerNext({ status: 502, body: { ok: false, error_code: 502, description: 'Bad Gateway' } }),
        },
      ],
    },
    taken: () => sim.sent.length,
    several: {
      message: {
        to: String(chat),
        type: 'attachments',
        content: ['image', 'video', 'document', 'audio'].map((type) => ({ type, url: 'https://example.com/1' })),
      },
      count: 4,
      breakAfterFirst: (how) =>
        sim.answerNext(
          'pass',
          how === 'later'
            ? 'reset'
            : { status: 400, body: { ok: false, error_code: 400, description: 'Bad Request: x' } },
        ),
      taken: () => sim.sent.length,
    },
    hostile: (url) => ({ tools: providerTools({ url }), connection }),
    receipt: { why_not: 'Telegram tells no receipts.' },
    session: { connection: polled, say: (body) => sim.say(chat, { text: body }) },
    callbacks: {
      proof: 'sender',
      sign: (call) => call,
      samples: Object.entries(samples).map(([name, { update, items }]) => ({ name, call: callOf(update), items })),
    },
    media: {
      available: { file_id: 'f1' },
      gone: { 'a file that is too big for bots': { file_id: 'huge' }, 'an id that is none': { file_id: 'no id' } },
      passing: {
        'a file that may be there later': () =>
          badRequest('Bad Request: wrong file_id or the file is temporarily unavailable'),
        'too many requests': () =>
          sim.answerNext({
            status: 429,
            body: { ok: false, error_code: 429, description: 'Too Many Requests: retry after 5' },
          }),
        'half an answer': () => sim.answerNext('half'),
      },
    },
  }
})

test('a text is sent unchanged, as a reply if it is one', async (t) => {
  const { send, last } = await started(t)

  const outcome = await send('text', { body: '*Hi* <b>&</b> _you_ 👋' }, { reply_to: `${chat}:41` })

  assert.deepEqual(last(), {
    method: 'sendMessage',
    parameters: {
      chat_id: String(chat),
      text: '*Hi* <b>&</b> _you_ 👋',
      reply_parameters: { message_id: 41, allow_sending_without_reply: true },
    },
    id: last().id,
  })
  assert.deepEqual(outcome, { kind: 'accepted', provider_ids: [last().id] })
})

test('files are sent by kind, neighbours as one album, each with its caption', async (t) => {
  const { sim, send } = await started(t)
  const file = (type: string, n: number, caption?: string) => ({
    type,
    url: `https://example.com/${n}`,
    ...(caption === undefined ? {} : { caption }),
  })

  const outcome = await send('attachments', [
    file('image', 1, 'One'),
    file('video', 2),
    file('sticker', 3, 'none'),
    file('audio', 4),
    file('document', 5, 'Five'),
  ])

  assert.deepEqual([...new Set(sim.sent.map(({ parameters }) => parameters))].map(withoutChat), [
    {
      media: [
        { type: 'photo', media: 'https://example.com/1', caption: 'One' },
        { type: 'video', media: 'https://example.com/2' },
      ],
    },
    { sticker: 'https://example.com/3' },
    { audio: 'https://example.com/4' },
    { document: 'https://example.com/5', caption: 'Five' },
  ])
  assert.deepEqual(outcome, { kind: 'accepted', provider_ids: sim.sent.map(({ id }) => id) })
  assert.equal(sim.sent.length, 5)
})

test('buttons carry their ids, or positions if the ids are too long', async (t) => {
  const { sim, send, last } = await started(t)
  const ids = ['home_yes', 'ä'.repeat(33), 'posthorn:button:0']
  const buttons = ids.map((id, n) => ({ reply: { id, title: `Answer ${n}` } }))
  const framed = {
    header: { type: 'text', text: 'Tomorrow' },
    body: { text: 'At home?' },
    footer: { text: 'Order 1' },
    action: { buttons },
  }

  await send('button', framed)
  const { text: words, reply_markup } = last().parameters
  await send('button', { ...framed, header: { type: 'image', url: 'https://example.com/1.jpg' } })
  const pictured = last()
  await send('button', {
    ...framed,
    header: { type: 'image', url: 'https://example.com/1.jpg' },
    body: { text: 'x'.repeat(1024) },
  })

  assert.equal(words, 'Tomorrow\n\nAt home?\n\nOrder 1')
  assert.deepEqual(reply_markup, {
    inline_keyboard: [
      [{ text: 'Answer 0', callback_data: 'home_yes' }],
      [{ text: 'Answer 1', callback_data: 'posthorn:button:1' }],
      [{ text: 'Answer 2', callback_data: 'posthorn:button:2' }],
    ],
  })
  assert.deepEqual(
    [pictured.method, pictured.parameters['caption'], 'reply_markup' in pictured.parameters],
    ['sendPhoto', 'At home?\n\nOrder 1', true],
  )
  assert.deepEqual(
    sim.sent.slice(2).map(({ method, parameters }) => [method, 'caption' in parameters, 'reply_markup' in parameters]),
    [
      ['sendPhoto', false, false],
      ['sendMessage', false, true],
    ],
  )
})

test('links, places and contact cards use the matching Telegram methods', async (t) => {
  const { sim, adapter, send, last } = await started(t)

  await send('cta_url', {
    body: { text: 'On its way' },
    action: { parameters: { display_text: 'Track it', url: 'https://example.com/1' } },
  })
  const linked = last().parameters['reply_markup']
  await send('location', { latitude: 52.5, longitude: 13.4 })
  await send('location', { latitude: 52.5, longitude: 13.4, name: 'Gate' })
  await send('contacts', [
    {
      name: { formatted_name: 'Ada Lovelace', first_name: 'Ada', last_name: 'Lovelace' },
      phones: [{ phone: '+1' }],
      emails: [{ email: 'a;b@example.com' }],
    },
    { name: { formatted_name: 'Desk' }, phones: [{ phone: '+2' }] },
  ])
  const settings = {}
  const numberless = adapter.validate!({
    to: '1',
    type: 'contacts',
    content: [{ name: { formatted_name: 'Ada' } }],
    settings,
  })

  assert.deepEqual(linked, { inline_keyboard: [[{ text: 'Track it', url: 'https://example.com/1' }]] })
  assert.deepEqual(
    sim.sent.slice(1).map(({ method, parameters }) => [method, withoutChat(parameters)]),
    [
      ['sendLocation', { latitude: 52.5, longitude: 13.4 }],
      ['sendVenue', { latitude: 52.5, longitude: 13.4, title: 'Gate', address: 'Gate' }],
      [
        'sendContact',
        {
          phone_number: '+1',
          first_name: 'Ada',
          last_name: 'Lovelace',
          vcard:
            'BEGIN:VCARD\r\nVERSION:3.0\r\nN:Lovelace;Ada;;;\r\nFN:Ada Lovelace\r\nTEL:+1\r\nEMAIL:a\\;b@example.com\r\nEND:VCARD',
        },
      ],
      ['sendContact', { phone_number: '+2', first_name: 'Desk' }],
    ],
  )
  assert.deepEqual([numberless?.code, numberless?.param], ['upstream_rejected', 'contacts[0].phones'])
})

test("the webhook has a secret token of its channel, and is deleted only while it is the channel's own", async (t) => {
  const { sim, adapter } = await started(t)

  await adapter.register!(connection, never)
  const set = sim.webhook()
  await adapter.disconnect!({ ...connection, webhook_url: 'https://example.com/hooks/channels/ch_2' }, never)
  const unchanged = sim.webhook()
  await adapter.disconnect!(connection, never)
  const taken = sim.webhook()
  sim.answerNext({
    status: 400,
    body: { ok: false, error_code: 400, description: 'Bad Request: bad webhook: Failed to resolve host' },
  })
  const refused = await adapter.register!(connection, never)

  assert.deepEqual(set, {
    url: connection.webhook_url,
    secret_token: secretOf(connection),
    allowed_updates: ['message', 'callback_query'],
  })
  assert.match(secretOf(connection), /^[\w-]{43}$/)
  assert.notEqual(secretOf(connection), secretOf({ ...connection, channel_id: 'ch_2' }))
  assert.deepEqual([unchanged, taken], [set, null])
  assert.match(refused.kind === 'refused' ? refused.message : '', /Failed to resolve host/)
})

test('a tapped button is answered in the response to its callback', async (t) => {
  const { adapter } = await started(t)

  const read = adapter.receiveCallback!(callOf(samples['a tapped button']!.update), connection)

  assert.deepEqual(JSON.parse(read!.response!.body), {
    method: 'answerCallbackQuery',
    callback_query_id: '4382bfdwdsb323b2d9',
  })
  assert.match(adapter.receiveCallback!(callOf(samples['a message in a group']!.update), connection)!.ignored!, /group/)
})

test('a tapped button of a message without a keyboard is reported by position', async (t) => {
  const { adapter } = await started(t)
  const { update } = samples['a tapped button whose id is too long']! as {
    update: { callback_query: { message: object } }
  }
  const old = {
    ...update,
    callback_query: {
      ...update.callback_query,
      message: { ...update.callback_query.message, date: 0, reply_markup: undefined },
    },
  }

  const [report] = adapter.receiveCallback!(callOf(old), connection)!.items

  assert.deepEqual(report?.kind === 'inbound' && [report.content, report.button_index], [
    { id: 'Button 2', title: '' },
    1,
  ])
})

test('an inbound file is downloaded by its path', async (t) => {
  const { sim, adapter } = await started(t)
  sim.file('f1', 'photos/file 1.jpg', Buffer.from('a picture'))
  sim.file('f2', '../../secret', Buffer.from('x'))
  const media = async (reference: Record<string, string>, bytes_max = 1000) => {
    const { content_type, chunks } = await adapter.fetchMedia!(reference, connection, bytes_max, never)
    return [content_type, await text(Readable.from(chunks))]
  }

  assert.deepEqual(await media({ file_id: 'f1', content_type: 'image/jpeg' }), ['image/jpeg', 'a picture'])
  await assert.rejects(media({ file_id: 'f1' }, 4), /longer than 4 bytes/)
  await assert.rejects(media({ file_id: 'f2' }), /no path/)
  await assert.rejects(media({ file_id: 'gone' }), /wrong file_id/)
})

test('polled updates are reported once, and acknowledged to Telegram only then', async (t) => {
  const { sim, adapter } = await started(t, polled)
  const stored: (readonly [readonly CallbackItem[], string | undefined])[] = []
  let keeps = true
  const open = async () => {
    const tell = async (items: readonly CallbackItem[], _raw: Uint8Array, ignored?: string) => {
      if (!keeps) throw new Error('no room')
      stored.push([items, ignored])
    }
    const opened = await adapter.openSession!(polled, openingOf({ store: tell }))
    assert.ok(opened.kind === 'open')
    return opened.session
  }
  const names = () => stored.flatMap(([items]) => items.map(({ provider_id }) => provider_id))

  await adapter.register!(connection, never)
  const first = await open()
  await sim.say(chat, { text: 'One' })
  await until('one to be stored', () => stored.length === 1 && sim.isPolled())
  await sim.say(-5, { text: 'Two' }, { type: 'group', title: 'Team' })
  await until('two to be looked at', () => stored.length === 2 && sim.isPolled())
  keeps = false
  await sim.say(chat, { text: 'Three' })
  const full = await within('the session to end', first.ended)
  keeps = true
  const second = await open()
  await until('three to be stored', () => names().length === 2 && sim.isPolled())
  await within('the session to close', second.close(never))

  assert.equal(sim.webhook(), null)
  assert.match(stored[1]![1]!, /group/)
  assert.deepEqual([full.refused, /no room/.test(full.message)], [false, true])
  assert.equal(new Set(names()).size, 2)
  assert.equal(sim.waiting(), 0)
})

test('an answer without a chat uses the recipient, and a throttling without a wait still pauses', async (t) => {
  const { clock, sim, adapter, send } = await started(t, polled)

  sim.answerNext({ body: { ok: true, result: { message_id: 42 } } })
  const outcome = await send('text', { body: 'Hi' })
  sim.answerNext({ body: { ok: true, result: true } }, { body: { ok: true, result: [] } })
  const opened = await adapter.openSession!(polled, openingOf())
  await until('it to pause', () => clock.wakesAt().includes(clock.now() + 500))
  await clock.advance(500)
  await until('it to ask again', () => sim.isPolled())
  assert.ok(opened.kind === 'open')
  await within('the session to close', opened.session.close(never))

  assert.deepEqual(outcome, { kind: 'accepted', provider_ids: [`${chat}:42`] })
})

test('polling pauses when throttled, and ends with an invalid token or nonsense', async (t) => {
  const { clock, sim, adapter } = await started(t, polled)
  const open = () => adapter.openSession!(polled, openingOf())
  const opened = async () => {
    const one = await open()
    assert.ok(one.kind === 'open')
    return one.session
  }

  sim.answerNext(
    { body: { ok: true, result: true } },
    { status: 429, body: { ok: false, error_code: 429, description: 'x', parameters: { retry_after: 7 } } },
  )
  const session = await opened()
  await until('it to wait', () => clock.wakesAt().includes(clock.now() + 7000))
  await clock.advance(7000)
  await until('it to ask again', () => sim.isPolled())
  sim.bot.bot_token = 'other'
  await sim.report({ update_id: 1 })
  const refused = await within('the session to end', session.ended)
  const again = await open()
  sim.bot.bot_token = bot_token
  const ends = []
  for (const odd of [
    'half',
    'endless',
    'reset',
    { body: { ok: true, result: [{}] } },
    { body: { ok: true, result: {} } },
    { body: { ok: true, result: [null] } },
  ] as const) {
    sim.answerNext({ body: { ok: true, result: true } }, odd)
    ends.push((await within('the session to end', (await opened()).ended)).refused)
  }

  assert.deepEqual([refused.refused, again.kind, ends], [true, 'refused', [false, false, false, false, false, false]])
})
