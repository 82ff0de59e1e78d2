/** Which deliveries a batch of events makes: who subscribes, whose filters let it through, and which of them are handed off in memory. Pure. */
import { hash } from 'node:crypto'
import type { EndpointFilters } from '../../../api/resources/webhook-endpoint.ts'
import { passesFilters } from './filters.ts'
import type { NewDelivery, Offer } from './handoff.ts'
import { isLater, type Since } from './since.ts'

/** An event as the fan-out reads it, in the order of the feed. */
export interface FedEvent {
  readonly account_id: string
  readonly mode: string
  readonly id: string
  /** Empty for an event that goes to one endpoint alone, which whoever recorded it sees to. */
  readonly type: string
  readonly position: string
  /** As PostgreSQL writes it. */
  readonly created_at: string
  /** By `kindOf` it: what subscriptions are looked up by. */
  readonly kind: string
}

/** An active endpoint that wants events of a kind. */
export interface Subscription extends Since {
  readonly endpoint_id: string
  /** Null: everything passes. */
  readonly filters: EndpointFilters | null
  /** Of its endpoint; null where there is none any more. */
  readonly version: number | null
  /** This process holds its lease, for long enough. */
  readonly leased: boolean
}

/** By `kindOf` an event. */
export type Subscriptions = ReadonlyMap<string, readonly Subscription[]>

export interface MadeDeliveries {
  /** For the queue. */
  readonly queued: readonly NewDelivery[]
  /** To be handed off in memory, each endpoint's oldest first. */
  readonly handedOff: readonly NewDelivery[]
}

/** What subscriptions are looked up by: account, mode and type of event. */
export const kindOf = ({ account_id, mode, type }: Pick<FedEvent, 'account_id' | 'mode' | 'type'>): string =>
  `${account_id} ${mode} ${type}`

/** Follows from event and endpoint, so that making it again makes the same. */
export const deliveryId = (event_id: string, endpoint_id: string): string =>
  `whd_${event_id.slice(4, 18)}${hash('md5', event_id + endpoint_id, 'hex').slice(0, 12)}`

/**
 * The deliveries of these events, oldest first. Those to an endpoint that is offered, is still as offered and whose lease this process holds are handed
 * off, up to its capacity; the others are for the queue. `objectOf` answers an event's object where a filter asks for it; undefined: the event is gone.
 */
export function makeDeliveries(
  events: readonly FedEvent[],
  subscriptions: Subscriptions,
  offers: readonly Offer[],
  objectOf: (event_id: string) => Readonly<Record<string, unknown>> | undefined,
): MadeDeliveries {
  const offered = new Map(offers.map((offer) => [offer.endpoint_id, { version: offer.version, left: offer.capacity }]))
  const queued: NewDelivery[] = []
  const handedOff: NewDelivery[] = []
  for (const event of events) {
    for (const subscription of subscriptions.get(event.kind) ?? []) {
      if (!isFor(event, subscription, objectOf)) continue
      const offer = subscription.leased ? offered.get(subscription.endpoint_id) : undefined
      const fits = offer !== undefined && offer.version === subscription.version && offer.left > 0
      if (fits) offer.left -= 1
      const into = fits ? handedOff : queued
      into.push(deliveryOf(event, subscription.endpoint_id))
    }
  }
  return { queued, handedOff }
}

function isFor(event: FedEvent, subscription: Subscription, objectOf: Parameters<typeof makeDeliveries>[3]): boolean {
  if (!isLater(event.position, subscription)) return false
  if (subscription.filters === null) return true
  const object = objectOf(event.id)
  return object !== undefined && passesFilters(subscription.filters, event.type, object)
}

const deliveryOf = (event: FedEvent, endpoint_id: string): NewDelivery => ({
  id: deliveryId(event.id, endpoint_id),
  endpoint_id,
  account_id: event.account_id,
  mode: event.mode,
  event_id: event.id,
  event_type: event.type,
  next_run_at: event.created_at,
})
