/** How the deliverer takes what the fan-out of its process hands on in memory. */
import type { Platform } from '../../platform/platform.ts'
import type { EventBodies } from './bodies.ts'
import { notice, offersTo, type Hand, type Job, type Offered } from './hand.ts'
import type { Settling } from './settling.ts'
import type { Spans, Taker } from './spans.ts'

export interface TakingDeps {
  readonly platform: Platform
  readonly hands: ReadonlyMap<string, Hand>
  readonly spans: Spans
  readonly bodies: EventBodies
  readonly outcomes: Settling
}

/** What the deliverer does with them. */
export interface TakingHow {
  /** How many deliveries more there may be at hand; 0 when the process stops. */
  readonly room: () => number
  /** Puts deliveries behind those that wait for the endpoint. */
  readonly keep: (hand: Hand, jobs: readonly Job[]) => void
  /** Begins what may begin; when the process stops, resolves once everything is written down. */
  readonly begin: () => Promise<void>
}

/** Handed on and not settled, over all endpoints. */
const handedMax = 3_000

export function taking({ platform: { clock, log }, hands, spans, bodies, outcomes }: TakingDeps, { room, keep, begin }: TakingHow): Taker {
  let offered = new Map<string, Offered>()
  let number = 0

  /** Whether an endpoint still is what was offered. */
  const stands = ({ hand, offer }: Offered) => hands.get(hand.endpoint_id) === hand && hand.active && !hand.stale && hand.version === offer.version
  return {
    nextSpan: () => (number += 1),
    spans: () => spans.ids(),
    offers(max) {
      const now = clock.now()
      for (const hand of hands.values()) notice(hand, now)
      const free = Math.min(handedMax - spans.size(), room())
      offered = new Map(offersTo([...hands.values()], max, free).map((one) => [one.offer.endpoint_id, one]))
      return Array.from(offered.values(), ({ offer }) => offer)
    },
    async take(handed) {
      const jobs = spans.open(handed, (endpoint_id) => offered.get(endpoint_id)!.hand, clock.now())
      await bodies.load(jobs).catch((error: unknown) => log.warn({ err: error }, 'reading events failed; their deliveries go to the queue'))
      for (const [endpoint_id, own] of Map.groupBy(jobs, (job) => job.endpoint_id)) {
        const one = offered.get(endpoint_id)!
        const kept = room() > 0 && stands(one) ? own.filter((job) => !one.hand.held.has(job.id)) : []
        keep(one.hand, kept)
        // there may have been more, which is in the queue then
        if (own.length >= one.offer.room) one.hand.more = true
        if (kept.length < own.length) outcomes.toQueue([handed.span])
      }
      await begin()
    },
  }
}
