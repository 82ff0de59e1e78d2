/** What is kept of a change beside it, such as an entry of the audit log: in the transaction of the change wherever that can be reached (docs/decisions/audit-log.md). */
import { hasWritten, isPool, transact, type Db, type Pool, type Transaction } from '../database/sql.ts'
import { replayedHeaders } from './idempotency.ts'
import type { KeepReply, Reply, Route, RouteRequest } from './route.ts'

export interface Change {
  readonly route: Route
  readonly request: Pick<RouteRequest<unknown, unknown>, 'caller' | 'params' | 'body' | 'raw' | 'session'>
  /** What the operation answers, or what its transaction came to. */
  readonly outcome: unknown
}

/** Writes the record of a change, in the transaction that it is given. */
export type Recorder = (tx: Db, change: Change) => Promise<void>

/** The recorder of a route; undefined: nothing is kept of its requests. Asked once a route. */
export type RecorderOf = (route: Route) => Recorder | undefined

/** An operation, as the pipeline runs it: with the database it writes in, and what keeps its Idempotency-Key. */
export type Call = (sql: Db, keep: KeepReply) => Promise<Reply>

/**
 * The operation with its record. One that is in a transaction already, or makes something in a single one, has the record at its end. One that opens
 * transactions itself has it at the end of the first that writes. What remains, and what writes elsewhere, is recorded once it has been done.
 */
export function recorded(route: Route, write: (tx: Db, outcome: unknown) => Promise<void>, call: Call): Call {
  return async (sql, keep) => {
    if (!isPool(sql) || isCreation(route))
      return await transact(sql, async (tx) => {
        const reply = await call(tx, keep)
        await write(tx, reply.body)
        return reply
      })
    const state = { written: false }
    const reply = await call(route.streamed === true ? sql : recordingPool(sql, write, state), async (tx, kept) => {
      await keep(tx, kept)
      await write(tx, kept.body)
      state.written = true
    })
    // a replay changes nothing
    if (!state.written && reply.headers !== replayedHeaders) await write(sql, reply.body)
    return reply
  }
}

/** Such a route may run in one transaction whoever calls it: with an Idempotency-Key it always does. */
const isCreation = ({ method, path, idempotent, streamed }: Route): boolean =>
  method === 'POST' && idempotent === undefined && streamed !== true && !path.includes('{')

/** A transaction on the way to the change, or one that found it made impossible, comes to how many rows it took, or to nothing at all. */
const isStep = (outcome: unknown): boolean => outcome === null || typeof outcome === 'number'

type Work = (tx: Transaction) => Promise<unknown>

/** The pool, of which the first transaction that writes ends with the record. */
function recordingPool(
  pool: Pool,
  write: (tx: Db, outcome: unknown) => Promise<void>,
  state: { written: boolean },
): Pool {
  const begin = async (work: Work): Promise<unknown> => {
    const before = state.written
    try {
      return await pool.begin(async (tx) => {
        const outcome = await work(tx)
        if (state.written || isStep(outcome) || !(await hasWritten(tx))) return outcome
        await write(tx, outcome)
        state.written = true
        return outcome
      })
    } catch (error) {
      // what is rolled back has no record either
      state.written = before
      throw error
    }
  }
  return new Proxy(pool, {
    get(target, name) {
      if (name !== 'begin') return Reflect.get(target, name) as unknown
      return (...given: unknown[]) =>
        typeof given[0] === 'function' ? begin(given[0] as Work) : Reflect.apply(target.begin, target, given)
    },
  })
}
