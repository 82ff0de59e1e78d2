/** Crash test of producers: processes are killed, rows cancelled and funds exhausted at random. */
import assert from 'node:assert/strict'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import test, { type TestContext } from 'node:test'
import { nodeFlags } from '../../scripts/node-flags.mjs'
import { closing } from '../support/closing.ts'
import { seeded } from '../support/random.ts'
import { testProducer } from '../support/producer.ts'
import type { SubmittingProcess } from '../support/producing-process.ts'
import { within } from '../support/waiting.ts'
import { startWorld, type World } from '../support/world.ts'
import { effort, seedsOf } from '../support/effort.ts'

const count = effort(3_000, 100_000)
const seed = seedsOf(1, '1')[0]!
const processes = 2
const price = 7500
const rowsAtOnce = effort(100, 3000)
const script = join(import.meta.dirname, '../support/producing-process.ts')

test(
  'despite kills, cancels and missing funds, each row becomes at most one paid message, none after its withdrawal',
  { timeout: 1_800_000 },
  async (t) => {
    const producer = testProducer()
    const world = await startWorld(t, { producers: [producer.fragment] })
    const random = seeded(seed)
    const account = await world.account({ mode: 'live', credit_micros: 2_000_000 })
    const tenant = { account_id: account.id as `acc_${string}`, mode: 'live' as const }
    const { body: channel } = await account.api.post('/v1/channels', {
      type: 'sms',
      provider: 'simulator',
      name: 'Bulk',
      identifier: '+15550100',
      credentials: {},
    })
    await producer.prepare(world.pool)
    const keys = await producer.add(world.pool, tenant, count)
    const plan = {
      database_url: world.database_url,
      settings: world.platform.settings,
      tenant,
      channel: channel.id,
      traffic: 'bulk' as const,
      rows: rowsAtOnce,
    }
    const crowd = startCrowd(t, plan)
    const withdrawn = new Set<string>()
    let credited = 2_000_000

    for (let round = 0; !crowd.finished(); round++) {
      await within('a process that submits', Promise.race([crowd.moved(), crowd.end()]))
      const chance = random.next()
      if (chance < 0.3)
        for (const key of await producer.cancel(
          world.pool,
          Array.from({ length: 200 }, () => random.pick(keys)),
        ))
          withdrawn.add(key)
      else if (chance < 0.6) await crowd.killOne(random.below(processes))
      const amount = price * (count / 50 + random.below(count / 8))
      const { body: balance } = await account.api.get('/v1/balance')
      if (balance.wallet_micros < price && random.next() < 0.7) {
        await world.services.billing.creditWallet(world.pool, account.id, amount, null)
        credited += amount
      }
      if (round % 10 === 0)
        t.diagnostic(`${await sentOf(world)} of ${count} sent, ${withdrawn.size} withdrawn, ${crowd.kills()} kills`)
    }
    await within('the processes to end', crowd.end())

    const rows = await producer.rows(world.pool)
    const messages = new Map((await messagesOf(world)).map(({ submission_key, ids }) => [submission_key, ids]))
    t.diagnostic(`${messages.size} of ${count} sent, ${withdrawn.size} withdrawn, ${crowd.kills()} kills, seed ${seed}`)
    for (const { key, status, message_id } of rows) {
      assert.equal(status, withdrawn.has(key) ? 'cancelled' : 'sent', key)
      assert.deepEqual(messages.get(key) ?? [], message_id === null ? [] : [message_id], key)
    }
    const { body: balance } = await account.api.get('/v1/balance')
    assert.equal(balance.wallet_micros, credited - messages.size * price)
    await world.invariants()
  },
)

/** Replaces each killed process until no row waits. */
function startCrowd(t: TestContext, plan: Omit<SubmittingProcess, 'name'>) {
  const living = new Map<number, ChildProcess>()
  let kills = 0
  let started = 0
  let moved = Promise.withResolvers<void>()
  const ended = Promise.withResolvers<void>()
  const start = (place: number) => {
    const given: SubmittingProcess = { ...plan, name: `submitting-${started++}` }
    const child = spawn(process.execPath, [...nodeFlags, script, JSON.stringify(given)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    living.set(place, child)
    createInterface(child.stdout!).on('line', () => {
      moved.resolve()
      moved = Promise.withResolvers()
    })
    child.once('exit', (code, signal) => {
      if (living.get(place) !== child) return
      living.delete(place)
      if (signal === null && code !== 0) ended.reject(new Error(`a process that submits ended with ${code}`))
      if (living.size === 0) ended.resolve()
    })
  }
  for (let place = 0; place < processes; place++) start(place)
  ended.promise.catch(() => undefined)
  closing(t, () => {
    for (const child of living.values()) child.kill('SIGKILL')
  })
  return {
    moved: () => moved.promise,
    finished: () => living.size === 0,
    end: () => ended.promise,
    kills: () => kills,
    async killOne(place: number) {
      const child = living.get(place)
      if (child === undefined) return
      kills++
      const gone = once(child, 'exit')
      start(place)
      child.kill('SIGKILL')
      await within('a process to die', gone)
    },
  }
}

const sentOf = async ({ pool }: World): Promise<number> =>
  (await pool<{ n: number }[]>`select count(*) as n from messages where submission_key is not null`)[0]!.n

const messagesOf = ({ pool }: World) =>
  pool<
    { submission_key: string; ids: string[] }[]
  >`select submission_key, array_agg(id) as ids from messages where submission_key is not null group by submission_key`
