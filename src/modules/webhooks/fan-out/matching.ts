/** Matches events with subscriptions. */
import { hash } from 'node:crypto'
import type { EndpointFilters } from '../../../api/resources/webhook-endpoint.ts'

export interface FeedEvent {
  readonly account_id: string
  readonly mode: string
  readonly id: string
  /** Empty for an event to a single endpoint, which has its delivery. */
  readonly type: string
  readonly position: string
  /** As PostgreSQL writes it. */
  readonly created_at: string
  /** See `kindOf`. */
  readonly kind: string
}

export interface Subscription extends Since {
  readonly endpoint_id: string
  readonly filters: EndpointFilters | null
  /** Null if its endpoint was deleted. */
  readonly version: number | null
}

export interface NewDelivery {
  readonly id: string
  readonly endpoint_id: string
  readonly account_id: string
  readonly mode: string
  readonly event_id: string
  readonly event_type: string
  /** The time of the event, as PostgreSQL writes it. */
  readonly next_run_at: string
}

export type Subscriptions = ReadonlyMap<string, readonly Subscription[]>

export const kindOf = ({ account_id, mode, type }: Pick<FeedEvent, 'account_id' | 'mode' | 'type'>): string =>
  `${account_id} ${mode} ${type}`

/** A repeated step makes the same deliveries. */
export const deliveryId = (event_id: string, endpoint_id: string): string =>
  `whd_${event_id.slice(4, 18)}${hash('md5', event_id + endpoint_id, 'hex').slice(0, 12)}`

/** Oldest first. `objectOf`: undefined if the event is no longer stored. */
export function makeDeliveries(
  events: readonly FeedEvent[],
  subscriptions: Subscriptions,
  objectOf: (event_id: string) => Readonly<Record<string, unknown>> | undefined,
): NewDelivery[] {
  return events.flatMap((event) =>
    (subscriptions.get(event.kind) ?? [])
      .filter((subscription) => isFor(event, subscription, objectOf))
      .map(({ endpoint_id }) => deliveryOf(event, endpoint_id)),
  )
}

function isFor(event: FeedEvent, subscription: Subscription, objectOf: Parameters<typeof makeDeliveries>[2]): boolean {
  if (!isLater(event.position, subscription)) return false
  if (subscription.filters === null) return true
  const object = objectOf(event.id)
  return object !== undefined && passesFilters(subscription.filters, event.type, object)
}

const deliveryOf = (event: FeedEvent, endpoint_id: string): NewDelivery => ({
  id: deliveryId(event.id, endpoint_id),
  endpoint_id,
  account_id: event.account_id,
  mode: event.mode,
  event_id: event.id,
  event_type: event.type,
  next_run_at: event.created_at,
})

type Json = Readonly<Record<string, unknown>>

type Field = (object: Json) => unknown

/** By the first word of an event's type. Other kinds pass every filter. */
const fieldsOf: Readonly<Record<string, Partial<Record<keyof EndpointFilters, Field>>>> = {
  message: {
    channels: ({ channel_id }) => channel_id,
    channel_types: ({ channel_type }) => channel_type,
    directions: ({ direction }) => direction,
    message_types: ({ type }) => type,
    campaigns: ({ origin }) => (isObject(origin) && origin['type'] === 'campaign' ? origin['id'] : undefined),
  },
  channel: {
    channels: ({ id }) => id,
    channel_types: ({ type }) => type,
  },
  campaign: {
    channels: ({ channel_id }) => channel_id,
    channel_types: ({ channel_type }) => channel_type,
    campaigns: ({ id }) => id,
  },
}

export type FilterFields = Readonly<
  Record<'id' | 'channel_id' | 'channel_type' | 'direction' | 'type' | 'origin', unknown>
>

export const filterFieldsOf = ({ id, channel_id, channel_type, direction, type, origin }: Json): FilterFields => ({
  id,
  channel_id,
  channel_type,
  direction,
  type,
  origin,
})

/** Without empty filters. */
export function passesFilters(filters: EndpointFilters, event_type: string, object: Json): boolean {
  const fields = fieldsOf[event_type.split('.', 1)[0]!]
  if (fields === undefined) return true
  for (const [key, field] of Object.entries(fields)) {
    const wanted = filters[key as keyof EndpointFilters]
    if (wanted !== undefined && !(wanted as readonly unknown[]).includes(field(object))) return false
  }
  return true
}

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null

export interface Since {
  /** The snapshot's xmax as an event position: the epoch above 48 bits of transaction id. */
  readonly position: string
  /** A `pg_snapshot` as PostgreSQL writes it: `xmin:xmax:xid,…`. */
  readonly snapshot: string
}

const epochShift = 48n
const transactionMask = (1n << epochShift) - 1n

/** Whether the event was committed after the snapshot was taken. */
export function isLater(event_position: string, since: Since): boolean {
  const [event, from] = [BigInt(event_position), BigInt(since.position)]
  if (event >= from) return true
  if (event >> epochShift < from >> epochShift) return false
  return !isVisible(event & transactionMask, since.snapshot)
}

function isVisible(transaction: bigint, snapshot: string): boolean {
  const [xmin, xmax, running] = snapshot.split(':') as [string, string, string]
  if (transaction < BigInt(xmin)) return true
  if (transaction >= BigInt(xmax)) return false
  return !running.split(',').includes(String(transaction))
}
