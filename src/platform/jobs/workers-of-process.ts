/** The loops of a process: each worker with its idling and its failures, those of any role and those of workers. */
import { loop, type Worker, type Loop } from './worker.ts'
import { poolClosed } from '../database/failures.ts'
import { periodicJobsWorker, heartbeatWorker } from './periodic-jobs.ts'
import type { PeriodicJob, Platform, Role } from '../platform.ts'
import type { Presence } from './process-registry.ts'

export interface Loops {
  /** Of a process with any role. */
  readonly everywhere: readonly Loop[]
  /** Of the role `worker`. */
  readonly workers: readonly Loop[]
}

/** `apiWorkers` run wherever requests are answered. */
export function loopsOf(
  platform: Platform,
  workers: readonly Worker[],
  apiWorkers: readonly Worker[],
  periodicJobs: readonly PeriodicJob[],
  wanted: readonly Role[],
  present: Presence,
): Loops {
  const onError = (error: unknown, worker: string) => {
    if (poolClosed(error)) return
    platform.storage.failed(error)
    platform.metrics.worker_failures.inc({ worker })
    platform.log.error({ err: error, worker }, 'a worker failed and will try again')
  }
  const looped = (worker: Worker) => loop(worker, platform.clock, onError)
  const loops = {
    everywhere: [
      heartbeatWorker(platform, wanted, present),
      platform.storage.worker,
      ...(wanted.includes('api') ? apiWorkers : []),
    ].map(looped),
    workers: [...workers, periodicJobsWorker(platform, periodicJobs)].map(looped),
  }
  platform.storage.onRecovered(() => {
    for (const worker of [...loops.everywhere, ...loops.workers]) worker.retry()
  })
  return loops
}
