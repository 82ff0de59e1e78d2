/**
 * Records changes for the audit log, in the transaction of the change wherever possible (docs/decisions/audit-log.md).
 */
import { hasWritten, isPool, transact, type Db, type Pool, type Transaction } from '../database/sql.ts'
import { replayedHeaders } from './idempotency.ts'
import type { StoreReply, Reply, Route, RouteRequest } from './route.ts'

export interface Change {
  readonly route: Route
  readonly request: Pick<RouteRequest<unknown, unknown>, 'caller' | 'params' | 'body' | 'raw' | 'session'>
  readonly outcome: unknown
}

export type Recorder = (tx: Db, change: Change) => Promise<void>

export type RecorderOf = (route: Route) => Recorder | undefined

export type Call = (sql: Db, keep: StoreReply) => Promise<Reply>

/** At the end of the first transaction that writes, otherwise after the operation. */
export function recorded(route: Route, write: (tx: Db, outcome: unknown) => Promise<void>, call: Call): Call {
  return async (sql, keep) => {
    if (!isPool(sql) || isCreation(route))
      return await transact(sql, async (tx) => {
        const reply = await call(tx, keep)
        await write(tx, reply.body)
        return reply
      })
    const state = { written: false }
    const reply = await call(route.streamed === true ? sql : recordingPool(sql, write, state), async (tx, stored) => {
      await keep(tx, stored)
      await write(tx, stored.body)
      state.written = true
    })
    // a replay changes nothing
    if (!state.written && reply.headers !== replayedHeaders) await write(sql, reply.body)
    return reply
  }
}

/** With an Idempotency-Key such a route always runs in one transaction. */
const isCreation = ({ method, path, idempotent, streamed }: Route): boolean =>
  method === 'POST' && idempotent === undefined && streamed !== true && !path.includes('{')

/** A transaction that only prepares or has no effect results in a row count or null. */
const isStep = (outcome: unknown): boolean => outcome === null || typeof outcome === 'number'

type Work = (tx: Transaction) => Promise<unknown>

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
      state.written = before
      throw error
    }
  }
  return new Proxy(pool, {
    get(target, name) {
      if (name !== 'begin') return Reflect.get(target, name) as unknown
      return (...args: unknown[]) =>
        typeof args[0] === 'function' ? begin(args[0] as Work) : Reflect.apply(target.begin, target, args)
    },
  })
}
