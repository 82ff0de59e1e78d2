/** What holds the event feed up: the watch behind the gauge and the log, and the proof for `posthorn doctor` (docs/decisions/feed-horizon.md). */
import type { Clock } from '../../lib/clock.ts'
import type { Db } from '../database/sql.ts'
import {
  lookPastBystanders,
  listRunning,
  readHorizon,
  stopLooking,
  type RunningTransaction,
} from './feed-horizon-store.ts'
import type { PeriodicJob, Platform } from '../platform.ts'

const watchEveryMs = 2_000
/** No transaction of the service takes a second; from here on somebody should know. */
const longHeldMs = 5_000
const sentencesMax = 20
/** Looks in a row that found nobody to look past. */
const quietLooks = 5

/** What a watch remembers from one look to the next. */
interface Watch {
  /** The oldest transaction at the last look. */
  oldest: string | null
  /** What holds the feed, by transaction id, and when it was seen first: milliseconds since 1970. */
  seen: ReadonlyMap<string, number>
  /** What the log has told of, and when that began. */
  warned: { readonly xid: string; readonly since: number } | undefined
  quiet: number
}

/** Looks who runs only when the oldest transaction of the cluster is the one of the last look, the log has told of one, or readers look as well. */
export function watchHorizon(platform: Platform): PeriodicJob {
  const watch: Watch = { oldest: null, seen: new Map(), warned: undefined, quiet: 0 }
  return {
    name: 'feed horizon',
    every_ms: watchEveryMs,
    async run() {
      const { oldest, held } = await readHorizon(platform.pool)
      const stands = oldest !== null && (oldest === watch.oldest || watch.warned !== undefined)
      watch.oldest = oldest
      const running = stands || held ? await listRunning(platform.pool) : []
      report(platform, watch, running)
      if (!held) {
        watch.quiet = 0
        return stands && (await lookPastBystanders(platform.pool)) ? 1 : 0
      }
      watch.quiet = running.some(({ bystander }) => bystander) ? 0 : watch.quiet + 1
      if (watch.quiet < quietLooks) return 0
      watch.quiet = 0
      await stopLooking(platform.pool)
      return 1
    },
  }
}

/** The gauge at each look; the log when the feed begins to stand for long, and when it goes on. */
function report({ clock, metrics, log }: Platform, watch: Watch, running: readonly RunningTransaction[]): void {
  const now = clock.now()
  const holders = running.filter(({ bystander }) => !bystander)
  watch.seen = new Map(holders.map(({ xid }) => [xid, watch.seen.get(xid) ?? now]))
  const ages = holders.map((holder) => ({
    holder,
    age_ms: Math.max(now - watch.seen.get(holder.xid)!, heldForMs(holder, now)),
  }))
  const worst = ages.toSorted((a, b) => b.age_ms - a.age_ms)[0]
  metrics.feed_horizon_age_seconds.set((worst?.age_ms ?? 0) / 1000)
  if (
    watch.warned !== undefined &&
    !watch.seen.has(watch.warned.xid) &&
    (worst === undefined || worst.age_ms < longHeldMs)
  ) {
    log.warn({ held_for_ms: now - watch.warned.since }, 'the event feed goes on')
    watch.warned = undefined
  }
  if (watch.warned === undefined && worst !== undefined && worst.age_ms >= longHeldMs) {
    watch.warned = { xid: worst.holder.xid, since: now - worst.age_ms }
    const { xid, database, pid, role, application_name, prepared_as } = worst.holder
    log.warn(
      { transaction: xid, database, pid, role, application_name, prepared_as, age_ms: worst.age_ms },
      `a transaction holds the event feed up; ${remedyOf(worst.holder)}`,
    )
  }
}

/** For `posthorn doctor`: a sentence for each transaction that has held the feed up for long, in the snapshot that `sql` has. Where the beginning cannot be seen it looks twice. */
export async function heldFeed(sql: Db, clock: Clock): Promise<string[]> {
  const holders = async () => (await listRunning(sql)).filter(({ bystander }) => !bystander)
  const first = await holders()
  const unseen = first.some(({ began }) => began === null)
  if (unseen) await clock.sleep(longHeldMs)
  const still = unseen ? await holders() : first
  return still
    .filter((holder) => (holder.began === null ? unseen : heldForMs(holder, clock.now()) >= longHeldMs))
    .slice(0, sentencesMax)
    .map((holder) => `${nameOf(holder)} holds the event feed up, ${ageOf(holder, clock.now())}; ${remedyOf(holder)}.`)
}

function nameOf({ xid, pid, prepared_as, database, role, application_name }: RunningTransaction): string {
  const where = `${database === null ? '' : ` in the database ${database}`}${role === null ? '' : ` of the role ${role}`}`
  if (pid !== null)
    return `The transaction ${xid} of the session ${pid}${application_name === null ? '' : ` (${application_name})`}${where}`
  return prepared_as === null
    ? `The transaction ${xid}, which no session shows,`
    : `The prepared transaction ${prepared_as} (${xid})${where}`
}

const ageOf = (holder: RunningTransaction, now: number): string =>
  holder.began === null
    ? `for at least ${longHeldMs / 1000} seconds`
    : `for ${Math.floor(heldForMs(holder, now) / 1000)} seconds`

/** How long a transaction has been running, in milliseconds; 0 where that cannot be seen. */
const heldForMs = ({ began }: RunningTransaction, now: number): number =>
  began === null ? 0 : Math.max(0, now - Date.parse(began))

/** What an operator does about it. */
function remedyOf({ pid, prepared_as, database }: RunningTransaction): string {
  if (pid !== null) return `end it with \`select pg_terminate_backend(${pid})\``
  if (prepared_as !== null)
    return `end it in the database ${database} with \`rollback prepared '${prepared_as.replaceAll("'", "''")}'\` or \`commit prepared\``
  return 'look for it in pg_stat_activity and pg_prepared_xacts as a superuser'
}
