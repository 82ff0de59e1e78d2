/** The platform of a process of the benchmark that is neither the product nor its command line: on the service's database, without notifications to anybody. */
import { tracing } from '../src/platform/observability/tracing.ts'
import { readConfig, secretKeys, type Config } from '../src/config/config.ts'
import { systemClock } from '../src/lib/clock.ts'
import { idMaker } from '../src/lib/ids.ts'
import { openPool } from '../src/platform/database/pool.ts'
import { expensiveReads } from '../src/platform/database/expensive-reads.ts'
import { ageing } from '../src/platform/jobs/ageing.ts'
import { writability } from '../src/platform/database/writability.ts'
import { makeLog } from '../src/platform/observability/log.ts'
import { makeMetrics } from '../src/platform/observability/metrics.ts'
import type { Platform } from '../src/platform/platform.ts'
import { domainEvents } from '../src/platform/events/domain-events.ts'
import { openSecrets } from '../src/platform/secrets/secrets.ts'

/** `connections` is how many to the database there may be. The environment names the database. */
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
    reads: expensiveReads({ pool, clock, metrics, connections: settings.read_connections, local: false }),
    clock,
    ids: idMaker(clock),
    settings,
    secrets: await openSecrets(pool, await secretKeys(settings)),
    log,
    metrics,
    domain_events: domainEvents(),
    tracing: tracing(undefined),
    ageing: ageing({ pool, clock, log, wakePeers: () => undefined }),
    storage: writability({ pool, log, wake: () => undefined }),
    process_id: `bench-${name}`,
    notify: () => undefined,
    wake: () => undefined,
  }
}
