/** The platform as a module: its own tables and periodic jobs. */
import type { Settings } from './config/settings.ts'
import type { SteadyClock } from './lib/clock.ts'
import type { IdMaker } from './lib/ids.ts'
import type { Module } from './module.ts'
import { writeHealth, writeHealthWorker } from './platform/database/failures.ts'
import { readPool } from './platform/database/read-pool.ts'
import type { Pool } from './platform/database/sql.ts'
import { ofAccount, ofInstallation, ofProcess } from './platform/database/table-scope.ts'
import { domainEvents } from './platform/events/domain-events.ts'
import { recentEvents } from './platform/events/recent-events.ts'
import type { Notifications } from './platform/jobs/notifications.ts'
import { platformPeriodicJobs } from './platform/jobs/periodic-jobs.ts'
import { retentionClock } from './platform/jobs/retention-clock.ts'
import type { Log } from './platform/observability/log.ts'
import { makeMetrics, type Metrics } from './platform/observability/metrics.ts'
import { tracing, type SpanRecorder } from './platform/observability/tracing.ts'
import type { Platform } from './platform/platform.ts'
import type { Secrets } from './platform/secrets/secrets.ts'

export const platformModule: Module = {
  name: 'platform',
  tables: {
    events: ofAccount,
    idempotency_keys: ofAccount,
    installation: ofInstallation,
    processes: ofProcess,
    schema_functions: ofProcess,
    schema_migrations: ofProcess,
  },
  build: ({ platform }) => ({ services: {}, periodicJobs: platformPeriodicJobs(platform) }),
}

/** Absent parts get their production value. */
export interface PlatformParts {
  readonly pool: Pool
  readonly clock: SteadyClock
  readonly settings: Settings
  readonly secrets: Secrets
  readonly log: Log
  readonly metrics?: Metrics
  /** Without it no spans are recorded. */
  readonly spans?: SpanRecorder
  /** The embedded database, running on this machine. */
  readonly local_database?: boolean
}

export function makePlatform(
  { pool, clock, settings, secrets, log, metrics, spans, local_database }: PlatformParts,
  ids: IdMaker,
  process_id: string,
  notifications: Notifications,
): Platform {
  const measured = metrics ?? makeMetrics()
  return {
    pool,
    reads: readPool({
      pool,
      clock,
      metrics: measured,
      connections: settings.read_connections,
      local: local_database === true,
    }),
    clock,
    ids,
    settings,
    secrets,
    log,
    metrics: measured,
    domain_events: domainEvents(),
    recent_events: recentEvents(),
    tracing: tracing(spans),
    retention_clock: retentionClock({ pool, clock, log, wakePeers: () => notifications.notify('heartbeat') }),
    storage: writeHealth({ pool, log, wake: () => notifications.wake(writeHealthWorker) }),
    process_id,
    notify: (...workers) => notifications.notify(...workers),
    wake: (...workers) => notifications.wake(...workers),
  }
}
