/**
 * Reads whose cost hangs on what a tenant has and asks for: they run on a few connections of their own, few at a time for each account, and end
 * with their caller (behaviour: operating 7). Why so: docs/decisions/expensive-reads.md.
 */
import { constants, setPriority } from 'node:os'
import { Problem } from '../../api/problem.ts'
import { pause, withDeadline, type SteadyClock } from '../../lib/clock.ts'
import { openBeside, poolUse, type PoolUse } from './pool.ts'
import { sqlState, type Db, type Pool, type Transaction } from './sql.ts'
import { cancelStatement, takePlaces } from './expensive-reads-store.ts'
import type { Metrics } from '../observability/metrics.ts'
import { readGate, type ReadGate } from './read-gate.ts'

const expensiveReadLimits = {
  /** At once, of one account. */
  running_per_account: 2,
  /** Reads that wait in this process. */
  waiting: 200,
  /** Of them, of one account. */
  waiting_per_account: 20,
  wait_ms: 5_000,
  run_ms: 10_000,
} as const

/** PostgreSQL's own bound, should this process not be there any more to keep `run_ms`. */
const statementTimeoutMs = 15_000
const retryAfterSeconds = 5
/** Between two looks whether other processes have left a place. */
const placesAgainMs = 100
/** Between two attempts to end a statement: one that comes between two statements ends nothing. */
const cancelAgainMs = 20

/** How long a read whose caller has gone keeps its place: to begin a read costs too, and whoever keeps leaving would begin them without end. */
const restAfterAbandonedMs = 1_000

export interface ReadRequest {
  readonly account_id: string
  /** Aborts when nobody waits for the answer any more. */
  readonly gone: AbortSignal
  /** What the caller may do about a read that took too long: a sentence. */
  readonly narrow: string
  /** Milliseconds to wait for a turn; by default `wait_ms`. */
  readonly wait_ms?: number
}

export interface ExpensiveReads {
  /**
   * Runs `work` in a read-only transaction. Throws 429 `rate_limit_exceeded` where its turn did not come in time, and 503 `upstream_unavailable` where it was
   * ended, after ten seconds or because the caller is gone; a Problem of `work` itself goes first. Statements are ended from outside; work between them ends itself when
   * `ended` aborts.
   */
  run<T>(request: ReadRequest, work: (sql: Transaction, ended: AbortSignal) => Promise<T>): Promise<T>
  /** The connections; `waiting` counts what waits for its turn. */
  use(): PoolUse
  readonly pool: Pool
  close(): Promise<void>
}

interface Parts {
  /** The connections of everything else: on one of them statements are cancelled. */
  readonly pool: Pool
  readonly clock: SteadyClock
  readonly metrics: Metrics
  /** Reads at once in all processes together. */
  readonly connections: number
  /** The database runs on this machine, under a user whose processes this one may rule: reads then have the processor after everything else. */
  readonly local: boolean
}

type Work<T> = (sql: Transaction, ended: AbortSignal) => Promise<T>

interface Reads extends Parts {
  readonly own: Pool
  readonly gate: ReadGate
}

/** Connects at the first read. */
export function expensiveReads(parts: Parts): ExpensiveReads {
  const { pool, clock, connections } = parts
  const own = openBeside(pool, { max: connections, statement_timeout_ms: statementTimeoutMs, name: 'reads' })
  const gate = readGate(clock, { ...expensiveReadLimits, running: connections })
  const reads: Reads = { ...parts, own, gate }
  return {
    run: (request, work) => run(reads, request, work),
    use: () => ({ ...poolUse(own), waiting: gate.waiting() }),
    pool: own,
    close: () => own.end({ timeout: 1 }),
  }
}

async function run<T>(reads: Reads, request: ReadRequest, work: Work<T>): Promise<T> {
  const { clock, gate } = reads
  const wait_ms = request.wait_ms ?? expensiveReadLimits.wait_ms
  const until = clock.elapsed() + wait_ms
  const leave = await gate.enter(request.account_id, wait_ms, request.gone)
  if (leave === null) throw refusal(reads, request)
  try {
    for (;;) {
      const outcome = await attempt(reads, request, work)
      if (outcome !== noPlace) return outcome
      if (request.gone.aborted || clock.elapsed() + placesAgainMs > until) throw refusal(reads, request)
      await clock.sleep(placesAgainMs, request.gone)
    }
  } finally {
    if (request.gone.aborted) void pause(restAfterAbandonedMs).then(leave)
    else leave()
  }
}

const noPlace = Symbol('other processes hold the places')

/** Does the work, unless other processes hold the places. */
async function attempt<T>(
  reads: Reads,
  { account_id, gone, narrow }: ReadRequest,
  work: Work<T>,
): Promise<T | typeof noPlace> {
  const { own, pool, clock, metrics } = reads
  return (await own.begin('read only', async (tx) => {
    const { pid, taken } = await takePlaces(tx, account_id, reads.connections, expensiveReadLimits.running_per_account)
    if (!taken) return noPlace
    if (reads.local) giveWay(pid)
    return await withDeadline(clock, expensiveReadLimits.run_ms, async (deadline) => {
      try {
        const ended = AbortSignal.any([gone, deadline])
        return await endable(pool, pid, ended, () => work(tx, ended))
      } catch (error) {
        // it would be taken for a database that is read-only (503, not ready), and is a bug
        if (sqlState(error) === '25006') throw new Error('an expensive read tried to write', { cause: error })
        if (gone.aborted) throw abandoned(metrics)
        if (!deadline.aborted) throw error
        metrics.reads_ended.inc({ reason: 'timed_out' })
        throw error instanceof Problem ? error : tookTooLong(narrow)
      }
    })
  })) as T | typeof noPlace
}

/** Lets everything else go first: with two processors, two reads would take both of them from those who send. */
function giveWay(pid: number): void {
  try {
    setPriority(pid, constants.priority.PRIORITY_LOW)
  } catch {
    // not allowed, or gone already: it is only slower for others
  }
}

/** Does the work of a session, whose statements are cancelled from the moment of the signal until the work has ended. */
async function endable<T>(pool: Db, pid: number, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  let ended = false
  let cancelling: Promise<void> | undefined
  const cancel = async () => {
    while (!ended) {
      await cancelStatement(pool, pid).catch(() => undefined) // PostgreSQL's own bound is left
      if (!ended) await pause(cancelAgainMs)
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
    // the session does nothing else before: a late cancel would end the statement of somebody else
    await cancelling
  }
}

/** 503: the read took ten seconds; `narrow` is a sentence that tells what would make it shorter. */
export const tookTooLong = (narrow: string): Problem =>
  new Problem(
    'upstream_unavailable',
    `The read was ended after ${expensiveReadLimits.run_ms / 1000} seconds. ${narrow}`,
  )

function abandoned(metrics: Metrics): Problem {
  metrics.reads_ended.inc({ reason: 'abandoned' })
  return new Problem('upstream_unavailable', 'The client closed the connection before the answer; the read was ended.')
}

/** Why a read did not come to its turn. */
function refusal({ metrics }: Reads, { gone }: ReadRequest): Problem {
  if (gone.aborted) return abandoned(metrics)
  metrics.reads_ended.inc({ reason: 'refused' })
  return new Problem(
    'rate_limit_exceeded',
    `The account has as many expensive reads under way as it may have: ${expensiveReadLimits.running_per_account} at once. Wait the seconds of Retry-After, then repeat; one after the other they are answered soonest.`,
    { headers: { 'Retry-After': String(retryAfterSeconds) } },
  )
}
