import assert from 'node:assert/strict'
import test from 'node:test'
import { fakeClock } from './clock.ts'
import { clusterName } from './cluster.ts'
import { standStill } from './waiting.ts'
import { startPlatform, startWorld } from './world.ts'

test('a world answers over HTTP, has accounts and checks its invariants', async (t) => {
  const world = await startWorld(t)
  const account = await world.account({ mode: 'live', credit_micros: 5_000_000 })

  const [known, unknown] = await Promise.all([account.api.get('/v1/me'), world.api().get('/v1/me')])
  await world.settle()

  assert.deepEqual([known.status, known.body.id, unknown.status], [200, account.id, 401])
  await world.invariants()
})

test('a sleeper on a test clock wakes at its time, in order, and may sleep again', async () => {
  const clock = fakeClock()
  const woke: string[] = []
  const sleeper = async (name: string, ms: number) => {
    for (let i = 0; i < 2; i++) {
      await clock.sleep(ms)
      woke.push(`${name} ${clock.iso().slice(17, 19)}`)
    }
  }
  void sleeper('five', 5000)
  void sleeper('two', 2000)

  await clock.advance(7000)

  assert.deepEqual(woke, ['two 02', 'two 04', 'five 05'])
})

test('time does not advance during a transaction, even if the process pauses for a second', async (t) => {
  const { pool, clock, idleWatch } = await startPlatform(t)
  await pool`select 1`
  const before = clock.now()

  await idleWatch.whileTimePasses(() =>
    pool.begin(async (tx) => {
      await tx`select 1`
      standStill(1_100)
      for (let statement = 0; statement < 50; statement++) await tx`select 1`
    }),
  )

  assert.equal(clock.now(), before)
})

test("another checkout's tests use another PostgreSQL", () => {
  assert.notEqual(clusterName('/here/posthorn'), clusterName('/there/posthorn'))
  assert.equal(clusterName('/here/posthorn'), clusterName('/here/posthorn'))
})
