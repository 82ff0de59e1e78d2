/** Simulation of campaigns in seeded random order: exact counters, at most one message per recipient. */
import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { campaignInvariants } from '../../src/modules/campaigns/invariants.ts'
import { holdOpen } from '../support/open-transactions.ts'
import { startProcess } from '../support/process.ts'
import { seeded, type Random } from '../support/random.ts'
import { startWorld, type TestAccount, type World } from '../support/world.ts'
import { simulatedProcesses } from './processes.ts'
import { seedsOf } from '../support/effort.ts'

const seeds = seedsOf(2, '1', '2', '3', '4')
const steps = 60
const workers = ['campaign-snapshots', 'campaigns', 'campaigns', 'dispatch', 'callbacks', 'project-campaigns']
const passesMax = 400
const momentMs = 100
const contactsCount = 30

const live = ['+19995550001', '+19995550002', '+19995550010', '+19995550014', '+19995550021', '+19995550022', 'nobody']
const sandbox = [
  '+15005550006',
  '+15005550010',
  '+15005550014',
  '+15005550001',
  '+15005550002',
  '+15005550004',
  '+15005550009',
  'nobody',
]
const contactPhone = (n: number): string => `+49151123456${String(n).padStart(2, '0')}`

for (const seed of seeds) {
  test(`in any order of events, counters are exact and no recipient waits for ever (seed ${seed})`, async (t) => {
    const simulation = await setUp(t, seed)

    for (let step = 0; step < steps; step++) {
      await simulation.step()
      assert.deepEqual(await simulation.breaches(), [], `after step ${step}`)
      assert.deepEqual(simulation.wrongPolls, [], `while step ${step} went on`)
    }
    await simulation.comeToRest()

    assert.deepEqual(await simulation.unfinished(), [])
    assert.deepEqual([await simulation.breaches(), simulation.wrongPolls], [[], []])
    await simulation.world.invariants()
    t.diagnostic(await simulation.reported())
  })
}

async function setUp(t: TestContext, seed: string) {
  const world = await startWorld(t, { seed })
  const random = seeded(`campaigns ${seed}`)
  const shop = await world.account({ mode: 'live', credit_micros: 1_000_000 })
  const trial = await world.account({ mode: 'test' })
  await world.services.billing.prices.setPrice(world.pool, null, 'sms', 1000)
  const channel = (
    await shop.api.post('/v1/channels', {
      type: 'sms',
      provider: 'simulator',
      name: 'Shop',
      identifier: '+4915100000001',
      credentials: {},
    })
  ).body
  const contacts: string[] = []
  for (let n = 0; n < contactsCount; n++)
    contacts.push((await trial.api.post('/v1/contacts', { phone: contactPhone(n), tags: ['all'] })).body.id)
  return simulate(t, { world, random, shop, trial, channel: channel.id, contacts })
}

interface Scene {
  readonly world: World
  readonly random: Random
  readonly shop: TestAccount
  readonly trial: TestAccount
  readonly channel: string
  readonly contacts: string[]
}

async function simulate(t: TestContext, { world, random, shop, trial, channel, contacts }: Scene) {
  const launched: { readonly account: TestAccount; readonly id: string }[] = []
  const reports = new Map<string, object>()
  const wrongPolls: string[] = []
  let repeats = 0
  const whileTimePasses = <T>(work: () => Promise<T>) => world.idleWatch.whileTimePasses(work, momentMs)
  const processes = await simulatedProcesses({
    world,
    random,
    workers,
    stepsMs: [10, 200, 3000, 20_000],
    start: (name) => startProcess(t, world, name),
  })
  const api = (account: TestAccount) => random.pick(processes.all).api(account.key)

  const launch = async () => {
    const account = random.pick([shop, trial])
    const some = Array.from({ length: 1 + random.below(12) }, () => ({
      to: random.pick(account === shop ? live : [...sandbox, contactPhone(random.below(contactsCount))]),
    }))
    const audience =
      account === trial && random.below(3) === 0
        ? { type: 'tags', tags: ['all'] }
        : { type: 'adhoc', recipients: some, save_as_contacts: random.below(2) === 0 }
    const body = {
      name: `Campaign ${launched.length}`,
      channel: account === shop ? channel : 'ch_test_sms',
      audience,
      message: { type: 'text', text: { body: 'Hello' } },
      throttle_per_second: random.pick([1, 20, 100]),
      consent_declared: true,
      launch: true,
    }
    // a killed process does not answer
    await api(account)
      .post('/v1/campaigns', body)
      .catch(() => undefined)
    for (const { id } of (await api(account).get('/v1/campaigns?limit=100')).body.data)
      if (!launched.some((one) => one.id === id)) launched.push({ account, id })
  }
  const act = async () => {
    if (launched.length === 0) return
    const { account, id } = random.pick(launched)
    const action = random.pick(['pause', 'resume', 'resume', 'cancel'])
    await api(account)
      .post(`/v1/campaigns/${id}/${action}`)
      .catch(() => undefined)
  }
  const leave = async () => {
    const body = {
      channel: 'ch_test_sms',
      from: contactPhone(random.below(contactsCount)),
      type: 'text',
      text: { body: random.pick(['STOP', 'START']) },
    }
    if (random.below(3) > 0) await api(trial).post('/v1/test/inbound_messages', body)
    else if (contacts.length > 0)
      await api(trial).delete(`/v1/contacts/${contacts.splice(random.below(contacts.length), 1)[0]}`)
  }
  const repeatReports = async () => {
    for (const row of await world.pool<{ id: string }[]>`select * from callback_items`) reports.set(row.id, row)
    for (const row of random.shuffle([...reports.values()]).slice(0, 5)) {
      const again = { ...row, id: `again_${repeats++}`, next_run_at: world.clock.iso(random.below(1000)), attempts: 0 }
      await world.pool`insert into callback_items select * from json_populate_record(null::callback_items, ${JSON.stringify(again)}::text::json)`
    }
  }
  const foldCounters = async () => {
    await random
      .pick(processes.all)
      .app.periodicJobs.find(({ name }) => name === 'fold-campaign-counters')!
      .run()
  }
  /** Another process locks some rows, so transitions are folded out of order. */
  const foldInDisorder = async () => {
    await holdOpen(world.pool, async (tx) => {
      await tx`select from message_transitions where status = ${random.pick(['queued', 'sent', 'delivered'])} for update skip locked`
      await processes.tickWhileTimePasses(random.pick(processes.all), 'project-campaigns')
    })
  }
  const snapshotOf = async (id: string): Promise<number> => {
    const [row] = await world.pool<
      { rows: number }[]
    >`select case when snapshot_at is null then 0 else snapshot_rows end as rows from campaigns where id = ${id}`
    return row!.rows
  }
  const poll = async () => {
    for (const { account, id } of launched) {
      const before = await snapshotOf(id)
      const { counters: c, status } = (await api(account).get(`/v1/campaigns/${id}`)).body
      const after = await snapshotOf(id)
      // 0 before the snapshot; either value during its completion
      const isWhole = c.total === after || c.total === before
      const exact =
        isWhole &&
        c.total === c.queued + c.sent + c.failed + c.skipped + c.cancelled &&
        c.sent >= c.delivered &&
        c.delivered >= c.read &&
        c.read >= 0 &&
        c.queued >= 0
      if (!exact || (status === 'completed' && c.queued > 0)) wrongPolls.push(`${id} ${status} ${JSON.stringify(c)}`)
    }
  }
  const { work, killOne, letTimePass } = processes
  const whileLookedAt = async () => void (await Promise.all([work(), poll(), work(), foldCounters(), poll()]))
  const whole: readonly (() => Promise<void>)[] = [
    launch,
    launch,
    launch,
    act,
    foldInDisorder,
    foldInDisorder,
    foldInDisorder,
    work,
    whileLookedAt,
    whileLookedAt,
    whileLookedAt,
    letTimePass,
    letTimePass,
    repeatReports,
    leave,
    foldCounters,
    killOne,
  ]

  return {
    world,
    wrongPolls,
    step: () => whileTimePasses(random.pick(whole)),
    breaches: async () => {
      const found: string[] = []
      for (const { breaches } of campaignInvariants) found.push(...(await breaches(world.pool)))
      return found
    },
    async comeToRest() {
      for (let pass = 0, idle = 0; idle < 3; pass++) {
        assert.ok(pass < passesMax, 'the workers find no rest')
        await world.clock.advance(pass % 4 === 0 ? 15_000 : 1000)
        for (const { account, id } of launched) await api(account).post(`/v1/campaigns/${id}/resume`)
        for (const process of processes.all) await process.app.worker('heartbeat').tick()
        for (const process of processes.all)
          for (const worker of workers) await whileTimePasses(() => process.app.worker(worker).tick())
        const [waiting] = await world.pool<{ rows: number }[]>`
          select (select count(*) from dispatch_jobs) + (select count(*) from callback_items) + (select count(*) from campaign_jobs)
            + (select count(*) from message_transitions) as rows`
        idle = waiting!.rows === 0 ? idle + 1 : 0
      }
    },
    async unfinished() {
      const found: string[] = []
      for (const { account, id } of launched) {
        const { status, counters } = (await api(account).get(`/v1/campaigns/${id}`)).body
        if (!['completed', 'cancelled'].includes(status) || counters.queued > 0)
          found.push(`${id} ${status} ${JSON.stringify(counters)}`)
      }
      return found
    },
    async reported() {
      const [row] = await world.pool<
        { messages: number }[]
      >`select count(*) as messages from messages where origin_type = 'campaign'`
      return `${launched.length} campaigns, ${row!.messages} messages, ${processes.deaths()} deaths`
    },
  }
}
