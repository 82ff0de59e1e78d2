/** Jobs that are not sent after all: their claims and probes. */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { startWorld } from '../../../../test/support/world.ts'
import { fenceNow } from '../../../lib/fence.ts'
import type { ProviderAdapter } from '../../../providers/provider.ts'
import type { ChannelRow, ChannelService } from '../../channels/service.ts'
import type { MessageRow } from '../message.ts'
import { projectionsOf } from '../projections.ts'
import { circuitBreakers } from './circuit-breakers.ts'
import { transitionsOf, type Completion } from './completion.ts'
import { executor } from './executor.ts'
import { inProgress } from './in-progress.ts'
import type { Job } from './job.ts'
import { channelRates } from './rates.ts'

/** An executor of one channel, and a stored message's job. */
async function executing(t: TestContext) {
  const world = await startWorld(t)
  const { api } = await world.account({ mode: 'live', credit_micros: 1_000_000 })
  const creation = { type: 'sms', provider: 'simulator', name: 'Alerts', identifier: '+4915100000001', credentials: {} }
  const { id: channel_id } = (await api.post('/v1/channels', creation)).body
  await api.post('/v1/messages', { channel: channel_id, to: '+4915112345678', type: 'text', text: { body: 'Hi' } })
  const [row] = await world.pool<MessageRow[]>`select * from messages`
  const { platform, clock } = world
  const known = circuitBreakers(platform)
  const state = { held: true, alone: true, fails: '', attempts: 0, blocked: false, sending: () => {} }
  const [jobs, completions] = [inProgress(), [] as Completion[]]
  const adapter: ProviderAdapter = {
    ...world.services.channels.adapterOf({ provider: 'simulator' } as ChannelRow)!,
    async send() {
      state.attempts += 1
      state.sending()
      return { kind: 'unavailable', provider_code: null, message: 'It is away.' }
    },
  }
  const failing = (what: string) => {
    if (state.fails === what) throw new Error(what)
  }
  const channels: ChannelService = {
    ...world.services.channels,
    adapterOf: () => adapter,
    find: async (...given) => (failing('find'), await world.services.channels.find(...given)),
    connection: (channel) => (failing('connection'), world.services.channels.connection(channel)),
  }
  const made = executor({
    platform,
    billing: world.services.billing,
    projections: projectionsOf(platform, []),
    channels,
    jobs,
    rates: channelRates(),
    circuitBreakers: known,
    pauses: { begin: async () => undefined, end: async () => undefined },
    sessions: { find: () => undefined, sends: () => false },
    leases: { holds: () => state.held },
    consent: { recheck: () => undefined, blockedAmong: async () => new Set(state.blocked ? [row!.id] : []) },
    complete: (completion) => void completions.push(completion),
    sendTimes: [],
    alone: () => state.alone,
  })
  const whose = { account_id: row!.account_id, mode: 'live', channel_id, channel_type: 'sms' } as const
  const lease_until_ms = clock.now() + 60_000
  const claimed = { attempts: 0, claimed: true, outcome_unknown: false, due_ms: clock.now(), lease_until_ms }
  await world.pool`update dispatch_jobs set process_id = ${platform.process_id}, next_run_at = ${clock.iso(60_000)}`
  return {
    world,
    state,
    jobs,
    completions,
    made,
    job: (more: Partial<Job> = {}): Job => ({ row: row!, ...claimed, ...more }),
    /** Opens the circuit breaker and begins a probe; the next one is due later. */
    beginProbe() {
      for (let n = 0; n < 10; n++)
        known.record(whose, { kind: 'unavailable' }, { began_ms: clock.now(), now_ms: clock.now() })
      known.attemptBegins(channel_id, clock.now())
      return known.probeAt(channel_id)!
    },
    probeAt: () => known.probeAt(channel_id),
    isFree: async () => (await world.pool`select 1 from dispatch_jobs where process_id is null`).length === 1,
  }
}

test('a job whose claim ends soon or that belongs to another process is released unsent', async (t) => {
  for (const why of ['short', 'lost'] as const) {
    const { world, state, jobs, job, made, isFree } = await executing(t)
    const lease_until_ms = world.clock.now() + (why === 'short' ? 29_000 : 60_000)
    state.held = why === 'short'
    await world.pool`update dispatch_jobs set next_run_at = ${new Date(lease_until_ms).toISOString()}`

    await made.sendAll([job({ lease_until_ms })])

    assert.deepEqual([state.attempts, jobs.size, await isFree()], [0, 0, true], why)
  }
})

test('a job of an earlier claim of this process is not sent, because another process may have sent it', async (t) => {
  const { state, job, made, completions } = await executing(t)

  const { row, lease_until_ms } = job()
  await made.sendAll([job({ row: { ...row, status: 'sending' }, lease_until_ms: lease_until_ms - 5000 })])

  assert.deepEqual([state.attempts, completions.map(({ outcome }) => outcome.kind)], [0, ['superseded']])
})

const exits: Readonly<Record<string, (given: Awaited<ReturnType<typeof executing>>) => void>> = {
  'its recipient has opted out': ({ state }) => void (state.blocked = true),
  'it is being cancelled': ({ jobs, job, world }) => void jobs.withdraw([job().row.id], world.clock.elapsed()),
  'it cannot be prepared': ({ state }) => void (state.fails = 'connection'),
  'the database fails': ({ state }) => void (state.fails = 'find'),
  'another process has its channel': ({ state }) => void (state.held = false),
}

for (const [why, arrange] of Object.entries(exits))
  test(`an unsent probe frees its place, and nothing else does: ${why}`, async (t) => {
    const given = await executing(t)
    const { world, state, made, job, beginProbe, probeAt } = given
    const planned = beginProbe()
    arrange(given)

    await made.sendAll([job()])
    const afterOther = probeAt()
    await made.sendAll([job({ probe: true })])

    assert.deepEqual([state.attempts, afterOther, probeAt()], [0, planned, world.clock.now()])
  })

test('a fence stops a request that was not written before the lease ended', async (t) => {
  const { made, job, state } = await executing(t)
  const seen: (boolean | undefined)[] = []
  state.sending = () => {
    seen.push(fenceNow()?.())
    state.held = false
    seen.push(fenceNow()?.())
  }

  await made.sendAll([job()])

  assert.deepEqual(seen, [true, false])
})

test('a message in progress is written as `sending` even if the clock was set back', async (t) => {
  const { world, made, job } = await executing(t)
  await made.sendAll([job()])
  const statuses = async () => (await world.pool`select status from messages`).map((row) => row['status'])
  const before = await statuses()

  world.clock.jump(-3600_000)
  await made.persistSends(world.clock.now())

  assert.deepEqual([before, await statuses()], [['queued'], ['sending']])
})

for (const jump_ms of [3600_000, -3600_000])
  test(`\`sending_at\` is right even if the clock was set ${jump_ms > 0 ? 'ahead' : 'back'} meanwhile`, async (t) => {
    const { world, made, job, state, completions } = await executing(t)
    const began = world.clock.iso()
    state.sending = () => world.clock.jump(jump_ms)

    await made.sendAll([job()])

    assert.deepEqual(
      completions.map((completion) => transitionsOf(completion)[0]?.at),
      [began],
    )
  })
