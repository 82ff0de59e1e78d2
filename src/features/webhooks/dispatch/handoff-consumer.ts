/** How the deliverer takes what the fan-out of its process hands on in memory. */
import type { Platform } from '../../../platform/platform.ts'
import type { EventBodies } from './event-bodies.ts'
import { notice, offersTo, type EndpointSession, type DeliveryJob, type Offered } from './endpoint-session.ts'
import type { Completer } from './completer.ts'
import type { HandoffConsumer } from '../fan-out/handoff.ts'
import type { OpenHandoffs } from './open-handoffs.ts'

export interface ConsumerDeps {
  readonly platform: Platform
  readonly sessions: ReadonlyMap<string, EndpointSession>
  readonly handoffs: OpenHandoffs
  readonly bodies: EventBodies
  readonly outcomes: Completer
}

/** What the deliverer does with them. */
export interface ConsumerActions {
  /** How many deliveries more there may be at hand; 0 when the process stops. */
  readonly capacity: () => number
  /** Puts deliveries behind those that wait for the endpoint. */
  readonly keep: (session: EndpointSession, jobs: readonly DeliveryJob[]) => void
  /** Begins what may begin; when the process stops, resolves once everything is written down. */
  readonly begin: () => Promise<void>
}

/** Handed on and not settled, over all endpoints. */
const handedOffMax = 3_000

export function handoffConsumer(
  { platform: { clock, log }, sessions, handoffs, bodies, outcomes }: ConsumerDeps,
  { capacity, keep, begin }: ConsumerActions,
): HandoffConsumer {
  let offered = new Map<string, Offered>()
  let number = 0

  /** Whether an endpoint still is what was offered. */
  const stands = ({ session, offer }: Offered) =>
    sessions.get(session.endpoint_id) === session && session.active && !session.stale && session.version === offer.version
  return {
    nextBatchId: () => (number += 1),
    openBatches: () => handoffs.ids(),
    offers(max) {
      const now = clock.now()
      for (const session of sessions.values()) notice(session, now)
      const free = Math.min(handedOffMax - handoffs.size(), capacity())
      offered = new Map(offersTo([...sessions.values()], max, free).map((one) => [one.offer.endpoint_id, one]))
      return Array.from(offered.values(), ({ offer }) => offer)
    },
    async take(batch) {
      const jobs = handoffs.open(batch, clock.now())
      await bodies.load(jobs).catch((error: unknown) => log.warn({ err: error }, 'reading events failed; their deliveries go to the queue'))
      for (const [endpoint_id, own] of Map.groupBy(jobs, (job) => job.endpoint_id)) {
        const one = offered.get(endpoint_id)!
        const kept = capacity() > 0 && stands(one) ? own.filter((job) => !one.session.held.has(job.id)) : []
        keep(one.session, kept)
        // there may have been more, which is in the queue then
        if (own.length >= one.offer.capacity) one.session.more = true
        if (kept.length < own.length) outcomes.toQueue([batch.id])
      }
      await begin()
    },
  }
}
