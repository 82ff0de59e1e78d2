/** The platform of a benchmark process, on the service's database, without notifications. */
import { tracing } from '../src/platform/observability/tracing.ts'
import { readConfig, secretKeys, type Config } from '../src/config/config.ts'
import { systemClock } from '../src/lib/clock.ts'
import { idMaker } from '../src/lib/ids.ts'
import { openPool } from '../src/platform/database/pool.ts'
import { readPool } from '../src/platform/database/read-pool.ts'
import { retentionClock } from '../src/platform/jobs/retention-clock.ts'
import { writeHealth } from '../src/platform/database/failures.ts'
import { makeLog } from '../src/platform/observability/log.ts'
import { makeMetrics } from '../src/platform/observability/metrics.ts'
import type { Platform } from '../src/platform/platform.ts'
import { domainEvents } from '../src/platform/events/domain-events.ts'
import { recentEvents } from '../src/platform/events/recent-events.ts'
import { openSecrets } from '../src/platform/secrets/secrets.ts'

/** `connections`: to the database, which the environment names. */
export async function openPlatform(
  name: string,
  connections: number,
): Promise<Platform & { readonly settings: Config }> {
  const settings = readConfig(process.env)
  const clock = systemClock()
  const pool = openPool(settings.database_url!, { max: connections, application_name: `posthorn bench ${name}` })
  const metrics = makeMetrics(true)
  const log = makeLog('error')
  return {
    pool,
    reads: readPool({ pool, clock, metrics, connections: settings.read_connections, local: false }),
    clock,
    ids: idMaker(clock),
    settings,
    secrets: await openSecrets(pool, await secretKeys(settings)),
    log,
    metrics,
    domain_events: domainEvents(),
    recent_events: recentEvents(),
    tracing: tracing(undefined),
    retention_clock: retentionClock({ pool, clock, log, wakePeers: () => undefined }),
    storage: writeHealth({ pool, log, wake: () => undefined }),
    process_id: `bench-${name}`,
    notify: () => undefined,
    wake: () => undefined,
  }
}
