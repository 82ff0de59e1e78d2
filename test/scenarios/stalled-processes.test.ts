/** A stalled process whose messages another one rescues sends none of them again (behaviour: messages 7.7). */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { StatusQueryResult, Outcome } from '../../src/providers/provider.ts'
import { startProcess, type WorldProcess } from '../support/process.ts'
import { accepted, taken, unavailable, unknown } from '../support/scripted-provider.ts'
import { scriptedWorld } from '../support/scripted-world.ts'
import { until } from '../support/waiting.ts'

const silence = 11_000
const refused: Outcome = { kind: 'refused', code: 'upstream_rejected', provider_code: 'no', message: 'Not this one.' }

/** Two processes: `sleeper`, which dispatches first, and the world. */
async function twoProcesses(t: TestContext, settings: object = {}) {
  const scripted = await scriptedWorld(t, { settings })
  const { world, provider } = scripted
  const sleeper = await startProcess(t, world, 'sleeper')
  return {
    ...scripted,
    sleeper,
    /** Due a second from now, so it waits in the table. */
    send: (more: object = {}) => scripted.send({ send_at: world.clock.iso(1000), ...more }),
    pass: async (process: WorldProcess = sleeper) => await process.tickWhileTimePasses('dispatch'),
    /** Only the world sends heartbeats meanwhile. */
    async stall(ms = silence) {
      await world.clock.advance(ms)
      await world.tick('heartbeat')
    },
    /** Begins a run of the sleeper and returns during a send attempt. */
    async beginRun() {
      const before = provider.sent.length + provider.statusQueries.length
      const work = sleeper.app.worker('dispatch').tick()
      await until(
        'a message to be sent',
        () => provider.sent.length + provider.statusQueries.length,
        (now) => now > before,
      )
      return { work }
    },
    job: async (id: string) =>
      (
        await world.pool<
          { outcome_unknown: boolean; next_run_at: string }[]
        >`select outcome_unknown, next_run_at from dispatch_jobs where message_id = ${id}`
      )[0],
  }
}

for (const status of ['queued', 'sending'] as const)
  test(`a stalled process does not send ${status} messages that another has rescued`, async (t) => {
    const { world, provider, sleeper, send, pass, stall, read } = await twoProcesses(t, { max_messages_per_second: 1 })
    const ids = [await send(), await send(), await send()]
    await world.clock.advance(1000)
    if (status === 'sending') {
      provider.answer = () => unavailable
      for (let seconds = 0; seconds < 5; seconds++) {
        await pass()
        await world.clock.advance(1000)
      }
    }
    provider.answer = accepted
    await pass()
    const before = provider.sent.length
    const waiting = (await Promise.all(ids.map(read))).filter((message) => message.status === status).length

    await stall()
    for (let seconds = 0; seconds < 5; seconds++) {
      await world.settle('dispatch')
      await world.clock.advance(1000)
    }
    const others = provider.sent.length - before
    await world.tick('heartbeat')
    for (let passes = 0; passes < 5; passes++) {
      await pass(sleeper)
      await world.clock.advance(1000)
    }

    assert.deepEqual([waiting, others, provider.sent.length - before], [2, 2, 2])
    for (const id of ids) assert.equal((await read(id)).status, 'sent')
    await world.invariants()
  })

test('a process that stalled right before an attempt leaves it to the process that rescued the message', async (t) => {
  const { world, provider, send, pass, stall, beginRun, read } = await twoProcesses(t)
  provider.answer = () => unknown
  const id = await send()
  await world.clock.advance(1000)
  await pass()
  await world.clock.advance(30_000)
  const reported = Promise.withResolvers<StatusQueryResult>()
  provider.queryStatus = () => reported.promise
  provider.answer = accepted
  const { work } = await beginRun()

  await stall()
  provider.queryStatus = () => ({ kind: 'not_found' })
  await world.settle('dispatch')
  const sent = provider.sent.length
  reported.resolve({ kind: 'not_found' })
  await world.idleWatch.whileTimePasses(() => work)
  await pass()

  assert.deepEqual([sent, provider.sent.length, (await read(id)).status], [2, 2, 'sent'])
  await world.invariants()
})

test('the outcome of a stalled process neither ends nor hastens a job that another has sent since', async (t) => {
  for (const late of [unavailable, refused]) {
    const { world, provider, send, pass, stall, beginRun, read, job } = await twoProcesses(t)
    const answer = Promise.withResolvers<Outcome>()
    provider.answer = () => answer.promise
    const id = await send()
    await world.clock.advance(1000)
    const { work } = await beginRun()
    await stall()
    provider.answer = () => unknown
    await world.settle('dispatch')
    const before = await job(id)

    answer.resolve(late)
    await world.idleWatch.whileTimePasses(() => work)
    await pass()
    const after = await job(id)
    provider.queryStatus = ({ id: asked_id }) => taken(asked_id, 2)
    await world.clock.advance(30_000)
    await world.settle('dispatch')

    assert.equal(before?.outcome_unknown, true, late.kind)
    assert.deepEqual(after, before)
    assert.deepEqual([provider.sent.length, (await read(id)).status], [2, 'sent'])
    await world.invariants()
  }
})

test('the outcome of a stalled process does not affect a job that another has in progress', async (t) => {
  const { world, provider, send, pass, stall, beginRun, read } = await twoProcesses(t)
  const [first, second] = [Promise.withResolvers<Outcome>(), Promise.withResolvers<Outcome>()]
  provider.answer = () => first.promise
  const id = await send()
  await world.clock.advance(1000)
  const { work } = await beginRun()
  await stall()
  provider.answer = () => second.promise
  const other = world.tick('dispatch')
  await until(
    'the other process to hand it over',
    () => provider.sent.length,
    (sent) => sent === 2,
  )

  first.resolve(refused)
  await world.idleWatch.whileTimePasses(() => work)
  await pass()
  const during = (await read(id)).status
  second.resolve(accepted({ id, attempt: 2 }))
  await world.idleWatch.whileTimePasses(() => other)
  await world.settle('dispatch')

  assert.deepEqual([during, (await read(id)).status, provider.sent.length], ['sending', 'sent', 2])
  await world.invariants()
})
