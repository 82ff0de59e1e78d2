/** A webhook endpoint as its form holds it, and as the API takes it. */
import type { components, operations } from '../../api/generated/v1.ts'
import { objectIn } from '../../parts/json-object.ts'

export type Endpoint = components['schemas']['WebhookEndpoint']
export type Creation = operations['webhook_endpoints.create']['requestBody']['content']['application/json']

export interface EndpointDraft {
  readonly url: string
  readonly description: string
  /** `*` alone: all. */
  readonly events: readonly string[]
  /** One a line. */
  readonly channels: string
  readonly campaigns: string
  readonly channel_types: readonly string[]
  readonly directions: readonly string[]
  readonly message_types: readonly string[]
  /** JSON as typed. */
  readonly metadata: string
  readonly source: string
}

export const emptyDraft: EndpointDraft = {
  url: '',
  description: '',
  events: ['*'],
  channels: '',
  campaigns: '',
  channel_types: [],
  directions: [],
  message_types: [],
  metadata: '',
  source: '',
}

export function draftOf({ url, description, events, filters, metadata, source }: Endpoint): EndpointDraft {
  return {
    url,
    description,
    events,
    channels: (filters.channels ?? []).join('\n'),
    campaigns: (filters.campaigns ?? []).join('\n'),
    channel_types: filters.channel_types ?? [],
    directions: filters.directions ?? [],
    message_types: filters.message_types ?? [],
    metadata: Object.keys(metadata).length === 0 ? '' : JSON.stringify(metadata, null, 2),
    source: source ?? '',
  }
}

const linesOf = (typed: string): string[] => typed.split(/\s+/).filter((line) => line !== '')

/** What both creating and changing take; the values are those of the boxes, which are the API's. */
export function bodyOf(draft: EndpointDraft, verification_token: string): Omit<Creation, 'source'> {
  const filters = {
    channels: linesOf(draft.channels),
    campaigns: linesOf(draft.campaigns),
    channel_types: draft.channel_types,
    directions: draft.directions,
    message_types: draft.message_types,
  }
  return {
    url: draft.url.trim(),
    events: [...draft.events] as Creation['events'],
    description: draft.description,
    metadata: objectIn(draft.metadata) ?? {},
    filters: Object.fromEntries(Object.entries(filters).filter(([, values]) => values.length > 0)) as NonNullable<
      Creation['filters']
    >,
    ...(verification_token === '' ? {} : { verification_token }),
  }
}

/** For who pays attention to one event type: what it is, in the words of the API. */
export const eventsOf = ({ events }: Endpoint, all: string): string => (events.includes('*') ? all : events.join(', '))
