/** The services that every module builds on. */
import type { Settings } from '../config/settings.ts'
import type { SteadyClock } from '../lib/clock.ts'
import type { IdMaker } from '../lib/ids.ts'
import type { WriteHealth } from './database/failures.ts'
import type { ReadPool } from './database/read-pool.ts'
import type { Db, Pool } from './database/sql.ts'
import type { DomainEvents } from './events/domain-events.ts'
import type { RecentEvents } from './events/recent-events.ts'
import type { RetentionClock } from './jobs/retention-clock.ts'
import type { Log } from './observability/log.ts'
import type { Metrics } from './observability/metrics.ts'
import type { Tracing } from './observability/tracing.ts'
import type { Secrets } from './secrets/secrets.ts'

export const roles = ['api', 'worker'] as const
export type Role = (typeof roles)[number]

export interface Platform {
  readonly pool: Pool
  readonly reads: ReadPool
  readonly clock: SteadyClock
  /** For deleting, writing off or failing something because of its age. */
  readonly retention_clock: RetentionClock
  readonly ids: IdMaker
  readonly settings: Settings
  readonly secrets: Secrets
  readonly log: Log
  readonly metrics: Metrics
  readonly domain_events: DomainEvents
  readonly recent_events: RecentEvents
  readonly tracing: Tracing
  /** Report failures to it. */
  readonly storage: WriteHealth
  readonly process_id: string
  /** Here and elsewhere. Only an accelerator: workers poll as well. */
  notify(...workers: string[]): void
  /** Here only. */
  wake(...workers: string[]): void
}

/** Runs in one process at a time; must be small and safe to repeat. */
export interface PeriodicJob {
  readonly name: string
  readonly every_ms: number
  run(): Promise<number>
}

/** Checked by `posthorn doctor` in one snapshot. */
export interface Invariant {
  readonly name: string
  /** One sentence per violation, at most 20. */
  breaches(sql: Db): Promise<string[]>
}

export const breachesMax = 20

export const invariant = <Row>(
  name: string,
  find: (sql: Db) => Promise<readonly Row[]>,
  sentence: (row: Row) => string,
): Invariant => ({
  name,
  breaches: async (sql) => (await find(sql)).map(sentence),
})
