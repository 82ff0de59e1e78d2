import assert from 'node:assert/strict'
import { test } from 'node:test'
import { adapterSuite } from '../../../test/support/adapter-suite.ts'
import { messageOf } from '../../../test/support/conformance/send-attempts.ts'
import { providerTools } from '../../../test/support/provider-tools.ts'
import { simulatedHttp } from '../../../test/support/simulators/http.ts'
import { hmacHex } from '../../lib/hmac.ts'
import type { Callback, Connection } from '../provider.ts'
import { simulator } from './simulator.ts'

const connection = (credentials: Record<string, unknown>): Connection => ({
  channel_id: 'ch_1',
  type: 'sms',
  identifier: '+4915100000001',
  credentials,
  settings: {},
  webhook_url: 'https://example.com/hooks/channels/ch_1',
})
const sign = (call: Callback): Callback => ({
  ...call,
  headers: { 'x-simulator-signature': hmacHex('s3cret', call.body) },
})
const body = Buffer.from(
  JSON.stringify({ reports: [{ kind: 'receipt', provider_id: 'p1', move: 'deliver' }, { kind: 'nonsense' }, null] }),
)

adapterSuite(simulator, async (t) => {
  const files = await simulatedHttp(t, ({ path }) => (path === '/1' ? { body: 'a picture' } : { status: 404 }))
  return {
    tools: providerTools({ url: files.url }),
    connection: connection({ callback_secret: 's3cret' }),
    wrongConnection: connection({ refuse: true }),
    outcomes: {
      accepted: { to: '+4915112345678' },
      refused: { to: '+19995550001' },
      throttled: [
        { to: '+19995550021', expected: { limit_on: 'recipient', retry_after_ms: 500 } },
        { to: '+19995550025', expected: { limit_on: 'channel' } },
      ],
      unavailable: { to: '+19995550022' },
      unknown: { to: '+19995550023' },
    },
    taken: { why_not: 'It keeps nothing.' },
    several: { why_not: 'One hand-over is one message.' },
    hostile: { why_not: 'Nothing leaves the process.' },
    receipt: { why_not: 'Whoever plays the provider writes its callbacks.' },
    callbacks: {
      proof: 'content',
      sign,
      samples: [
        {
          name: 'a receipt among nonsense',
          call: sign({ method: 'POST', url: connection({}).webhook_url, headers: {}, query: {}, body }),
          items: [{ kind: 'delivery_receipt', provider_id: 'p1', transition: 'deliver' }],
        },
      ],
    },
    media: {
      available: { url: `${files.url}/1` },
      gone: { 'a file that is not there': { url: `${files.url}/2` }, 'an address that is none': { url: '1' } },
      passing: { trouble: () => files.answerNext({ status: 500 }), 'half an answer': () => files.answerNext('half') },
    },
  }
})

test('simulator gives the same message the same id', async (t) => {
  const tools = providerTools()
  t.after(() => tools.http.close())
  const adapter = simulator.adapter(tools)
  const one = connection({})
  const send = () => adapter.send!(messageOf(one, { to: '+4915112345678' }), one, new AbortController().signal)

  const [first, again] = [await send(), await send()]

  assert.ok(first.kind === 'accepted' && again.kind === 'accepted')
  assert.deepEqual(first.provider_ids, again.provider_ids)
})
