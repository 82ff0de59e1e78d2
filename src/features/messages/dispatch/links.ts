/**
 * The lane `links`: tries channels whose providers have not answered for half a minute, and disconnects those that cannot be reached then either
 * (behaviour: channels 4.5). It also counts for the metrics what is under way.
 */
import { tenantOf } from '../../../contract/caller.ts'
import { Problem } from '../../../contract/problem.ts'
import { channelTypes } from '../../../contract/resources/channel.ts'
import type { Lane } from '../../../lib/loop.ts'
import type { Platform } from '../../../platform/platform.ts'
import { isUp, type ChannelService } from '../../channels/service.ts'
import type { Circuits, Failing } from './circuits.ts'
import type { InHand } from './in-hand.ts'

export interface LinksDeps {
  readonly platform: Platform
  readonly channels: ChannelService
  readonly circuits: Circuits
  readonly jobs: InHand
}

const lookEveryMs = 1000
const triedAtOnce = 20

export const linksLane = (deps: LinksDeps): Lane => ({
  name: 'links',
  idle_ms: lookEveryMs,
  async tick() {
    const { platform, circuits } = deps
    measure(deps)
    const lost = await Promise.all(
      circuits
        .outOfReach(platform.clock.now())
        .slice(0, triedAtOnce)
        .map((failing) => tryLink(deps, failing)),
    )
    return lost.filter(Boolean).length
  },
})

function measure({ platform: { metrics }, circuits, jobs }: LinksDeps): void {
  const [open, running] = [Map.groupBy(circuits.allOpen(), ({ channel_type }) => channel_type), jobs.runningByType()]
  for (const channel_type of channelTypes) {
    metrics.circuits_open.set({ channel_type }, open.get(channel_type)?.length ?? 0)
    metrics.hand_overs.set({ channel_type }, running.get(channel_type) ?? 0)
  }
}

/** Resolves to whether the channel was disconnected. */
async function tryLink({ platform, channels, circuits }: LinksDeps, failing: Failing): Promise<boolean> {
  const { pool, clock, log } = platform
  const { channel_id } = failing
  const channel = await channels.find(tenantOf(failing), channel_id)
  if (channel === null) {
    circuits.forget(channel_id)
    return false
  }
  if (!isUp(channel)) {
    circuits.linkLost(channel_id, clock.now())
    return false
  }
  try {
    // whoever holds a session knows best how it stands
    if (!channels.needsSession(channel)) await channels.tryLink(pool, tenantOf(failing), channel_id)
  } catch (error) {
    if (isDown(error)) {
      log.warn({ err: error, channel_id, failures: failing.failures }, 'the provider of a channel has been out of reach for half a minute')
      await channels.setConnection(pool, channel, 'disconnected')
      // however few hand-overs told of it: once the link is back, one message goes first
      circuits.note(failing, { kind: 'refused', channel_lost: true }, clock.now(), clock.now())
      return true
    }
    log.error({ err: error, channel_id }, 'the link of a channel could not be tried; it is tried again')
  }
  circuits.reached(channel_id, clock.now())
  return false
}

const isDown = (error: unknown): boolean =>
  error instanceof Problem && ['upstream_rejected', 'upstream_unavailable', 'channel_not_connected'].includes(error.code)
