/** The outcome of a webhook delivery, for table cells. */
import type { components } from '../../api/generated/v1.ts'
import { humanize, text } from '../../text/en.ts'

export type Delivery = components['schemas']['WebhookDelivery']

export function DeliveryAnswer({
  delivery: { response_status, duration_ms, error, error_message },
}: {
  delivery: Delivery
}) {
  if (error !== null) return <bdi>{error_message ?? humanize(error)}</bdi>
  return response_status === null ? null : text.webhooks.deliveries.unwrap(response_status, duration_ms)
}
