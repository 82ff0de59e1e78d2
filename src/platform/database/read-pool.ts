/**
 * The pool for expensive reads, with limits per account (behaviour: operating 7) (docs/decisions/expensive-reads.md).
 */
import { constants, setPriority } from 'node:os'
import { Problem } from '../../api/problem.ts'
import { pause, withDeadline, type SteadyClock } from '../../lib/clock.ts'
import { advisoryLocks } from './locks.ts'
import { openDerivedPool, poolUse, type PoolUse } from './pool.ts'
import { fairQueue, type FairQueue } from './fair-queue.ts'
import { sqlState, type Db, type Pool, type Transaction } from './sql.ts'
import type { Metrics } from '../observability/metrics.ts'

const readLimits = {
  running_per_account: 2,
  waiting: 200,
  waiting_per_account: 20,
  wait_ms: 5_000,
  run_ms: 10_000,
} as const

/** In case this process dies before it enforces `run_ms`. */
const statementTimeoutMs = 15_000
const retryAfterSeconds = 5
const slotPollMs = 100
/** A cancel request between two statements has no effect. */
const cancelRetryMs = 20

/** A client that keeps disconnecting would start reads without limit. */
const abandonedHoldMs = 1_000

export interface ReadRequest {
  readonly account_id: string
  readonly gone: AbortSignal
  /** Tells the caller how to shorten a slow read. */
  readonly narrow: string
  /** Default: `wait_ms` of `readLimits`. */
  readonly wait_ms?: number
}

export interface ReadPool {
  /**
   * Throws 429 `rate_limit_exceeded` without a free slot, and 503 `upstream_unavailable` for a cancelled read. Code
   * between statements must watch `ended`.
   */
  run<T>(request: ReadRequest, work: (sql: Transaction, ended: AbortSignal) => Promise<T>): Promise<T>
  use(): PoolUse
  readonly pool: Pool
  close(): Promise<void>
}

interface Parts {
  /** Cancels statements. */
  readonly pool: Pool
  readonly clock: SteadyClock
  readonly metrics: Metrics
  readonly connections: number
  /** On this machine, under the same user. */
  readonly local: boolean
}

type Work<T> = (sql: Transaction, ended: AbortSignal) => Promise<T>

interface Reads extends Parts {
  readonly own: Pool
  readonly queue: FairQueue
}

export function readPool(parts: Parts): ReadPool {
  const { pool, clock, connections } = parts
  const own = openDerivedPool(pool, { max: connections, statement_timeout_ms: statementTimeoutMs, name: 'reads' })
  const queue = fairQueue(clock, { ...readLimits, running: connections })
  const reads: Reads = { ...parts, own, queue }
  return {
    run: (request, work) => run(reads, request, work),
    use: () => ({ ...poolUse(own), waiting: queue.waiting() }),
    pool: own,
    close: () => own.end({ timeout: 1 }),
  }
}

async function run<T>(reads: Reads, request: ReadRequest, work: Work<T>): Promise<T> {
  const { clock, queue } = reads
  const wait_ms = request.wait_ms ?? readLimits.wait_ms
  const until = clock.elapsed() + wait_ms
  const release = await queue.acquire(request.account_id, wait_ms, request.gone)
  if (release === null) throw refusal(reads, request)
  try {
    for (;;) {
      const outcome = await attempt(reads, request, work)
      if (outcome !== noSlot) return outcome
      if (request.gone.aborted || clock.elapsed() + slotPollMs > until) throw refusal(reads, request)
      await clock.sleep(slotPollMs, request.gone)
    }
  } finally {
    if (request.gone.aborted) void pause(abandonedHoldMs).then(release)
    else release()
  }
}

const noSlot = Symbol('other processes hold all slots')

async function attempt<T>(
  reads: Reads,
  { account_id, gone, narrow }: ReadRequest,
  work: Work<T>,
): Promise<T | typeof noSlot> {
  const { own, pool, clock, metrics } = reads
  return (await own.begin('read only', async (tx) => {
    const { pid, acquired } = await acquireSlots(tx, account_id, reads.connections, readLimits.running_per_account)
    if (!acquired) return noSlot
    if (reads.local) lowerPriority(pid)
    return await withDeadline(clock, readLimits.run_ms, async (deadline) => {
      try {
        const ended = AbortSignal.any([gone, deadline])
        return await cancellable(pool, pid, ended, () => work(tx, ended))
      } catch (error) {
        // a bug, not a read-only database
        if (sqlState(error) === '25006') throw new Error('an expensive read tried to write', { cause: error })
        if (gone.aborted) throw abandoned(metrics)
        if (!deadline.aborted) throw error
        metrics.reads_ended.inc({ reason: 'timed_out' })
        throw error instanceof Problem ? error : tookTooLong(narrow)
      }
    })
  })) as T | typeof noSlot
}

/** On two CPUs, two reads would starve everything else. */
function lowerPriority(pid: number): void {
  try {
    setPriority(pid, constants.priority.PRIORITY_LOW)
  } catch {
    // not permitted, or already gone
  }
}

async function cancellable<T>(pool: Db, pid: number, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  let ended = false
  let cancelling: Promise<void> | undefined
  const cancel = async () => {
    while (!ended) {
      await cancelStatement(pool, pid).catch(() => undefined) // PostgreSQL's own limit remains
      if (!ended) await pause(cancelRetryMs)
    }
  }
  const begin = () => {
    cancelling = cancel()
  }
  signal.throwIfAborted()
  signal.addEventListener('abort', begin, { once: true })
  try {
    return await work()
  } finally {
    ended = true
    signal.removeEventListener('abort', begin)
    // a late cancel would hit the next statement of this session
    await cancelling
  }
}

export const tookTooLong = (narrow: string): Problem =>
  new Problem('upstream_unavailable', `The read was cancelled after ${readLimits.run_ms / 1000} seconds. ${narrow}`)

function abandoned(metrics: Metrics): Problem {
  metrics.reads_ended.inc({ reason: 'abandoned' })
  return new Problem(
    'upstream_unavailable',
    'The client closed the connection before the response, so the read was cancelled.',
  )
}

function refusal({ metrics }: Reads, { gone }: ReadRequest): Problem {
  if (gone.aborted) return abandoned(metrics)
  metrics.reads_ended.inc({ reason: 'refused' })
  return new Problem(
    'rate_limit_exceeded',
    `The account may run only ${readLimits.running_per_account} expensive reads at once. Retry after the seconds in Retry-After, and send such requests one after the other.`,
    { headers: { 'Retry-After': String(retryAfterSeconds) } },
  )
}

async function acquireSlots(
  tx: Transaction,
  account_id: string,
  slots: number,
  own_slots: number,
): Promise<{ pid: number; acquired: boolean }> {
  const [row] = await tx<{ pid: number; acquired: boolean }[]>`
    select pg_backend_pid() as pid,
      (
        select slot
        from generate_series(1, ${own_slots}::int) slot
        where pg_try_advisory_xact_lock(hashtextextended(${`expensive read ${account_id} `} || slot, 0))
        limit 1
      ) is not null
      and (
        select slot
        from generate_series(1, ${slots}::int) slot
        where pg_try_advisory_xact_lock(${advisoryLocks.read_pool}::bigint + slot)
        limit 1
      ) is not null as acquired`
  return row!
}

async function cancelStatement(sql: Db, pid: number): Promise<void> {
  await sql`select pg_cancel_backend(${pid})`
}
