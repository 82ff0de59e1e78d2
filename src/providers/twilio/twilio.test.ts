/** Signatures are made by Twilio's package. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { text } from 'node:stream/consumers'
import { Readable } from 'node:stream'
import { createHash } from 'node:crypto'
import { test, type TestContext } from 'node:test'
import type * as Webhooks from 'twilio/lib/webhooks/webhooks.js'
import { isoTime } from '../../lib/clock.ts'
import { adapterSuite } from '../../../test/support/adapter-suite.ts'
import { fakeClock } from '../../../test/support/clock.ts'
import { closing } from '../../../test/support/closing.ts'
import { catchCallbacks } from '../../../test/support/conformance/own-ids.ts'
import { unconfirmed, messageOf } from '../../../test/support/conformance/send-attempts.ts'
import { providerTools } from '../../../test/support/provider-tools.ts'
import { twilioStatusQuery, simulateTwilio } from '../../../test/support/simulators/twilio.ts'
import type { HttpClient } from '../../lib/http-client.ts'
import type { StatusQueryResult, Callback, Connection, OutboundMessage, Outcome, CallbackItem } from '../provider.ts'
import { receiptOf } from './codes.ts'
import { twilio } from './twilio.ts'

const { getExpectedTwilioSignature, getExpectedBodyHash } = createRequire(import.meta.url)(
  'twilio/lib/webhooks/webhooks.js',
) as typeof Webhooks
type Sample = {
  readonly query: Record<string, string>
  readonly form: Record<string, string>
  readonly items: readonly CallbackItem[]
}
const samples = JSON.parse(readFileSync(new URL('samples/callbacks.json', import.meta.url), 'utf8')) as Record<
  string,
  Sample
>

const account_sid = 'AC0123456789abcdef0123456789abcdef'
const auth_token = 'f00dfeedf00dfeedf00dfeedf00dfeed'
const connection: Connection = {
  channel_id: 'ch_1',
  type: 'sms',
  identifier: '+14155550100',
  credentials: { account_sid, auth_token },
  settings: {},
  webhook_url: 'https://example.com/hooks/channels/ch_1',
}
const recipient = '+14155550123'

async function started(
  t: TestContext,
  overrides: Partial<Connection> = {},
  reach: (url: string) => string = (url) => url,
) {
  const clock = fakeClock()
  const sim = await simulateTwilio(t, {
    account_sid,
    auth_token,
    numbers: [connection.identifier],
    now: () => clock.now(),
    reach,
  })
  const tools = providerTools({ url: sim.url, clock })
  closing(t, () => tools.http.close())
  const adapter = twilio.adapter(tools)
  const channel = { ...connection, ...overrides }
  const never = new AbortController().signal
  const message = (more: Partial<OutboundMessage> = {}) => messageOf(channel, { to: recipient, ...more })
  return {
    clock,
    sim,
    tools,
    adapter,
    send: (more: Partial<OutboundMessage> = {}): Promise<Outcome> => adapter.send!(message(more), channel, never),
    ask: (more: Partial<OutboundMessage> = {}, until_ms = clock.now()) =>
      adapter.queryStatus!(unconfirmed(message(more), isoTime(until_ms)), channel, never),
    connect: (more: Partial<Connection> = {}) => adapter.connect!({ ...channel, ...more }, never),
    media: async (url: string, bytes_max = 1_000_000) => {
      const { content_type, chunks } = await adapter.fetchMedia!({ url }, channel, bytes_max, never)
      return { content_type, body: await text(Readable.from(chunks)) }
    },
  }
}

const urlOf = (query: Readonly<Record<string, string>>): string => {
  const search = new URLSearchParams(query).toString()
  return connection.webhook_url + (search === '' ? '' : `?${search}`)
}

const sign = (call: Callback): Callback => ({
  ...call,
  headers: {
    'content-type': 'application/x-www-form-urlencoded',
    'x-twilio-signature': getExpectedTwilioSignature(auth_token, call.url, formOf(call)),
  },
})
const formOf = ({ body }: Callback): Record<string, string | string[]> => {
  const form = new URLSearchParams(Buffer.from(body).toString('utf8'))
  return Object.fromEntries(
    [...new Set(form.keys())].map((name) => [name, form.getAll(name).length > 1 ? form.getAll(name) : form.get(name)!]),
  )
}
const callOf = ({ query, form }: Pick<Sample, 'query' | 'form'>): Callback =>
  sign({
    method: 'POST',
    url: urlOf(query),
    query,
    headers: {},
    body: Buffer.from(new URLSearchParams(form).toString()),
  })

adapterSuite(twilio, async (t) => {
  const caught = await catchCallbacks(t)
  const { sim, tools } = await started(t, {}, caught.reach)
  return {
    tools,
    connection,
    wrongConnection: { ...connection, credentials: { account_sid, auth_token: 'wrong-wrong-wrong' } },
    outcomes: {
      accepted: { to: recipient },
      refused: [
        {
          to: '+14155550002',
          before: () => sim.refuse('+14155550002', 21610),
          expected: { code: 'recipient_blocked', provider_code: '21610' },
        },
        {
          to: '+14155550003',
          before: () => sim.refuse('+14155550003', 21408),
          expected: { code: 'policy_violation', provider_code: '21408' },
        },
        {
          to: '+14155550004',
          before: () => sim.refuse('+14155550004', 20003, 401),
          expected: { code: 'channel_not_connected', provider_code: '20003', channel_lost: true },
        },
        {
          to: recipient,
          before: () => sim.answerNext({ status: 201, body: { sid: 'SMfailed', status: 'failed', error_code: 30005 } }),
          expected: { code: 'provider_error', provider_code: '30005' },
        },
        {
          to: recipient,
          before: () =>
            sim.answerNext({ status: 201, body: { sid: 'SMstopped', status: 'undelivered', error_code: 21610 } }),
          expected: { code: 'recipient_blocked', provider_code: '21610', opted_out: 'everything' },
        },
        {
          to: '+14155550005',
          before: () => sim.refuse('+14155550005', 29999),
          expected: { code: 'provider_error', message: 'Refused by the simulator' },
        },
      ],
      throttled: [
        {
          to: '+14155550006',
          before: () => sim.refuse('+14155550006', 20429, 429),
          expected: { limit_on: 'channel', provider_code: '20429' },
        },
        {
          to: recipient,
          before: () => sim.answerNext({ status: 429, body: { code: 63018 }, headers: { 'retry-after': '7' } }),
          expected: { limit_on: 'channel', retry_after_ms: 7000, provider_code: '63018' },
        },
      ],
      unavailable: {
        to: recipient,
        before: () =>
          sim.answerNext({ status: 503, body: { code: 20503, message: 'Service unavailable', status: 503 } }),
        expected: { provider_code: '20503' },
      },
      unknown: [
        { to: recipient, before: () => sim.answerNext('lost') },
        { to: recipient, before: () => sim.answerNext('half') },
        { to: recipient, before: () => sim.answerNext({ status: 500, body: { code: 20500 } }) },
      ],
    },
    taken: () => sim.messages.length,
    several: { why_not: 'One call is one message.' },
    statusQuery: twilioStatusQuery(sim, recipient),
    async receipt() {
      await sim.report(sim.messages.at(-1)!, 'delivered')
      return caught.last()
    },
    hostile: (url) => ({ tools: providerTools({ url }), connection }),
    callbacks: {
      proof: 'content',
      sign,
      samples: Object.entries(samples).map(([name, sample]) => ({
        name,
        call: callOf(sample),
        items: sample.items,
      })),
    },
    media: {
      available: { url: sim.file('ME1', Buffer.from('a picture'), 'image/jpeg') },
      gone: {
        'a file that was deleted': { url: `${sim.url}/2010-04-01/Accounts/${account_sid}/Messages/MM1/Media/ME2` },
        'an address without https': { url: 'http://example.com/ME1' },
        'an address that is private': { url: 'https://10.0.0.1/ME1' },
        'a name that leads to a private address': { url: 'https://files.example.com/ME1' },
        'an address that is none': { url: 'ME1' },
      },
      passing: {
        trouble: () => sim.answerNext({ status: 500 }, { status: 500 }),
        'half an answer': () => sim.answerNext('half', 'half'),
      },
    },
  }
})

test('a text is sent unchanged, with a callback address', async (t) => {
  const { clock, sim, send } = await started(t)

  await send({ content: { body: 'Grüße “so” & 100% + 1 ☕' }, expires_at: clock.iso(90_000) })
  await send({ expires_at: clock.iso(-1) })
  await send({ expires_at: clock.iso(7 * 24 * 3600_000) })

  assert.deepEqual(Object.fromEntries(sim.messages[0]!.form), {
    To: recipient,
    From: connection.identifier,
    Body: 'Grüße “so” & 100% + 1 ☕',
    SmartEncoded: 'false',
    StatusCallback: 'https://example.com/hooks/channels/ch_1?message=msg_00000000000000000000000001',
    ValidityPeriod: '90',
  })
  assert.deepEqual(
    sim.messages.map(({ form }) => form.get('ValidityPeriod')),
    ['90', '1', '36000'],
  )
})

test('a messaging service chooses the sender, and files are one message', async (t) => {
  const messaging_service_sid = 'MG0123456789abcdef0123456789abcdef'
  const service = await started(t, {
    credentials: { account_sid, auth_token, messaging_service_sid },
    webhook_url: 'http://127.0.0.1:8080/hooks/channels/ch_1',
  })
  const content = [
    { type: 'image', url: 'https://example.com/1.jpg', caption: 'One' },
    { type: 'document', url: 'https://example.com/2.pdf' },
    { type: 'image', url: 'https://example.com/3.jpg', caption: 'Three' },
  ]

  await service.send({ type: 'attachments', content })

  const [message] = service.sim.messages
  assert.deepEqual(
    [...message!.form].filter(([name]) => name !== 'SmartEncoded' && name !== 'StatusCallback'),
    [
      ['To', recipient],
      ['MessagingServiceSid', messaging_service_sid],
      ['Body', 'One\nThree'],
      ...content.map(({ url }) => ['MediaUrl', url]),
    ],
  )
})

test('a private callback address is given only to a stand-in for Twilio', async (t) => {
  const channel = { ...connection, webhook_url: 'http://127.0.0.1:8080/hooks/channels/ch_1' }
  const { sim, send, tools } = await started(t, channel)
  const posted: string[] = []
  const http: HttpClient = {
    ...tools.http,
    call: async ({ body }) => (
      posted.push(String(body)),
      { kind: 'unsent', code: 'connection_refused', message: 'Nobody is there.' }
    ),
  }
  const real = twilio.adapter({ ...tools, http, url: 'https://api.twilio.com' })

  await send()
  await real.send!(messageOf(channel, { to: recipient }), channel, new AbortController().signal)

  assert.equal(
    sim.messages[0]!.form.get('StatusCallback'),
    'http://127.0.0.1:8080/hooks/channels/ch_1?message=msg_00000000000000000000000001',
  )
  assert.deepEqual([posted.length, posted[0]!.includes('StatusCallback')], [1, false])
})

test('connecting needs an active account that has the number', async (t) => {
  const { sim, connect } = await started(t)
  const messaging_service_sid = 'MG0123456789abcdef0123456789abcdef'

  const own = await connect()
  const foreign = await connect({ identifier: '+14155550999' })
  const named = await connect({ identifier: 'ACME' })
  const served = await connect({
    identifier: '+14155550999',
    credentials: { account_sid, auth_token, messaging_service_sid },
  })
  sim.account.status = 'suspended'
  const suspended = await connect()
  sim.answerNext({ status: 500 })
  const down = await connect()

  assert.deepEqual(
    [own, foreign, named, served, suspended, down].map(({ kind }) => kind),
    ['connected', 'refused', 'connected', 'connected', 'refused', 'unavailable'],
  )
  assert.match(foreign.kind === 'refused' ? foreign.message : '', /\+14155550999 is not a number of/)
})

test('a status query returns similar messages created around the attempt, the oldest first', async (t) => {
  const { clock, sim, send, ask } = await started(t)
  const sids = (result: StatusQueryResult) =>
    result.kind === 'candidates'
      ? result.found.map(({ provider_ids }) => sim.messages.findIndex(({ sid }) => sid === provider_ids[0]))
      : result.kind
  const first_sent_at = isoTime(clock.now())
  sim.answerNext('lost')
  const lost = await send({ content: { body: 'Once' } })
  await send({ content: { body: 'Twice' } })
  await send({ content: { body: 'Twice' } })
  sim.messages[0]!.status = 'delivered'

  const once = await ask({ content: { body: 'Once' }, first_sent_at: first_sent_at })
  const twice = await ask({ content: { body: 'Twice' }, first_sent_at: first_sent_at })
  const absent = await ask({ content: { body: 'Never' }, first_sent_at: first_sent_at })
  const ended_ms = clock.now()
  clock.jump(3 * 3600_000)
  await send({ content: { body: 'Once' } })
  const long = await ask({ content: { body: 'Once' }, first_sent_at: first_sent_at }, ended_ms)
  const later = await ask({ content: { body: 'Once' }, first_sent_at: isoTime(clock.now()) })

  assert.equal(lost.kind, 'unknown')
  assert.deepEqual([once, twice, absent, long, later].map(sids), [[0], [1, 2], 'not_found', [0], [3]])
  assert.deepEqual(once.kind === 'candidates' && once.found[0].receipt?.transition, 'deliver')
})

test('the list of messages is read in pages, up to the time of the attempt and a limit', async (t) => {
  const { clock, sim, send, ask } = await started(t)
  const content = { body: 'Buried' }
  const lost = await send({ content })
  const first_sent_at = isoTime(clock.now())
  const others = (count: number) => {
    for (let n = 0; n < count; n++)
      sim.messages.push({
        ...sim.messages[0]!,
        sid: `SM${String(sim.messages.length).padStart(32, 'a')}`,
        form: new URLSearchParams({ From: connection.identifier, To: recipient, Body: 'Other' }),
      })
  }
  others(250)
  const buried = await ask({ content, first_sent_at: first_sent_at })
  const absent = await ask({ content: { body: 'Never' }, first_sent_at: first_sent_at })
  others(250)
  const beyond = await ask({ content, first_sent_at: first_sent_at })
  sim.answerNext('pass', { status: 500 })
  const brokenOff = await ask({ content, first_sent_at: first_sent_at })

  assert.deepEqual(buried, {
    kind: 'candidates',
    found: [{ provider_ids: lost.kind === 'accepted' ? lost.provider_ids : [] }],
  })
  assert.deepEqual([absent.kind, beyond.kind, brokenOff.kind], ['not_found', 'no_information', 'no_answer'])
})

test('a status query without an answer is repeated, and a refused one ends', async (t) => {
  const { sim, ask } = await started(t)
  const query = async (status: number, body?: object) => {
    sim.answerNext({ status, ...(body === undefined ? {} : { body }) })
    return (await ask()).kind
  }

  assert.deepEqual(
    [
      await query(500),
      await query(503),
      await query(429, { code: 20429, message: 'Too Many Requests', status: 429 }),
      await query(403),
    ],
    ['no_answer', 'no_answer', 'throttled', 'no_answer'],
  )
  assert.equal(await query(401, { code: 20003, message: 'Authenticate', status: 401 }), 'no_information')
})

test('signatures are accepted with and without the port, and for JSON by the hash in the address', async (t) => {
  const { adapter } = await started(t)
  const { form } = samples['text']!
  const body = Buffer.from(new URLSearchParams(form).toString())
  const read = (url: string, signed: string) => {
    const headers = {
      'content-type': 'application/x-www-form-urlencoded; charset=UTF-8',
      'x-twilio-signature': getExpectedTwilioSignature(auth_token, signed, form),
    }
    return adapter.receiveCallback!({ method: 'POST', url, query: {}, headers, body }, connection)?.items.length
  }
  const json = Buffer.from('{"hello":"wörld"}')
  const hashed = (hash: string) => {
    const query = { bodySHA256: hash }
    const headers = {
      'content-type': 'application/json',
      'x-twilio-signature': getExpectedTwilioSignature(auth_token, urlOf(query), {}),
    }
    return adapter.receiveCallback!({ method: 'POST', url: urlOf(query), query, headers, body: json }, connection)
  }

  assert.deepEqual(
    [
      read('https://example.com:8443/hooks', 'https://example.com/hooks'),
      read('https://example.com/hooks', 'https://example.com:443/hooks'),
      read('https://example.com/hooks', 'https://example.org/hooks'),
    ],
    [1, 1, undefined],
  )
  assert.deepEqual(hashed(getExpectedBodyHash(json.toString()))?.items, [])
  assert.equal(hashed(createHash('sha256').update('other').digest('hex')), null)
})

test('unknown statuses and codes change nothing', () => {
  assert.equal(receiptOf('SM1', 'constructor', ''), null)
  assert.deepEqual(receiptOf('SM1', 'failed', 'constructor')?.error, {
    code: 'provider_error',
    message: 'Twilio could not deliver the message.',
    provider_code: 'constructor',
  })
})

test('duplicate fields are signed once each, and a form with too many fields is not sorted', async (t) => {
  const { adapter } = await started(t)
  const form = new URLSearchParams(samples['text']!.form)
  form.append('Extra', 'b')
  form.append('Extra', 'a')
  form.append('Extra', 'b')
  const call = {
    method: 'POST',
    url: connection.webhook_url,
    query: {},
    headers: {},
    body: Buffer.from(form.toString()),
  }
  const huge = { ...call, body: Buffer.from(Array.from({ length: 2000 }, (_, n) => `f${n}=1`).join('&')) }

  assert.equal(adapter.receiveCallback!(sign(call), connection)?.items.length, 1)
  assert.equal(adapter.receiveCallback!(sign(huge), connection), null)
})

test('inbound files are limited in size, and only Twilio gets the credentials', async (t) => {
  const { adapter, sim, media } = await started(t)
  const files = Object.fromEntries(
    Array.from({ length: 40 }, (_, n) => [`MediaUrl${n}`, `https://api.twilio.com/${n}`]),
  )
  const read = adapter.receiveCallback!(
    callOf({ query: {}, form: { ...samples['files with a text']!.form, ...files, NumMedia: '40' } }),
    connection,
  )
  const url = sim.file('ME1', Buffer.from('a picture'), 'image/jpeg')

  const [report] = read!.items
  assert.ok(report?.kind === 'inbound' && (report.content as unknown[]).length === 10 && report.media?.length === 10)
  assert.deepEqual(await media(url), { content_type: 'image/jpeg', body: 'a picture' })
  await assert.rejects(media(url, 4), /longer than 4 bytes/)
  await assert.rejects(media(sim.url + '/2010-04-01/Accounts/none/Media/ME1'))
  await assert.rejects(media('http://127.0.0.1:1/ME1'), /not called without https/)
})
