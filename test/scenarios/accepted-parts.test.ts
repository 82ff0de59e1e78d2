/** Accepted parts are stored during an attempt, and each part has a timeout (behaviour: messages 7.3, 7.9). */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { OutboundMessage, Outcome } from '../../src/providers/provider.ts'
import { restLater } from '../../src/providers/outcomes.ts'
import { dyingSendAttempt, seeDeath } from '../support/dying-process.ts'
import type { SendAttempt } from '../support/scripted-provider.ts'
import { scriptedWorld } from '../support/scripted-world.ts'
import { until } from '../support/waiting.ts'

/** Sends parts one after the other, each with a duration. */
const inParts =
  (count: number, parts: number[], partMs: (part: number) => number) =>
  async ({ already_accepted }: OutboundMessage, { clock, signal, took }: SendAttempt): Promise<Outcome> => {
    const ids = [...already_accepted]
    let time = signal
    for (let part = ids.length + 1; part <= count; part++) {
      parts.push(part)
      await clock.sleep(partMs(part), time)
      if (time.aborted) return { kind: 'unknown', message: 'No answer came.', provider_ids: ids }
      ids.push(`p${part}`)
      if (part === count) break
      const next = await took!(ids)
      if (next === null) return restLater(ids)
      time = next
    }
    return { kind: 'accepted', provider_ids: ids as [string, ...string[]] }
  }

async function liveWorld(t: TestContext) {
  const scripted = await scriptedWorld(t)
  const { world, api, read } = scripted
  /** One run, then half a second. */
  const pass = async () => {
    await world.idleWatch.whileTimePasses(() => world.tick('dispatch'), 500)
    await world.clock.advance(500)
  }
  return {
    ...scripted,
    pass,
    attempts: async (id: string) =>
      (await api.get(`/v1/messages/${id}/attempts`)).body.data
        .map(({ outcome, provider_message }: Record<string, string>) => [outcome, provider_message])
        .toReversed(),
    /** Advances time until the message has this status. */
    becomes: async (id: string, status: string): Promise<void> => {
      await until(`the message to be ${status}`, async () => {
        await pass()
        return (await read(id)).status === status
      })
    },
  }
}

test('ten parts that are accepted promptly are sent once each, however long all of them take', async (t) => {
  const { world, provider, send, attempts, becomes } = await liveWorld(t)
  const parts: number[] = []
  provider.send = inParts(10, parts, () => 4000)

  const id = await send()
  await becomes(id, 'sent')

  assert.deepEqual(parts, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
  const reported = await attempts(id)
  assert.deepEqual(reported.at(-1), ['accepted', null])
  for (const [outcome, message] of reported.slice(0, -1)) {
    assert.equal(outcome, 'unavailable')
    assert.match(message, /^\d of its parts were sent before: The remaining parts wait for the next attempt\.$/)
  }
  await world.invariants()
})

test('a part without an answer times out after thirty seconds, and earlier parts are known', async (t) => {
  const { world, provider, send, attempts, pass } = await liveWorld(t)
  const parts: number[] = []
  provider.send = inParts(3, parts, (part) => (part === 1 ? 5000 : 3600_000))
  const id = await send()
  const began = world.clock.now()

  const reported = await until(
    'the attempt',
    async () => {
      await pass()
      return await attempts(id)
    },
    (all) => all.length === 1,
  )

  const seconds = (world.clock.now() - began) / 1000
  assert.ok(seconds >= 35 && seconds < 40, `${seconds}`)
  assert.deepEqual([reported, parts], [[['unknown', '1 of its parts were sent before: No answer came.']], [1, 2]])
})

test('parts accepted before a process is killed are not sent again', async (t) => {
  const { world, provider, send, becomes } = await liveWorld(t)
  const parts: number[] = []
  provider.send = inParts(4, parts, (part) => (part < 3 ? 1000 : 3600_000))
  const { id, kill } = await dyingSendAttempt(t, world, send)
  await until('the third part', async () => {
    // the lease ends by this clock, however long a statement takes
    await world.idleWatch.untilIdle()
    await world.clock.advance(500)
    return parts.includes(3)
  })
  const [job] = await world.pool`select accepted_ids from dispatch_jobs`
  await kill()
  provider.send = inParts(4, parts, () => 1000)

  await seeDeath(world)
  await becomes(id, 'sent')

  assert.deepEqual(
    [job!['accepted_ids'], parts],
    [
      ['p1', 'p2'],
      [1, 2, 3, 3, 4],
    ],
  )
  await world.invariants()
})
