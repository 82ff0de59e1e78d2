/** A process that starts to dispatch a channel respects a pause that the provider requested from another process. */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { startPlatform } from '../../../../test/support/world.ts'
import type { ChannelRow, ChannelService } from '../../channels/service.ts'
import { circuitBreakers } from './circuit-breakers.ts'
import { inProgress } from './in-progress.ts'
import { pauses } from './pauses.ts'
import { savePause } from './channels-repository.ts'
import { channelRates } from './rates.ts'
import { scheduler } from './scheduler.ts'

const channel = {
  id: 'ch_1',
  status: 'active',
  connection_status: 'connected',
  connection_tested_at: null,
} as ChannelRow

/** A process that polls the table, in which a message waits for a channel with a session, here or elsewhere. */
async function looking(t: TestContext) {
  const { platform, pool, clock } = await startPlatform(t)
  const [rates, known] = [channelRates(), circuitBreakers(platform)]
  const session = { here: true }
  const made = scheduler({
    platform,
    channels: { find: async () => channel, sendsThroughSession: () => true } as unknown as ChannelService,
    jobs: inProgress(),
    leases: {
      holds: () => false,
      take: async () => undefined,
      use: () => undefined,
      renew: async () => undefined,
      release: async () => undefined,
    },
    rates,
    circuitBreakers: known,
    pauses: pauses({ platform, circuitBreakers: known, rates }),
    sessions: { find: () => undefined, sends: () => session.here },
    inMemory: true,
    expire: () => undefined,
    setAside: () => undefined,
  })
  t.after(() => made.stop())
  await pool`
    insert into dispatch_jobs (account_id, mode, message_id, channel_id, queue, priority, next_run_at)
    values ('acc_1', 'live', 'msg_1', 'ch_1', 'acc_1:ch_1', 1, ${clock.iso()})`
  const pausedElsewhere = () =>
    savePause(pool, {
      account_id: 'acc_1',
      channel_id: 'ch_1',
      channel_type: 'sms',
      process_id: 'another',
      times: 1,
      pace: 5,
      paused_at: clock.iso(),
      paused_until: clock.iso(30_000),
    })
  return { pool, clock, session, look: () => made.claim(), pausedElsewhere, isPaused: () => known.isOpen('ch_1') }
}

for (const [name, due] of [
  ['and messages wait for it meanwhile', true],
  ['and nothing waits for it meanwhile', false],
] as const)
  test(`a pause is adopted again by a process whose session moves to another process and back, ${name}`, async (t) => {
    const { pool, clock, session, look, pausedElsewhere, isPaused } = await looking(t)
    await look()
    session.here = false
    await pool`update dispatch_jobs set process_id = null, next_run_at = ${clock.iso(due ? 0 : 5000)}`
    await clock.advance(1000)
    await look()
    await pausedElsewhere()
    const before = isPaused()
    session.here = true
    await clock.advance(5000)
    await look()

    assert.deepEqual([before, isPaused()], [false, true])
  })

test('of several concurrent changes of a pause the last one is stored', async (t) => {
  const { platform, pool, clock } = await startPlatform(t)
  const { begin, end } = pauses({ platform, circuitBreakers: circuitBreakers(platform), rates: channelRates() })
  const told = (seconds: number) =>
    begin({
      account_id: 'acc_1',
      mode: 'live',
      channel_id: 'ch_1',
      channel_type: 'sms',
      until_ms: clock.now() + seconds * 1000,
      times: 1,
      begins: seconds === 1,
    })
  const written = async () =>
    (await pool<{ until: string }[]>`select paused_until as until from channel_pauses`).map(({ until }) => until)

  for (let round = 0; round < 5; round++) {
    await Promise.all(Array.from({ length: 30 }, (_, nth) => told(nth + 1)))
    assert.deepEqual(await written(), [clock.iso(30_000)])
    await Promise.all([told(31), end('ch_1')])
    assert.deepEqual(await written(), [])
  }
})
