/** Partly accepted messages: accepted parts are not sent again and are reported when the rest fails (behaviour: messages 7.9). */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { OutboundMessage, Outcome } from '../../src/providers/provider.ts'
import { accepted } from '../support/scripted-provider.ts'
import { scriptedWorld } from '../support/scripted-world.ts'

async function liveWorld(t: TestContext, answer: (message: OutboundMessage) => Outcome) {
  const scripted = await scriptedWorld(t)
  const { world, api, provider } = scripted
  provider.answer = answer
  return {
    ...scripted,
    attempts: async (id: string) =>
      (await api.get(`/v1/messages/${id}/attempts`)).body.data.map(
        ({ outcome, provider_message }: Record<string, string>) => [outcome, provider_message],
      ),
    reportsLeft: async () => (await world.pool`select from callback_items`).length,
    callBack: async (...reports: object[]) => {
      await scripted.callBack(...reports)
      await world.settle()
    },
  }
}

const receipt = (provider_id: string, transition: string) => ({ kind: 'delivery_receipt', provider_id, transition })
const broken: Outcome = {
  kind: 'unavailable',
  provider_code: 'away',
  message: 'The provider is away.',
  provider_ids: ['p1', 'p2'],
}

test('accepted parts are stored, the next attempt sends the others, and the message is delivered when all parts are', async (t) => {
  const { world, provider, send, read, attempts, callBack, wait, events } = await liveWorld(t, ({ already_accepted }) =>
    already_accepted.length === 0 ? broken : { kind: 'accepted', provider_ids: ['p1', 'p2', 'p3'] },
  )
  const id = await send()
  await world.settle()
  const [job] = await world.pool`select accepted_ids from dispatch_jobs`
  await callBack(receipt('p1', 'deliver'), receipt('p2', 'deliver'))
  const before = await read(id)

  await wait(1000)
  const after = await read(id)
  await callBack(receipt('p3', 'deliver'))

  assert.deepEqual(job!['accepted_ids'], ['p1', 'p2'])
  assert.deepEqual([before.status, after.status, (await read(id)).status], ['sending', 'sent', 'delivered'])
  assert.deepEqual(
    provider.sent.map(({ already_accepted }) => already_accepted),
    [[], ['p1', 'p2']],
  )
  assert.deepEqual(await attempts(id), [
    ['accepted', null],
    ['unavailable', '2 of its parts were sent before: The provider is away.'],
  ])
  assert.deepEqual(await events(), ['message.sent', 'message.delivered'])
  await world.invariants()
})

test('if the remaining parts are refused, the message fails, reports its accepted parts, and is refunded', async (t) => {
  const { world, provider, send, read, callBack, wait, events, spent, reportsLeft } = await liveWorld(
    t,
    ({ already_accepted }) =>
      already_accepted.length === 0
        ? broken
        : {
            kind: 'refused',
            code: 'provider_error',
            provider_code: '7',
            message: 'No.',
            provider_ids: already_accepted,
          },
  )
  const id = await send()
  await world.settle()
  await wait(1000)
  await callBack(receipt('p1', 'deliver'), receipt('p2', 'open'))
  await wait(3600_000)

  const { status, error, billing } = await read(id)
  assert.deepEqual([status, billing.refunded, await spent(), provider.sent.length], ['failed', true, 0, 2])
  assert.deepEqual(error, {
    code: 'provider_error',
    provider_code: '7',
    message: '2 of its parts were sent, the others were not: No.',
  })
  // its receipts find the message, which needs no further change
  assert.deepEqual([await events(), await reportsLeft()], [['message.failed'], 0])
  await world.invariants()
})

test('accepted parts remain known if a later attempt does not report them, and an expired message mentions them', async (t) => {
  const { world, provider, send, read } = await liveWorld(t, ({ attempt }) =>
    attempt === 1 ? broken : { kind: 'unavailable', provider_code: null, message: 'Away again.' },
  )
  const id = await send({ expires_in_seconds: 10 })
  const other = await send()
  provider.answer = (
    (answer) => (message: OutboundMessage) =>
      message.id === other ? accepted(message) : answer(message, {} as never)
  )(provider.answer)
  await world.settle()

  for (let seconds = 1; seconds <= 12; seconds++) {
    await world.clock.advance(1000)
    await world.settle()
  }

  const { status, error } = await read(id)
  assert.deepEqual(
    [status, error.code, error.message.startsWith('2 of its parts were sent')],
    ['failed', 'expired', true],
  )
  const tries = provider.sent.filter((message) => message.id === id)
  assert.ok(tries.length > 2 && tries.slice(1).every(({ already_accepted }) => already_accepted.join() === 'p1,p2'))
  await world.invariants()
})
