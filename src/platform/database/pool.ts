/** Opens the pool: how values travel between PostgreSQL and the process, which bounds hold on every session, and LISTEN. */
import postgres from '#postgres'
import type { Pool } from './sql.ts'

export interface PoolOptions {
  /** Connections at most. */
  readonly max?: number
  /** Milliseconds after which opening a connection is given up. */
  readonly connect_timeout_ms?: number
  /** Milliseconds after which PostgreSQL ends a statement (57014). */
  readonly statement_timeout_ms?: number
  /** Milliseconds after which PostgreSQL ends a session whose transaction waits on this process. */
  readonly idle_in_transaction_timeout_ms?: number
  /**
   * Milliseconds after which a connection is given up (ETIMEDOUT) on which an answer is awaited and nothing was heard: the database hangs, or the network loses what is sent. Longer
   * than any statement may take. Absent: none is.
   */
  readonly silence_timeout_ms?: number
  readonly application_name?: string
  /** Told what PostgreSQL notes in passing; by default nobody is. */
  readonly onnotice?: (notice: { message?: string }) => void
}

const connectTimeoutMs = 5_000
const statementTimeoutMs = 30_000
/** No transaction waits on this process that long: the event feed stands still behind it. */
const idleInTransactionTimeoutMs = 15_000
const reconnectSecondsMax = 0.5

const timeType = { to: 1184, from: [1114, 1184], serialize: timeText, parse: isoText }
const types = {
  int8: { to: 20, from: [20], serialize: (value: unknown) => String(value), parse: Number },
  date: timeType,
  // a calendar day stays the text it is
  day: { to: 1082, from: [1082], serialize: String, parse: (text: string) => text },
} as unknown as Record<string, postgres.PostgresType>

/**
 * A pool on `url` whose sessions speak UTC. bigint arrives as number, timestamptz as ISO text with milliseconds and Z,
 * json parsed, date and numeric as text. Connects at the first query.
 */
export function openPool(url: string, options: PoolOptions = {}): Pool {
  return postgres(url, {
    max: options.max ?? 10,
    types,
    connect_timeout: (options.connect_timeout_ms ?? connectTimeoutMs) / 1000,
    // a restarted database is found again soon: the driver's own delays grow to twenty seconds
    backoff: (failures) => Math.min(0.02 * 2 ** failures, reconnectSecondsMax),
    ...(options.silence_timeout_ms === undefined ? {} : { silence_timeout: options.silence_timeout_ms / 1000 }),
    onnotice: options.onnotice ?? (() => undefined),
    connection: {
      application_name: options.application_name ?? 'posthorn',
      TimeZone: 'UTC',
      DateStyle: 'ISO',
      statement_timeout: options.statement_timeout_ms ?? statementTimeoutMs,
      idle_in_transaction_session_timeout: options.idle_in_transaction_timeout_ms ?? idleInTransactionTimeoutMs,
    },
  }) as Pool
}

/**
 * A second pool on the database of `pool`, for work that must not take the connections of everything else. Its sessions neither compile nor share out
 * their queries among processes, so that one of them takes one processor at most; each query is planned for its own values. `name` follows the application's own.
 */
export function openBeside(
  pool: Pool,
  { name, max, statement_timeout_ms }: { name: string; max: number; statement_timeout_ms: number },
): Pool {
  const { options } = pool
  const connection = {
    ...options.connection,
    application_name: `${options.connection.application_name} ${name}`,
    statement_timeout: statement_timeout_ms,
    jit: 'off',
    // as text: the driver leaves a number 0 out
    max_parallel_workers_per_gather: '0',
    plan_cache_mode: 'force_custom_plan',
  }
  return postgres({ ...options, max, connection } as unknown as postgres.Options<
    Record<string, postgres.PostgresType>
  >) as unknown as Pool
}

export interface PoolUse {
  /** Connections that work on a statement, or belong to a transaction. */
  readonly in_use: number
  /** Statements and transactions that wait for a connection. */
  readonly waiting: number
  /** Connections at most. */
  readonly max: number
}

/** How the pool is used at this moment. */
export const poolUse = (pool: Pool): PoolUse => pool.use()

/** `2026-01-31 09:30:00.1+00` as `2026-01-31T09:30:00.100Z`; what lies below a millisecond is cut off. */
export function isoText(text: string): string {
  if (text.length < 19 || text[4] !== '-' || text[10] !== ' ') return text
  const fraction = text[19] === '.' ? /^\d{1,3}/.exec(text.slice(20))![0] : ''
  return `${text.slice(0, 10)}T${text.slice(11, 19)}.${fraction.padEnd(3, '0')}Z`
}

function timeText(value: unknown): string {
  return value instanceof Date ? value.toISOString() : String(value)
}

export interface Listening {
  /** Resolves once the connection is given back. */
  stop(): Promise<void>
}

/**
 * Calls `heard` with the payload of every NOTIFY on `channel`, on a connection of its own that is opened anew whenever it is
 * lost. `missed` is called when notifications may have been missed: at the loss, and once listening again. Rejects when the
 * first connection fails.
 */
export async function listen(
  pool: Pool,
  channel: string,
  heard: (payload: string) => void,
  missed: () => void,
): Promise<Listening> {
  const { promise: stopped, resolve: stop } = Promise.withResolvers<void>()
  let stopping = false
  let listening = false
  const options = {
    ...pool.options,
    max: 1,
    idle_timeout: null,
    max_lifetime: null,
    fetch_types: false,
    onnotify: (_channel: string, payload: string) => heard(payload),
    onclose: () => {
      if (stopping || !listening) return
      listening = false
      missed()
      void relisten()
    },
  }
  const connection = postgres(options as unknown as postgres.Options<Record<string, postgres.PostgresType>>)
  const subscribe = async () => {
    await connection.unsafe(`listen "${channel.replaceAll('"', '""')}"`)
    listening = true
  }
  const relisten = async () => {
    while (!stopping && !listening) {
      // a failed attempt is followed by the driver's own delay; it repeats until the database is back
      await Promise.race([subscribe(), stopped]).catch(() => undefined)
    }
    if (!stopping) missed()
  }
  await subscribe().catch(async (error: unknown) => {
    await connection.end({ timeout: 0 })
    throw error
  })
  return {
    async stop() {
      stopping = true
      stop()
      await connection.end({ timeout: 1 })
    },
  }
}
