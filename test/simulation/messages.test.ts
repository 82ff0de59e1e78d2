/**
 * Simulation of messages in seeded random order: every message ends, money agrees with the ledger, each event exists
 * once.
 */
import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import type { Answered } from '../support/api.ts'
import { testProjection, type TestProjection } from '../support/projection.ts'
import { startProcess } from '../support/process.ts'
import { seeded, type Random } from '../support/random.ts'
import { startWorld, type TestAccount, type World } from '../support/world.ts'
import { simulatedProcesses } from './processes.ts'
import { seedsOf } from '../support/effort.ts'

const seeds = seedsOf(2, '1', '2', '3', '4', '5', '6')
const steps = 60
const workers = ['dispatch', 'callbacks', 'fan-out', 'deliver', 'project-test']
const passesMax = 400
const momentMs = 100

/** By recipient: the possible final statuses. */
const live: Readonly<Record<string, readonly string[]>> = {
  '+19995550001': ['failed'],
  '+19995550002': ['failed'],
  '+19995550005': ['sent'],
  '+19995550010': ['read'],
  '+19995550014': ['read'],
  '+19995550021': ['delivered'],
  '+19995550022': ['delivered'],
  '+19995550023': ['delivered'],
  '+4915112345678': ['delivered'],
}
const sandbox: Readonly<Record<string, readonly string[]>> = {
  '+15005550006': ['delivered'],
  '+15005550008': ['read'],
  '+15005550014': ['read'],
  '+15005550001': ['failed'],
  '+4915112345601': ['delivered', 'failed'],
  '+4915112345602': ['delivered', 'failed'],
}

for (const seed of seeds) {
  test(`in any order of events, messages end correctly (seed ${seed})`, async (t) => {
    const simulation = await setUp(t, seed)

    for (let step = 0; step < steps; step++) {
      await simulation.step()
      assert.deepEqual(await simulation.miscounted(), [], `the counters are wrong after step ${step}`)
    }
    await simulation.comeToRest()

    const ended = await simulation.ends()
    assert.deepEqual(
      ended.filter(({ status, may }) => !may.includes(status)),
      [],
    )
    assert.deepEqual(await simulation.toldTwice(), [])
    assert.equal(await simulation.count(), ended.length, 'a message exists that no request was answered with')
    assert.deepEqual([await simulation.miscounted(), await simulation.behind()], [[], []])
    await simulation.world.invariants()
    t.diagnostic(`${ended.length} messages, ${simulation.deaths()} deaths`)
  })
}

interface Sent {
  readonly account: TestAccount
  readonly to: string
  readonly key: string
  id?: string
}

async function setUp(t: TestContext, seed: string) {
  const counting = testProjection()
  const world = await startWorld(t, { seed, projections: [counting.projection] })
  await counting.prepare(world.pool)
  const random = seeded(`simulation ${seed}`)
  const shop = await world.account({ mode: 'live', credit_micros: 200_000 })
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
  const receiver = world.receiver()
  receiver.always(() => random.pick([{ status: 200 }, { status: 200 }, { status: 500 }, 'reset' as const]))
  await trial.api.post('/v1/webhook_endpoints', {
    url: receiver.url,
    events: ['message.sent', 'message.delivered', 'message.failed'],
  })
  return simulate(t, { world, counting, random, shop, trial, channel: channel.id as string })
}

interface Scene {
  readonly world: World
  readonly counting: TestProjection
  readonly random: Random
  readonly shop: TestAccount
  readonly trial: TestAccount
  readonly channel: string
}

async function simulate(t: TestContext, { world, counting, random, shop, trial, channel }: Scene) {
  const sent: Sent[] = []
  const reports = new Map<string, object>()
  let repeats = 0
  const whileTimePasses = <T>(work: () => Promise<T>) => world.idleWatch.whileTimePasses(work, momentMs)
  const processes = await simulatedProcesses({
    world,
    random,
    workers,
    stepsMs: [10, 200, 3000, 20_000],
    start: (name) => startProcess(t, world, name),
  })

  const post = async (one: Sent) => {
    const body = {
      channel: one.account === shop ? channel : 'ch_test_sms',
      to: one.to,
      type: 'text',
      text: { body: 'Hello' },
    }
    const answer = await random
      .pick(processes.all)
      .api(one.account.key)
      .post('/v1/messages', body, { 'idempotency-key': one.key })
      .catch(() => undefined)
    note(one, answer)
  }
  const note = (one: Sent, answer: Answered | undefined) => {
    if (answer === undefined || answer.status === 409 || answer.status >= 500) return
    assert.ok([202, 402, 422].includes(answer.status), JSON.stringify(answer.body))
    if (answer.status !== 202) return
    assert.ok(one.id === undefined || one.id === answer.body.id, `the key ${one.key} was answered with two messages`)
    one.id = answer.body.id
  }
  const sendSome = async () => {
    const account = random.pick([shop, trial])
    const fresh = Array.from({ length: 1 + random.below(6) }, (_, at): Sent => {
      return { account, to: random.pick(Object.keys(account === shop ? live : sandbox)), key: `k${sent.length + at}` }
    })
    sent.push(...fresh)
    await Promise.all(fresh.map(post))
  }
  const repeatReports = async () => {
    for (const row of await world.pool<{ id: string }[]>`select * from callback_items`) reports.set(row.id, row)
    const again = random
      .shuffle([...reports.values()])
      .slice(0, 5)
      .map((row) => ({
        ...row,
        id: `again_${repeats++}_${random.below(1e9)}`,
        next_run_at: world.clock.iso(random.below(1000)),
        attempts: 0,
      }))
    for (const row of again)
      await world.pool`insert into callback_items select * from json_populate_record(null::callback_items, ${JSON.stringify(row)}::text::json)`
  }
  const optOut = async () => {
    const from = random.pick(['+4915112345601', '+4915112345602'])
    await random
      .pick(processes.all)
      .api(trial.key)
      .post('/v1/test/inbound_messages', {
        channel: 'ch_test_sms',
        from,
        type: 'text',
        text: { body: random.pick(['STOP', 'START', 'Hello']) },
      })
      .catch(() => undefined)
  }
  const repeatRequest = async () => {
    if (sent.length > 0) await Promise.all([random.pick(sent), random.pick(sent)].map(post))
  }
  const { work, killOne, letTimePass } = processes
  const whole = [
    sendSome,
    sendSome,
    sendSome,
    work,
    work,
    work,
    work,
    work,
    letTimePass,
    letTimePass,
    repeatReports,
    optOut,
    repeatRequest,
    killOne,
  ]

  return {
    world,
    deaths: () => processes.deaths(),
    miscounted: () => counting.wrong(world.pool),
    behind: () => counting.behind(world.pool),
    step: () => whileTimePasses(random.pick(whole)),
    async comeToRest() {
      for (const one of sent) if (one.id === undefined) await post(one)
      for (let pass_ = 0, idle = 0; idle < 3; pass_++) {
        assert.ok(pass_ < passesMax, 'the workers find no rest')
        await world.clock.advance(15_000)
        for (const process of processes.all) await process.app.worker('heartbeat').tick()
        let jobs = 0
        for (const process of processes.all) {
          for (const worker of ['dispatch', 'callbacks', 'project-test'])
            jobs += await whileTimePasses(() => process.app.worker(worker).tick())
          // retries take hours, so the queue may still have jobs
          for (const worker of ['fan-out', 'deliver'])
            await whileTimePasses(() => processes.tickWhileTimePasses(process, worker))
        }
        const [waiting] = await world.pool<{ rows: number }[]>`
          select (select count(*) from dispatch_jobs) + (select count(*) from callback_items) as rows`
        idle = jobs === 0 && waiting!.rows === 0 ? idle + 1 : 0
      }
    },
    async ends() {
      const ended: { id: string; to: string; status: string; may: readonly string[] }[] = []
      for (const { account, to, id } of sent) {
        if (id === undefined) continue
        const message = (await processes.all[0]!.api(account.key).get(`/v1/messages/${id}`)).body
        ended.push({ id, to, status: message.status, may: (account === shop ? live : sandbox)[to]! })
      }
      return ended
    },
    async toldTwice() {
      return [
        ...(await world.pool`select object_id, type, count(*) as times from events where type like 'message.%' group by 1, 2 having count(*) > 1`),
      ]
    },
    async count() {
      const [row] = await world.pool<
        { rows: number }[]
      >`select count(*) as rows from messages where direction = 'outbound' and origin_type = 'api'`
      return row!.rows
    },
  }
}
