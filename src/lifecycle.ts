/** Starts the workers of a process, and stops its modules phase by phase. */
import { stopPhases, type BuiltModule, type StopPhase } from './module.ts'
import type { Notifications } from './platform/jobs/notifications.ts'
import { signOff } from './platform/jobs/periodic-jobs.ts'
import type { ProcessRegistry } from './platform/jobs/process-registry.ts'
import type { Loops } from './platform/jobs/runner.ts'
import type { Platform, Role } from './platform/platform.ts'

export interface LifecycleParts {
  readonly platform: Platform
  readonly modules: readonly BuiltModule[]
  readonly loops: Loops
  readonly roles: readonly Role[]
  readonly notifications: Notifications
  readonly processes: ProcessRegistry
}

export interface Lifecycle {
  /** Listens to other processes, rescues the work of dead ones and runs the workers of the roles. */
  start(): Promise<void>
  /** `closeRequests` resolves once requests in progress are answered. */
  stop(closeRequests: () => Promise<void>): Promise<void>
  /** For a `stop` that takes too long. */
  abandon(): Promise<void>
}

export function lifecycle({ platform, modules, loops, roles, notifications, processes }: LifecycleParts): Lifecycle {
  const ended = new AbortController()
  let running: Promise<void>[] = []
  /** Later modules depend on earlier ones, so they stop first. */
  const stopInTurn = async (phase: StopPhase) => {
    for (const module of modules.toReversed()) await module.stop?.[phase]?.()
  }
  const endWorkers = async () => {
    ended.abort()
    await Promise.all(running)
  }
  const endPhase: Record<StopPhase, (closeRequests: () => Promise<void>) => Promise<unknown>> = {
    // all at once, because a module may hold requests until it stops
    requests: (closeRequests) => Promise.all([...modules.map((module) => module.stop?.requests?.()), closeRequests()]),
    producers: () => stopInTurn('producers'),
    async dispatch() {
      await stopInTurn('dispatch')
      await endWorkers()
    },
    connections: () => stopInTurn('connections'),
  }
  return {
    async start() {
      await notifications.open()
      await processes.open()
      await loops.everywhere[0]!.tick()
      for (const module of modules) await module.start?.()
      const started = roles.includes('worker') ? [...loops.everywhere, ...loops.workers] : loops.everywhere
      running = started.map((worker) => worker.run(ended.signal))
    },
    async stop(closeRequests) {
      for (const phase of stopPhases) await endPhase[phase](closeRequests)
      processes.close()
      if (running.length > 0) await signOff(platform).catch(() => undefined) // other processes notice by the missing heartbeat
      await notifications.close()
    },
    abandon: endWorkers,
  }
}
