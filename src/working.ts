/** The life of a process's workers: begun after others are heard, ended in the order in which they hand work to each other. */
import type { Loops } from './platform/jobs/workers-of-process.ts'
import { signOff } from './platform/jobs/periodic-jobs.ts'
import type { Notifier } from './platform/jobs/notifier.ts'
import type { Platform, Role } from './platform/platform.ts'
import type { Presence } from './platform/jobs/process-registry.ts'

interface Stops {
  stop(): Promise<unknown>
}
interface Closes {
  close(): Promise<unknown>
}

/** What has work in hand, or something open. */
export interface Ending {
  readonly services: {
    readonly integrations: { readonly reporting: Stops }
    readonly contacts: { flushActivity(): Promise<unknown> }
    readonly operators: Stops
    readonly webhooks: Closes
    readonly media: Closes
    readonly channels: Closes
    readonly billing: { readonly topUps: Closes }
  }
  readonly ingest: Stops
  readonly dispatch: Stops & { takeOver(): Promise<unknown> }
  readonly sessions: Stops
  readonly deliver: Stops
}

/** The life of the workers between `start` and `stop`. */
export function working(
  { services, ingest, dispatch, sessions, deliver }: Ending,
  loops: Loops,
  wanted: readonly Role[],
  notifications: Notifier,
  present: Presence,
) {
  const ended = new AbortController()
  let running: Promise<void>[] = []
  return {
    async start(): Promise<void> {
      await notifications.open()
      await present.open()
      await loops.everywhere[0]!.tick()
      await dispatch.takeOver()
      const started = wanted.includes('worker') ? [...loops.everywhere, ...loops.workers] : loops.everywhere
      running = started.map((worker) => worker.run(ended.signal))
    },
    async stop(platform: Platform, closeRequests: () => Promise<void>): Promise<void> {
      await Promise.all([closeRequests(), dispatch.stop(), deliver.stop()])
      await services.integrations.reporting.stop()
      await ingest.stop()
      // what was being accepted for the memory of this process meanwhile is given back too
      await dispatch.stop()
      await sessions.stop()
      await services.contacts.flushActivity()
      await services.operators.stop()
      ended.abort()
      await Promise.all(running)
      await services.webhooks.close()
      await services.media.close()
      await services.channels.close()
      await services.billing.topUps.close()
      present.close()
      if (running.length > 0) await signOff(platform).catch(() => undefined) // a silent process is taken for dead anyway
      await notifications.close()
    },
    async giveUp(): Promise<void> {
      ended.abort()
      await Promise.all(running)
    },
  }
}
