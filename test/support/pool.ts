/** Database pools for tests. */
import { openPool, type PoolOptions } from '../../src/platform/database/pool.ts'
import type { Pool } from '../../src/platform/database/sql.ts'
import { boundMs } from './waiting.ts'

/** Without time limits, because the machine may stop processes for a while. */
export const testPool = (url: string, options: PoolOptions = {}): Pool =>
  openPool(url, {
    connect_timeout_ms: 60_000,
    statement_timeout_ms: boundMs,
    idle_in_transaction_timeout_ms: boundMs,
    ...options,
  })
