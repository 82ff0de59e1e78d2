/** What happens to channels by themselves: a lost link is tried again, and after a rotation of the secret key credentials come under the current one. */
import { tenantOf } from '../../api/caller.ts'
import type { Worker } from '../../platform/jobs/worker.ts'
import type { PeriodicJob, Platform } from '../../platform/platform.ts'
import { resealAll } from '../../platform/secrets/resealing.ts'
import { listSealed, reseal } from './rotation-store.ts'
import type { ChannelService } from './service.ts'
import { countLinks, listDisconnected, type ChannelRow } from './store.ts'

const pageRows = 500
const lookEveryMs = 1000
/** A link is tried again after one second, two, four, … and then once a minute (behaviour: channels 4.2). */
const firstWaitMs = 1000
const waitMaxMs = 60_000
const triedAtOnce = 20
/** A link that is lost again sooner is tried as rarely as before: one that comes and goes is not told of every other second. */
const steadyMs = 5 * 60_000

export const channelPeriodicJobs = (platform: Platform): PeriodicJob[] => [
  {
    name: 'channel credentials',
    every_ms: 60_000,
    run: () => resealAll(platform, { what: 'channel', list: listSealed, reseal }),
  },
  { name: 'measure channels', every_ms: 15_000, run: () => measure(platform) },
]

async function measure({ pool, metrics }: Platform): Promise<number> {
  const counts = await countLinks(pool)
  metrics.channels.reset()
  for (const { type, connection_status, channels } of counts)
    metrics.channels.set({ channel_type: type, connection_status }, channels)
  return 0
}

export const channelWorkers = (platform: Platform, channels: ChannelService): Worker[] => [
  reconnectWorker(platform, channels),
  channels.templatesWorker,
]

/** How often a link was tried in vain, or stood and was lost again soon; times are elapsed ones. */
interface Wait {
  readonly failures: number
  readonly next_ms: number
  /** Of one that stands: until when it counts as unsteady, so that it is tried as rarely as before when it is lost again. */
  readonly unsteady_until_ms?: number
}

/** Tries lost links again until they stand; a link that stands again is told as `channel.connected`. Sessions are opened again by whoever holds them. */
function reconnectWorker(
  { pool, clock, log }: Platform,
  channels: Pick<ChannelService, 'tryLink' | 'needsSession'>,
): Worker {
  let waits = new Map<string, Wait>()
  // behind which channel lost ones are looked for next: however many there are, each has its turn
  let cursor = ''

  /** One whose credentials cannot be opened is tried as others are: its failures are told of, later and later. */
  function isHeld(row: ChannelRow): boolean {
    try {
      return channels.needsSession(row)
    } catch {
      return false
    }
  }

  async function tryAgain(row: ChannelRow): Promise<boolean> {
    const tenant = tenantOf(row)
    const failures = (waits.get(row.id)?.failures ?? 0) + 1
    const wait_ms = Math.min(firstWaitMs * 2 ** Math.min(failures, 10), waitMaxMs)
    try {
      await channels.tryLink(pool, tenant, row.id)
      const now = clock.elapsed()
      waits.set(row.id, { failures, next_ms: now + wait_ms, unsteady_until_ms: now + steadyMs })
      return true
    } catch (error) {
      waits.set(row.id, { failures, next_ms: clock.elapsed() + wait_ms })
      log.warn(
        { err: error, channel_id: row.id, failures },
        'a lost channel could not be reconnected; it is tried again',
      )
      return false
    }
  }

  /** What has stood for a while, and what is gone, is forgotten; of channels beyond this page nothing is known. */
  function remembered(lost: readonly ChannelRow[], now: number, isBeyond: (id: string) => boolean): Map<string, Wait> {
    const kept = [...waits].filter(([id, { unsteady_until_ms = 0 }]) => unsteady_until_ms > now || isBeyond(id))
    const lostNow = lost.map(({ id }): [string, Wait] => {
      const wait = waits.get(id)
      if (wait !== undefined && wait.unsteady_until_ms === undefined) return [id, wait]
      const { failures = 0, next_ms = 0, unsteady_until_ms = 0 } = wait ?? {}
      return [
        id,
        unsteady_until_ms > now
          ? { failures, next_ms: Math.max(next_ms, now + firstWaitMs) }
          : { failures: 0, next_ms: now + firstWaitMs },
      ]
    })
    return new Map([...kept, ...lostNow])
  }

  return {
    name: 'reconnect',
    idle_ms: lookEveryMs,
    async tick() {
      const now = clock.elapsed()
      const after = cursor
      const page = await listDisconnected(pool, after, pageRows)
      cursor = page.length === pageRows ? page.at(-1)!.id : ''
      const lost = page.filter((row) => !isHeld(row))
      waits = remembered(lost, now, (id) => id <= after || (cursor !== '' && id > cursor))
      const nextOf = ({ id }: ChannelRow) => waits.get(id)!.next_ms
      const due = lost.filter((row) => nextOf(row) <= now).toSorted((a, b) => nextOf(a) - nextOf(b))
      const tried = await Promise.all(due.slice(0, triedAtOnce).map(tryAgain))
      return tried.filter(Boolean).length
    },
  }
}
