/** How the deliverer takes what the fan-out of its process hands off in memory. */
import type { Platform } from '../../../platform/platform.ts'
import type { HandoffConsumer } from '../fan-out/handoff.ts'
import { notice, offersTo, type Offered } from './endpoint-session.ts'
import type { EventBodies } from './event-bodies.ts'
import type { OpenHandoffs } from './open-handoffs.ts'
import type { EndpointSessions } from './endpoint-sessions.ts'

export interface ConsumerDeps {
  readonly platform: Pick<Platform, 'clock' | 'log'>
  readonly sessions: EndpointSessions
  readonly handoffs: OpenHandoffs
  readonly bodies: EventBodies
  /** Brings what is left of these batches to the queue. */
  readonly toQueue: (batches: readonly number[]) => void
  /** Begins what may begin; when the process stops, resolves once everything is written down. */
  readonly begin: () => Promise<void>
  readonly isStopping: () => boolean
}

/** Handed off and not recorded, over all endpoints. */
const handedOffMax = 3_000

export function handoffConsumer({
  platform: { clock, log },
  sessions,
  handoffs,
  bodies,
  toQueue,
  begin,
  isStopping,
}: ConsumerDeps): HandoffConsumer {
  let offered = new Map<string, Offered>()
  let number = 0
  const capacity = () => (isStopping() ? 0 : sessions.capacity())
  /** Whether an endpoint still is what was offered. */
  const stands = ({ session, offer }: Offered) =>
    sessions.get(session.endpoint_id) === session &&
    session.active &&
    !session.stale &&
    session.version === offer.version
  return {
    nextBatchId: () => (number += 1),
    openBatches: () => handoffs.ids(),
    offers(max) {
      const all = sessions.all()
      for (const session of all) notice(session, clock.elapsed())
      const free = Math.min(handedOffMax - handoffs.size(), capacity())
      offered = new Map(offersTo(all, max, free).map((one) => [one.offer.endpoint_id, one]))
      return Array.from(offered.values(), ({ offer }) => offer)
    },
    async take(batch) {
      const jobs = handoffs.open(batch, clock.elapsed())
      await bodies
        .load(jobs)
        .catch((error: unknown) => log.warn({ err: error }, 'reading events failed; their deliveries go to the queue'))
      for (const [endpoint_id, own] of Map.groupBy(jobs, (job) => job.endpoint_id)) {
        const one = offered.get(endpoint_id)!
        const kept = capacity() > 0 && stands(one) ? own.filter((job) => !one.session.held.has(job.id)) : []
        sessions.keep(one.session, kept)
        one.session.used_at = clock.elapsed()
        // there may have been more, which is in the queue then
        if (own.length >= one.offer.capacity) one.session.more = true
        if (kept.length < own.length) toQueue([batch.id])
      }
      await begin()
    },
  }
}
