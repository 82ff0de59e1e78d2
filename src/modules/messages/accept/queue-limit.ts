/** Limits the queue of a channel so that messages are sent before they expire (behaviour: messages 3.5). */
import { limits } from '../../../api/limits.ts'
import { Problem } from '../../../api/problem.ts'
import type { Platform } from '../../../platform/platform.ts'
import { countQueue } from '../dispatch/repository.ts'

const queuedMax = 500_000
const queuesMax = 10_000
const staleMs = 60_000
/** Of the time. */
const countingShare = 0.02

export interface QueueLimit {
  /** Throws `upstream_unavailable`. */
  check(queue: string): void
}

interface Known {
  readonly full: boolean
  readonly counted_ms: number
  readonly again_ms: number
}

/** Counts in the background every few seconds, so slightly more than `max` may be accepted. */
export function queueLimit(
  { pool, clock, log }: Pick<Platform, 'pool' | 'clock' | 'log'>,
  max = queuedMax,
): QueueLimit {
  const known = new Map<string, Known>()
  const counting = new Set<string>()

  const count = async (queue: string): Promise<void> => {
    counting.add(queue)
    const began_ms = clock.elapsed()
    try {
      const full = (await countQueue(pool, queue, max)) >= max
      const counted_ms = clock.elapsed()
      if (known.size >= queuesMax) known.clear()
      const again_ms = counted_ms + Math.max(limits.cache_ms, (counted_ms - began_ms) / countingShare)
      known.set(queue, { full, counted_ms, again_ms })
    } catch (error) {
      log.warn({ err: error }, 'A queue could not be counted. It is counted again with the next request.')
    } finally {
      counting.delete(queue)
    }
  }

  return {
    check(queue) {
      const now = clock.elapsed()
      const last = known.get(queue)
      if (!counting.has(queue) && now >= (last?.again_ms ?? -Infinity)) void count(queue)
      if (last?.full === true && now - last.counted_ms < staleMs)
        throw new Problem(
          'upstream_unavailable',
          `More than ${max} messages wait on this channel. Repeat later with backoff and the same Idempotency-Key; nothing was charged.`,
        )
    },
  }
}
