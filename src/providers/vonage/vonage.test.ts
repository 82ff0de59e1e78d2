import assert from 'node:assert/strict'
import { test } from 'node:test'
import { adapterSuite } from '../../../test/support/adapter-suite.ts'
import { messageOf } from '../../../test/support/conformance/send-attempts.ts'
import { catchCallbacks } from '../../../test/support/conformance/own-ids.ts'
import { fakeClock } from '../../../test/support/clock.ts'
import { providerTools } from '../../../test/support/provider-tools.ts'
import { simulateVonage } from '../../../test/support/simulators/vonage.ts'
import type { Callback, Connection, CallbackItem } from '../provider.ts'
import { signatureOf } from './callbacks.ts'
import samples from './samples/callbacks.json' with { type: 'json' }
import { vonage } from './vonage.ts'

const account = { api_key: 'abcd1234', api_secret: 'S3cretS3cret' }
const webhook_url = 'https://example.com/hooks/channels/ch_1'
const signed: Connection = {
  channel_id: 'ch_1',
  type: 'sms',
  identifier: '+4915100000001',
  credentials: { ...account, signature_secret: 'my_secret_key_for_testing' },
  settings: {},
  webhook_url,
}
const byWord: Connection = { ...signed, credentials: { ...account, verify_token: 'a-word-of-ours' } }

const fieldsOf = ({ method, query, headers, body }: Callback): Record<string, string> => {
  const text = Buffer.from(body).toString()
  if (method === 'GET') return { ...query }
  if (!headers['content-type']!.includes('json')) return Object.fromEntries(new URLSearchParams(text))
  const parsed = JSON.parse(text) as Record<string, unknown> | null
  const plain = Object.entries(parsed ?? {}).filter(
    ([, value]) => typeof value === 'string' || typeof value === 'number',
  )
  return Object.fromEntries(plain.map(([name, value]) => [name, String(value)]))
}

const callOf = (form: string, fields: Readonly<Record<string, string>>): Callback => {
  if (form === 'GET')
    return {
      method: 'GET',
      url: `${webhook_url}?${new URLSearchParams(fields)}`,
      headers: {},
      query: fields,
      body: Buffer.from(''),
    }
  const json = form === 'POST-JSON'
  const headers = { 'content-type': json ? 'application/json' : 'application/x-www-form-urlencoded' }
  return {
    method: 'POST',
    url: webhook_url,
    headers,
    query: {},
    body: Buffer.from(json ? JSON.stringify(fields) : new URLSearchParams(fields).toString()),
  }
}

function unsigned(call: Callback): Callback {
  const { sig: _gone, ...fields } = fieldsOf(call)
  return callOf(
    call.method === 'GET' ? 'GET' : call.headers['content-type']!.includes('json') ? 'POST-JSON' : 'POST',
    fields,
  )
}

function sign(call: Callback): Callback {
  try {
    const { sig: _old, ...fields } = fieldsOf(call)
    const form = call.method === 'GET' ? 'GET' : call.headers['content-type']!.includes('json') ? 'POST-JSON' : 'POST'
    if (form === 'POST-JSON') {
      const parsed = JSON.parse(Buffer.from(call.body).toString()) as object
      return {
        ...call,
        body: Buffer.from(JSON.stringify({ ...parsed, sig: signatureOf(fields, 'my_secret_key_for_testing') })),
      }
    }
    return callOf(form, { ...fields, sig: signatureOf(fields, 'my_secret_key_for_testing').toUpperCase() })
  } catch {
    return call
  }
}

const ways = [
  { connection: signed, proof: 'content' as const, sign },
  { connection: byWord, proof: 'sender' as const, sign: (call: Callback) => call },
]
for (const { connection, proof, sign: prove } of ways) {
  adapterSuite(vonage, async (t) => {
    const caught = await catchCallbacks(t)
    const sim = await simulateVonage(t, {
      ...account,
      ...(proof === 'content' ? { signature_secret: 'my_secret_key_for_testing' } : {}),
      reach: caught.reach,
    })
    sim.refuse('+4915100000009', { status: '7', 'error-text': 'Number barred.' })
    sim.refuse('+4915100000010', {
      status: '1',
      'error-text': 'Throughput Rate Exceeded - please wait [ 250 ] and retry',
    })
    sim.refuse('+4915100000011', { status: '5', 'error-text': 'Internal Error' })
    sim.refuse('+4915100000012', { status: '4', 'error-text': 'Bad Credentials' })
    const withWord = (call: Callback) =>
      proof === 'content'
        ? call
        : {
            ...call,
            query: { ...call.query, token: 'a-word-of-ours' },
            url: `${call.url}${call.url.includes('?') ? '&' : '?'}token=a-word-of-ours`,
          }
    return {
      tools: providerTools({ url: sim.url }),
      connection,
      wrongConnection: { ...connection, credentials: { ...connection.credentials, api_secret: 'not-the-secret' } },
      outcomes: {
        accepted: { to: '+4915112345678' },
        refused: [
          { to: '+4915100000009', expected: { code: 'recipient_blocked', provider_code: '7' } },
          { to: '+4915100000012', expected: { code: 'channel_not_connected', provider_code: '4', channel_lost: true } },
        ],
        throttled: { to: '+4915100000010', expected: { limit_on: 'channel', provider_code: '1', retry_after_ms: 250 } },
        unavailable: { to: '+4915100000011', expected: { provider_code: '5' } },
        unknown: [
          { to: '+4915112345678', before: () => sim.answerNext('reset') },
          { to: '+4915112345678', before: () => sim.answerNext({ status: 502, body: 'Bad gateway' }) },
        ],
      },
      taken: () => sim.messages.length,
      async receipt() {
        await sim.report(sim.messages.at(-1)!, { status: 'delivered' })
        return caught.last()
      },
      several: { why_not: 'One call is all parts of a text: the rest of one cannot be sent by itself.' },
      hostile: (url) => ({ tools: providerTools({ url }), connection }),
      callbacks: {
        proof,
        sign: prove,
        ...(proof === 'content' ? { unsigned } : {}),
        samples: samples.map(({ name, form, fields, items }) => ({
          name,
          call: withWord(prove(callOf(form, fields as unknown as Record<string, string>))),
          items: items as unknown as CallbackItem[],
        })),
      },
    }
  })
}

async function handedOver(
  t: Parameters<typeof simulateVonage>[0],
  overrides: Parameters<typeof messageOf>[1],
  connection = signed,
) {
  const sim = await simulateVonage(t, account)
  const tools = providerTools({ url: sim.url, clock: fakeClock('2026-01-31T09:30:00.000Z') })
  t.after(() => tools.http.close())
  const outcome = await vonage.adapter(tools).send!(
    messageOf(connection, overrides),
    connection,
    new AbortController().signal,
  )
  return { outcome, request: sim.messages[0]?.request, sim }
}

test("signatures match Vonage's published examples", () => {
  const inbound = {
    'message-timestamp': '2013-11-21 15:27:30',
    messageId: '020000001B0FE827',
    msisdn: '14843472194',
    text: 'Test again',
    timestamp: '1385047698',
    to: '13239877404',
    type: 'text',
    sig: 'whatever',
  }
  assert.equal(
    signatureOf(inbound, 'my_secret_key_for_testing').toUpperCase(),
    'DDB8397C2B90AAC7F3882D306475C9A5058C92322EEF43C92B298B6E0FC0D330',
  )
  const outbound = {
    api_key: 'fake_api_key',
    to: '14155550100',
    from: 'AcmeInc',
    text: 'Test From Nexmo',
    type: 'text',
    timestamp: '1540924779',
  }
  assert.equal(
    signatureOf(outbound, '71efab63122f1d179f51c46bac838fb5').toUpperCase(),
    '9FEC5EF6D0F2B3D2BB7558B6E4042569823CAB9EA0DD30503472B7B304601975',
  )
})

test('a text is sent with its alphabet, validity and callback address', async (t) => {
  const to = '+4915112345678'
  const plain = await handedOver(t, { to, expires_at: '2026-01-31T10:30:00.000Z' })
  const wide = await handedOver(t, { to, content: { body: 'Привет' } }, byWord)

  assert.deepEqual(plain.request, {
    ...account,
    from: '4915100000001',
    to: '4915112345678',
    text: 'Hi',
    type: 'text',
    'status-report-req': 1,
    callback: webhook_url,
    'client-ref': 'msg_00000000000000000000000001',
    ttl: 3_600_000,
  })
  assert.deepEqual(
    [wide.request?.['type'], wide.request?.['callback'], 'ttl' in wide.request!],
    ['unicode', `${webhook_url}?token=a-word-of-ours`, false],
  )
})

test('a long text has an id for each part, and receipts of parts are not those of the whole', async (t) => {
  const { outcome, request } = await handedOver(t, { to: '+4915112345678', content: { body: 'x'.repeat(400) } })

  assert.equal(outcome.kind === 'accepted' && outcome.provider_ids.length, 3)
  assert.equal('client-ref' in request!, false)
})

test('a partly accepted text fails and is not repeated', async (t) => {
  const sim = await simulateVonage(t, account)
  sim.refuse('+4915100000013', { status: '0' }, { status: '1', 'error-text': 'Throughput Rate Exceeded' })
  const tools = providerTools({ url: sim.url })
  t.after(() => tools.http.close())

  const outcome = await vonage.adapter(tools).send!(
    messageOf(signed, { to: '+4915100000013' }),
    signed,
    new AbortController().signal,
  )

  assert.deepEqual([outcome.kind, outcome.kind === 'refused' && outcome.provider_code], ['refused', '1'])
  assert.equal(outcome.kind === 'refused' && outcome.provider_ids?.length, 1)
})

test('unknown statuses are refusals with their number', async (t) => {
  const sim = await simulateVonage(t, account)
  sim.refuse('+4915100000014', { status: '77', 'error-text': 'Something new' })
  const tools = providerTools({ url: sim.url })
  t.after(() => tools.http.close())

  const outcome = await vonage.adapter(tools).send!(
    messageOf(signed, { to: '+4915100000014' }),
    signed,
    new AbortController().signal,
  )

  assert.deepEqual(outcome, {
    kind: 'refused',
    code: 'provider_error',
    provider_code: '77',
    message: 'Vonage refused the message with status 77.',
  })
})
