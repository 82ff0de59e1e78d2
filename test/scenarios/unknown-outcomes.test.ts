/** Messages with an unanswered send attempt are neither lost nor, if the provider reports status, sent twice (behaviour: messages 7.3). */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { Outcome } from '../../src/providers/provider.ts'
import { dyingSendAttempt, seeDeath } from '../support/dying-process.ts'
import { accepted, noAnswer, providerIdOf, taken, unavailable, unknown } from '../support/scripted-provider.ts'
import { scriptedWorld } from '../support/scripted-world.ts'
import { until } from '../support/waiting.ts'

const priceMicros = 7500
const halfAMinute = 30_000

async function liveWorld(t: TestContext) {
  const scripted = await scriptedWorld(t)
  const attempts = async (id: string) =>
    (await scripted.api.get(`/v1/messages/${id}/attempts`)).body.data.map((one: { outcome: string }) => one.outcome)
  return { ...scripted, attempts }
}

const receipt = (message_id: string, transition: string, more: object = {}) => ({
  kind: 'delivery_receipt',
  provider_id: providerIdOf(message_id),
  message_id,
  transition,
  ...more,
})

test('a status query precedes any repetition, and a message that the provider accepted continues as accepted', async (t) => {
  const { world, provider, send, read, attempts, callBack, wait, events, spent } = await liveWorld(t)
  provider.answer = () => unknown
  provider.queryStatus = ({ id }) => taken(id, 2)
  const id = await send()
  await world.settle()
  const before = await read(id)

  await wait(halfAMinute)
  const after = await read(id)
  await callBack({ kind: 'delivery_receipt', provider_id: providerIdOf(id, 2), transition: 'deliver' })
  await world.settle()

  assert.deepEqual([before.status, after.status, (await read(id)).status], ['sending', 'sent', 'delivered'])
  assert.deepEqual([provider.sent.length, provider.statusQueries.length, await attempts(id)], [1, 1, ['unknown']])
  assert.deepEqual([await events(), await spent()], [['message.sent', 'message.delivered'], priceMicros])
  await world.invariants()
})

test('a message that the status query reports as refused fails and is refunded', async (t) => {
  const { world, provider, send, read, wait, spent } = await liveWorld(t)
  provider.answer = () => unknown
  provider.queryStatus = () => ({
    kind: 'refused',
    code: 'upstream_rejected',
    provider_code: '21211',
    message: 'No such number.',
  })
  const id = await send()
  await world.settle()

  await wait(halfAMinute)

  const { status, error, billing } = await read(id)
  assert.deepEqual(
    [status, error.code, billing.refunded, await spent(), provider.sent.length],
    ['failed', 'upstream_rejected', true, 0, 1],
  )
  await world.invariants()
})

test('a message that the provider never received, or cannot report, is sent again after half a minute', async (t) => {
  const { world, provider, send, read, attempts, wait } = await liveWorld(t)
  provider.answer = (message) => (message.attempt === 1 ? unknown : accepted(message))
  const [never, untold] = [await send(), await send()]
  provider.queryStatus = ({ id }) => ({ kind: id === never ? 'not_found' : 'no_information' })
  await world.settle()

  await wait(halfAMinute - 1)
  const tooSoon = provider.statusQueries.length
  await wait(1)

  assert.equal(tooSoon, 0)
  for (const id of [never, untold])
    assert.deepEqual([(await read(id)).status, await attempts(id)], ['sent', ['accepted', 'unknown']])
  assert.deepEqual([provider.sent.length, provider.statusQueries.length], [4, 2])
  await world.invariants()
})

test('a different message at the provider is not mistaken for the queried one, which is sent', async (t) => {
  const { world, provider, send, read, wait, spent } = await liveWorld(t)
  provider.answer = (message) => (message.attempt === 1 && provider.sent.length === 1 ? unknown : accepted(message))
  const outcome_unknown = await send()
  await world.settle()
  const other = await send()
  await world.settle()
  provider.queryStatus = () => taken(other)

  await wait(halfAMinute)

  assert.deepEqual([(await read(outcome_unknown)).status, (await read(other)).status], ['sent', 'sent'])
  assert.deepEqual(
    [provider.sent.map(({ id }) => id), await spent()],
    [[outcome_unknown, other, outcome_unknown], 2 * priceMicros],
  )
  await world.invariants()
})

test('a similar message in progress to the same recipient is not mistaken for the queried one', async (t) => {
  const { world, provider, send, read, wait } = await liveWorld(t)
  const answer = Promise.withResolvers<Outcome>()
  provider.answer = (message) =>
    provider.sent.length === 1 ? unknown : provider.sent.length === 2 ? answer.promise : accepted(message)
  const outcome_unknown = await send()
  await world.settle()
  const other = await send({ send_at: world.clock.iso(halfAMinute) })
  provider.queryStatus = () => ({ kind: 'candidates', found: [{ provider_ids: [providerIdOf(other)] }] })

  await world.clock.advance(halfAMinute)
  await world.tickWhileTimePasses('dispatch')
  await until('the question', () => provider.statusQueries.length === 1)
  answer.resolve(accepted({ id: other, attempt: 1 }))
  await world.settle()
  const [during, first] = [(await read(outcome_unknown)).status, (await read(other)).status]
  await wait(halfAMinute)

  assert.deepEqual([during, first, (await read(outcome_unknown)).status], ['sending', 'sent', 'sent'])
  assert.deepEqual(
    [provider.sent.map(({ id }) => id), provider.statusQueries.length],
    [[outcome_unknown, other, outcome_unknown], 2],
  )
  await world.invariants()
})

test('nothing is sent again while a provider with status queries does not answer', async (t) => {
  const { world, provider, send, read, wait } = await liveWorld(t)
  provider.answer = () => unknown
  provider.queryStatus = () => noAnswer
  const id = await send({ expires_in_seconds: 300 })
  await world.settle()
  for (let times = 0; times < 4; times++) await wait(halfAMinute)
  const [sent, asked] = [provider.sent.length, provider.statusQueries.length]
  provider.queryStatus = ({ id }) => taken(id, 2)
  await wait(halfAMinute)

  assert.deepEqual([sent, asked, (await read(id)).status], [1, 4, 'sent'])
  await world.invariants()
})

test('a receipt with our id during the wait resolves the message: it is sent, delivered, and not sent again', async (t) => {
  const { world, provider, send, read, callBack, wait, events, spent } = await liveWorld(t)
  provider.answer = () => unknown
  const id = await send()
  await world.settle()

  await callBack(receipt(id, 'accept'))
  await world.settle()
  const sent = (await read(id)).status
  await callBack(
    { kind: 'delivery_receipt', provider_id: providerIdOf(id), transition: 'deliver' },
    receipt(id, 'accept'),
  )
  await wait(24 * 3600_000)

  assert.deepEqual(
    [sent, (await read(id)).status, provider.sent.length, provider.statusQueries.length],
    ['sent', 'delivered', 1, 0],
  )
  assert.deepEqual([await events(), await spent()], [['message.sent', 'message.delivered'], priceMicros])
  await world.invariants()
})

test('a receipt also resolves a message that waits in memory', async (t) => {
  const { world, provider, send, read, callBack, wait } = await liveWorld(t)
  provider.answer = () => unknown
  const id = await send()
  await world.settle()
  await world.clock.advance(halfAMinute)
  // claimed and not sent: the claim is in the table, the job in memory
  await world.pool`update dispatch_jobs set process_id = ${world.platform.process_id}, next_run_at = ${world.clock.iso(60_000)} where message_id = ${id}`
  await callBack(receipt(id, 'deliver'))
  await world.settle('callbacks')

  await wait(120_000)

  assert.deepEqual([(await read(id)).status, provider.sent.length], ['delivered', 1])
  await world.invariants()
})

test('a receipt of the first attempt that arrives after the second counts once', async (t) => {
  const { world, provider, send, read, callBack, wait, events, spent } = await liveWorld(t)
  provider.answer = (message) => (message.attempt === 1 ? unknown : accepted(message))
  const id = await send()
  await world.settle()
  await wait(halfAMinute)

  await callBack(receipt(id, 'accept'), receipt(id, 'deliver'), {
    kind: 'delivery_receipt',
    provider_id: providerIdOf(id, 2),
    transition: 'deliver',
  })
  await world.settle()

  assert.deepEqual([(await read(id)).status, provider.sent.length], ['delivered', 2])
  assert.deepEqual([await events(), await spent()], [['message.sent', 'message.delivered'], priceMicros])
  await world.invariants()
})

test('a failure of the first attempt does not affect a message that the provider accepted at the second', async (t) => {
  const { world, provider, send, read, callBack, wait, spent } = await liveWorld(t)
  provider.answer = (message) => (message.attempt === 1 ? unknown : accepted(message))
  const id = await send()
  await world.settle()
  await wait(halfAMinute)

  await callBack(receipt(id, 'fail'))
  await world.settle()
  const afterFailure = (await read(id)).status
  await callBack({ kind: 'delivery_receipt', provider_id: providerIdOf(id, 2), transition: 'deliver' })
  await world.settle()

  assert.deepEqual([afterFailure, (await read(id)).status, await spent()], ['sent', 'delivered', priceMicros])
  await world.invariants()
})

test('a refused second attempt does not affect a message that the provider has reported meanwhile', async (t) => {
  const { world, provider, send, read, callBack, wait, spent } = await liveWorld(t)
  const second = Promise.withResolvers<Outcome>()
  provider.answer = ({ attempt }) => (attempt === 1 ? unknown : second.promise)
  const id = await send()
  await world.settle()
  await world.clock.advance(halfAMinute)
  await world.tickWhileTimePasses('dispatch')
  const sentBefore = provider.sent.length
  await callBack(receipt(id, 'accept'))
  await world.settle('callbacks')

  second.resolve({
    kind: 'refused',
    code: 'policy_violation',
    provider_code: null,
    message: 'I have that one already.',
  })
  await wait(1000)
  await wait(halfAMinute)

  assert.deepEqual(
    [sentBefore, (await read(id)).status, provider.sent.length, await spent()],
    [2, 'sent', 2, priceMicros],
  )
  await world.invariants()
})

test('a failure receipt with our id fails the message and ends the wait', async (t) => {
  const { world, provider, send, read, callBack, wait, spent } = await liveWorld(t)
  provider.answer = () => unknown
  const id = await send()
  await world.settle()

  await callBack(
    receipt(id, 'fail', { error: { code: 'provider_error', message: 'Switched off.', provider_code: '30003' } }),
  )
  await world.settle()
  await wait(120_000)

  const { status, billing } = await read(id)
  assert.deepEqual([status, billing.refunded, provider.sent.length, await spent()], ['failed', true, 1, 0])
  await world.invariants()
})

test("a receipt with the id of another channel's message, or of none, changes nothing", async (t) => {
  const { world, api, provider, send, read, callBack } = await liveWorld(t)
  const other = await api.post('/v1/channels', {
    type: 'sms',
    provider: 'scripted',
    name: 'Other',
    identifier: '+4915100000002',
    credentials: {},
  })
  provider.answer = () => unknown
  const id = await send({ channel: other.body.id })
  await world.settle()

  await callBack(receipt(id, 'deliver'), receipt('msg_none', 'deliver'), {
    ...receipt('x', 'deliver'),
    message_id: { not: 'text' },
  })
  await world.settle()

  assert.equal((await read(id)).status, 'sending')
  await world.invariants()
})

test('a message with an unknown outcome fails when it expires, and its error says that the recipient may have it', async (t) => {
  const { world, provider, send, read, wait, spent } = await liveWorld(t)
  provider.answer = () => unknown
  const id = await send({ expires_in_seconds: 10 })
  await world.settle()

  await wait(9_000)
  const before = await read(id)
  await wait(1_500)

  const { status, error } = await read(id)
  assert.deepEqual(
    [before.status, status, error.code, await spent(), provider.sent.length],
    ['sending', 'failed', 'expired', 0, 1],
  )
  assert.match(error.message, /the recipient may have it/)
  await world.invariants()
})

test('a message with an unknown outcome expires on time, and fails with its channel', async (t) => {
  const { world, api, provider, channel, send, read, wait, spent } = await liveWorld(t)
  provider.answer = () => unknown
  provider.queryStatus = () => noAnswer
  const short = await send({ expires_in_seconds: 60 })
  const long = await send()
  await world.settle()
  const refusedCancel = (await api.post(`/v1/messages/${long}/cancel`)).status

  await wait(halfAMinute)
  await wait(halfAMinute)
  const expired = (await read(short)).error.code
  await api.delete(`/v1/channels/${channel}`)
  await world.settle()

  assert.deepEqual(
    [refusedCancel, expired, (await read(long)).error.code, await spent()],
    [409, 'expired', 'channel_not_connected', 0],
  )
  assert.equal(provider.sent.length, 2)
  await world.invariants()
})

test('a message with an unknown outcome on a disabled channel does not expire while its receipt is stored', async (t) => {
  const { world, api, provider, channel, send, read, callBack, events, spent } = await liveWorld(t)
  provider.answer = () => unknown
  const id = await send({ expires_in_seconds: 60 })
  await world.settle()
  await api.patch(`/v1/channels/${channel}`, { status: 'disabled' })
  await callBack(receipt(id, 'deliver'))

  await world.clock.advance(61_000)
  for (let pass = 0; pass < 3; pass++) await world.tick('dispatch')
  const before = (await read(id)).status
  await world.settle()

  assert.deepEqual(
    [before, (await read(id)).status, await events(), await spent()],
    ['sending', 'delivered', ['message.delivered'], priceMicros],
  )
  await world.invariants()
})

async function killedAttempt(
  t: TestContext,
  { world, provider, send }: Awaited<ReturnType<typeof liveWorld>>,
): Promise<string> {
  provider.answer = () => 'hang'
  const { id, kill } = await dyingSendAttempt(t, world, send)
  await until(
    'the send attempt',
    () => provider.sent.length,
    (sent) => sent === 1,
  )
  await kill()
  provider.answer = accepted
  return id
}

test('a message whose process was killed during the send attempt is queried before another process sends it again', async (t) => {
  const scripted = await liveWorld(t)
  const { world, provider, read } = scripted
  const id = await killedAttempt(t, scripted)
  provider.queryStatus = ({ id }) => taken(id)

  await seeDeath(world)
  await world.settle()

  assert.deepEqual([(await read(id)).status, provider.sent.length, provider.statusQueries.length], ['sent', 1, 1])
  await world.invariants()
})

test('a message whose process was killed during the send attempt is not sent again before its stored receipt is applied', async (t) => {
  const scripted = await liveWorld(t)
  const { world, api, provider, read, channel } = scripted
  const id = await killedAttempt(t, scripted)
  const shown = await fetch(`${world.base_url}/hooks/channels/${channel}`, {
    method: 'POST',
    body: JSON.stringify({
      reports: [{ kind: 'delivery_receipt', provider_id: 'p-shown', message_id: id, transition: 'deliver' }],
    }),
  })

  await seeDeath(world)
  for (let looks = 0; looks < 3; looks++) {
    await world.tick('dispatch')
    await world.clock.advance(1000)
  }
  const sentBefore = provider.sent.length
  await world.settle()

  assert.equal(shown.status, 200)
  assert.deepEqual([sentBefore, provider.statusQueries.length], [1, 0])
  assert.deepEqual([(await read(id)).status, provider.sent.length], ['delivered', 1])
  assert.equal((await api.get(`/v1/messages/${id}/attempts`)).body.data.length, 0)
  await world.invariants()
})

test('an acceptance receipt for a message that is already sent has no effect, and later receipts apply as usual', async (t) => {
  const { world, send, read, callBack, events } = await liveWorld(t)
  const id = await send()
  const shown = (transition: string) => ({ kind: 'delivery_receipt', provider_id: providerIdOf(id), transition })

  await callBack(shown('accept'))
  await world.tick('dispatch')
  await world.tick('callbacks')
  await callBack(shown('accept'), shown('accept'))
  const [left] = await world.pool<{ reports: number; callbacks: number }[]>`
    select (select count(*)::int from callback_items) as reports, (select count(*)::int from provider_callbacks) as callbacks`
  await callBack(shown('accept'), shown('deliver'), shown('accept'), shown('deliver'))
  await world.settle()

  assert.deepEqual(
    [left, (await read(id)).status, await events()],
    [{ reports: 0, callbacks: 2 }, 'delivered', ['message.sent', 'message.delivered']],
  )
  await world.invariants()
})

test('attempts that certainly did not arrive do not count as unknown, so a later message without an answer waits half a minute', async (t) => {
  const { world, provider, send, read, attempts, wait } = await liveWorld(t)
  provider.answer = () => unavailable
  const id = await send()
  await world.settle()
  for (let n = 0; n < 12; n++) await wait(2 * halfAMinute)
  const away = provider.sent.length
  provider.answer = () => unknown
  await wait(2 * halfAMinute)
  const unanswered = provider.sent.length - away
  provider.answer = accepted
  const during = (await read(id)).status
  await wait(halfAMinute)

  assert.ok(away >= 8, `${away} attempts`)
  assert.deepEqual([unanswered, during, (await read(id)).status], [1, 'sending', 'sent'])
  assert.deepEqual((await attempts(id)).slice(0, 3), ['accepted', 'unknown', 'unavailable'])
  await world.invariants()
})

test('a message that its provider never reports is attempted eight times with growing delays, then fails and is refunded', async (t) => {
  const { world, provider, send, read, attempts, wait, spent } = await liveWorld(t)
  provider.answer = () => unknown
  const id = await send()
  await world.settle()
  const waits: number[] = []
  for (let doubled = halfAMinute; doubled <= 64 * halfAMinute; doubled *= 2) {
    const before = provider.sent.length
    await wait(doubled - 1000)
    const early = provider.sent.length - before
    await wait(1000)
    waits.push(early, provider.sent.length - before)
  }

  const { status, error } = await read(id)
  assert.deepEqual(waits, Array.from({ length: 7 }, () => [0, 1]).flat())
  assert.deepEqual([status, error.code, (await attempts(id)).length, await spent()], ['failed', 'provider_error', 8, 0])
  await world.invariants()
})

test('an unknown outcome remains unknown after a failed later attempt: the provider is queried each time', async (t) => {
  const { world, provider, send, read, wait } = await liveWorld(t)
  provider.answer = ({ attempt }) => (attempt === 1 ? unknown : unavailable)
  const [never, untold] = [await send({ expires_in_seconds: 60 }), await send({ expires_in_seconds: 60 })]
  provider.queryStatus = ({ id }) => ({ kind: id === never ? 'not_found' : 'no_information' })
  await world.settle()
  await wait(halfAMinute)
  for (let seconds = 0; seconds < 5; seconds++) await wait(1000)
  const asked = [never, untold].map((id) => provider.statusQueries.filter((message) => message.id === id).length)
  const sent = provider.sent.filter(({ id }) => id === untold).length
  await wait(halfAMinute)

  assert.deepEqual(asked, [1, sent - 1])
  assert.ok(sent > 2, `${sent} attempts`)
  const errors = [(await read(never)).error, (await read(untold)).error] as { code: string; message: string }[]
  assert.deepEqual(
    errors.map(({ code, message }) => [code, message.includes('the recipient may have it')]),
    [
      ['expired', false],
      ['expired', true],
    ],
  )
  await world.invariants()
})
