/** Routes of events and receipts, and the ingest address of webhooks (behaviour: integrations 3, 4). */
import { Type } from 'typebox'
import { limits } from '../../../api/limits.ts'
import { DateTimeQuery } from '../../../api/date-time-query.ts'
import {
  AutomationEvent,
  automationEventLimits,
  EventReport,
  receiptStatuses,
  ReportedEvent,
} from '../../../api/resources/automation-event.ts'
import { eventContent } from '../../../sources/event.ts'
import { getReceipt, listReceipts } from '../queries.ts'
import type { AcceptedEvent } from './event.ts'
import type { Ingest } from './ingest.ts'
import type { EventQueue } from './queue.ts'
import { listOf, listQuery, pageOf } from '../../../platform/http/paging.ts'
import { reply, route, type Route, signedRoute } from '../../../platform/http/route.ts'

const tag = 'Automation events'

const answered = ({ receipt, duplicate }: AcceptedEvent) => reply(duplicate ? 200 : 202, receipt)

const createAutomationEventRoute = (events: EventQueue): Route =>
  route({
    operation: 'automation_events.create',
    method: 'POST',
    path: '/v1/automation_events',
    scope: 'automation_events:write',
    idempotent: 'lease',
    tag,
    summary: 'Report what happened in a shop or site',
    description:
      'Answers 202 with the receipt once the event is stored, with the runs of the automations that are for it. The same `source` and `event_id` again is 200, the first receipt with ' +
      '`status` `duplicate`; nothing runs twice. At most 256 KB.',
    body: EventReport,
    body_bytes_max: automationEventLimits.body_bytes,
    body_names_max: limits.callback_body_names_max,
    example_body: {
      source: 'src_01kg9p6je0e6z9vsnhtbf6d24v',
      type: 'order.shipped',
      event_id: 'shipped-1001',
      customer: { phone: '+4915112345678', first_name: 'Ada' },
      data: {
        order: { id: '1001', number: '#1001', shipping: { carrier: 'DHL', tracking_url: 'https://www.dhl.de/1001' } },
      },
    },
    replies: { 200: AutomationEvent, 202: AutomationEvent },
    errors: ['resource_missing', 'source_disabled', 'upstream_unavailable'],
    async handler({ caller, body, keep, arrived_at }) {
      const { account_id, mode } = caller
      const source = { account_id, mode, id: body.source }
      const event = { source, origin: 'api', ...eventContent(body, arrived_at) } as const
      return answered(await events.accept(event, (tx, accepted) => keep(tx, answered(accepted))))
    },
  })

const listAutomationEventsRoute = route({
  operation: 'automation_events.list',
  method: 'GET',
  path: '/v1/automation_events',
  scope: 'automation_events:read',
  tag,
  summary: 'List the receipts of reported events',
  description:
    'Newest first, with the state of their runs. A page ends before its `limit` once its receipts contain more than 4 MB of data.',
  query: listQuery({
    source: Type.Optional(Type.String({ minLength: 1, description: 'Of this integration source (`src_`).' })),
    type: Type.Optional(Type.String({ minLength: 1, description: 'Of this type of event, as it was reported.' })),
    status: Type.Optional(Type.String({ enum: [...receiptStatuses], description: 'With this status.' })),
    created_after: Type.Optional(DateTimeQuery),
    created_before: Type.Optional(DateTimeQuery),
  }),
  // a rare type or status is searched among all receipts
  expensive: {
    when: ({ type, status }) => type !== undefined || status !== undefined,
    narrow: 'Ask for a shorter time with created_after and created_before.',
  },
  replies: { 200: listOf(AutomationEvent) },
  errors: [],
  handler: async ({ caller, query, sql }) => {
    const { data, has_more } = await listReceipts(sql, caller, query, pageOf(query))
    return reply(200, { object: 'list', data, has_more, next_cursor: has_more ? data.at(-1)!.id : null })
  },
})

const retrieveAutomationEventRoute = route({
  operation: 'automation_events.retrieve',
  method: 'GET',
  path: '/v1/automation_events/{id}',
  scope: 'automation_events:read',
  tag,
  summary: 'Retrieve the receipt of a reported event',
  description: 'With its runs, or the reason why there are none.',
  replies: { 200: AutomationEvent },
  errors: ['resource_missing'],
  handler: async ({ caller, params, sql }) => reply(200, await getReceipt(sql, caller, params['id']!)),
})

export const eventRoutes = (events: EventQueue): Route[] => [
  createAutomationEventRoute(events),
  listAutomationEventsRoute,
  retrieveAutomationEventRoute,
]

const Received = Type.Object(
  {
    ...Type.Partial(AutomationEvent).properties,
    ping: Type.Optional(
      Type.Literal(true, { description: 'Only if WooCommerce tested the address: no event was reported.' }),
    ),
  },
  {
    $id: 'ReceivedWebhook',
    description:
      'The receipt as `GET /v1/automation_events/{id}` returns it, without `data.raw` of Shopify and WooCommerce. For the ping of WooCommerce only `ping`.',
  },
)

export const ingestRoutes = (ingest: Ingest): Route[] => [
  signedRoute({
    operation: 'ingest.receive',
    method: 'POST',
    path: '/v1/ingest/{platform}/{source_id}',
    tag: 'Automation events',
    summary: 'Receive a native webhook',
    description:
      'For the webhooks of a shop or site itself: `ingest_urls` of the source has its addresses. No API key: Shopify signs with `X-Shopify-Hmac-Sha256`, WooCommerce with `X-WC-Webhook-Signature`, ' +
      'other senders with `Service-Signature` (`t=<unix seconds>,v1=<hex HMAC-SHA256 of "<t>.<body>">`, not older than five minutes) over the body shown here, all with the signing secret of the source. ' +
      'Answers 200 with the receipt once the event is stored; a repeated event returns the first receipt with `status` `duplicate`. A topic without an event is `ignored`, `unmapped_topic`. At most 256 KB.',
    body_bytes_max: automationEventLimits.body_bytes,
    body_members_max: limits.callback_body_members_max,
    body_names_max: limits.callback_body_names_max,
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
    signedHandler: async ({ params, ...request }) =>
      reply(200, await ingest.receive(params['platform']!, params['source_id']!, request)),
  }),
]
