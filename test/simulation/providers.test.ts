/** Simulation of a bad provider in seeded random order: messages end with the provider's status. */
import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import type { Outcome, OutboundMessage, Provider } from '../../src/providers/provider.ts'
import { startProcess, type WorldProcess } from '../support/process.ts'
import { seeded } from '../support/random.ts'
import {
  accepted,
  noAnswer,
  providerIdOf,
  scriptedProvider,
  taken,
  unavailable,
  unknown,
  type Answer,
  type ScriptedProvider,
} from '../support/scripted-provider.ts'
import { startWorld, type TestAccount, type World } from '../support/world.ts'
import { simulatedProcesses } from './processes.ts'
import { seedsOf } from '../support/effort.ts'

const seeds = seedsOf(1, '1', '3', '5')
const steps = 60
const workers = ['dispatch', 'callbacks', 'links', 'reconnect']
const passesMax = 400
const creditMicros = 10_000_000
const priceMicros = 1000

/** `asked`: has status queries, receipts have its own ids. `naming`: no queries, receipts have our ids. */
const kinds = ['asked', 'naming'] as const

for (const kind of kinds)
  for (const seed of seeds)
    test(`with a bad provider, messages end as the provider has them (${kind}, seed ${seed})`, async (t) => {
      const simulation = await setUp(t, kind, seed)

      for (let step = 0; step < steps; step++) await simulation.step()
      await simulation.comeToRest()

      assert.deepEqual(await simulation.wrong(), [])
      if (kind === 'asked') assert.deepEqual(simulation.takenTwice(), [])
      await simulation.world.invariants()
      assert.equal(await simulation.spent(), priceMicros * (await simulation.standing()))
      t.diagnostic(simulation.reported())
    })

interface Fate {
  readonly taken: number[]
  refused: boolean
}

function backend(scripted: ScriptedProvider, kind: (typeof kinds)[number], seed: string) {
  const random = seeded(`provider ${kind} ${seed}`)
  const fates = new Map<string, Fate>()
  const receipts: object[] = []
  const state = { badness: 0 }
  const fateOf = (id: string): Fate => {
    const known = fates.get(id) ?? { taken: [], refused: false }
    fates.set(id, known)
    return known
  }
  const refusesTo = (to: string): boolean => to.endsWith('9')
  const failsAt = (to: string): boolean => kind === 'asked' && to.endsWith('8')
  const reportLater = (message: OutboundMessage): void => {
    const receipt = {
      kind: 'delivery_receipt',
      provider_id: providerIdOf(message.id, message.attempt),
      ...(kind === 'naming' ? { message_id: message.id } : {}),
    }
    const reported = failsAt(message.to)
      ? [
          {
            ...receipt,
            transition: 'fail',
            error: { code: 'provider_error', message: 'Switched off.', provider_code: null },
          },
        ]
      : [
          { ...receipt, transition: 'accept' },
          { ...receipt, transition: 'deliver' },
        ]
    receipts.push(...reported, ...(random.below(3) === 0 ? reported : []))
  }
  const process = (message: OutboundMessage): Outcome => {
    const fate = fateOf(message.id)
    if (refusesTo(message.to)) {
      fate.refused = true
      return { kind: 'refused', code: 'upstream_rejected', provider_code: 'no', message: 'Not this one.' }
    }
    fate.taken.push(message.attempt)
    reportLater(message)
    return accepted(message)
  }
  scripted.answer = (message): Answer => {
    if (random.below(100) >= state.badness * 100) return process(message)
    const limit_on = random.pick(['channel', 'recipient', 'unspecified'] as const)
    const answer = random.pick<Answer>([
      { kind: 'throttled', limit_on, provider_code: '429', message: 'Slow down.' },
      unavailable,
      unknown,
      unknown,
      'hang',
      'hang',
    ])
    if ((answer === 'hang' || answer === unknown) && random.below(2) === 0) process(message)
    return answer
  }
  scripted.queryStatus = ({ id }) => {
    if (kind === 'naming') return { kind: 'no_information' }
    if (random.below(100) < state.badness * 50) return noAnswer
    const { taken: attempts, refused } = fateOf(id)
    if (refused) return { kind: 'refused', code: 'upstream_rejected', provider_code: 'no', message: 'Not this one.' }
    return attempts.length === 0 ? { kind: 'not_found' } : taken(id, attempts[0]!)
  }
  scripted.connect = () =>
    random.below(100) < state.badness * 50 ? { kind: 'unavailable', message: 'It is away.' } : { kind: 'connected' }
  return {
    fates,
    failsAt,
    refusesTo,
    behave: (badness: number) => void (state.badness = badness),
    takeReceipts: (count: number): object[] =>
      random
        .shuffle(receipts)
        .slice(0, count)
        .filter((one) => receipts.splice(receipts.indexOf(one), 1).length > 0),
  }
}

async function setUp(t: TestContext, kind: (typeof kinds)[number], seed: string) {
  const scripted = scriptedProvider()
  const provider = backend(scripted, kind, seed)
  const world = await startWorld(t, { seed: `${kind} ${seed}`, providers: [scripted.provider] })
  const shop = await world.account({ mode: 'live', credit_micros: creditMicros })
  await world.services.billing.prices.setPrice(world.pool, null, 'sms', priceMicros)
  const { status, body } = await shop.api.post('/v1/channels', {
    type: 'sms',
    provider: 'scripted',
    name: 'Shop',
    identifier: '+4915100000001',
    credentials: {},
  })
  assert.equal(status, 201)
  provider.behave(0.6)
  return simulate(t, {
    world,
    shop,
    channel: body.id as string,
    scripted,
    provider,
    random: seeded(`steps ${kind} ${seed}`),
  })
}

interface Scene {
  readonly world: World
  readonly shop: TestAccount
  readonly channel: string
  readonly scripted: ScriptedProvider
  readonly provider: ReturnType<typeof backend>
  readonly random: ReturnType<typeof seeded>
}

async function mortalProcess(t: TestContext, { world, scripted }: Scene, name: string): Promise<WorldProcess> {
  let dead = false
  const never = new Promise<never>(() => undefined)
  const mortal: Provider = {
    ...scripted.provider,
    adapter(tools) {
      const adapter = scripted.provider.adapter(tools)
      return {
        ...adapter,
        send: (...given) => (dead ? never : adapter.send!(...given)),
        queryStatus: (...given) => (dead ? never : adapter.queryStatus!(...given)),
      }
    },
  }
  const process = await startProcess(t, { ...world, providers: [mortal] }, name)
  return {
    ...process,
    async kill() {
      dead = true
      await process.kill()
    },
  }
}

async function simulate(t: TestContext, scene: Scene) {
  const { world, shop, channel, scripted, provider, random } = scene
  const sent = new Map<string, string>()
  const processes = await simulatedProcesses({
    world,
    random,
    workers,
    stepsMs: [10, 500, 5000, 31_000],
    start: (name) => mortalProcess(t, scene, name),
  })
  const whileTimePasses = <T>(work: () => Promise<T>) => world.idleWatch.whileTimePasses(work, 100)
  const sendSome = async () => {
    const messages = Array.from({ length: 1 + random.below(12) }, () => ({
      channel,
      to: `+49151123456${10 + random.below(90)}`,
      type: 'text',
      text: { body: 'Hello' },
    }))
    const { body } = await random.pick(processes.all).api(shop.key).post('/v1/messages/batch', { messages })
    for (const [at, item] of (body.data as { message?: { id: string } }[]).entries())
      if (item.message !== undefined) sent.set(item.message.id, messages[at]!.to)
  }
  const callBack = async (count: number) => {
    const reports = provider.takeReceipts(count)
    const answer = await fetch(`${random.pick(processes.all).base_url}/hooks/channels/${channel}`, {
      method: 'POST',
      body: JSON.stringify({ reports }),
    })
    assert.equal(answer.status, 200)
  }
  const { work, killOne, letTimePass } = processes
  const whole = [
    sendSome,
    sendSome,
    work,
    work,
    work,
    work,
    work,
    letTimePass,
    letTimePass,
    () => callBack(1 + random.below(4)),
    killOne,
  ]

  return {
    world,
    step: () => whileTimePasses(random.pick(whole)),
    async comeToRest() {
      provider.behave(0)
      for (let passes = 0, idle = 0; idle < 3; passes++) {
        assert.ok(passes < passesMax, 'the workers find no rest')
        await world.clock.advance(15_000)
        for (const process of processes.all) await process.app.worker('heartbeat').tick()
        for (const process of processes.all)
          for (const worker of workers) await whileTimePasses(() => processes.tickWhileTimePasses(process, worker))
        await whileTimePasses(() => callBack(1000))
        const [waiting] = await world.pool<
          { rows: number }[]
        >`select (select count(*) from dispatch_jobs) + (select count(*) from callback_items) as rows`
        idle = waiting!.rows === 0 ? idle + 1 : 0
      }
    },
    async wrong() {
      const wrong: object[] = []
      for (const [id, to] of sent) {
        const { status } = (await shop.api.get(`/v1/messages/${id}`)).body
        const wanted = provider.refusesTo(to) || provider.failsAt(to) ? 'failed' : 'delivered'
        if (status !== wanted) wrong.push({ id, to, status, wanted, fate: provider.fates.get(id) })
      }
      return wrong
    },
    takenTwice: () => [...provider.fates].filter(([, { taken }]) => taken.length > 1),
    async standing() {
      const [row] = await world.pool<
        { rows: number }[]
      >`select count(*)::int as rows from messages where status <> 'failed'`
      return row!.rows
    },
    spent: async () => creditMicros - ((await shop.api.get('/v1/balance')).body.wallet_micros as number),
    reported: () =>
      `${sent.size} messages, ${scripted.sent.length} attempts, ${scripted.statusQueries.length} questions, ${processes.deaths()} deaths`,
  }
}
