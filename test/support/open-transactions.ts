/** Open transactions, which may block the event feed. */
import type { TestContext } from 'node:test'
import { listRunning } from '../../src/platform/events/feed-horizon-repository.ts'
import { transact, type Db, type Pool, type Transaction } from '../../src/platform/database/sql.ts'
import { closing } from './closing.ts'
import { testDatabase } from './database.ts'
import { testPool } from './pool.ts'

export interface Open {
  readonly sql: Pool
  readonly xid: number
  readonly pid: number
}

export async function open(t: TestContext, url: string, role?: string): Promise<Open> {
  const address = new URL(url)
  if (role !== undefined) [address.username, address.password] = [role, role]
  const sql = testPool(address.href, { max: 1, application_name: 'night report' })
  closing(t, () => sql.end({ timeout: 0 }))
  await sql`set idle_in_transaction_session_timeout = 0`
  await sql.unsafe('begin')
  const [row] = await sql<
    { xid: string; pid: number }[]
  >`select pg_current_xact_id()::text as xid, pg_backend_pid() as pid`
  // a snapshot lists only transactions below the last ended one
  const later = testPool(url, { max: 1 })
  await later`select pg_current_xact_id()`
  await later.end({ timeout: 1 })
  return { sql, xid: Number(row!.xid), pid: row!.pid }
}

/** The transaction may be idle for longer than the service allows. */
export async function holdOpen<T>(pool: Pool, work: (tx: Transaction) => Promise<T>): Promise<T> {
  return await transact(pool, async (tx) => {
    await tx`set local idle_in_transaction_session_timeout = 0`
    return await work(tx)
  })
}

export async function elsewhere(t: TestContext): Promise<string> {
  const other = await testDatabase({ empty: true })
  closing(t, () => other.drop())
  return other.url
}

/** The start of this transaction, or of the oldest that blocks the feed, in milliseconds since 1970. */
export async function startOf(sql: Db, one?: Open): Promise<number> {
  const running = await listRunning(sql)
  const found = running.find(({ xid, unrelated }) => (one === undefined ? !unrelated : xid === String(one.xid)))
  return Date.parse(found!.started_at!)
}
