/** A database that cannot write: 503 with Retry-After, readiness follows the last write, and nothing is done twice. */
import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { closing } from '../support/closing.ts'
import type { Pool } from '../../src/platform/database/sql.ts'
import { holdOpen } from '../support/open-transactions.ts'
import { testPool } from '../support/pool.ts'
import { until } from '../support/waiting.ts'
import { startWorld, type World } from '../support/world.ts'

const message = {
  channel: 'ch_test_whatsapp',
  to: '+15005550006',
  type: 'text',
  text: { body: 'Your parcel is on its way.' },
}

for (const [state, meaning] of Object.entries({
  53100: 'a full disk',
  53200: 'no memory',
  58030: 'a disk that fails',
  25006: 'a read-only database',
})) {
  test(`${meaning} (${state}) is 503 with its catalogue code, and the process is not ready until a write succeeds`, async (t) => {
    const world = await startWorld(t)
    const account = await world.account()
    await refuseRows(world, 'contact_lists', state)

    const refused = await account.api.post('/v1/contact_lists', { name: 'Customers' })
    const [notReady, figure] = [await world.api().get('/readyz'), await writableFigure(world)]
    await world.tick('storage')
    const ready = await world.api().get('/readyz')

    assert.deepEqual(
      [refused.status, refused.body.error.code, refused.headers['retry-after']],
      [503, 'upstream_unavailable', '1'],
    )
    assert.deepEqual([notReady.status, figure, ready.status, await writableFigure(world)], [503, '0', 200, '1'])
  })
}

test('while a database is read-only, sends are refused and reads work; a refused send succeeds later with the same key', async (t) => {
  const world = await startWorld(t)
  const account = await world.account()
  const before = await account.api.post('/v1/messages', message)
  const writable = await readOnly(t, world)

  const key = { 'idempotency-key': 'order-1' }
  const alone = await account.api.post('/v1/messages', message, key)
  const batch = await account.api.post('/v1/messages/batch', { messages: [message] })
  const read = await account.api.get(`/v1/messages/${before.body.id}`)
  await world.tick('storage')
  const notReady = await world.api().get('/readyz')
  await writable()
  await world.tick('storage')
  const ready = await world.api().get('/readyz')
  const sent = await account.api.post('/v1/messages', message, key)
  const again = await account.api.post('/v1/messages', message, key)
  await world.settle()

  assert.deepEqual(
    [alone.status, alone.body.error.code, alone.headers['retry-after']],
    [503, 'upstream_unavailable', '1'],
  )
  assert.deepEqual([batch.status, batch.body.data[0].error.code, read.status], [207, 'upstream_unavailable', 200])
  assert.deepEqual([notReady.status, ready.status, sent.status, again.body.id], [503, 200, 202, sent.body.id])
  assert.equal((await account.api.get('/v1/messages')).body.data.length, 2)
  await world.invariants()
})

test('a statement cancelled by an operator is 503 and does not count as a failure of the service', async (t) => {
  const world = await startWorld(t)
  const account = await world.account()
  await account.api.get('/v1/contact_lists')
  const operator = testPool(world.database_url, { max: 2 })
  closing(t, () => operator.end({ timeout: 1 }))

  const ended = await holdOpen(operator, async (sql) => {
    await sql`lock table contact_lists in access exclusive mode`
    const answer = account.api.get('/v1/contact_lists')
    await until('the statement to be cancelled', () => cancelWaiting(operator))
    return await answer
  })

  assert.deepEqual(
    [ended.status, ended.body.error.code, ended.headers['retry-after']],
    [503, 'upstream_unavailable', '1'],
  )
  assert.equal((await world.api().get('/readyz')).status, 200)
})

async function cancelWaiting(operator: Pool): Promise<boolean> {
  const rows =
    await operator`select pg_cancel_backend(pid) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
  return rows.length > 0
}

async function refuseRows({ pool }: World, table: string, state: string): Promise<void> {
  await pool.unsafe(
    `create function refuse_rows() returns trigger language plpgsql as $$ begin raise 'no' using errcode = '${state}'; end $$`,
  )
  await pool.unsafe(`create trigger refuse_rows before insert on ${table} for each row execute function refuse_rows()`)
}

const writableFigure = async (world: World): Promise<string | undefined> =>
  /^posthorn_database_writable (\d)$/m.exec((await world.api().get('/metrics')).body)?.[1]

/** Makes every session of the world read-only until the returned function is called. */
async function readOnly(t: TestContext, world: World): Promise<() => Promise<void>> {
  const operator = testPool(world.database_url, { max: 1 })
  closing(t, () => operator.end({ timeout: 1 }))
  const name = new URL(world.database_url).pathname.slice(1)
  const set = async (value: 'on' | 'off') => {
    await operator.begin(async (sql) => {
      await sql`set transaction read write`
      await sql.unsafe(`alter database ${name} set default_transaction_read_only = ${value}`)
    })
    await operator`select pg_terminate_backend(pid, 10000) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`
    await until('new sessions to open', async () => {
      const [row] = await world.pool<{ transaction_read_only: string }[]>`show transaction_read_only`.catch(() => [])
      return row?.transaction_read_only === value
    })
  }
  await set('on')
  return () => set('off')
}
