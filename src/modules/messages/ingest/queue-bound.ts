/** The bound of a channel's queue: past it nothing more is accepted, so that what was accepted still goes out in its validity (behaviour: messages 3.5). */
import { limits } from '../../../api/limits.ts'
import { Problem } from '../../../api/problem.ts'
import type { Platform } from '../../../platform/platform.ts'
import { countQueue } from '../dispatch/store.ts'

/** Messages of one account's channel that may wait. */
const queuedMax = 500_000
const heldMax = 10_000

export interface QueueBound {
  /** Throws `upstream_unavailable` while the queue is full; counted every few seconds, so the bound is not exact to the message. */
  check(queue: string): Promise<void>
}

export function queueBound({ pool, clock }: Pick<Platform, 'pool' | 'clock'>, max = queuedMax): QueueBound {
  const counted = new Map<string, { readonly at_ms: number; readonly full: Promise<boolean> }>()
  return {
    async check(queue) {
      let known = counted.get(queue)
      const now = clock.elapsed()
      if (known === undefined || now - known.at_ms >= limits.cache_ms) {
        if (counted.size >= heldMax) counted.clear()
        const full = countQueue(pool, queue, max).then((count) => count >= max)
        // an unanswered count is asked again
        full.catch(() => counted.delete(queue))
        known = { at_ms: now, full }
        counted.set(queue, known)
      }
      if (await known.full)
        throw new Problem(
          'upstream_unavailable',
          `More than ${max} messages wait on this channel. Repeat later with backoff and the same Idempotency-Key; nothing was charged.`,
        )
    },
  }
}
