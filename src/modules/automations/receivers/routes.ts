/** The addresses that shops and sites send their own webhooks to (behaviour: integrations 4). */
import { Type } from 'typebox'
import { AutomationEvent, automationEventLimits, ReportedEvent } from '../../../api/resources/automation-event.ts'
import { reply, signedRoute, type Route } from '../../../platform/http/route.ts'
import type { Receiver } from './receiver.ts'

/** A receipt; nothing but `ping` for WooCommerce's ping. */
const Received = Type.Object(
  {
    ...Type.Partial(AutomationEvent).properties,
    ping: Type.Optional(
      Type.Literal(true, { description: 'Only where WooCommerce tried the address: nothing was reported.' }),
    ),
  },
  {
    $id: 'ReceivedWebhook',
    description:
      'The receipt of what a webhook told, as `GET /v1/automation_events/{id}` has it, but for `data.raw` of Shopify and WooCommerce; for the ping of WooCommerce `ping` alone.',
  },
)

export const receiverRoutes = (receiver: Receiver): Route[] => [
  signedRoute({
    operation: 'ingest.receive',
    method: 'POST',
    path: '/v1/ingest/{platform}/{source_id}',
    tag: 'Automation events',
    summary: 'Receive a native webhook',
    description:
      'For the webhooks of a shop or site itself: `ingest_urls` of the source has its addresses. No API key: Shopify signs with `X-Shopify-Hmac-Sha256`, WooCommerce with `X-WC-Webhook-Signature`, ' +
      'anybody else with `Service-Signature` (`t=<unix seconds>,v1=<hex HMAC-SHA256 of "<t>.<body>">`, not older than five minutes) over the body shown here, all with the signing secret of the source. ' +
      'Answers 200 with the receipt once the event is stored; for an event that was told before with the first one, `status` `duplicate`. A topic that stands for no event is `ignored`, `unmapped_topic`. At most 256 KB.',
    body_bytes_max: automationEventLimits.body_bytes,
    uploads: { 'application/json': { schema: ReportedEvent } },
    replies: { 200: Received },
    errors: [
      'resource_missing',
      'account_suspended',
      'source_disabled',
      'rate_limit_exceeded',
      'payload_too_large',
      'webhook_signature_invalid',
      'invalid_json',
      'parameter_missing',
      'parameter_invalid',
    ],
    take: async ({ params, ...request }) =>
      reply(200, await receiver.take(params['platform']!, params['source_id']!, request)),
  }),
]
