/** Keys of operations with a network call while the database is unreachable (behaviour: idempotency 4.2). */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { until } from '../../../test/support/waiting.ts'
import { startPlatform } from '../../../test/support/world.ts'
import { inFlight, underLease } from './idempotency.ts'

const request = { account_id: 'acc_1', mode: 'test', operation: 'POST /v1/things', key: 'a', fingerprint: 'f' } as const

/** Counts its calls. Every change of a key fails until `unplug` is called. */
async function start(t: TestContext) {
  const { platform, pool, clock } = await startPlatform(t)
  const flights = inFlight()
  let done = 0
  await pool`create function break() returns trigger language plpgsql as $$ begin raise exception 'pulled plug'; end $$`
  await pool`create trigger plug before update on idempotency_keys for each row execute function break()`
  return {
    clock,
    pool,
    times: () => done,
    run: (fingerprint = 'f') =>
      underLease(platform, flights, {
        request: { ...request, fingerprint },
        secret: false,
        handler: () => Promise.resolve({ status: 201, body: { done: ++done } }),
      }),
    unplug: async () => void (await pool`drop trigger plug on idempotency_keys`),
  }
}

test('an outcome that could not be stored is stored when the database is back, and replayed', async (t) => {
  const { pool, clock, run, unplug, times } = await start(t)

  await assert.rejects(run(), /pulled plug/)
  await assert.rejects(run(), { code: 'idempotency_key_in_use' })
  await clock.advance(500)
  await unplug()
  await until(
    'the outcome to be written',
    async () => {
      // not during an attempt, which would wait
      if (clock.wakesAt().length > 0) await clock.advance(1000)
      return await pool`select 1 from idempotency_keys where status = 201`
    },
    (rows) => rows.length === 1,
  )
  const again = await run()

  assert.deepEqual(
    [again.status, again.body, again.headers, times()],
    [201, { done: 1 }, { 'idempotent-replayed': 'true' }, 1],
  )
})

test('a lease that another process took over is not completed by its former owner', async (t) => {
  const { pool, clock, run, unplug, times } = await start(t)

  await assert.rejects(run(), /pulled plug/)
  await unplug()
  await pool`update idempotency_keys set lease_until = created_at`
  await clock.advance(1)
  const taken = await run()
  await clock.advance(500)
  const again = await run()

  assert.deepEqual(
    [taken.body, again.body, again.headers, times()],
    [{ done: 2 }, { done: 2 }, { 'idempotent-replayed': 'true' }, 2],
  )
})

test('a repeated request with another body gets "in use" while another process runs the first one', async (t) => {
  const { pool, run, unplug } = await start(t)
  await unplug()
  await pool`
    insert into idempotency_keys (account_id, mode, operation, key, fingerprint, lease_until, created_at)
    values ('acc_1', 'test', 'POST /v1/things', 'a', 'f', '2100-01-01', now())`

  const [other, same] = await Promise.allSettled([run('g'), run('f')])

  assert.equal((other as PromiseRejectedResult).reason.code, 'idempotency_key_reused')
  assert.equal((same as PromiseRejectedResult).reason.code, 'idempotency_key_in_use')
})
