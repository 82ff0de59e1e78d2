/**
 * The worker `links` tests channels whose providers are silent for half a minute (behaviour: channels 4.5) and measures
 * sends for the metrics.
 */
import { tenantOf } from '../../../api/caller.ts'
import { Problem } from '../../../api/problem.ts'
import { channelTypes } from '../../../api/resources/channel.ts'
import type { Worker } from '../../../platform/jobs/worker.ts'
import type { Platform } from '../../../platform/platform.ts'
import { isUp, type ChannelService } from '../../channels/service.ts'
import type { CircuitBreakers, Failing } from './circuit-breakers.ts'
import type { InProgress } from './in-progress.ts'
import { queueOf } from './job.ts'
import { isOurs, type Ownership } from './scheduler.ts'
import { listWaiting } from './repository.ts'

export interface LinksDeps extends Ownership {
  readonly platform: Platform
  readonly channels: ChannelService
  readonly circuitBreakers: CircuitBreakers
  readonly jobs: InProgress
}

const pollEveryMs = 1000
const triedAtOnce = 20

export const linksWorker = (deps: LinksDeps): Worker => ({
  name: 'links',
  poll_every_ms: pollEveryMs,
  async tick() {
    const { platform, circuitBreakers } = deps
    measure(deps)
    const lost = await Promise.all(
      circuitBreakers
        .unreachable(platform.clock.now())
        .slice(0, triedAtOnce)
        .map((failing) => tryLink(deps, failing)),
    )
    await forgetIdle(deps)
    return lost.filter(Boolean).length
  },
})

const countsOf = (some: readonly { readonly channel_type: string }[]): ReadonlyMap<string, number> =>
  new Map(
    [...Map.groupBy(some, ({ channel_type }) => channel_type)].map(([channel_type, of]) => [channel_type, of.length]),
  )

function measure({ platform: { metrics }, circuitBreakers, jobs }: LinksDeps): void {
  const { failing, throttled } = circuitBreakers.allPaused()
  const [open, paused] = [countsOf(failing), countsOf(throttled)]
  const running = jobs.runningByType()
  for (const channel_type of channelTypes) {
    metrics.circuits_open.set({ channel_type }, open.get(channel_type) ?? 0)
    metrics.channels_throttled.set({ channel_type }, paused.get(channel_type) ?? 0)
    metrics.send_attempts_in_progress.set({ channel_type }, running.get(channel_type) ?? 0)
  }
}

/** Pauses of channels without messages or of other processes, unless disconnected. */
async function forgetIdle(deps: LinksDeps): Promise<void> {
  const { platform, channels, circuitBreakers, jobs } = deps
  const idle = circuitBreakers.idle(platform.clock.now())
  if (idle.length === 0) return
  const waiting = await listWaiting(platform.pool, idle.map(queueOf))
  const inProgress = new Set(jobs.waiting.heads().map(({ row }) => row.channel_id))
  for (const one of idle) {
    const waits = waiting.has(queueOf(one)) || inProgress.has(one.channel_id) || jobs.runningOf(queueOf(one)) > 0
    if (waits && isOurs(deps, one)) continue
    const channel = await channels.find(tenantOf(one), one.channel_id)
    if (channel === null || channel.status !== 'active' || isUp(channel)) circuitBreakers.forget(one.channel_id)
  }
}

/** Resolves to whether the channel was disconnected. */
async function tryLink({ platform, channels, circuitBreakers }: LinksDeps, failing: Failing): Promise<boolean> {
  const { pool, clock, log } = platform
  const { channel_id } = failing
  const channel = await channels.find(tenantOf(failing), channel_id)
  if (channel === null) {
    circuitBreakers.forget(channel_id)
    return false
  }
  if (!isUp(channel)) {
    circuitBreakers.disconnected(channel_id, clock.now())
    return false
  }
  try {
    // a session monitors its own connection
    if (!channels.needsSession(channel)) await channels.retryConnection(pool, tenantOf(failing), channel_id)
  } catch (error) {
    if (isDown(error)) {
      log.warn(
        { err: error, channel_id, failures: failing.failures },
        'the provider of a channel has been unreachable for half a minute',
      )
      await channels.setConnection(pool, channel, 'disconnected')
      // one message is sent first when the connection is back
      circuitBreakers.record(
        failing,
        { kind: 'refused', channel_lost: true },
        { began_ms: clock.now(), now_ms: clock.now() },
      )
      return true
    }
    log.error({ err: error, channel_id }, 'the connection of a channel could not be tested; the test is repeated')
  }
  circuitBreakers.connectionWorks(channel_id, clock.now())
  return false
}

const isDown = (error: unknown): boolean =>
  error instanceof Problem &&
  ['upstream_rejected', 'upstream_unavailable', 'channel_not_connected'].includes(error.code)
