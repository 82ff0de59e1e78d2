/** Classifies database errors, and tracks whether the database accepts writes. */
import { transact, type Pool } from './sql.ts'
import type { Worker } from '../jobs/worker.ts'
import type { Log } from '../observability/log.ts'

const lostCodes = new Set([
  'CONNECTION_CLOSED',
  'CONNECTION_ENDED',
  'CONNECTION_DESTROYED',
  'CONNECT_TIMEOUT',
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ENOENT',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENOTFOUND',
  '57P01',
  '57P02',
  '57P03',
])
const closedCodes = ['CONNECTION_ENDED', 'CONNECTION_DESTROYED']
const refusedCodes = ['CONNECT_TIMEOUT', 'ECONNREFUSED', 'ENOENT', 'EHOSTUNREACH', 'ENOTFOUND', '57P03']
/** PostgreSQL: Appendix A. */
const unreachableState = /^(08...|57P0[1-5]|53300)$/
/** In a statement these codes mean something else. */
const refusedLogin = /^(28...|3D000|55000)$/

/** File system errors have the same codes, but also a `path`. */
const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && !('path' in error) ? String(error.code) : ''

/** The statement may have been executed. */
export const connectionLost = (error: unknown): boolean =>
  lostCodes.has(codeOf(error)) || codeOf(error).startsWith('08')

export const poolClosed = (error: unknown): boolean => closedCodes.includes(codeOf(error))

export const neverSent = (error: unknown): boolean => refusedCodes.includes(codeOf(error))

const refusedState = /^(53[0-2]00|58030|25006)$/

/** The disk is full, failing or read-only. The statement was not executed. */
export const refusesWrites = (error: unknown): boolean =>
  refusedState.test(codeOf(error)) ||
  (codeOf(error) === '42501' && (error as Error).message.endsWith(': Read-only file system'))

export const wasCancelled = (error: unknown): boolean => codeOf(error) === '57014'

export const isUnreachable = (error: unknown): boolean =>
  lostCodes.has(codeOf(error)) ||
  unreachableState.test(codeOf(error)) ||
  (refusedLogin.test(codeOf(error)) && endedSession(error))

/** Temporary and not caused by the data. */
export const mayPass = (error: unknown): boolean =>
  connectionLost(error) ||
  isUnreachable(error) ||
  refusesWrites(error) ||
  wasCancelled(error) ||
  /^(40...|55P03)$/.test(codeOf(error))

const endedSession = (error: unknown): boolean => (error as { severity?: unknown }).severity === 'FATAL'

export interface WriteHealth {
  /** (behaviour: operating 2.3) */
  readonly writable: boolean
  failed(error: unknown): void
  readonly worker: Worker
  onRecovered(listener: () => void): void
}

export interface WriteHealthParts {
  readonly pool: Pool
  readonly log: Log
  readonly wake: () => void
}

export const writeHealthWorker = 'storage'

const probeEveryMs = 250
const idleMs = 60_000
/** A megabyte: with less space the next writes would fail again. */
const probeRows = 30_000

export function writeHealth({ pool, log, wake }: WriteHealthParts): WriteHealth {
  const listeners: (() => void)[] = []
  let state: 'writable' | 'in doubt' | 'refused' = 'writable'
  const refuse = (error: unknown) => {
    if (state !== 'refused')
      log.error({ err: error }, 'the database accepts no writes; requests that need one get 503 until it does')
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
      // a single connection may break
      else if (state === 'writable') state = 'in doubt'
      wake()
    },
    worker: {
      name: writeHealthWorker,
      poll_every_ms: idleMs,
      pause_ms: probeEveryMs,
      async tick() {
        if (state === 'writable') return 0
        try {
          await probe(pool)
        } catch (error) {
          if (poolClosed(error)) throw error
          if (refusesWrites(error) || isUnreachable(error) || wasCancelled(error)) {
            refuse(error)
            return 1
          }
        }
        if (state === 'refused') log.info('the database accepts writes again')
        state = 'writable'
        for (const listener of listeners) listener()
        return 0
      },
    },
    onRecovered: (listener) => void listeners.push(listener),
  }
}

async function probe(pool: Pool): Promise<void> {
  await transact(pool, async (sql) => {
    await sql`set local statement_timeout = '5s'`
    await sql`create temp table posthorn_probe on commit drop as select n from generate_series(1, ${probeRows}::int) as n`
  })
}
