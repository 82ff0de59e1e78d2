/** The worker loops of a process, and what wakes them. */
import { poolClosed } from '../database/failures.ts'
import type { Notifications } from './notifications.ts'
import { heartbeatWorker, periodicJobsWorker } from './periodic-jobs.ts'
import type { ProcessRegistry } from './process-registry.ts'
import { loop, type Loop, type Worker } from './worker.ts'
import type { PeriodicJob, Platform, Role } from '../platform.ts'

export interface WorkerSource {
  readonly workers?: readonly Worker[]
  readonly apiWorkers?: readonly Worker[]
  readonly caches?: Readonly<Record<string, () => void>>
}

export interface Loops {
  readonly everywhere: readonly Loop[]
  readonly workers: readonly Loop[]
}

export function loopsOf(
  platform: Platform,
  modules: readonly WorkerSource[],
  periodicJobs: readonly PeriodicJob[],
  roles: readonly Role[],
  processes: ProcessRegistry,
): Loops {
  const onError = (error: unknown, worker: string) => {
    if (poolClosed(error)) return
    platform.storage.failed(error)
    platform.metrics.worker_failures.inc({ worker })
    platform.log.error({ err: error, worker }, 'a worker failed and will try again')
  }
  const looped = (worker: Worker) => loop(worker, platform.clock, onError)
  const apiWorkers = roles.includes('api') ? modules.flatMap((module) => module.apiWorkers ?? []) : []
  const loops = {
    everywhere: [heartbeatWorker(platform, roles, processes), platform.storage.worker, ...apiWorkers].map(looped),
    workers: [...modules.flatMap((module) => module.workers ?? []), periodicJobsWorker(platform, periodicJobs)].map(
      looped,
    ),
  }
  platform.storage.onRecovered(() => {
    for (const worker of [...loops.everywhere, ...loops.workers]) worker.retry()
  })
  return loops
}

/** A notification wakes the worker or empties the caches of its name; a missed one may have been any. */
export function wakeBy(
  notifications: Notifications,
  modules: readonly WorkerSource[],
  { everywhere, workers }: Loops,
): void {
  for (const worker of [...everywhere, ...workers]) notifications.on(worker.name, () => worker.wake())
  const caches = modules.flatMap((module) => Object.entries(module.caches ?? {}))
  for (const [name, forget] of caches) notifications.on(name, forget)
  notifications.onMissed(() => {
    for (const [, forget] of caches) forget()
    for (const worker of workers) worker.wake()
  })
}
