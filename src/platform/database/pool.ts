/** Opens connection pools with type conversions, session limits and LISTEN. */
import postgres from '#postgres'
import type { Pool } from './sql.ts'

export interface PoolOptions {
  readonly max?: number
  readonly connect_timeout_ms?: number
  readonly statement_timeout_ms?: number
  readonly idle_in_transaction_timeout_ms?: number
  /**
   * Closes a connection that is silent this long during a statement (ETIMEDOUT). Longer than any statement; absent: no
   * limit.
   */
  readonly silence_timeout_ms?: number
  readonly application_name?: string
  readonly onnotice?: (notice: { message?: string }) => void
}

const connectTimeoutMs = 5_000
const statementTimeoutMs = 30_000
/** The event feed waits for open transactions. */
const idleInTransactionTimeoutMs = 15_000
const reconnectSecondsMax = 0.5

const timeType = { to: 1184, from: [1114, 1184], serialize: timeText, parse: isoText }
const types = {
  int8: { to: 20, from: [20], serialize: (value: unknown) => String(value), parse: Number },
  date: timeType,
  day: { to: 1082, from: [1082], serialize: String, parse: (text: string) => text },
} as unknown as Record<string, postgres.PostgresType>

/**
 * Sessions are in UTC. bigint arrives as number, timestamptz as ISO text with milliseconds and Z, json parsed, date and
 * numeric as text.
 */
export function openPool(url: string, options: PoolOptions = {}): Pool {
  return postgres(url, {
    max: options.max ?? 10,
    types,
    connect_timeout: (options.connect_timeout_ms ?? connectTimeoutMs) / 1000,
    // the driver's own delays grow to twenty seconds
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

/** At most one CPU per session; each query is planned for its own values. */
export function openDerivedPool(
  pool: Pool,
  { name, max, statement_timeout_ms }: { name: string; max: number; statement_timeout_ms: number },
): Pool {
  const { options } = pool
  const connection = {
    ...options.connection,
    application_name: `${options.connection.application_name} ${name}`,
    statement_timeout: statement_timeout_ms,
    jit: 'off',
    // as text, because the driver drops the number 0
    max_parallel_workers_per_gather: '0',
    plan_cache_mode: 'force_custom_plan',
  }
  return postgres({ ...options, max, connection } as unknown as postgres.Options<
    Record<string, postgres.PostgresType>
  >) as unknown as Pool
}

export interface PoolUse {
  readonly in_use: number
  readonly waiting: number
  readonly max: number
}

export const poolUse = (pool: Pool): PoolUse => pool.use()

/** Microseconds are cut off. */
export function isoText(text: string): string {
  if (text.length < 19 || text[4] !== '-' || text[10] !== ' ') return text
  const fraction = text[19] === '.' ? /^\d{1,3}/.exec(text.slice(20))![0] : ''
  return `${text.slice(0, 10)}T${text.slice(11, 19)}.${fraction.padEnd(3, '0')}Z`
}

function timeText(value: unknown): string {
  return value instanceof Date ? value.toISOString() : String(value)
}

export interface Listening {
  stop(): Promise<void>
}

/** Calls `onMissed` after losing the connection and after reconnecting. Rejects if the first connection fails. */
export async function listen(
  pool: Pool,
  channel: string,
  onMessage: (payload: string) => void,
  onMissed: () => void,
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
    onnotify: (_channel: string, payload: string) => onMessage(payload),
    onclose: () => {
      if (stopping || !listening) return
      listening = false
      onMissed()
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
      // the driver waits between failed attempts
      await Promise.race([subscribe(), stopped]).catch(() => undefined)
    }
    if (!stopping) onMissed()
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
