import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Trouble } from '../../../test/support/simulators/whatsapp.ts'
import { until } from '../../../test/support/waiting.ts'
import { wrongMessage } from '../../../test/support/simulators/whatsapp-messages.ts'
import { adapter, connection, graph, id, message, never } from '../../../test/support/whatsapp-channel.ts'
import { validateContent } from '../../api/content/validate.ts'
import { capabilitiesOf } from '../../api/resources/channel.ts'
import { callsOf } from './content.ts'

// oxlint-disable-next-line typescript/no-explicit-any
const samples = (name: string): any[] =>
  JSON.parse(readFileSync(join(import.meta.dirname, 'samples', `${name}.json`), 'utf8'))

const outbound = samples('outbound')

for (const { name, type, content, wire, to, reply_to } of outbound)
  test(`request format: ${name}`, () => {
    const calls = callsOf(message({ type, content, to: to ?? '+4915112345678', reply_to: reply_to ?? null }))

    const common = { messaging_product: 'whatsapp', recipient_type: 'individual', biz_opaque_callback_data: id }
    const expected = wire.map((own: { recipient?: string }) => ({
      ...common,
      ...(own.recipient === undefined ? { to: '4915112345678' } : {}),
      ...own,
    }))
    assert.deepEqual(calls, expected)
    assert.deepEqual(
      calls.map(wrongMessage),
      calls.map(() => null),
    )
    assert.deepEqual(validateContent(type, content, { channel_type: 'whatsapp' }), [])
  })

test('every content type of a WhatsApp channel has a sample', () => {
  const missing = capabilitiesOf.whatsapp.filter((type) => !outbound.some((sample) => sample.type === type))

  assert.deepEqual(missing, [])
})

const outcomes: readonly (readonly [Trouble, string, string?])[] = [
  [{ error: 190, status: 401 }, 'refused', 'channel_not_connected lost'],
  [{ error: 0, status: 401 }, 'refused', 'channel_not_connected lost'],
  [{ error: 200, status: 403 }, 'refused', 'channel_not_connected lost'],
  [{ error: 299, status: 403 }, 'refused', 'channel_not_connected lost'],
  [{ error: 100, subcode: 33 }, 'refused', 'channel_not_connected lost'],
  [{ error: 133010 }, 'refused', 'channel_not_connected lost'],
  [{ error: 131031 }, 'refused', 'policy_violation lost'],
  [{ error: 131047 }, 'refused', 'policy_violation'],
  [{ error: 131050 }, 'refused', 'recipient_blocked'],
  [{ error: 132001, status: 404 }, 'refused', 'provider_error'],
  [{ error: 999999 }, 'refused', 'provider_error'],
  [{ error: 999999, status: 503 }, 'unknown'],
  [{ error: 1, status: 500 }, 'unknown'],
  [{ error: 133004, status: 503 }, 'unavailable'],
  [{ error: 999999, status: 429 }, 'throttled'],
  [{ error: 130429, status: 429, retry_after: '6' }, 'throttled', '6000'],
  [{ error: 131056 }, 'throttled', '4000'],
  [{ error: 131048 }, 'throttled', 'policy_violation'],
  [{ error: 131016, status: 500 }, 'unavailable'],
  ['cut', 'unknown'],
  ['huge', 'unknown'],
  ['nonsense', 'unknown'],
  ['no_id', 'unknown'],
  ['gateway', 'unknown'],
]

for (const [trouble, kind, more] of outcomes)
  test(`a send attempt that meets ${JSON.stringify(trouble)} is ${kind}`, async () => {
    graph.trouble('/messages', trouble)

    const outcome = await adapter.send!(message(), connection, never)

    const rest =
      outcome.kind === 'refused'
        ? `${outcome.code}${outcome.channel_lost === true ? ' lost' : ''}`
        : outcome.kind === 'throttled'
          ? (outcome.if_lasting?.code ?? outcome.retry_after_ms?.toString())
          : undefined
    assert.deepEqual([outcome.kind, rest], [kind, more])
  })

test('a send attempt aborted while WhatsApp hangs may have been sent', async () => {
  graph.trouble('/messages', 'hang')
  const aborting = new AbortController()
  const calls = graph.calls.length
  const outcome = adapter.send!(message(), connection, aborting.signal)

  await until('the call to arrive', () => graph.calls.length > calls)
  aborting.abort()

  assert.equal((await outcome).kind, 'unknown')
})

test('accepted attachments are not repeated', async () => {
  const content = ['a', 'b', 'c'].map((name) => ({ type: 'image', url: `https://example.com/${name}.jpg` }))
  const several = message({ id: 'msg_00000000000000000000000009', to: '+4915112340000', type: 'attachments', content })
  const links = () => graph.sent.filter(({ to }) => to === '4915112340000').map(({ image }) => image.link.at(-5))
  graph.trouble('/messages', { error: 131016, status: 500 })
  await adapter.send!(several, connection, never)
  const nothing = links()
  graph.trouble('/messages', 'none', { error: 130429, status: 429 })

  const outcome = await adapter.send!(several, connection, never)
  const already_accepted = outcome.kind === 'accepted' ? [] : (outcome.provider_ids ?? [])
  const again = await adapter.send!({ ...several, attempt: 2, already_accepted }, connection, never)

  assert.deepEqual([nothing, outcome.kind, again.kind], [[], 'throttled', 'accepted'])
  assert.equal(again.kind === 'accepted' && again.provider_ids.length, 3)
  assert.deepEqual(links(), ['a', 'b', 'c'])
})

test('limits of number, account or app pause the channel; those of a recipient, and for spam, do not', async () => {
  const limits: unknown[] = []
  for (const error of [130429, 80007, 4, 131057, 999999, 131056, 131048]) {
    graph.trouble('/messages', { error, status: error === 999999 ? 429 : 400 })
    const outcome = await adapter.send!(message(), connection, never)
    limits.push(outcome.kind === 'throttled' ? outcome.limit_on : outcome.kind)
  }

  assert.deepEqual(limits, ['channel', 'channel', 'channel', 'channel', 'channel', 'recipient', 'recipient'])
})
