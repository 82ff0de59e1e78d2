/**
 * Whether the database takes writes. A write that failed for want of room tells that it does not; from then on small writes of this file's own
 * ask until one succeeds. While all is well nothing is asked (behaviour: operating 2.3).
 */
import type { Worker } from '../jobs/worker.ts'
import type { Log } from '../observability/log.ts'
import { isUnreachable, poolClosed, refusesWrites, wasCancelled } from './failures.ts'
import { transact, type Pool } from './sql.ts'

export interface Writability {
  /** False after a write that failed for want of room, and where the database cannot be reached, until a write succeeds. */
  readonly writable: boolean
  /** Tells of a failure, whatever it is: one that says nothing about the storage is passed over. */
  failed(error: unknown): void
  /** Asks again; does nothing while nothing has failed. */
  readonly worker: Worker
  /** Called when the database takes writes again. */
  onRecovered(listener: () => void): void
}

export interface WritabilityParts {
  readonly pool: Pool
  readonly log: Log
  /** Wakes the worker. */
  readonly wake: () => void
}

export const writabilityWorker = 'storage'

const probeEveryMs = 250
const idleMs = 60_000
/** A megabyte of rows: with less room than that the next writes would fail again. */
const probeRows = 30_000

export function writability({ pool, log, wake }: WritabilityParts): Writability {
  const listeners: (() => void)[] = []
  let state: 'writable' | 'in doubt' | 'refused' = 'writable'
  const refuse = (error: unknown) => {
    if (state !== 'refused')
      log.error({ err: error }, 'the database takes no writes; what needs one is answered 503 until it does')
    state = 'refused'
  }
  return {
    get writable() {
      return state !== 'refused'
    },
    failed(error) {
      if (poolClosed(error)) return
      if (refusesWrites(error)) refuse(error)
      else if (!isUnreachable(error)) return
      // one connection may break while all others go on
      else if (state === 'writable') state = 'in doubt'
      wake()
    },
    worker: {
      name: writabilityWorker,
      idle_ms: idleMs,
      rest_ms: probeEveryMs,
      async tick() {
        if (state === 'writable') return 0
        try {
          await probe(pool)
        } catch (error) {
          if (poolClosed(error)) throw error
          // another failure says nothing about the storage: a role that may make no such table, for example
          if (refusesWrites(error) || isUnreachable(error) || wasCancelled(error)) {
            refuse(error)
            return 1
          }
        }
        if (state === 'refused') log.info('the database takes writes again')
        state = 'writable'
        for (const listener of listeners) listener()
        return 0
      },
    },
    onRecovered: (listener) => void listeners.push(listener),
  }
}

/** Needs room for itself, and leaves nothing behind. */
async function probe(pool: Pool): Promise<void> {
  await transact(pool, async (sql) => {
    await sql`set local statement_timeout = '5s'`
    await sql`create temp table posthorn_probe on commit drop as select n from generate_series(1, ${probeRows}::int) as n`
  })
}
