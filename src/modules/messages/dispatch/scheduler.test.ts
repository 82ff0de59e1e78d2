/** The scheduler stores a bounded number of jobs in memory and returns the others to the table. */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { startWorld, type World } from '../../../../test/support/world.ts'
import type { Pool } from '../../../platform/database/sql.ts'
import type { ChannelRow } from '../../channels/service.ts'
import type { MessageRow } from '../message.ts'
import { circuitBreakers } from './circuit-breakers.ts'
import { inProgress } from './in-progress.ts'
import type { Job } from './job.ts'
import { pauses } from './pauses.ts'
import { channelRates } from './rates.ts'
import { scheduler } from './scheduler.ts'
import type { Session } from '../../../providers/provider.ts'

async function scheduling(t: TestContext) {
  const world = await startWorld(t)
  const [jobs, rates, known] = [inProgress(), channelRates(), circuitBreakers(world.platform)]
  const expired: Job[] = []
  const session = { open: false }
  const linked: Session = { max_concurrent_sends: 8, ended: new Promise(() => undefined), close: async () => undefined }
  const leases = {
    holds: (channel_id: string) => channel_id !== 'ch_of_another',
    take: async () => undefined,
    use: () => undefined,
    renew: async () => undefined,
    release: async () => undefined,
  }
  const up = new Set<string>()
  const find = async (_: unknown, id: string) =>
    up.has(id)
      ? ({
          id,
          provider: 'simulator',
          status: 'active',
          connection_status: 'connected',
          connection_tested_at: null,
        } as ChannelRow)
      : null
  const breaking = breakable(world.pool)
  const made = scheduler({
    platform: { ...world.platform, pool: breaking.pool },
    channels: { ...world.services.channels, find },
    jobs,
    leases,
    rates,
    circuitBreakers: known,
    pauses: pauses({ platform: world.platform, circuitBreakers: known, rates }),
    sessions: {
      find: (channel_id) => (channel_id === 'ch_linked' ? linked : undefined),
      sends: (channel_id) => channel_id === 'ch_of_another' && session.open,
    },
    inMemory: true,
    expire: (more) => void expired.push(...more),
    setAside: () => undefined,
  })
  const row = (id: string, channel_id: string, more: Partial<MessageRow> = {}) =>
    ({
      id,
      account_id: 'acc_1',
      mode: 'live',
      channel_id,
      priority: 'normal',
      status: 'queued',
      created_at: world.clock.iso(),
      send_at: null,
      expires_at: null,
      ...more,
    }) as MessageRow
  const offer = (channel_id: string, count: number, more: Partial<MessageRow> = {}) =>
    made.offer(
      Array.from({ length: count }, (_, n) => row(`${channel_id}_${n}`, channel_id, more)),
      world.clock.now() + 60_000,
    )
  const item = (channel_id: string) =>
    ({ account_id: 'acc_1', channel_id, sandbox: false, priority: 'normal' }) as const
  return { world, jobs, rates, circuitBreakers: known, session, up, breaking, expired, made, offer, item }
}

/** A pool whose statements fail if they contain `breaks.part`. */
function breakable(pool: Pool) {
  const breaks: { part: string | null } = { part: null }
  const apply = (target: Pool, self: unknown, args: readonly unknown[]): unknown => {
    const text = Array.isArray(args[0]) ? args[0].join('') : ''
    return breaks.part !== null && text.includes(breaks.part)
      ? Promise.reject(new Error('the connection is lost'))
      : Reflect.apply(target, self, args)
  }
  return { breaks, pool: new Proxy(pool, { apply }) }
}

/** A job in the table, claimed by this process. */
const queued = (world: World, id: string, channel_id: string) => world.pool`
  insert into dispatch_jobs (account_id, mode, message_id, channel_id, queue, priority, next_run_at, process_id)
  values ('acc_1', 'live', ${id}, ${channel_id}, ${`acc_1:${channel_id}`}, 1, ${world.clock.iso(60_000)}, ${world.platform.process_id})`

const perChannel = (jobs: readonly Job[]) =>
  Object.fromEntries(
    [...Map.groupBy(jobs, ({ row }) => row.channel_id)].map(([channel, some]) => [channel, some.length]),
  )

test('memory has the messages of three seconds for channels that this process dispatches', async (t) => {
  const { rates, made, offer, item } = await scheduling(t)
  rates.set('ch_slow', 2)

  offer('ch_slow', 5)
  const before = made.accepts(item('ch_slow'))
  offer('ch_fast', 1000)

  assert.deepEqual([before, made.accepts(item('ch_fast')), made.accepts(item('ch_of_another'))], [true, true, false])
  offer('ch_slow', 6)
  assert.equal(made.accepts(item('ch_slow')), false)
})

test('memory accepts messages of a channel whose session this process has', async (t) => {
  const { session, made, item } = await scheduling(t)

  const before = made.accepts(item('ch_of_another'))
  session.open = true

  assert.deepEqual([before, made.accepts(item('ch_of_another'))], [false, true])
})

test('messages of a slow channel that are accepted together share its capacity, which is freed if they are not accepted', async (t) => {
  const { rates, made, offer, item } = await scheduling(t)
  rates.set('ch_slow', 2)
  const granted = () => Array.from({ length: 20 }, () => made.accepts(item('ch_slow'))).filter(Boolean).length

  const first = granted()
  offer('ch_slow', 4)
  const second = granted()
  await made.sweep()

  assert.deepEqual([first, second, granted()], [6, 2, 2])
})

test('a channel gets half of the places in flight that others leave, so that the next channel finds places', async (t) => {
  const { jobs, rates, made, offer } = await scheduling(t)
  for (const channel of ['ch_a', 'ch_b', 'ch_c']) {
    rates.set(channel, null)
    offer(channel, 900)
  }

  const taken: Job[] = []
  for (let pass = 0; pass < 10; pass++) {
    const ready = made.ready()
    for (const job of ready) jobs.begin(job)
    taken.push(...ready)
  }

  const { ch_a, ch_b, ch_c } = perChannel(taken)
  assert.ok(taken.length < 1000 && Math.max(ch_a!, ch_b!, ch_c!) <= 400, JSON.stringify(perChannel(taken)))
  rates.set('ch_next', null)
  offer('ch_next', 10)
  assert.ok(made.ready().some(({ row }) => row.channel_id === 'ch_next'))
})

test('while the providers of forty channels hang, other channels send', async (t) => {
  const { jobs, rates, made, offer } = await scheduling(t)
  for (let n = 0; n < 40; n++) {
    rates.set(`ch_${n}`, null)
    offer(`ch_${n}`, 450)
    for (let pass = 0; pass < 5; pass++) for (const job of made.ready()) jobs.begin(job)
  }

  rates.set('ch_next', null)
  offer('ch_next', 10)

  assert.equal(perChannel(made.ready())['ch_next'], 1)
})

test('a channel with a session has no more attempts in flight than its session allows', async (t) => {
  const { rates, made, offer } = await scheduling(t)
  rates.set('ch_linked', null)
  rates.set('ch_fast', null)

  offer('ch_linked', 100)
  offer('ch_fast', 100)

  assert.deepEqual(perChannel(made.ready()), { ch_linked: 8, ch_fast: 100 })
})

test('expired messages in memory are ended, and messages whose claims end are released', async (t) => {
  const { world, jobs, expired, made, offer } = await scheduling(t)
  offer('ch_a', 2, { expires_at: world.clock.iso(5000) })
  offer('ch_b', 2)

  await world.clock.advance(6000)
  await made.sweep()
  const left = jobs.size
  await world.clock.advance(20_000)
  await made.sweep()

  assert.deepEqual([perChannel(expired), left, jobs.size], [{ ch_a: 2 }, 2, 0])
})

test('a stopped scheduler accepts nothing and releases messages that were being accepted', async (t) => {
  const { world, jobs, made, offer, item } = await scheduling(t)
  const claimed = async () =>
    (
      await world.pool<
        { count: number }[]
      >`select count(*)::int as count from dispatch_jobs where process_id is not null`
    )[0]!.count
  await queued(world, 'ch_a_0', 'ch_a')
  await queued(world, 'ch_a_1', 'ch_a')

  offer('ch_a', 1)
  await made.stop()
  const first = await claimed()
  offer('ch_a', 2)
  await made.stop()

  assert.deepEqual(
    [first, await claimed(), jobs.size, made.accepts(item('ch_a')), await made.claim(), made.ready()],
    [1, 0, 0, false, 0, []],
  )
  await world.pool`delete from dispatch_jobs`
})

test('messages of a failing channel are released with their due times, and those of other channels stay', async (t) => {
  const { world, jobs, circuitBreakers, made, offer, item } = await scheduling(t)
  for (const n of [0, 1, 2]) await queued(world, `ch_a_${n}`, 'ch_a')
  // due so late that they are not claimed again
  offer('ch_a', 3, { created_at: world.clock.iso(1000) })
  offer('ch_b', 2)
  openCircuit(world, circuitBreakers, 'ch_a')

  await made.claim()

  const left = await world.pool`select next_run_at, process_id from dispatch_jobs`
  assert.deepEqual(
    left.map((row) => ({ ...row })),
    Array.from({ length: 3 }, () => ({ next_run_at: world.clock.iso(1000), process_id: null })),
  )
  assert.deepEqual([jobs.size, made.accepts(item('ch_a')), perChannel(made.ready())], [2, false, { ch_b: 1 }])
  await world.pool`delete from dispatch_jobs`
})

/** Unclaimed messages in the table, one per channel: `[channel_id, due_ms]`. */
async function wait(world: World, jobs: readonly (readonly [channel_id: string, due_ms: number])[]): Promise<void> {
  const rows = world.pool`(select channel, channel || '_' || n as id, next_run_at from unnest(${jobs.map(([channel]) => channel)}::text[],
    ${jobs.map(([, due_ms]) => world.clock.iso(due_ms))}::text[]::timestamptz[]) with ordinality as t(channel, next_run_at, n)) t`
  await world.pool`
    insert into messages (account_id, mode, id, channel_id, channel_type, direction, "to", "from", type, content, status, metadata, billing_source, amount_micros, origin_type, created_at, updated_at)
    select 'acc_1', 'live', id, channel, 'sms', 'outbound', '+12025550123', '+12025550100', 'text', '{"body":"Hello"}', 'queued', '{}', 'wallet', 5000, 'api', ${world.clock.iso()}, ${world.clock.iso()} from ${rows}`
  await world.pool`
    insert into dispatch_jobs (account_id, mode, message_id, channel_id, queue, priority, next_run_at)
    select 'acc_1', 'live', id, channel, 'acc_1:' || channel, 1, next_run_at from ${rows}`
}

test('due messages of every queue are sent, however many queues have later messages only', async (t) => {
  const { world, jobs, made } = await scheduling(t)
  const channels = Array.from({ length: 2300 }, (_, n) => `ch_${String(n).padStart(4, '0')}`)
  // one of the first 500 queues has nothing due; then follow more queues without due jobs than one scan covers, and
  // finally some with due jobs
  const due = channels.filter((_, n) => n !== 7 && (n < 600 || n >= 2250))
  const later = channels.filter((channel) => !due.includes(channel))
  await wait(world, [
    ...due.map((channel) => [channel, -1000] as const),
    ...later.map((channel) => [channel, 3600_000] as const),
  ])

  const claimed: string[] = []
  for (let look = 0; look < 8; look++) {
    await made.claim()
    claimed.push(...jobs.drop(() => true).map(({ row }) => row.channel_id))
  }

  assert.deepEqual(claimed.toSorted(), due)
  await world.pool`delete from dispatch_jobs`
  await world.pool`delete from messages`
})

test('with much in memory other queues are polled, even after the clock was set back', async (t) => {
  const { world, jobs, up, made, offer } = await scheduling(t)
  up.add('ch_b')
  offer('ch_busy', 500)
  await made.claim()
  world.clock.jump(-3600_000)
  await world.clock.advance(200)
  await wait(world, [['ch_b', -1000]])

  await made.claim()

  assert.deepEqual(perChannel(jobs.drop(({ row }) => row.channel_id === 'ch_b')), { ch_b: 1 })
  await world.pool`delete from dispatch_jobs`
  await world.pool`delete from messages`
})

/** After ten failed send attempts the circuit breaker is open and its first probe due in a second. */
function openCircuit(world: World, known: ReturnType<typeof circuitBreakers>, channel_id: string): void {
  const now = world.clock.now()
  const whose = { account_id: 'acc_1', mode: 'live', channel_id, channel_type: 'sms' } as const
  for (let n = 0; n < 10; n++) known.record(whose, { kind: 'unavailable' }, { began_ms: now, now_ms: now })
}

test('claimed jobs are sent even if claiming the probes fails', async (t) => {
  const { world, circuitBreakers, up, breaking, made } = await scheduling(t)
  up.add('ch_a').add('ch_b')
  openCircuit(world, circuitBreakers, 'ch_b')
  await world.clock.advance(2000)
  await wait(world, [
    ['ch_a', -1000],
    ['ch_b', -1000],
  ])

  breaking.breaks.part = 'as newest'
  await assert.rejects(made.claim(), /the connection is lost/)
  const first = perChannel(made.ready())
  breaking.breaks.part = null
  await made.claim()

  assert.deepEqual([first, perChannel(made.ready())], [{ ch_a: 1 }, { ch_b: 1 }])
  await world.pool`delete from dispatch_jobs`
  await world.pool`delete from messages`
})

test('jobs that could not be released are released with the next poll', async (t) => {
  const { world, jobs, circuitBreakers, breaking, made, offer } = await scheduling(t)
  for (const n of [0, 1, 2]) await queued(world, `ch_a_${n}`, 'ch_a')
  // due so late that they are not claimed again
  offer('ch_a', 3, { created_at: world.clock.iso(1000) })
  openCircuit(world, circuitBreakers, 'ch_a')
  const held = async () => (await world.pool`select from dispatch_jobs where process_id is not null`).length

  breaking.breaks.part = 'set next_run_at = t.next_run_at, process_id = null'
  await assert.rejects(made.claim(), /the connection is lost/)
  breaking.breaks.part = null
  const before = await held()
  await made.claim()

  assert.deepEqual([before, await held(), jobs.size], [3, 0, 0])
  await world.pool`delete from dispatch_jobs`
})
