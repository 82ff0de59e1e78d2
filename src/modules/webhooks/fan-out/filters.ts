/** Which events the filters of an endpoint let through: AND across keys, OR within; an object of a kind that a key does not speak of passes. */
import type { EndpointFilters } from '../../../api/resources/webhook-endpoint.ts'

type Json = Readonly<Record<string, unknown>>

/** What a key is compared with, of objects of one kind; undefined where the object does not have it. */
type Field = (object: Json) => unknown

/** By kind of object, which is the first word of an event's type. Kinds that are not here pass every filter. */
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

/** Of an event's object, all that filters look at. */
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

/** `filters` holds the keys that restrict something, none of them empty. */
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
