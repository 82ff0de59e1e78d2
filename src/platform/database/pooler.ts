/** Detects a connection pooler in transaction mode, which loses session state such as advisory locks and LISTEN. */
import type { Clock } from '../../lib/clock.ts'
import { OperatorError } from '../../lib/operator-error.ts'
import type { Pool } from './sql.ts'

const message =
  'DATABASE_URL leads to a connection pooler that shares connections between transactions (PgBouncer in transaction mode, for example). This service listens for notifications and holds advisory locks, which need a session each: connect to PostgreSQL itself, or to a pool in session mode.'
/** For one of these orders a pooler needs two connections. */
const orders = [
  [0, 1],
  [0, 1],
  [1, 0],
] as const
/** Not prepared, because the next statement may run on another connection. */
const selectPid = 'select pg_backend_pid() as pid'
/** Shorter than the idle-in-transaction limit (`pool.ts`). */
const timeoutMs = 12_000

/** Throws `OperatorError` in transaction mode. */
export async function refuseSharedConnections(pool: Pool, clock: Clock): Promise<void> {
  if (!(await isBehindPooler(pool))) return
  const connections = await Promise.all([pool.reserve(), pool.reserve()])
  const finished = new AbortController()
  const tooLong = clock.sleep(timeoutMs, finished.signal).then(() => {
    if (!finished.signal.aborted) throw new OperatorError(message, 'database')
  })
  try {
    await Promise.race([tooLong, requireOwnConnections(connections)])
  } finally {
    finished.abort()
    for (const session of connections) session.release()
  }
}

/** Without a pooler the announced backend pid is the one that answers. */
async function isBehindPooler(pool: Pool): Promise<boolean> {
  const rows = await pool.unsafe<{ pid: number }[]>(selectPid)
  return rows.state.pid !== rows[0]!.pid
}

type Session = Awaited<ReturnType<Pool['reserve']>>

async function requireOwnConnections(connections: readonly Session[]): Promise<void> {
  const seen: (number | undefined)[] = []
  for (const order of orders) {
    for (const at of order) {
      await connections[at]!.unsafe('begin')
      const [row] = await connections[at]!.unsafe<{ pid: number }[]>(selectPid)
      if ((seen[at] ??= row!.pid) !== row!.pid) throw new OperatorError(message, 'database')
    }
    for (const session of connections) await session.unsafe('commit')
  }
}
