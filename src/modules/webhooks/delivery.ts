/** Deliveries: their row and JSON. */
import type { Tenant } from '../../api/caller.ts'
import type { DeliveryStatus, WebhookDelivery } from '../../api/resources/webhook-delivery.ts'

export interface DeliveryRow extends Tenant {
  readonly id: string
  readonly endpoint_id: string
  readonly event_id: string
  readonly event_type: string
  readonly status: DeliveryStatus
  readonly attempts: number
  readonly response_status: number | null
  readonly duration_ms: number | null
  readonly error: string | null
  readonly error_message: string | null
  readonly next_attempt_at: string | null
  readonly created_at: string
}

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
