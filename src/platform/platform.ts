/** What every feature is handed: the database, time, ids, secrets, log, metrics and the notifier. Assembled in `app.ts` and by the test kit. */
import type { SteadyClock } from '../lib/clock.ts'
import type { IdMaker } from '../lib/ids.ts'
import type { Settings } from '../config/settings.ts'
import type { Db, Pool } from './database/sql.ts'
import type { ReadPool } from './database/read-pool.ts'
import type { Log } from './observability/log.ts'
import type { Metrics } from './observability/metrics.ts'
import type { DomainEvents } from './events/domain-events.ts'
import type { RetentionClock } from './jobs/retention-clock.ts'
import type { WriteHealth } from './database/failures.ts'
import type { Secrets } from './secrets/secrets.ts'
import type { Tracing } from './observability/tracing.ts'

/** What a process may do: answer requests, run workers, or both. */
export const roles = ['api', 'worker'] as const
export type Role = (typeof roles)[number]

export interface Platform {
  readonly pool: Pool
  /** For reads whose cost hangs on what a tenant has and asks for. */
  readonly reads: ReadPool
  readonly clock: SteadyClock
  /** The time by which things age out: asked by whatever deletes, writes off or fails something because it is old. */
  readonly retention_clock: RetentionClock
  readonly ids: IdMaker
  readonly settings: Settings
  readonly secrets: Secrets
  readonly log: Log
  readonly metrics: Metrics
  readonly domain_events: DomainEvents
  readonly tracing: Tracing
  /** Told of failures, it knows whether the database takes writes. */
  readonly storage: WriteHealth
  /** This process, as in the table `processes`. */
  readonly process_id: string
  /** Wakes workers of this process now and those of other processes by NOTIFY; an accelerator only, workers poll as well. */
  notify(...workers: string[]): void
  /** Wakes workers of this process alone. */
  wake(...workers: string[]): void
}

/** Something done every so often by the `periodic jobs` worker: made by one process at a time, small, safe to repeat. */
export interface PeriodicJob {
  readonly name: string
  readonly every_ms: number
  /** Resolves to the number of rows it changed. */
  run(): Promise<number>
}

/** A truth that `posthorn doctor` proves inside one snapshot. */
export interface Invariant {
  readonly name: string
  /** Resolves to one sentence per breach, at most 20; none when the invariant holds. */
  breaches(sql: Db): Promise<string[]>
}
