/** The heartbeat, and the periodic jobs, which run in one process at a time. */
import { advisoryLocks } from '../database/locks.ts'
import { ageOf, isoTime, longAgo, mark, type Mark, type SteadyClock } from '../../lib/clock.ts'
import type { Worker } from './worker.ts'
import { poolClosed } from '../database/failures.ts'
import { maintainPartitions } from '../database/partitions.ts'
import { feedHorizonJob } from '../events/feed-horizon.ts'
import { expireKeys } from '../http/idempotency-repository.ts'
import type { PeriodicJob, Platform } from '../platform.ts'
import { writeHeartbeat, type ProcessRegistry } from './process-registry.ts'

const heartbeatEveryMs = 2_000
const periodicJobsEveryMs = 1_000
const minute = 60_000
const keysAtOnce = 5_000
const forgottenAfterMs = 24 * 3600_000

/** (behaviour: operating 3.2) */
export const heartbeatWorker = (
  { process_id, clock, retention_clock }: Platform,
  roles: readonly string[],
  { renew }: Pick<ProcessRegistry, 'renew'>,
): Worker => ({
  name: 'heartbeat',
  poll_every_ms: heartbeatEveryMs,
  async tick() {
    await renew(async (sql) => {
      await retention_clock.sync(sql)
      await writeHeartbeat(sql, process_id, roles, isoTime(clock.now()))
    })
    return 0
  },
})

export async function signOff(platform: Platform): Promise<void> {
  await platform.pool`delete from processes where id = ${platform.process_id}`
}

export function periodicJobsWorker(platform: Platform, periodicJobs: readonly PeriodicJob[]): Worker {
  const { pool, clock } = platform
  /** The clock may be set back, and the machine may sleep. */
  const lastRun = new Map<string, Mark>()
  return {
    name: 'periodic-jobs',
    poll_every_ms: periodicJobsEveryMs,
    async tick(stopping) {
      const due = periodicJobs.filter(
        (periodicJob) => ageOf(clock, lastRun.get(periodicJob.name) ?? longAgo) >= periodicJob.every_ms,
      )
      if (due.length === 0) return 0
      const connection = await pool.reserve()
      try {
        const [lock] = await connection<
          { acquired: boolean }[]
        >`select pg_try_advisory_lock(${advisoryLocks.periodicJobs}) as acquired`
        if (lock!.acquired) {
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

async function runPeriodicJob(platform: Platform, periodicJob: PeriodicJob, stopping?: AbortSignal): Promise<void> {
  if (stopping?.aborted === true) return
  try {
    const rows = await periodicJob.run()
    if (rows > 0) platform.log.debug({ periodic_job: periodicJob.name, rows }, 'a periodic job ran')
  } catch (error) {
    if (poolClosed(error)) return
    platform.storage.failed(error)
    platform.metrics.worker_failures.inc({ worker: `periodic job ${periodicJob.name}` })
    platform.log.error({ err: error, periodic_job: periodicJob.name }, 'a periodic job failed')
  }
}

const backlogMs = 5_000

/** Until a step does less than `rows_max`, or for five seconds. */
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

export const platformPeriodicJobs = (platform: Platform): PeriodicJob[] => [
  {
    name: 'delete-expired-idempotency-keys',
    every_ms: minute,
    run: () =>
      untilDone(platform.clock, keysAtOnce, () =>
        expireKeys(platform.pool, platform.retention_clock.now(), keysAtOnce),
      ),
  },
  {
    name: 'maintain-event-partitions',
    every_ms: 60 * minute,
    run: () =>
      maintainPartitions(
        platform.pool,
        { table: 'events', prefix: 'evt' },
        platform.clock.now(),
        platform.retention_clock.now() - platform.settings.event_retention_ms,
      ),
  },
  feedHorizonJob(platform),
  {
    name: 'delete-dead-processes',
    every_ms: 60 * minute,
    run: async () =>
      (
        await platform.pool`delete from processes where heartbeat_at < ${isoTime(platform.retention_clock.now() - forgottenAfterMs)}`
      ).count,
  },
]
