/** Watches for transactions that block the event feed (docs/decisions/feed-horizon.md). */
import type { Clock } from '../../lib/clock.ts'
import type { Db } from '../database/sql.ts'
import type { PeriodicJob, Platform } from '../platform.ts'
import {
  listRunning,
  readHorizon,
  skipUnrelatedTransactions,
  stopSkippingUnrelated,
  type RunningTransaction,
} from './feed-horizon-repository.ts'

const intervalMs = 2_000
/** No transaction of the service takes a second. */
const longBlockMs = 5_000
const sentencesMax = 20
/** Runs in a row without an unrelated transaction, after which readers no longer skip them. */
const quietRunsMax = 5

interface Watch {
  oldest: string | null
  /** When each blocking transaction was first seen, in milliseconds since 1970. */
  first_seen: ReadonlyMap<string, number>
  warned: { readonly xid: string; readonly since: number } | undefined
  quiet_runs: number
}

/**
 * Lists running transactions only if the oldest has not changed, after a warning, or while readers skip unrelated ones.
 */
export function feedHorizonJob(platform: Platform): PeriodicJob {
  const watch: Watch = { oldest: null, first_seen: new Map(), warned: undefined, quiet_runs: 0 }
  return {
    name: 'watch-feed-horizon',
    every_ms: intervalMs,
    async run() {
      const { oldest, skips_unrelated } = await readHorizon(platform.pool)
      const isStuck = oldest !== null && (oldest === watch.oldest || watch.warned !== undefined)
      watch.oldest = oldest
      const running = isStuck || skips_unrelated ? await listRunning(platform.pool) : []
      report(platform, watch, running)
      if (!skips_unrelated) {
        watch.quiet_runs = 0
        return isStuck && (await skipUnrelatedTransactions(platform.pool)) ? 1 : 0
      }
      watch.quiet_runs = running.some(({ unrelated }) => unrelated) ? 0 : watch.quiet_runs + 1
      if (watch.quiet_runs < quietRunsMax) return 0
      watch.quiet_runs = 0
      await stopSkippingUnrelated(platform.pool)
      return 1
    },
  }
}

function report({ clock, metrics, log }: Platform, watch: Watch, running: readonly RunningTransaction[]): void {
  const now = clock.now()
  const blocking = running.filter(({ unrelated }) => !unrelated)
  watch.first_seen = new Map(blocking.map(({ xid }) => [xid, watch.first_seen.get(xid) ?? now]))
  const ages = blocking.map((transaction) => ({
    transaction,
    age_ms: Math.max(now - watch.first_seen.get(transaction.xid)!, ageOf(transaction, now)),
  }))
  const worst = ages.toSorted((a, b) => b.age_ms - a.age_ms)[0]
  metrics.feed_horizon_age_seconds.set((worst?.age_ms ?? 0) / 1000)
  if (
    watch.warned !== undefined &&
    !watch.first_seen.has(watch.warned.xid) &&
    (worst === undefined || worst.age_ms < longBlockMs)
  ) {
    log.warn({ blocked_for_ms: now - watch.warned.since }, 'the event feed continues')
    watch.warned = undefined
  }
  if (watch.warned === undefined && worst !== undefined && worst.age_ms >= longBlockMs) {
    watch.warned = { xid: worst.transaction.xid, since: now - worst.age_ms }
    const { xid, database, pid, role, application_name, prepared_as } = worst.transaction
    log.warn(
      { transaction: xid, database, pid, role, application_name, prepared_as, age_ms: worst.age_ms },
      `a transaction blocks the event feed; ${remedyFor(worst.transaction)}`,
    )
  }
}

/** Checks twice if the start of a transaction is unknown. */
export async function feedBlockers(sql: Db, clock: Clock): Promise<string[]> {
  const listBlocking = async () => (await listRunning(sql)).filter(({ unrelated }) => !unrelated)
  const first = await listBlocking()
  const isAgeUnknown = first.some(({ started_at }) => started_at === null)
  if (isAgeUnknown) await clock.sleep(longBlockMs)
  const blocking = isAgeUnknown ? await listBlocking() : first
  return blocking
    .filter((transaction) =>
      transaction.started_at === null ? isAgeUnknown : ageOf(transaction, clock.now()) >= longBlockMs,
    )
    .slice(0, sentencesMax)
    .map(
      (transaction) =>
        `${nameOf(transaction)} has blocked the event feed ${durationText(transaction, clock.now())}; ${remedyFor(transaction)}.`,
    )
}

function nameOf({ xid, pid, prepared_as, database, role, application_name }: RunningTransaction): string {
  const where = `${database === null ? '' : ` in the database ${database}`}${role === null ? '' : ` of the role ${role}`}`
  if (pid !== null)
    return `The transaction ${xid} of the session ${pid}${application_name === null ? '' : ` (${application_name})`}${where}`
  return prepared_as === null
    ? `The transaction ${xid}, whose session is unknown,`
    : `The prepared transaction ${prepared_as} (${xid})${where}`
}

const durationText = (transaction: RunningTransaction, now: number): string =>
  transaction.started_at === null
    ? `for at least ${longBlockMs / 1000} seconds`
    : `for ${Math.floor(ageOf(transaction, now) / 1000)} seconds`

/** In milliseconds; 0 if unknown. */
const ageOf = ({ started_at }: RunningTransaction, now: number): number =>
  started_at === null ? 0 : Math.max(0, now - Date.parse(started_at))

function remedyFor({ pid, prepared_as, database }: RunningTransaction): string {
  if (pid !== null) return `end it with \`select pg_terminate_backend(${pid})\``
  if (prepared_as !== null)
    return `end it in the database ${database} with \`rollback prepared '${prepared_as.replaceAll("'", "''")}'\` or \`commit prepared\``
  return 'look for it in pg_stat_activity and pg_prepared_xacts as a superuser'
}
