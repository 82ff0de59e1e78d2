/** The workers that keep the house: heartbeats of this process, and periodic jobs, made by one process at a time. */
import { advisoryLocks } from '../database/locks.ts'
import { ageOf, isoTime, longAgo, mark, type Mark, type SteadyClock } from '../../lib/clock.ts'
import type { Worker } from './worker.ts'
import { poolClosed } from '../database/failures.ts'
import { keepPartitions } from '../database/partitions.ts'
import { watchHorizon } from '../events/feed-horizon.ts'
import { expireKeys } from '../http/idempotency-store.ts'
import type { PeriodicJob, Platform } from '../platform.ts'
import type { Presence } from './process-registry.ts'
import { writeBeat } from './processes-store.ts'

const beatEveryMs = 2_000
const periodicJobsEveryMs = 1_000
const minute = 60_000
const keysAtOnce = 5_000
/** Rows of processes that have been silent this long tell nobody anything. */
const forgottenAfterMs = 24 * 3600_000

/** Says every two seconds that this process lives; one that is silent for ten is taken for dead (behaviour: operating 3.2). */
export const heartbeatWorker = (
  { process_id, clock, ageing }: Platform,
  roles: readonly string[],
  { keep }: Pick<Presence, 'keep'>,
): Worker => ({
  name: 'heartbeat',
  idle_ms: beatEveryMs,
  async tick() {
    await keep(async (sql) => {
      await ageing.keep(sql)
      await writeBeat(sql, process_id, roles, isoTime(clock.now()))
    })
    return 0
  },
})

/** Says that this process ended in order: what it had claimed is free at once. */
export async function signOff(platform: Platform): Promise<void> {
  await platform.pool`delete from processes where id = ${platform.process_id}`
}

/** Runs the periodic jobs that are due. A process that finds another one at it leaves them alone. */
export function periodicJobsWorker(platform: Platform, periodicJobs: readonly PeriodicJob[]): Worker {
  const { pool, clock } = platform
  /** By both times: a periodic job neither waits until a clock that was set back catches up, nor for what its clock jumped over, or its machine slept. */
  const lastRun = new Map<string, Mark>()
  return {
    name: 'periodic-jobs',
    idle_ms: periodicJobsEveryMs,
    async tick(stopping) {
      const due = periodicJobs.filter(
        (periodicJob) => ageOf(clock, lastRun.get(periodicJob.name) ?? longAgo) >= periodicJob.every_ms,
      )
      if (due.length === 0) return 0
      const connection = await pool.reserve()
      try {
        const [lock] = await connection<
          { held: boolean }[]
        >`select pg_try_advisory_lock(${advisoryLocks.periodicJobs}) as held`
        if (lock!.held) {
          try {
            for (const periodicJob of due) await runPeriodicJob(platform, periodicJob, stopping)
          } finally {
            await connection`select pg_advisory_unlock(${advisoryLocks.periodicJobs})`
          }
        }
      } finally {
        connection.release()
      }
      for (const periodicJob of due) lastRun.set(periodicJob.name, mark(clock))
      return 0
    },
  }
}

/** One periodic job that fails never keeps the others from their turn; where the service stops, none begins. */
async function runPeriodicJob(platform: Platform, periodicJob: PeriodicJob, stopping?: AbortSignal): Promise<void> {
  if (stopping?.aborted === true) return
  try {
    const rows = await periodicJob.run()
    if (rows > 0) platform.log.debug({ periodicJob: periodicJob.name, rows }, 'periodicJob')
  } catch (error) {
    if (poolClosed(error)) return
    platform.storage.failed(error)
    platform.metrics.worker_failures.inc({ worker: `periodicJob ${periodicJob.name}` })
    platform.log.error({ err: error, periodicJob: periodicJob.name }, 'a periodicJob failed')
  }
}

/** How long a periodic job with a backlog may keep the others from their turn. */
const backlogMs = 5_000

/** Repeats a bounded step until it had less to do than it may take at once, or for five seconds: no transaction grows with the backlog, and no backlog outgrows its periodic job. */
export async function untilDone(
  clock: Pick<SteadyClock, 'elapsed'>,
  rows_max: number,
  step: () => Promise<number>,
): Promise<number> {
  const until_ms = clock.elapsed() + backlogMs
  let sum = 0
  for (;;) {
    const done = await step()
    sum += done
    if (done < rows_max || clock.elapsed() >= until_ms) return sum
  }
}

/** The periodic jobs of the platform itself. */
export const platformPeriodicJobs = (platform: Platform): PeriodicJob[] => [
  {
    name: 'idempotency keys',
    every_ms: minute,
    run: () =>
      untilDone(platform.clock, keysAtOnce, () => expireKeys(platform.pool, platform.ageing.now(), keysAtOnce)),
  },
  {
    name: 'event partitions',
    every_ms: 60 * minute,
    run: () =>
      keepPartitions(
        platform.pool,
        { table: 'events', prefix: 'evt' },
        platform.clock.now(),
        platform.ageing.now() - platform.settings.event_retention_ms,
      ),
  },
  watchHorizon(platform),
  {
    name: 'silent processes',
    every_ms: 60 * minute,
    run: async () =>
      (
        await platform.pool`delete from processes where heartbeat_at < ${isoTime(platform.ageing.now() - forgottenAfterMs)}`
      ).count,
  },
]
