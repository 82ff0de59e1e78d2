/** Rows of the event feed and of webhooks as receivers and the API see them. */
import type { Event } from '../../api/resources/event.ts'
import type { WebhookDelivery } from '../../api/resources/webhook-delivery.ts'
import type { WebhookEndpoint } from '../../api/resources/webhook-endpoint.ts'
import type { EventRow } from '../../platform/events/outbox.ts'
import type { DeliveryRow } from './deliveries/store.ts'
import type { EndpointRow } from './endpoints/store.ts'

/** The body of an event, the same bytes whenever it is built: the stored object is never parsed. */
export const eventBody = (row: EventRow): string =>
  `{"id":"${row.id}","object":"event","type":"${row.type}","mode":"${row.mode}","created_at":"${row.created_at}","data":{"object":${row.object}}}`

/** The item of the feed: what `eventBody` writes, as a value. */
export const eventObject = (row: EventRow): Event => ({
  id: row.id,
  object: 'event',
  type: row.type,
  mode: row.mode,
  created_at: row.created_at,
  data: { object: JSON.parse(row.object) as Record<string, unknown> },
})

export const endpointObject = (row: EndpointRow): WebhookEndpoint => ({
  id: row.id,
  object: 'webhook_endpoint',
  mode: row.mode,
  url: row.url,
  description: row.description,
  events: row.events,
  status: row.status,
  filters: row.filters,
  metadata: row.metadata,
  source: row.source,
  created_by: row.created_by,
  has_verification_token: row.verification_token !== null,
  created_at: row.created_at,
})

export const deliveryObject = (row: DeliveryRow): WebhookDelivery => ({
  id: row.id,
  object: 'webhook_delivery',
  mode: row.mode,
  endpoint_id: row.endpoint_id,
  event_id: row.event_id,
  event_type: row.event_type,
  status: row.status,
  attempts: row.attempts,
  response_status: row.response_status,
  duration_ms: row.duration_ms,
  error: row.error,
  error_message: row.error_message,
  next_attempt_at: row.next_attempt_at,
  created_at: row.created_at,
})
