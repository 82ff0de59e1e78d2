/** The loops of a process: each lane with its idling and its failures, those of any role and those of workers. */
import { loop, type Lane, type Loop } from './worker.ts'
import { poolClosed } from '../database/failures.ts'
import { choresLane, heartbeatLane } from './periodic-jobs.ts'
import type { Chore, Platform, Role } from '../platform.ts'
import type { Presence } from './process-registry.ts'

export interface Loops {
  /** Of a process with any role. */
  readonly everywhere: readonly Loop[]
  /** Of the role `worker`. */
  readonly workers: readonly Loop[]
}

/** `apiLanes` run wherever requests are answered. */
export function loopsOf(
  platform: Platform,
  lanes: readonly Lane[],
  apiLanes: readonly Lane[],
  chores: readonly Chore[],
  wanted: readonly Role[],
  present: Presence,
): Loops {
  const onError = (error: unknown, lane: string) => {
    if (poolClosed(error)) return
    platform.storage.failed(error)
    platform.metrics.lane_failures.inc({ lane })
    platform.log.error({ err: error, lane }, 'a lane failed and will try again')
  }
  const looped = (lane: Lane) => loop(lane, platform.clock, onError)
  const loops = {
    everywhere: [
      heartbeatLane(platform, wanted, present),
      platform.storage.lane,
      ...(wanted.includes('api') ? apiLanes : []),
    ].map(looped),
    workers: [...lanes, choresLane(platform, chores)].map(looped),
  }
  platform.storage.onRecovered(() => {
    for (const lane of [...loops.everywhere, ...loops.workers]) lane.retry()
  })
  return loops
}
