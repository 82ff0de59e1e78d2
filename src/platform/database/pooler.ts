/** A pooler in front of the database that gives a connection to somebody else between two transactions: what a session holds there is nobody's. */
import type { Clock } from '../../lib/clock.ts'
import { OperatorError } from '../../lib/operator-error.ts'
import type { Pool } from './sql.ts'

const message =
  'DATABASE_URL leads to a connection pooler that shares connections between transactions (PgBouncer in transaction mode, for example). This service listens for notifications and holds advisory locks, which need a session each: connect to PostgreSQL itself, or to a pool in session mode.'
/** In this order the second transaction of one comes after the first of the other, and the other way round: whichever connection a pooler gives out next, it is another one. */
const orders = [
  [0, 1],
  [0, 1],
  [1, 0],
] as const
/** Not prepared: what was prepared is with another connection by the next statement. */
const askPid = 'select pg_backend_pid() as pid'
/** A pool of one connection keeps the second waiting for ever. Long, for machines that stand still for seconds; shorter than the server lets the first transaction wait, which would end it (`pool.ts`). */
const lookWithinMs = 12_000

/** Throws `OperatorError` where connections are shared between transactions. A pooler in session mode passes. */
export async function refuseSharedConnections(pool: Pool, clock: Clock): Promise<void> {
  if (!(await isBehindPooler(pool))) return
  const held = await Promise.all([pool.reserve(), pool.reserve()])
  const looked = new AbortController()
  const tooLong = clock.sleep(lookWithinMs, looked.signal).then(() => {
    if (!looked.signal.aborted) throw new OperatorError(message, 'database')
  })
  try {
    await Promise.race([tooLong, requireOwnConnections(held)])
  } finally {
    looked.abort()
    for (const session of held) session.release()
  }
}

/** The process that a server announces itself as is the one that answers, unless somebody stands in between. */
async function isBehindPooler(pool: Pool): Promise<boolean> {
  const rows = await pool.unsafe<{ pid: number }[]>(askPid)
  return rows.state.pid !== rows[0]!.pid
}

type Session = Awaited<ReturnType<Pool['reserve']>>

async function requireOwnConnections(held: readonly Session[]): Promise<void> {
  const seen: (number | undefined)[] = []
  for (const order of orders) {
    for (const at of order) {
      await held[at]!.unsafe('begin')
      const [row] = await held[at]!.unsafe<{ pid: number }[]>(askPid)
      if ((seen[at] ??= row!.pid) !== row!.pid) throw new OperatorError(message, 'database')
    }
    for (const session of held) await session.unsafe('commit')
  }
}
