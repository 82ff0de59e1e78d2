/** Simulation of integrations in seeded random order: one receipt per event, one message per run, none after a stop. */
import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { automationInvariants } from '../../src/modules/automations/invariants.ts'
import { startProcess } from '../support/process.ts'
import { seeded, type Random } from '../support/random.ts'
import { startWorld, type TestAccount, type World } from '../support/world.ts'
import { simulatedProcesses, type SimulatedProcesses } from './processes.ts'
import { runChecks, type Stopped, type RunChecks, type CheckedRun } from './run-checks.ts'
import { customers, eventTypes, phoneOf, shopsOf, type Shop, type Shops } from './shops.ts'
import { seedsOf } from '../support/effort.ts'

const seeds = seedsOf(1, '3', '105')
const steps = 45
const workers = ['automation-runs', 'automation-runs', 'dispatch', 'callbacks']
const momentMs = 100
const price = 1000
const credit = 15_000
const passesMax = 200
/** Longer than a lease and than the caches of sources and keys. */
const stepsMs = [10, 1000, 5000, 31_000, 61_000]

for (const seed of seeds) {
  test(`in any order of events, an event counts once and nothing is sent after a stop (seed ${seed})`, async (t) => {
    const simulation = await setUp(t, seed)

    for (let step = 0; step < steps; step++) {
      const name = await simulation.step()
      assert.deepEqual(await simulation.breaches(), [], `after step ${step} (${name}) of seed ${seed}`)
    }
    await simulation.comeToRest()

    assert.deepEqual(
      [await simulation.breaches(), await simulation.misshown(), await simulation.lostMoney()],
      [[], [], 0],
    )
    await simulation.world.invariants()
    t.diagnostic(await simulation.reported())
  })
}

interface Scene {
  readonly world: World
  readonly random: Random
  readonly processes: SimulatedProcesses
  readonly shops: Shops
  readonly checks: RunChecks
  readonly live: TestAccount
  readonly trial: TestAccount
  readonly made: Made
}

interface Made {
  readonly automations: { readonly id: string; readonly account: TestAccount }[]
  readonly channels: string[]
  suspended: boolean
  credited: number
}

async function setUp(t: TestContext, seed: string) {
  const world = await startWorld(t, { seed })
  const random = seeded(`integrations ${seed}`)
  const live = await world.account({ mode: 'live', credit_micros: credit })
  const trial = await world.account({ mode: 'test' })
  await world.services.billing.prices.setPrice(world.pool, null, 'sms', price)
  const processes = await simulatedProcesses({
    world,
    random,
    workers,
    stepsMs,
    start: (name) => startProcess(t, world, name),
  })
  const checks = runChecks(world.pool)
  const shop = (account: TestAccount, platform: Shop['platform']): Shop => ({
    account,
    platform,
    external_id: `${platform}.example.com`,
    id: null,
    secret: '',
  })
  const shops = shopsOf(
    world,
    random,
    processes,
    [shop(live, 'shopify'), shop(live, 'custom'), shop(trial, 'custom')],
    checks,
  )
  const scene: Scene = {
    world,
    random,
    processes,
    shops,
    checks,
    live,
    trial,
    made: { automations: [], channels: [], suspended: false, credited: credit },
  }
  const changes = changesOf(scene)
  await changes.newChannel()
  for (const one of shops.all) await changes.open(one)
  for (let n = 0; n < 10; n++) await changes.create()
  return simulate(scene, changes)
}

function changesOf({ world, random, processes, shops, checks, live, trial, made }: Scene) {
  const { ask } = shops
  let alone = true

  /** After the answer no run waits, and the stopped object sends nothing. */
  const stop = async (
    what: string,
    isOf: (run: CheckedRun) => boolean,
    request: () => Promise<{ status: number } | null>,
    ...stops: Omit<Stopped, 'why'>[]
  ): Promise<boolean> => {
    const before = await checks.waiting(null, isOf)
    const answer = await request()
    if (answer === null || answer.status >= 300) return false
    if (!alone) return true
    for (const stopped of stops) await checks.expectStopped({ ...stopped, why: what })
    for (const run of await checks.runs(before.map(({ id }) => id)))
      if (run.status === 'scheduled') shops.faults.push(`${run.id} waits after the answer: ${what}`)
    return true
  }
  const channelOf = (account: TestAccount) =>
    account === trial ? random.pick(['ch_test_sms', 'ch_test_sms', 'ch_test_whatsapp']) : random.pick(made.channels)
  const fields = () => ({
    event_type: random.pick(eventTypes),
    delay_seconds: random.pick([0, 0, 2, 30, 90]),
    cancel_on: random.shuffle(eventTypes).slice(0, random.pick([0, 1, 2])),
    category: random.pick(['transactional', 'transactional', 'marketing']),
    conditions: random.pick([
      null,
      null,
      { match: 'all', conditions: [{ field: 'data.total', operator: 'greater_than', value: 30 }] },
    ]),
  })

  const open = async (shop: Shop) => {
    const answer = await ask('POST', '/v1/integration_sources', shop.account.key, {
      platform: shop.platform,
      external_id: shop.external_id,
    })
    if (answer === null || answer.status >= 300) return
    shop.id = answer.body.id
    if (answer.status === 200)
      await ask('PATCH', `/v1/integration_sources/${shop.id}`, shop.account.key, {
        signing_secret: (shop.secret = `secret ${shop.external_id}`),
      })
    else shop.secret = answer.body.signing_secret
  }
  const create = async () => {
    const { id: source_id, account } = random.pick(shops.all)
    if (source_id === null) return
    const message = { type: 'text', text: { body: 'Hello {{customer.first_name}}' } }
    const body = {
      name: 'Thanks',
      source_id,
      channel_id: channelOf(account),
      message,
      merge_fallbacks: { 'customer.first_name': 'you' },
      ...fields(),
    }
    const answer = await ask('POST', '/v1/automations', account.key, body)
    if (answer?.status === 201) made.automations.push({ id: answer.body.id, account })
  }
  const change = async () => {
    if (made.automations.length === 0) return
    const { id, account } = random.pick(made.automations)
    const all = { ...fields(), channel_id: channelOf(account), name: `Thanks ${random.below(100)}` }
    const some = Object.fromEntries(random.shuffle(Object.entries(all)).slice(0, 1 + random.below(2)))
    await ask('PATCH', `/v1/automations/${id}`, account.key, some)
  }
  const pause = async () => {
    if (made.automations.length === 0) return
    const { id, account } = random.pick(made.automations)
    const patch = (status: string) => ask('PATCH', `/v1/automations/${id}`, account.key, { status })
    if (random.below(2) === 0) {
      checks.release(id)
      await patch('active')
    } else
      await stop(
        `${id} is paused`,
        (run) => run.automation_id === id,
        () => patch('paused'),
        { column: 'automation_id', id, account_id: account.id },
      )
  }
  const remove = async () => {
    if (made.automations.length < 10) return await create()
    const [{ id, account }] = made.automations.splice(random.below(made.automations.length), 1) as [
      { id: string; account: TestAccount },
    ]
    const request = () => ask('DELETE', `/v1/automations/${id}`, account.key)
    await stop(`${id} is deleted`, (run) => run.automation_id === id, request, {
      column: 'automation_id',
      id,
      account_id: account.id,
    })
  }
  const changeSource = async () => {
    const shop = random.pick(shops.all)
    const { id, account } = shop
    if (id === null) return await open(shop)
    const path = `/v1/integration_sources/${id}`
    const stopped = { column: 'source_id', id, account_id: account.id } as const
    const action = random.pick(['disable', 'enable', 'enable', 'enable', 'settings', 'settings', 'secret', 'delete'])
    if (action === 'disable') {
      await stop(
        `${id} is disabled`,
        (run) => run.source_id === id,
        () => ask('PATCH', path, account.key, { status: 'disabled' }),
        stopped,
      )
    } else if (action === 'delete') {
      if (
        await stop(
          `${id} is deleted`,
          (run) => run.source_id === id,
          () => ask('DELETE', path, account.key),
          stopped,
        )
      )
        shop.id = null
    } else if (action === 'enable') {
      checks.release(id)
      await ask('PATCH', path, account.key, { status: 'active' })
    } else if (action === 'settings') {
      const settings = {
        contact_sync: random.below(3) > 0,
        consent_mode: random.pick(['implied', 'implied', 'explicit']),
        store_all_events: random.below(2) === 0,
      }
      await ask('PATCH', path, account.key, { settings })
    } else {
      const secret = `secret ${random.below(1e6)}`
      const answer = await ask('PATCH', path, account.key, { signing_secret: secret })
      if (answer?.status === 200) shop.secret = secret
    }
  }
  const newChannel = async () => {
    const body = {
      type: 'sms',
      provider: 'simulator',
      name: 'Shop',
      identifier: `+4915100000${100 + random.below(900)}`,
      credentials: {},
    }
    const answer = await ask('POST', '/v1/channels', live.key, body)
    if (answer?.status === 201) made.channels.push(answer.body.id)
  }
  const changeChannel = async () => {
    if (made.channels.length < 2) return await newChannel()
    const id = random.pick(made.channels)
    if (random.below(3) > 0)
      return void (await ask('PATCH', `/v1/channels/${id}`, live.key, {
        status: random.pick(['active', 'active', 'disabled']),
      }))
    const gone = await stop(
      `${id} is deleted`,
      (run) => run.channel_id === id,
      () => ask('DELETE', `/v1/channels/${id}`, live.key),
    )
    if (gone) made.channels.splice(made.channels.indexOf(id), 1)
  }
  const optOut = async () => {
    const account = random.pick([live, trial])
    const phone = phoneOf(4 + random.below(customers - 4))
    const bySelf = { channel: 'ch_test_sms', from: phone, type: 'text', text: { body: 'STOP' } }
    const request = () =>
      account === trial && random.below(2) === 0
        ? ask('POST', '/v1/test/inbound_messages', trial.key, bySelf)
        : ask('POST', '/v1/contacts', account.key, { phone, consent: { sms: { status: 'opted_out' } } })
    const isOf = (run: CheckedRun) =>
      run.account_id === account.id && run.to === phone && run.channel_id !== 'ch_test_whatsapp'
    await stop(`${phone} of ${account.id} has opted out`, isOf, request, {
      column: 'to',
      id: phone,
      account_id: account.id,
    })
  }
  const deleteContact = async () => {
    const account = random.pick([live, trial])
    const found = await ask('GET', '/v1/contacts?limit=20', account.key)
    if (found?.status !== 200 || found.body.data.length === 0) return
    const { id } = random.pick(found.body.data as { id: string }[])
    await stop(
      `${id} is deleted`,
      (run) => run.contact_id === id,
      () => ask('DELETE', `/v1/contacts/${id}`, account.key),
    )
  }
  const toggle = async () => {
    const { accounts } = random.pick(processes.all).app.services
    if (made.suspended) {
      checks.release(live.id)
      if (alone) checks.forget((await checks.waiting(null, (run) => run.account_id === live.id)).map(({ id }) => id))
      await accounts.reinstate(live.id).catch(() => undefined)
      await world.services.accounts.reinstate(live.id)
      made.suspended = false
      return
    }
    const request = async () => {
      await accounts.suspend(live.id).catch(() => undefined)
      await world.services.accounts.suspend(live.id)
      return { status: 200 }
    }
    made.suspended = true
    await stop(`${live.id} is suspended`, (run) => run.account_id === live.id, request, {
      column: 'account_id',
      id: live.id,
      account_id: live.id,
    })
  }
  let toggled: Promise<void> = Promise.resolve()
  const suspend = () => (toggled = toggled.then(toggle))
  const topUp = async (micros = 4000) => {
    await world.services.billing.creditWallet(world.pool, live.id, micros, null)
    made.credited += micros
  }
  const all = [
    create,
    change,
    change,
    change,
    pause,
    pause,
    remove,
    changeSource,
    changeSource,
    changeChannel,
    optOut,
    deleteContact,
    suspend,
    () => topUp(),
  ]
  return {
    open,
    create,
    newChannel,
    topUp,
    suspend,
    any: async () => (made.suspended && random.below(4) > 0 ? await suspend() : await random.pick(all)()),
    async collide() {
      alone = false
      await Promise.all([random.pick(all)(), random.pick(all)(), random.pick(all)()])
      alone = true
    },
    async whileKilled(kill: () => Promise<void>) {
      alone = false
      await Promise.all([random.pick(all)(), shops.report(), shops.report(), kill()])
      alone = true
    },
  }
}

function simulate(
  { world, random, processes, shops, checks, live, made }: Scene,
  changes: ReturnType<typeof changesOf>,
) {
  const whileTimePasses = <T>(work: () => Promise<T>) => world.idleWatch.whileTimePasses(work, momentMs)
  const { work, killOne, letTimePass } = processes
  const { report } = shops
  const cancelLeftovers = async () => {
    for (const { name, run } of random.pick(processes.all).app.periodicJobs)
      if (['cancel-stopped-runs', 'delete-receipts', 'run-redactions'].includes(name)) await run()
  }
  const whole: Readonly<Record<string, () => Promise<unknown>>> = {
    report,
    reportTwo: () => Promise.all([report(), report()]),
    reportMany: () => Promise.all([report(), report(), report(), report()]),
    tangle: () => Promise.all([report(), changes.any(), work(), report()]),
    tangleMore: () => Promise.all([report(), work(), changes.any(), report(), work(), cancelLeftovers()]),
    reportMore: () => Promise.all([report(), report(), report(), work()]),
    changeWhileWorking: () => Promise.all([changes.any(), work()]),
    collide: () => Promise.all([changes.collide(), report(), work()]),
    work,
    workMore: work,
    letTimePass,
    letMoreTimePass: letTimePass,
    workLater: async () => {
      await letTimePass()
      await Promise.all([work(), work(), report()])
    },
    kill: () => changes.whileKilled(killOne),
    cancelLeftovers,
  }

  return {
    world,
    async step(): Promise<string> {
      const name = random.pick(Object.keys(whole))
      await whileTimePasses(whole[name]!)
      return name
    },
    async breaches() {
      const found = [...shops.faults, ...(await checks.breaches())]
      for (const { breaches } of automationInvariants(world.platform)) found.push(...(await breaches(world.pool)))
      const kept = new Set((await world.pool<{ id: string }[]>`select id from automation_events`).map(({ id }) => id))
      const deleted = new Set(
        (await world.pool<{ id: string }[]>`select id from integration_sources where deleted_at is not null`).map(
          ({ id }) => id,
        ),
      )
      for (const [id, source_id] of shops.receipts)
        if (!kept.has(id) && !deleted.has(source_id)) found.push(`the receipt ${id} is lost`)
      const twice = await world.pool<
        { id: string }[]
      >`select min(id) as id from automation_events group by source_id, event_id having count(*) > 1`
      return [...found, ...twice.map(({ id }) => `${id} and others are receipts of one event`)]
    },
    async comeToRest() {
      if (made.suspended) await changes.suspend()
      await changes.topUp(1_000_000)
      for (let pass = 0, waiting = 1; waiting > 0; pass++) {
        assert.ok(pass < passesMax, 'the workers find no rest')
        await world.clock.advance(pass < 20 ? 10_000 : 600_000)
        for (const process of processes.all) {
          await process.app.worker('heartbeat').tick()
          for (const worker of workers) await whileTimePasses(() => process.app.worker(worker).tick())
        }
        await cancelLeftovers()
        waiting = (await checks.waiting(null, () => true)).length
      }
    },
    async misshown() {
      const found: string[] = []
      for (const { id, account } of shops.all) {
        if (id === null) continue
        const { enabled_events, event_settings, settings } = (
          await world.api(account).get(`/v1/integration_sources/${id}`)
        ).body
        const active = (await world.api(account).get(`/v1/automations?source=${id}&status=active&limit=100`)).body
          .data as { event_type: string }[]
        const types = [...new Set(active.map(({ event_type }) => event_type))].toSorted()
        const shown = settings.store_all_events ? Object.keys(event_settings) : enabled_events
        if (shown.toSorted().join() !== types.join())
          found.push(`${id} shows ${shown.join()} instead of ${types.join()}`)
      }
      return found
    },
    async lostMoney() {
      const [row] = await world.pool<{ spent: number }[]>`
        select coalesce(sum(amount_micros), 0)::int as spent
        from messages
        where account_id = ${live.id} and direction = 'outbound' and not refunded`
      return made.credited - row!.spent - (await world.api(live).get('/v1/balance')).body.wallet_micros
    },
    async reported() {
      const outcomes = await world.pool<{ outcome: string; count: number }[]>`
        select status || coalesce(' ' || reason, '') as outcome, count(*)::int as count
        from automation_runs
        group by 1
        order by 1`
      return `${shops.receipts.size} receipts, ${processes.deaths()} deaths, runs: ${outcomes.map(({ outcome, count }) => `${count} ${outcome}`).join(', ')}`
    },
  }
}
