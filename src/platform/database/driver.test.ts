/** The guarantees of the driver's patches, beyond `pool.test.ts`: without its patch each test hung or lost data. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { getDefaultHighWaterMark } from 'node:stream'
import { connect, createServer, type AddressInfo } from 'node:net'
import test, { type TestContext } from 'node:test'
import postgres from '#postgres'
import { closing } from '../../../test/support/closing.ts'
import { fatalError, refuseAsFull } from '../../../test/support/full-database.ts'
import { holdOpen } from '../../../test/support/open-transactions.ts'
import { testPool } from '../../../test/support/pool.ts'
import { standStill, until, within } from '../../../test/support/waiting.ts'
import { tcpLine } from '../../../test/support/tcp-line.ts'
import { startPlatform } from '../../../test/support/world.ts'
import { connectionLost } from './failures.ts'
import { openPool, poolUse } from './pool.ts'

test('a transaction that fills the pipeline of a connection has that connection for itself', async (t) => {
  const { database_url, pool } = await startPlatform(t)
  const options = { max: 2, max_pipeline: 1 }
  const sql = postgres(database_url, options)
  closing(t, () => sql.end({ timeout: 1 }))
  await pool`create table kept (n int)`
  await Promise.all([sql`select 1`, sql`select 1`])

  const busy = [sql`select 1`.execute(), sql`select 1`.execute()]
  const transactions = [1, 2].map((n) => sql.begin(async (tx) => await tx`insert into kept values (${n})`))
  await Promise.all([...busy, ...transactions])
  await Promise.all([3, 4].map((n) => sql`insert into kept values (${n})`))

  const kept = await pool<{ n: number }[]>`select n from kept order by n`
  assert.deepEqual(
    kept.map(({ n }) => n),
    [1, 2, 3, 4],
  )
})

test('a reservation that waits while a connection dies gets the next one', async (t) => {
  const { database_url } = await startPlatform(t)
  const [pool, killer] = [testPool(database_url, { max: 1 }), testPool(database_url, { max: 1 })]
  closing(t, () => Promise.all([pool.end({ timeout: 1 }), killer.end({ timeout: 1 })]))
  const [row] = await pool<{ pid: number }[]>`select pg_backend_pid() as pid`
  await killer`select pg_advisory_lock(1)`
  const working = assert.rejects(pool`select pg_advisory_lock(1)`.execute())
  await until(
    'a statement that waits for the lock',
    async () => await killer`select 1 from pg_locks where pid = ${row!.pid} and not granted`,
    (rows) => rows.length > 0,
  )

  const reservation = pool.reserve()
  await killer`select pg_terminate_backend(${row!.pid})`
  await working

  const reserved = await within('the reservation', reservation)
  assert.deepEqual([...(await reserved`select 1 as one`)], [{ one: 1 }])
  reserved.release()
  assert.deepEqual([...(await pool`select 2 as two`)], [{ two: 2 }])
})

test('a refused reservation leaves later connections to others', async (t) => {
  const { database_url } = await startPlatform(t)
  const gate = await startGate(t, database_url)
  const pool = testPool(gate.url, { max: 1 })
  closing(t, () => pool.end({ timeout: 1 }))

  gate.refuse(1)
  const first = assert.rejects(pool.reserve())
  const waiting = pool.reserve()
  await first

  const reserved = await within('the reservation', waiting)
  assert.deepEqual([...(await reserved`select 1 as one`)], [{ one: 1 }])
  reserved.release()
  assert.deepEqual([...(await pool`select 2 as two`)], [{ two: 2 }])
})

test('a connection that dies while it opens is opened again, and its statement is answered by the new one', async (t) => {
  const { database_url } = await startPlatform(t)
  const gate = await startGate(t, database_url)
  const pool = testPool(gate.url, { max: 1 })
  closing(t, () => pool.end({ timeout: 1 }))

  gate.killWhileOpening(1)

  assert.deepEqual([...(await pool`select 1 as one`)], [{ one: 1 }])
})

test('a process that stalls while its connection opens does not abandon it', async (t) => {
  const { database_url } = await startPlatform(t)
  const gate = await startGate(t, database_url)
  const pool = openPool(gate.url, { max: 1, connect_timeout_ms: 5_000 })
  closing(t, () => pool.end({ timeout: 1 }))

  gate.standStill(5_500)

  assert.deepEqual([...(await pool`select 1 as one`)], [{ one: 1 }])
})

test('a database that refuses connections is retried with growing delays, regardless of the number of statements', async (t) => {
  const { database_url } = await startPlatform(t)
  const gate = await startGate(t, database_url)
  const { pool, failures } = pausing(t, gate.url, { pause_seconds: 0 })
  const ask = async (): Promise<unknown> =>
    await pool`select 1 as one`.then(
      ([row]) => row!['one'],
      (error: { code: string }) => error.code,
    )

  gate.refuseAsFull(3)
  const answers = [await ask(), await ask(), await ask(), await ask()]

  assert.deepEqual(
    [answers, failures],
    [
      ['53100', '53100', '53100', 1],
      [1, 2, 3],
    ],
  )
})

test('a statement whose connections keep closing while they open is refused within a bounded time', async (t) => {
  const { database_url } = await startPlatform(t)
  const gate = await startGate(t, database_url)
  const { pool, failures } = pausing(t, gate.url, { pause_seconds: 0.01, connect_timeout: 1 })

  gate.killWhileOpening(Infinity)
  await assert.rejects(within('the refusal', pool`select 1`.execute()), {
    code: /^(?:CONNECTION_CLOSED|CONNECT_TIMEOUT)$/,
  })
  gate.killWhileOpening(0)
  // a busy machine may take longer than a second
  const [row] = await until(
    'a connection to be opened',
    () => pool<{ one: number }[]>`select 1 as one`.catch(() => []),
    (rows) => rows.length > 0,
  )

  assert.equal(row!.one, 1)
  assert.deepEqual(
    failures,
    failures.map((_, at) => at + 1),
  )
})

/** A pool of one connection that records after how many failures it pauses. */
function pausing(
  t: TestContext,
  url: string,
  { pause_seconds, ...options }: { pause_seconds: number; connect_timeout?: number },
) {
  const failures: number[] = []
  const backoff = (count: number): number => {
    failures.push(count)
    return pause_seconds
  }
  const pool = postgres(url, { max: 1, backoff, ...options })
  closing(t, () => pool.end({ timeout: 1 }))
  return { pool, failures }
}

/** A proxy to the database that can be closed. */
async function startGate(t: TestContext, database_url: string) {
  const target = new URL(database_url)
  const port = Number(target.port)
  let [refusing, saying, killing, standing_ms] = [0, 0, 0, 0]
  const server = createServer((client) => {
    client.on('error', () => undefined)
    standStill(standing_ms)
    standing_ms = 0
    if (refusing > 0) {
      refusing -= 1
      return void client.resetAndDestroy()
    }
    if (saying > 0) {
      saying -= 1
      return refuseAsFull(client)
    }
    const database = connect(port, target.hostname)
    database.on('error', () => undefined)
    client.on('close', () => database.destroy())
    database.on('close', () => client.destroy())
    database.on('data', (bytes) => client.write(bytes))
    client.on('data', (bytes) => {
      if (killing === 0 || !bytes.includes('typarray')) return void database.write(bytes)
      killing -= 1
      client.end(fatalError('57P01', 'terminating connection due to administrator command'))
    })
  })
  await within('the gate to listen', once(server.listen(0, '127.0.0.1'), 'listening'))
  closing(t, () => server.close())
  target.port = String((server.address() as AddressInfo).port)
  return {
    url: target.href,
    refuse: (times: number) => void (refusing = times),
    /** As PostgreSQL does on a full disk. */
    refuseAsFull: (times: number) => void (saying = times),
    /** Blocks this process at the next connection. */
    standStill: (ms: number) => void (standing_ms = ms),
    /** As PostgreSQL does, while connections query array types. */
    killWhileOpening: (times: number) => void (killing = times),
  }
}

test('a statement after one that failed in the middle of its rows gets its own rows from the first on', async (t) => {
  const { database_url } = await startPlatform(t)
  const sql = testPool(database_url, { max: 1 })
  closing(t, () => sql.end({ timeout: 1 }))

  const [failed, next] = await Promise.allSettled([
    sql`select 1 / (500 - n) as quotient from generate_series(1, 1000) n`,
    sql`select 7 as n`,
  ])
  const later = await sql`select 8 as n`

  assert.equal(failed.status === 'rejected' && failed.reason.code, '22012')
  assert.deepEqual(next.status === 'fulfilled' && next.value.map((row) => row['n']), [7])
  assert.deepEqual(
    later.map((row) => row['n']),
    [8],
  )
})

test('a connection continues after a copy that ended before its rows were read', async (t) => {
  const { database_url } = await startPlatform(t)
  const sql = testPool(database_url, { max: 1 })
  closing(t, () => sql.end({ timeout: 1 }))
  // the last row fills the reader's buffer, which pauses the socket
  const rows = Math.ceil(getDefaultHighWaterMark(false) / 21)
  const reading = await sql
    .unsafe(`copy (select repeat('x', 20) from generate_series(1, ${rows})) to stdout`)
    .readable()
  // wait until everything has arrived
  await until(
    'the copy to be over',
    () => reading.readableLength,
    (length) => length >= rows * 21,
  )
  let bytes = 0
  for await (const piece of reading) bytes += (piece as Buffer).length
  const [row] = await sql<{ one: number }[]>`select 1 as one`

  assert.deepEqual([bytes, row!.one], [rows * 21, 1])
})

/** One connection through a proxy that can be held, with a clock for the silence. */
async function silenced(t: TestContext) {
  const { database_url, pool } = await startPlatform(t)
  const url = new URL(database_url)
  const line = await tcpLine(t, { host: url.hostname, port: Number(url.port) })
  url.port = String(line.port)
  const silence_ms = 40_000
  t.mock.timers.enable({ apis: ['setInterval'] })
  const sql = testPool(url.href, { max: 1, silence_timeout_ms: silence_ms })
  closing(t, () => sql.end({ timeout: 1 }))
  const pidOf = async () => (await sql<{ pid: number }[]>`select pg_backend_pid() as pid`)[0]!.pid
  return { pool, sql, line, silence_ms, pidOf, pass: (ms: number) => t.mock.timers.tick(ms) }
}

test('a connection that is silent during a statement counts as lost, and another one continues', async (t) => {
  const { pool, sql, line, silence_ms, pidOf, pass } = await silenced(t)
  const first = await pidOf()
  // the silence is checked eight times, and the first check sees earlier answers
  const [locked, unlock] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const locking = holdOpen(pool, async (tx) => {
    await tx`select pg_advisory_xact_lock(7)`
    locked.resolve()
    await unlock.promise
  })
  await locked.promise
  const late = sql<{ pid: number }[]>`select pg_advisory_xact_lock(7), pg_backend_pid() as pid`.execute()
  await until('the statement to be on its way', () => poolUse(sql).in_use === 1)
  pass(silence_ms)
  unlock.resolve()
  await locking
  const [answered] = await within('an answer that comes just in time', late)

  line.hold()
  const asked = pidOf().then(
    () => null,
    (error: unknown) => error,
  )
  await until('another statement to be on its way', () => poolUse(sql).in_use === 1)
  pass(silence_ms)
  pass(silence_ms / 8)
  const lost = await within('the statement to be given up', asked)
  line.cut()
  await until('the connection to be gone', () => poolUse(sql).in_use === 0)
  const second = await pidOf()

  assert.deepEqual([answered!.pid, connectionLost(lost), second === first], [first, true, false])
})

test('an idle connection, or one whose copy is read slowly, may be silent without limit', async (t) => {
  const { sql, silence_ms, pidOf, pass } = await silenced(t)
  const first = await pidOf()
  pass(2 * silence_ms)
  const idle = await pidOf()
  const rows = 200_000
  const reading = await sql.unsafe(`copy (select 'x' from generate_series(1, ${rows})) to stdout`).readable()
  await until('the copy to wait for its reader', () => reading.readableLength > 0)
  pass(2 * silence_ms)

  let bytes = 0
  for await (const piece of reading) bytes += (piece as Buffer).length

  assert.deepEqual([idle, bytes, await pidOf()], [first, rows * 2, first])
})
