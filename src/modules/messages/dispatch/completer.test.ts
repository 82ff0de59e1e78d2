/** Completions with odd providers and databases. */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { Outcome } from '../../../providers/provider.ts'
import type { MessageRow } from '../message.ts'
import { lockWaits } from '../../../../test/support/lock-waits.ts'
import { holdOpen } from '../../../../test/support/open-transactions.ts'
import { until, within } from '../../../../test/support/waiting.ts'
import { startWorld } from '../../../../test/support/world.ts'
import { projectionsOf } from '../projections.ts'
import { providerIdCache } from './provider-id-cache.ts'
import { completer, writeCompletions } from './completer.ts'
import type { Completion } from './completion.ts'
import { inProgress } from './in-progress.ts'
import type { Job } from './job.ts'

test('messages with the same provider id are all sent, and the first keeps the id', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account({ mode: 'live', credit_micros: 1_000_000 })
  const channel = (
    await api.post('/v1/channels', {
      type: 'sms',
      provider: 'simulator',
      name: 'Alerts',
      identifier: '+4915100000001',
      credentials: {},
    })
  ).body.id
  const ids: string[] = []
  for (let i = 0; i < 3; i++)
    ids.push(
      (await api.post('/v1/messages', { channel, to: '+4915112345678', type: 'text', text: { body: 'Hi' } })).body.id,
    )
  const rows = await world.pool<MessageRow[]>`select * from messages order by id`
  const now = world.clock.now()

  await writeCompletions(
    {
      platform: world.platform,
      billing: world.services.billing,
      projections: projectionsOf(world.platform, []),
      providerIds: providerIdCache(),
    },
    rows.map((row) => ({
      job: { row, attempts: 0, claimed: false, outcome_unknown: false, due_ms: now, lease_until_ms: now + 60_000 },
      provider: 'simulator',
      outcome: { kind: 'accepted', provider_ids: ['the same'] },
      began_ms: now,
      duration_ms: 5,
      at_ms: now,
      instant: false,
    })),
  )

  const statuses = await Promise.all(ids.map(async (id) => (await api.get(`/v1/messages/${id}`)).body.status))
  assert.deepEqual(statuses, ['sent', 'sent', 'sent'])
  const [left] = await world.pool`
    select (select count(*) from provider_references) as "references", (select count(*) from message_attempts) as attempts, (select count(*) from dispatch_jobs) as jobs`
  assert.deepEqual({ ...left }, { references: 1, attempts: 3, jobs: 0 })
  await world.invariants()
})

test('a reused provider id belongs to the newer message once the older one is final', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account({ mode: 'live', credit_micros: 1_000_000 })
  const channel = (
    await api.post('/v1/channels', {
      type: 'sms',
      provider: 'simulator',
      name: 'Alerts',
      identifier: '+4915100000001',
      credentials: {},
    })
  ).body.id
  const ids: string[] = []
  for (let i = 0; i < 2; i++)
    ids.push(
      (await api.post('/v1/messages', { channel, to: '+4915112345678', type: 'text', text: { body: 'Hi' } })).body.id,
    )
  const rows = await world.pool<MessageRow[]>`select * from messages order by id`
  const now = world.clock.now()
  const deps = {
    platform: world.platform,
    billing: world.services.billing,
    projections: projectionsOf(world.platform, []),
    providerIds: providerIdCache(),
  }
  const accepted = (row: MessageRow) => ({
    job: { row, attempts: 0, claimed: false, outcome_unknown: false, due_ms: now, lease_until_ms: now + 60_000 },
    provider: 'simulator',
    outcome: { kind: 'accepted' as const, provider_ids: ['7'] as const },
    began_ms: now,
    duration_ms: 5,
    at_ms: now,
    instant: false,
  })

  await writeCompletions(deps, [accepted(rows[0]!)])
  await world.pool`update messages set status = 'delivered' where id = ${ids[0]!}`
  await writeCompletions(deps, [accepted(rows[1]!)])

  const named = await world.pool<{ message_id: string }[]>`select message_id from provider_references`
  assert.deepEqual(
    named.map(({ message_id }) => message_id),
    [ids[1]],
  )
})

test('outcomes of several messages are written with all of them locked in one order', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account({ mode: 'live', credit_micros: 1_000_000 })
  const channel = (
    await api.post('/v1/channels', {
      type: 'sms',
      provider: 'simulator',
      name: 'Alerts',
      identifier: '+4915100000001',
      credentials: {},
    })
  ).body.id
  for (let i = 0; i < 2; i++)
    await api.post('/v1/messages', { channel, to: '+4915112345678', type: 'text', text: { body: 'Hi' } })
  const [first, last] = await world.pool<MessageRow[]>`select * from messages order by id`
  const now = world.clock.now()
  const deps = {
    platform: world.platform,
    billing: world.services.billing,
    projections: projectionsOf(world.platform, []),
    providerIds: providerIdCache(),
  }
  const completion = (row: MessageRow, outcome: Outcome) => ({
    job: { row, attempts: 0, claimed: false, outcome_unknown: false, due_ms: now, lease_until_ms: now + 60_000 },
    provider: 'simulator',
    outcome,
    began_ms: now,
    duration_ms: 5,
    at_ms: now,
    instant: false,
  })
  const work: Promise<void>[] = []

  const free = await holdOpen(world.pool, async (tx) => {
    await tx`select from messages where id = ${first!.id} for update`
    work.push(
      writeCompletions(deps, [
        completion(last!, { kind: 'unknown', message: 'No.' }),
        completion(first!, { kind: 'accepted', provider_ids: ['a', 'b'] }),
      ]),
    )
    await until('it to wait for the first', async () => (await lockWaits(world.pool)) > 0)
    return (await tx`select from messages where id = ${last!.id} for update skip locked`).length
  })
  await Promise.all(work)

  const statuses = await world.pool<{ status: string }[]>`select status from messages order by id`
  assert.deepEqual([free, statuses.map(({ status }) => status)], [1, ['sent', 'sending']])
})

test('when status queries return one id for several messages, one gets it and the others are queried again', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account({ mode: 'live', credit_micros: 1_000_000 })
  const creation = { type: 'sms', provider: 'simulator', name: 'Alerts', identifier: '+4915100000001', credentials: {} }
  const channel = (await api.post('/v1/channels', creation)).body.id
  for (let i = 0; i < 3; i++)
    await api.post('/v1/messages', { channel, to: '+4915112345678', type: 'text', text: { body: 'Hi' } })
  const rows = await world.pool<MessageRow[]>`select * from messages order by id`
  const now = world.clock.now()
  const deps = {
    platform: world.platform,
    billing: world.services.billing,
    projections: projectionsOf(world.platform, []),
    providerIds: providerIdCache(),
  }
  const told = (row: MessageRow): Completion => ({
    job: { row, attempts: 1, claimed: true, outcome_unknown: true, due_ms: now, lease_until_ms: now + 60_000 },
    provider: 'simulator',
    outcome: { kind: 'accepted', provider_ids: ['the same'] },
    began_ms: now,
    duration_ms: 5,
    at_ms: now,
    instant: false,
    statusQuery: true,
  })

  const lease_until = world.clock.iso(60_000)
  await world.pool`update dispatch_jobs set process_id = ${world.platform.process_id}, attempts = 1, outcome_unknown = true, next_run_at = ${lease_until}`

  await writeCompletions(deps, rows.slice(0, 2).map(told))
  await world.pool`update messages set status = 'delivered' where status = 'sent'`
  await writeCompletions(deps, [told(rows[2]!)])

  const kept = await world.pool`
    select m.status, (select j.outcome_unknown and j.next_run_at = ${world.clock.iso(30_000)} from dispatch_jobs j where j.message_id = m.id) as waits from messages m order by m.status`
  const [{ count } = { count: 0 }] = await world.pool<
    { count: number }[]
  >`select count(*)::int from provider_references`
  assert.deepEqual(
    [kept.map(({ status, waits }) => [status, waits]), count],
    [
      [
        ['delivered', null],
        ['sending', true],
        ['sending', true],
      ],
      1,
    ],
  )
})

test('a message cancelled during a sandbox attempt was never sent: no attempt, no receipt, no reply', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account({ mode: 'test' })
  const { id } = (
    await api.post('/v1/messages', { channel: 'ch_test_sms', to: '+15005550008', type: 'text', text: { body: 'Hi' } })
  ).body
  const [row] = await world.pool<MessageRow[]>`select * from messages`
  const now = world.clock.now()
  const reply = {
    kind: 'inbound',
    provider_id: 'r',
    from: '+15005550008',
    profile_name: null,
    type: 'text',
    content: { body: 'Hi' },
    reply_to: 'p',
  } as const

  const cancelled = await api.post(`/v1/messages/${id}/cancel`)
  await writeCompletions(
    {
      platform: world.platform,
      billing: world.services.billing,
      projections: projectionsOf(world.platform, []),
      providerIds: providerIdCache(),
    },
    [
      {
        job: {
          row: row!,
          attempts: 0,
          claimed: false,
          outcome_unknown: false,
          due_ms: now,
          lease_until_ms: now + 60_000,
        },
        provider: 'sandbox',
        outcome: { kind: 'accepted', provider_ids: ['p'], later_items: [{ after_ms: 80, item: reply }] },
        began_ms: now,
        duration_ms: 0,
        at_ms: now,
        instant: true,
      },
    ],
  )
  await world.clock.advance(1000)
  await world.settle()

  assert.equal(cancelled.status, 200, JSON.stringify(cancelled.body))
  assert.deepEqual((await api.get(`/v1/messages/${id}`)).body, cancelled.body)
  assert.deepEqual((await api.get(`/v1/messages/${id}/attempts`)).body.data, [])
  assert.deepEqual((await api.get('/v1/messages?direction=inbound')).body.data, [])
  await world.invariants()
})

test('an outcome that cannot be stored affects its own message only', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account({ mode: 'live', credit_micros: 1_000_000 })
  const channel = (
    await api.post('/v1/channels', {
      type: 'sms',
      provider: 'simulator',
      name: 'Alerts',
      identifier: '+4915100000001',
      credentials: {},
    })
  ).body.id
  const outcomes: Outcome[] = [
    { kind: 'accepted', provider_ids: ['good'] },
    { kind: 'refused', code: 'recipient_blocked', provider_code: 'a\0b', message: 'No.' },
    { kind: 'accepted', provider_ids: ['half \ud800'] },
    { kind: 'unknown', message: 'a\0b' },
    {
      kind: 'accepted',
      provider_ids: [
        Array.from({ length: 9300 }, (_, i) => String.fromCharCode(0x4e00 + ((i * 7919) % 20_000))).join(''),
      ],
    },
    { kind: 'unavailable', provider_code: null, message: 'a\0b', provider_ids: ['first'] },
    { kind: 'accepted' } as unknown as Outcome,
    { kind: 'accepted', provider_ids: ['good too'] },
  ]
  const ids: string[] = []
  for (const _ of outcomes)
    ids.push(
      (await api.post('/v1/messages', { channel, to: '+4915112345678', type: 'text', text: { body: 'Hi' } })).body.id,
    )
  const rows = await world.pool<MessageRow[]>`select * from messages order by id`
  const now = world.clock.now()
  const jobs = inProgress()
  const made = completer({
    platform: world.platform,
    billing: world.services.billing,
    channels: world.services.channels,
    projections: projectionsOf(world.platform, []),
    providerIds: providerIdCache(),
    jobs,
  })
  t.after(() => made.stop())

  for (const [index, outcome] of outcomes.entries()) {
    const job: Job = {
      row: rows[index]!,
      attempts: 0,
      claimed: false,
      outcome_unknown: false,
      due_ms: now,
      lease_until_ms: now + 60_000,
    }
    jobs.begin(job)
    made.complete({ job, provider: 'simulator', outcome, began_ms: now, duration_ms: 5, at_ms: now, instant: false })
  }
  await within('all to be written', made.drained())

  const read = await Promise.all(ids.map(async (id) => (await api.get(`/v1/messages/${id}`)).body))
  const failed = ['failed', 'provider_error']
  const sent = ['sent', null]
  assert.deepEqual(
    read.map(({ status, error }) => [status, error?.code ?? null]),
    [sent, failed, sent, ['sending', null], sent, failed, sent, sent],
  )
  assert.match(read[1].error.message, /could not be stored/)
  assert.equal(jobs.size, 0)
  await world.invariants()
})

test('an expired job that this process has lost is ended by its current owner', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account({ mode: 'live', credit_micros: 1_000_000 })
  const creation = { type: 'sms', provider: 'simulator', name: 'Alerts', identifier: '+4915100000001', credentials: {} }
  const channel = (await api.post('/v1/channels', creation)).body.id
  const { id } = (await api.post('/v1/messages', { channel, to: '+4915112345678', type: 'text', text: { body: 'Hi' } }))
    .body
  const [row] = await world.pool<MessageRow[]>`select * from messages`
  const now = world.clock.now()
  const expire = () =>
    writeCompletions(
      {
        platform: world.platform,
        billing: world.services.billing,
        projections: projectionsOf(world.platform, []),
        providerIds: providerIdCache(),
      },
      [
        {
          job: { row: row!, attempts: 0, claimed: true, outcome_unknown: false, due_ms: now, lease_until_ms: now },
          outcome: { kind: 'expired' },
          at_ms: now,
        },
      ],
    )

  await world.pool`update dispatch_jobs set process_id = 'another'`
  await expire()
  const lost = [
    (await api.get(`/v1/messages/${id}`)).body.status,
    (await world.pool`select process_id from dispatch_jobs`)[0]?.process_id,
  ]
  await world.pool`update dispatch_jobs set process_id = ${world.platform.process_id}`
  await expire()

  assert.deepEqual([...lost, (await api.get(`/v1/messages/${id}`)).body.status], ['queued', 'another', 'failed'])
  await world.invariants()
})

/** A completer whose database can be unavailable, and a job. */
async function completing(t: TestContext) {
  const world = await startWorld(t)
  const state = { away: true, asked: 0, woken: (): void => undefined }
  const ask = () => {
    state.asked += 1
    if (state.away) throw new Error('the database is away')
  }
  const pool = new Proxy(world.pool, {
    apply: (target, self, args) => (ask(), Reflect.apply(target as never, self, args)),
    get: (target, name, self) =>
      name === 'begin' ? (ask(), target.begin.bind(target)) : Reflect.get(target, name, self),
  })
  const jobs = inProgress()
  const job = {
    row: { id: 'msg_1', account_id: 'acc_1', mode: 'test', channel_id: 'ch_1' } as MessageRow,
    attempts: 0,
    claimed: true,
    outcome_unknown: false,
    due_ms: 0,
    lease_until_ms: 0,
  }
  const projections = projectionsOf(world.platform, [])
  const made = completer({
    platform: { ...world.platform, pool },
    billing: world.services.billing,
    channels: world.services.channels,
    projections: { ...projections, wake: (rows) => (state.woken(), projections.wake(rows)) },
    providerIds: providerIdCache(),
    jobs,
  })
  const complete = (one: Job) => {
    jobs.begin(one)
    made.complete({ job: one, outcome: { kind: 'superseded' }, at_ms: world.clock.now() })
  }
  complete(job)
  return { world, state, jobs, job, made, complete }
}

test('outcomes are written when an unavailable database is back', async (t) => {
  const { world, state, jobs, made } = await completing(t)

  await until('some failures', async () => {
    await world.clock.advance(2000)
    return state.asked > 3
  })
  const during = jobs.size
  state.away = false
  await world.idleWatch.whileTimePasses(() => made.drained())

  assert.deepEqual([during, jobs.size], [1, 0])
})

test("a stopping completer gives up an unavailable database by the machine's clock", async (t) => {
  const { state, jobs, made } = await completing(t)

  made.stop()
  await made.drained()

  assert.deepEqual([state.away, jobs.size], [true, 1])
})

test('a completion that arrives at the end of the last batch is written', async (t) => {
  const { state, jobs, job, made, complete } = await completing(t)
  state.away = false
  let more = 3
  // runs right after the last check for more completions
  state.woken = () => {
    if (more-- > 0) queueMicrotask(() => complete({ ...job, row: { ...job.row, id: `msg_of_${more}` } }))
  }

  await made.drained()

  assert.deepEqual([more, jobs.size], [-1, 0])
})
