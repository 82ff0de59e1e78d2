/** Webhook deliveries, one per event and endpoint (behaviour: webhooks 6.2). */
import { Type, type Static } from 'typebox'
import { eventTypes } from '../events.ts'
import { Mode, objectName } from './shared-fields.ts'
import { NullableInteger, NullableString, NullableTimestamp, Timestamp } from './nullable.ts'

export const deliveryStatuses = ['pending', 'delivered', 'failed'] as const
export type DeliveryStatus = (typeof deliveryStatuses)[number]

const deliveryErrors = [
  'dns_failed',
  'tls_failed',
  'connection_refused',
  'connection_reset',
  'host_unreachable',
  'timeout',
  'redirect',
  'response_invalid',
  'address_not_public',
  'endpoint_disabled',
  'event_expired',
] as const
export type DeliveryError = (typeof deliveryErrors)[number] | `status_${number}`

export const WebhookDelivery = Type.Object(
  {
    id: Type.String({ description: 'Prefix `whd_`.' }),
    object: objectName('webhook_delivery'),
    mode: Mode,
    endpoint_id: Type.String({ description: 'The webhook endpoint (`we_`).' }),
    event_id: Type.String({ description: 'The event (`evt_`) that it carries.' }),
    event_type: Type.String({ enum: Object.keys(eventTypes), description: 'The type of that event.' }),
    status: Type.String({
      enum: [...deliveryStatuses],
      description: '`pending`: another attempt follows. `failed`: none does, but by a retry.',
    }),
    attempts: Type.Integer({ description: 'The number of attempts so far.' }),
    response_status: NullableInteger({ description: 'HTTP status of the last attempt, null when it got none.' }),
    duration_ms: NullableInteger({ description: 'The duration of the last attempt in milliseconds.' }),
    // no enumeration, because clients accept any string
    error: NullableString({
      description:
        `Why the last attempt failed: ${deliveryErrors.map((error) => `\`${error}\``).join(', ')}, ` +
        'or `status_` and the number that was answered, such as `status_500`, where it was no 2xx. Null after a success and before the first attempt.',
      examples: ['timeout'],
    }),
    error_message: NullableString({
      description: 'A sentence for engineers that explains `error`.',
      examples: ['No answer came within 10 seconds.'],
    }),
    next_attempt_at: NullableTimestamp({
      description: 'When a pending delivery is attempted next; null during a test or a requested retry.',
    }),
    created_at: Timestamp(),
  },
  { $id: 'WebhookDelivery', description: 'The delivery of one event to one endpoint.' },
)
export type WebhookDelivery = Static<typeof WebhookDelivery>
