import assert from 'node:assert/strict'
import { test } from 'node:test'
import { adapterSuite } from '../../../test/support/adapter-suite.ts'
import { messageOf } from '../../../test/support/conformance/send-attempts.ts'
import { providerTools } from '../../../test/support/provider-tools.ts'
import type { Connection } from '../provider.ts'
import { sandbox } from './sandbox.ts'

const connection: Connection = {
  channel_id: 'ch_1',
  type: 'sms',
  identifier: '+4915100000001',
  credentials: {},
  settings: {},
  webhook_url: 'https://example.com/hooks/channels/ch_1',
}
const within = { why_not: 'Nothing leaves the process.' }

adapterSuite(sandbox, () => ({
  tools: providerTools(),
  connection,
  wrongConnection: within,
  outcomes: {
    accepted: { to: '+15005550006' },
    refused: { to: '+15005550001', expected: { code: 'provider_error', provider_code: 'sandbox_rejected' } },
    throttled: within,
    unavailable: within,
    unknown: within,
  },
  taken: within,
  several: { why_not: 'One hand-over is one message.' },
  hostile: within,
}))

test('sandbox gives the same message the same id', async (t) => {
  const tools = providerTools()
  t.after(() => tools.http.close())
  const adapter = sandbox.adapter(tools)
  const send = () =>
    adapter.send!(messageOf(connection, { to: '+4915112345678' }), connection, new AbortController().signal)

  const [first, again] = [await send(), await send()]

  assert.ok(first.kind === 'accepted' && again.kind === 'accepted')
  assert.deepEqual(first.provider_ids, again.provider_ids)
})
