/** Webhook deliveries beyond `/v1`: those of a message, and bulk replay (behaviour: console-records 3). */
import { Type } from 'typebox'
import { DateTimeQuery } from '../../../api/date-time-query.ts'
import { Timestamp } from '../../../api/resources/nullable.ts'
import { objectName } from '../../../api/resources/shared-fields.ts'
import { WebhookDelivery } from '../../../api/resources/webhook-delivery.ts'
import { isoTime } from '../../../lib/clock.ts'
import { listOf, onePage, onePageQuery } from '../../../platform/http/paging.ts'
import { reply } from '../../../platform/http/route.ts'
import type { Platform } from '../../../platform/platform.ts'
import { consoleRoute, type ConsoleRoute, type ConsoleServices } from '../route.ts'

const DeliveryRetry = Type.Object(
  {
    object: objectName('delivery_retry'),
    count: Type.Integer({ description: 'Deliveries that are retried, or would be.' }),
  },
  { $id: 'DeliveryRetry', description: 'The number of retried deliveries.' },
)

const DeliveryRetryProgress = Type.Object(
  {
    object: objectName('delivery_retry_progress'),
    pending: Type.Integer({
      description: 'Requested retries that have not been attempted yet; counted up to 5,000.',
    }),
    failed: Type.Integer({
      description: 'Failed deliveries created until `created_until`; counted up to 5,000.',
    }),
    created_until: Timestamp(),
  },
  { $id: 'DeliveryRetryProgress', description: 'The progress of retried deliveries.' },
)

const endpointField = { minLength: 1, maxLength: 100, description: 'The id of the endpoint (`we_`).' } as const

const listMessageDeliveriesRoute = (
  messages: ConsoleServices['messages'],
  webhooks: ConsoleServices['webhooks'],
): ConsoleRoute =>
  consoleRoute({
    operation: 'messages.list_deliveries',
    method: 'GET',
    path: '/console/api/messages/{id}/deliveries',
    access: 'account',
    moded: true,
    scope: 'webhooks:read',
    summary: "List the webhook deliveries of a message's events",
    description: 'To every endpoint, newest first. Stored for 30 days.',
    query: onePageQuery,
    replies: { 200: listOf(WebhookDelivery) },
    errors: ['resource_missing'],
    async handler({ caller, params, query, sql }) {
      const { id } = await messages.get(sql, caller, params['id']!)
      return reply(200, onePage(await webhooks.deliveries.listOfObject(sql, caller, id), query))
    },
  })

const retryDeliveryRoute = (webhooks: ConsoleServices['webhooks']): ConsoleRoute =>
  consoleRoute({
    operation: 'deliveries.retry',
    method: 'POST',
    path: '/console/api/deliveries/retry',
    access: 'account',
    moded: true,
    scope: 'webhooks:write',
    summary: 'Retry the deliveries of an endpoint',
    description:
      'Retries each delivery with this status once, oldest first, up to 5,000 at a time. `dry_run` only counts them.',
    body: Type.Object(
      {
        endpoint: Type.String({ ...endpointField, examples: ['we_01jd0xgz1te5k9a0v3m3cm4n5p'] }),
        status: Type.Optional(
          Type.Unsafe<'delivered' | 'failed'>({
            type: 'string',
            enum: ['delivered', 'failed'],
            description: 'Those that ended so. Default: `failed`.',
          }),
        ),
        dry_run: Type.Optional(Type.Boolean({ description: 'Only count them.' })),
      },
      { additionalProperties: false },
    ),
    replies: { 200: DeliveryRetry },
    errors: ['resource_missing', 'delivery_state_invalid'],
    async handler({ caller, body: { endpoint, status = 'failed', dry_run = false }, sql }) {
      return reply(200, {
        object: 'delivery_retry',
        count: await webhooks.deliveries.retryAll(sql, caller, endpoint, status, dry_run),
      })
    },
  })

const retryDeliveryProgressRoute = (platform: Platform, webhooks: ConsoleServices['webhooks']): ConsoleRoute =>
  consoleRoute({
    operation: 'deliveries.retry_progress',
    method: 'GET',
    path: '/console/api/deliveries/retry',
    access: 'account',
    moded: true,
    scope: 'webhooks:read',
    summary: 'Show the progress of retried deliveries',
    description:
      'Counts pending retries, and failed deliveries created until `created_until` (default: now, which is returned). With none pending all have been attempted.',
    query: Type.Object(
      { endpoint: Type.String(endpointField), created_until: Type.Optional(DateTimeQuery) },
      { additionalProperties: false },
    ),
    example_query: 'endpoint=we_01jd0xgz1te5k9a0v3m3cm4n5p',
    replies: { 200: DeliveryRetryProgress },
    errors: ['resource_missing'],
    async handler({ caller, query: { endpoint, created_until = isoTime(platform.clock.now()) }, sql }) {
      const progress = await webhooks.deliveries.retryProgress(sql, caller, endpoint, created_until)
      return reply(200, { object: 'delivery_retry_progress', ...progress, created_until })
    },
  })

export const deliveryRoutes = ({
  platform,
  messages,
  webhooks,
}: Pick<ConsoleServices, 'platform' | 'messages' | 'webhooks'>): ConsoleRoute[] => [
  listMessageDeliveriesRoute(messages, webhooks),
  retryDeliveryRoute(webhooks),
  retryDeliveryProgressRoute(platform, webhooks),
]
