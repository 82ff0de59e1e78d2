/** Reconnects channels, re-encrypts credentials after a key rotation, and measures connections. */
import { tenantOf } from '../../api/caller.ts'
import type { Worker } from '../../platform/jobs/worker.ts'
import type { PeriodicJob, Platform } from '../../platform/platform.ts'
import { resealAll } from '../../platform/secrets/resealing.ts'
import { listSealed, reseal, countByConnectionStatus, listDisconnected } from './repository.ts'
import type { ChannelRow } from './channel.ts'
import type { ChannelService } from './service.ts'

const pageRows = 500
const pollEveryMs = 1000
/** Doubles with each failure (behaviour: channels 4.2). */
const firstWaitMs = 1000
const waitMaxMs = 60_000
const retriedAtOnce = 20
/** A channel lost sooner keeps its backoff, so that an unstable one does not cause an event every other second. */
const stableAfterMs = 5 * 60_000

export const channelPeriodicJobs = (platform: Platform): PeriodicJob[] => [
  {
    name: 'reencrypt-channel-credentials',
    every_ms: 60_000,
    run: () => resealAll(platform, { what: 'channel', list: listSealed, reseal }),
  },
  { name: 'measure-channels', every_ms: 15_000, run: () => measure(platform) },
]

async function measure({ pool, metrics }: Platform): Promise<number> {
  const counts = await countByConnectionStatus(pool)
  metrics.channels.reset()
  for (const { type, connection_status, channels } of counts)
    metrics.channels.set({ channel_type: type, connection_status }, channels)
  return 0
}

export const channelWorkers = (platform: Platform, channels: ChannelService): Worker[] => [
  reconnectWorker(platform, channels),
  channels.templatesWorker,
]

/** Times are elapsed ms. */
interface Wait {
  readonly failures: number
  readonly next_ms: number
  readonly unstable_until_ms?: number
}

/** Reports `channel.connected`. Channels with sessions are reconnected by the process that has the lease. */
function reconnectWorker(
  { pool, clock, log }: Platform,
  channels: Pick<ChannelService, 'retryConnection' | 'needsSession'>,
): Worker {
  let waits = new Map<string, Wait>()
  let cursor = ''

  /** False if the credentials cannot be decrypted: the retry then logs the failure. */
  function needsSession(row: ChannelRow): boolean {
    try {
      return channels.needsSession(row)
    } catch {
      return false
    }
  }

  async function retry(row: ChannelRow): Promise<boolean> {
    const tenant = tenantOf(row)
    const failures = (waits.get(row.id)?.failures ?? 0) + 1
    const wait_ms = Math.min(firstWaitMs * 2 ** Math.min(failures, 10), waitMaxMs)
    try {
      await channels.retryConnection(pool, tenant, row.id)
      const now = clock.elapsed()
      waits.set(row.id, { failures, next_ms: now + wait_ms, unstable_until_ms: now + stableAfterMs })
      return true
    } catch (error) {
      waits.set(row.id, { failures, next_ms: clock.elapsed() + wait_ms })
      log.warn({ err: error, channel_id: row.id, failures }, 'a channel could not be reconnected; it is retried')
      return false
    }
  }

  return {
    name: 'reconnect',
    poll_every_ms: pollEveryMs,
    async tick() {
      const now = clock.elapsed()
      const after = cursor
      const page = await listDisconnected(pool, after, pageRows)
      cursor = page.length === pageRows ? page.at(-1)!.id : ''
      const lost = page.filter((row) => !needsSession(row))
      waits = updatedWaits(waits, lost, now, (id) => id <= after || (cursor !== '' && id > cursor))
      const nextOf = ({ id }: ChannelRow) => waits.get(id)!.next_ms
      const ready = lost.filter((row) => nextOf(row) <= now).toSorted((a, b) => nextOf(a) - nextOf(b))
      const tried = await Promise.all(ready.slice(0, retriedAtOnce).map(retry))
      return tried.filter(Boolean).length
    },
  }
}

function updatedWaits(
  waits: ReadonlyMap<string, Wait>,
  lost: readonly ChannelRow[],
  now: number,
  isOnOtherPage: (id: string) => boolean,
): Map<string, Wait> {
  const remaining = [...waits].filter(([id, { unstable_until_ms = 0 }]) => unstable_until_ms > now || isOnOtherPage(id))
  const lostNow = lost.map(({ id }): [string, Wait] => {
    const wait = waits.get(id)
    if (wait !== undefined && wait.unstable_until_ms === undefined) return [id, wait]
    const { failures = 0, next_ms = 0, unstable_until_ms = 0 } = wait ?? {}
    return [
      id,
      unstable_until_ms > now
        ? { failures, next_ms: Math.max(next_ms, now + firstWaitMs) }
        : { failures: 0, next_ms: now + firstWaitMs },
    ]
  })
  return new Map([...remaining, ...lostNow])
}
