/** Makes the platform of a process: what every feature is built on. */
import type { SteadyClock } from '../lib/clock.ts'
import type { IdMaker } from '../lib/ids.ts'
import { ageing } from './jobs/ageing.ts'
import type { Pool } from './database/sql.ts'
import { writability, writabilityWorker } from './database/writability.ts'
import { expensiveReads } from './database/expensive-reads.ts'
import type { Log } from './observability/log.ts'
import { makeMetrics, type Metrics } from './observability/metrics.ts'
import type { Notifier } from './jobs/notifier.ts'
import type { Platform } from './platform.ts'
import { domainEvents } from './events/domain-events.ts'
import type { Secrets } from './secrets/secrets.ts'
import type { Settings } from '../config/settings.ts'
import { tracing, type SpanRecorder } from './observability/tracing.ts'

/** What it is made of; what is left out gets its production value. */
export interface PlatformParts {
  readonly pool: Pool
  readonly clock: SteadyClock
  readonly settings: Settings
  readonly secrets: Secrets
  readonly log: Log
  readonly metrics?: Metrics
  /** Absent: none are recorded. */
  readonly spans?: SpanRecorder
  /** The database is one that this process started, or found started, on this machine. */
  readonly local_database?: boolean
}

export function makePlatform(
  { pool, clock, settings, secrets, log, metrics, spans, local_database }: PlatformParts,
  ids: IdMaker,
  process_id: string,
  notifications: Notifier,
): Platform {
  const measured = metrics ?? makeMetrics()
  return {
    pool,
    reads: expensiveReads({
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
    tracing: tracing(spans),
    ageing: ageing({ pool, clock, log, wakePeers: () => notifications.notify('heartbeat') }),
    storage: writability({ pool, log, wake: () => notifications.wake(writabilityWorker) }),
    process_id,
    notify: (...workers) => notifications.notify(...workers),
    wake: (...workers) => notifications.wake(...workers),
  }
}
