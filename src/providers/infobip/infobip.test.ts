import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { adapterSuite } from '../../../test/support/adapter-suite.ts'
import { fakeClock } from '../../../test/support/clock.ts'
import { unconfirmed, messageOf } from '../../../test/support/conformance/send-attempts.ts'
import { catchCallbacks } from '../../../test/support/conformance/own-ids.ts'
import { providerTools } from '../../../test/support/provider-tools.ts'
import { infobipStatuses, simulateInfobip } from '../../../test/support/simulators/infobip.ts'
import type { Callback, Connection, CallbackItem } from '../provider.ts'
import { infobip } from './infobip.ts'
import samples from './samples/callbacks.json' with { type: 'json' }

const api_key = '0123456789abcdef-0123'
const webhook_url = 'https://example.com/hooks/channels/ch_1'
const connectionTo = (base_url: string): Connection => ({
  channel_id: 'ch_1',
  type: 'sms',
  identifier: '+4915100000001',
  credentials: { base_url, api_key, verify_token: 'a-word-of-ours' },
  settings: {},
  webhook_url,
})
const toolsFor = (url: string) =>
  providerTools({ allowed_hosts: [new URL(url).host], clock: fakeClock('2026-01-31T09:30:00.000Z') })
const never = new AbortController().signal
const to = '+4915112345678'

const callOf = (body: object): Callback => ({
  method: 'POST',
  url: `${webhook_url}?token=a-word-of-ours`,
  headers: { 'content-type': 'application/json' },
  query: { token: 'a-word-of-ours' },
  body: Buffer.from(JSON.stringify(body)),
})

adapterSuite(infobip, async (t) => {
  const caught = await catchCallbacks(t)
  const sim = await simulateInfobip(t, { api_key, reach: caught.reach })
  sim.reject('+4915100000009', 14, 'REJECTED_DESTINATION_BLOCKLISTED')
  sim.reject('+4915100000010', 18, 'REJECTED_DESTINATION_NOT_REGISTERED')
  sim.reject('+4915100000011', 21, 'REJECTED_SYSTEM_ERROR')
  sim.reject('+4915100000012', 777, 'REJECTED_SOMETHING_NEW')
  const connection = connectionTo(sim.url)
  return {
    tools: toolsFor(sim.url),
    connection,
    wrongConnection: { ...connection, credentials: { ...connection.credentials, api_key: 'another-key-of-no-use' } },
    entered: { base_url: 'https://xxxxx.api.infobip.com', api_key },
    outcomes: {
      accepted: { to },
      refused: [
        {
          to: '+4915100000009',
          expected: { code: 'recipient_blocked', provider_code: 'REJECTED_DESTINATION_BLOCKLISTED' },
        },
        { to: '+4915100000010', expected: { code: 'policy_violation' } },
        { to: '+4915100000012', expected: { code: 'provider_error', provider_code: 'REJECTED_SOMETHING_NEW' } },
        {
          to,
          before: () =>
            sim.answerNext({
              status: 401,
              body: {
                requestError: { serviceException: { messageId: 'UNAUTHORIZED', text: 'Invalid login details' } },
              },
            }),
          expected: { code: 'channel_not_connected', provider_code: 'UNAUTHORIZED', channel_lost: true },
        },
        {
          to,
          before: () => sim.answerNext({ status: 400, body: { errorCode: 'E400', description: 'Bad request' } }),
          expected: { code: 'provider_error', provider_code: 'E400' },
        },
      ],
      throttled: {
        to,
        before: () =>
          sim.answerNext({
            status: 429,
            headers: { 'retry-after': '2' },
            body: { errorCode: 'E429', description: 'Too many requests sent.' },
          }),
        expected: { limit_on: 'channel', retry_after_ms: 2000, provider_code: 'E429' },
      },
      unavailable: { why_not: 'Infobip has no answer that says so; what a network does is tried by the suite itself.' },
      unknown: [
        { to: '+4915100000011' },
        { to, before: () => sim.answerNext('half') },
        {
          to,
          before: () =>
            sim.answerNext({ status: 500, body: { errorCode: 'E500', description: 'Something went wrong.' } }),
        },
      ],
    },
    taken: () => sim.messages.length,
    several: { why_not: 'One call is one message.' },
    statusQuery: {
      by: 'found',
      to,
      loseAnswer: () => sim.answerNext('lost'),
      loseRequest: () => sim.answerNext('reset'),
      ids: () => sim.messages.map(({ messageId }) => messageId),
      fail: () => void (sim.messages.at(-1)!.status = infobipStatuses.undelivered),
    },
    async receipt() {
      await sim.report(sim.messages.at(-1)!, infobipStatuses.delivered)
      return caught.last()
    },
    hostile: (url) => ({ tools: toolsFor(url), connection: connectionTo(url) }),
    callbacks: {
      proof: 'sender',
      sign: (call) => call,
      samples: samples.map(({ name, body, items }) => ({
        name,
        call: callOf(body),
        items: items as unknown as CallbackItem[],
      })),
    },
  }
})

async function withInfobip(t: TestContext) {
  const sim = await simulateInfobip(t, { api_key })
  const tools = toolsFor(sim.url)
  t.after(() => tools.http.close())
  const [adapter, connection] = [infobip.adapter(tools), connectionTo(sim.url)]
  const message = (more: object = {}) => messageOf(connection, { to, ...more })
  return {
    sim,
    send: (more: object = {}) => adapter.send!(message(more), connection, never),
    ask: (more: object = {}) => adapter.queryStatus!(unconfirmed(message(more)), connection, never),
  }
}

test('a text is sent with our own id, its validity and its callback address', async (t) => {
  const { sim, send } = await withInfobip(t)

  const outcome = await send({ expires_at: '2026-01-31T09:59:30.000Z' })

  assert.deepEqual(outcome, { kind: 'accepted', provider_ids: ['msg_00000000000000000000000001'] })
  assert.deepEqual(sim.messages[0]!.request, {
    sender: '4915100000001',
    destinations: [{ to: '4915112345678', messageId: 'msg_00000000000000000000000001' }],
    content: { text: 'Hi' },
    options: { validityPeriod: { amount: 30, timeUnit: 'MINUTES' } },
    webhooks: {
      delivery: { url: `${webhook_url}?token=a-word-of-ours`, intermediateReport: true },
      contentType: 'application/json',
    },
  })
})

test('a repeated text is accepted once, and counts as accepted', async (t) => {
  const { sim, send } = await withInfobip(t)

  const outcomes = [await send(), await send({ attempt: 2 })]

  assert.deepEqual(outcomes[1], outcomes[0])
  assert.equal(sim.messages.length, 1)
})

test('a status query returns the state of a text, or that Infobip never had it', async (t) => {
  const { sim, send, ask } = await withInfobip(t)
  sim.answerNext('lost', 'reset')

  const lost = await send()
  const never = await send({ id: 'msg_00000000000000000000000002' })
  const taken = await ask()
  const absent = await ask({ id: 'msg_00000000000000000000000002' })
  sim.messages[0]!.status = infobipStatuses.undelivered
  const failed = await ask()

  assert.deepEqual([lost.kind, never.kind], ['unknown', 'unknown'])
  assert.deepEqual(taken, { kind: 'found', provider_ids: ['msg_00000000000000000000000001'] })
  assert.deepEqual(absent, { kind: 'not_found' })
  assert.deepEqual(
    [failed.kind, failed.kind === 'refused' && failed.provider_code],
    ['refused', 'UNDELIVERABLE_NOT_DELIVERED'],
  )
  sim.messages[0]!.status = {
    groupId: 5,
    groupName: 'REJECTED',
    id: 21,
    name: 'REJECTED_SYSTEM_ERROR',
    description: '',
  }
  assert.equal((await ask()).kind, 'refused')
})

test('a status query without an answer is repeated, and a refused one ends', async (t) => {
  const { sim, ask } = await withInfobip(t)
  const refusal = (messageId: string) => ({ requestError: { serviceException: { messageId, text: 'No.' } } })
  const query = async (status: number, body?: object) => {
    sim.answerNext({ status, ...(body === undefined ? {} : { body }) })
    return (await ask()).kind
  }

  assert.deepEqual(
    [await query(500), await query(503), await query(429, refusal('TOO_MANY_REQUESTS')), await query(403)],
    ['no_answer', 'no_answer', 'throttled', 'no_answer'],
  )
  assert.equal(await query(403, refusal('FORBIDDEN')), 'no_information')
})

test('a base URL must have a public host and no path', () => {
  const right = ['https://xxxxx.api.infobip.com', 'https://xxxxx.api.infobip.com/']
  const wrong = [
    'xxxxx.api.infobip.com',
    'http://xxxxx.api.infobip.com',
    'https://xxxxx.api.infobip.com/sms',
    'https://x.com?a',
    'https://x.com#',
    'https://u:p@x.com',
  ]
  const inside = [
    'https://127.0.0.1',
    'https://10.0.0.1',
    'https://[::1]',
    'https://localhost',
    'https://169.254.169.254',
  ]
  const looked = (base_url: string) =>
    infobip.check!({ type: 'sms', credentials: { base_url, api_key }, allowed_hosts: [] })

  assert.deepEqual(right.flatMap(looked), [])
  for (const base_url of [...wrong, ...inside])
    assert.equal(looked(base_url)[0]?.param, 'credentials.base_url', base_url)
})
