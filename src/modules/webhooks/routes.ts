/** HTTP routes of webhook endpoints and their deliveries (behaviour: webhooks 2, 6). */
import { Type } from 'typebox'
import { deletedOf } from '../../api/resources/shared-fields.ts'
import { deliveryStatuses, WebhookDelivery } from '../../api/resources/webhook-delivery.ts'
import { WebhookEndpoint, WebhookEndpointWithSecret } from '../../api/resources/webhook-endpoint.ts'
import { listOf, listQuery, pageOf, pageReply } from '../../platform/http/paging.ts'
import { storingReply, reply, route, type Route } from '../../platform/http/route.ts'
import { EndpointChange, EndpointCreation, endpointFailures, RollSecret } from './endpoint.ts'
import type { WebhookService } from './service.ts'

const tag = 'Webhook endpoints'
const Deleted = deletedOf('webhook_endpoint')
const DeliveryFilter = listQuery({
  status: Type.Optional(
    Type.Unsafe<(typeof deliveryStatuses)[number]>({
      type: 'string',
      enum: [...deliveryStatuses],
      description: 'With this status now.',
    }),
  ),
})

export const webhookRoutes = (webhooks: WebhookService): Route[] => [
  createRoute(webhooks),
  ...endpointReadRoutes(webhooks),
  updateRoute(webhooks),
  deleteRoute(webhooks),
  rollSecretRoute(webhooks),
  testRoute(webhooks),
  ...deliveryReadRoutes(webhooks),
  retryRoute(webhooks),
]

const createRoute = (webhooks: WebhookService): Route =>
  route({
    operation: 'webhook_endpoints.create',
    method: 'POST',
    path: '/v1/webhook_endpoints',
    scope: 'webhooks:write',
    idempotent: 'lease',
    secret_reply: true,
    tag,
    summary: 'Create a webhook endpoint',
    description:
      'From now on the endpoint receives every event of its mode that it subscribes to, signed with `secret`, which is shown only here. `url` must be https and lead to a public address; ' +
      'a host name that does not resolve yet is accepted, and every attempt checks the address it connects to.',
    body: EndpointCreation,
    inspect: endpointFailures,
    replies: { 201: WebhookEndpointWithSecret },
    errors: ['webhook_url_not_public', 'webhook_endpoint_limit_reached'],
    handler: async ({ caller, body, sql, keep }) =>
      reply(201, await webhooks.endpoints.create(sql, caller, body, storingReply(keep, 201))),
  })

const endpointReadRoutes = (webhooks: WebhookService): Route[] => [
  route({
    operation: 'webhook_endpoints.list',
    method: 'GET',
    path: '/v1/webhook_endpoints',
    scope: 'webhooks:read',
    tag,
    summary: 'List webhook endpoints',
    description: 'Newest first, disabled ones too. Secrets are not shown again.',
    query: listQuery({}),
    replies: { 200: listOf(WebhookEndpoint) },
    errors: [],
    handler: async ({ caller, query, sql }) => {
      const page = pageOf(query)
      return reply(200, pageReply(await webhooks.endpoints.list(sql, caller, page), page.limit))
    },
  }),
  route({
    operation: 'webhook_endpoints.retrieve',
    method: 'GET',
    path: '/v1/webhook_endpoints/{id}',
    scope: 'webhooks:read',
    tag,
    summary: 'Retrieve a webhook endpoint',
    description: 'Its secret is not shown again: `roll_secret` makes a new one.',
    replies: { 200: WebhookEndpoint },
    errors: ['resource_missing'],
    handler: async ({ caller, params, sql }) => reply(200, await webhooks.endpoints.get(sql, caller, params['id']!)),
  }),
]

const updateRoute = (webhooks: WebhookService): Route =>
  route({
    operation: 'webhook_endpoints.update',
    method: 'PATCH',
    path: '/v1/webhook_endpoints/{id}',
    scope: 'webhooks:write',
    tag,
    summary: 'Update a webhook endpoint',
    description:
      'Absent fields stay; `events`, `filters` and `metadata` are replaced whole; null clears `filters`, `metadata` and `verification_token`. `status` `disabled` ends what is pending as failed; ' +
      '`active` enables a disabled endpoint again, its count of failures starts anew, and what happened meanwhile is never sent.',
    body: EndpointChange,
    inspect: endpointFailures,
    replies: { 200: WebhookEndpoint },
    errors: ['resource_missing', 'webhook_url_not_public'],
    handler: async ({ caller, params, body, sql }) =>
      reply(200, await webhooks.endpoints.update(sql, caller, params['id']!, body)),
  })

const deleteRoute = (webhooks: WebhookService): Route =>
  route({
    operation: 'webhook_endpoints.delete',
    method: 'DELETE',
    path: '/v1/webhook_endpoints/{id}',
    scope: 'webhooks:write',
    tag,
    summary: 'Delete a webhook endpoint',
    description: 'Its pending deliveries are dropped for good.',
    replies: { 200: Deleted },
    errors: ['resource_missing'],
    handler: async ({ caller, params, sql }) => {
      await webhooks.endpoints.remove(sql, caller, params['id']!)
      return reply(200, { id: params['id'], object: 'webhook_endpoint', deleted: true })
    },
  })

const rollSecretRoute = (webhooks: WebhookService): Route =>
  route({
    operation: 'webhook_endpoints.roll_secret',
    method: 'POST',
    path: '/v1/webhook_endpoints/{id}/roll_secret',
    scope: 'webhooks:write',
    secret_reply: true,
    tag,
    summary: 'Roll the signing secret',
    description:
      'Answers the endpoint with a new `secret`. The previous one stops being used immediately, or signs as well (a second `v1=`) for `expire_previous_in_seconds`.',
    body: RollSecret,
    replies: { 200: WebhookEndpointWithSecret },
    errors: ['resource_missing'],
    handler: async ({ caller, params, body, sql }) =>
      reply(
        200,
        await webhooks.endpoints.rollSecret(sql, caller, params['id']!, body?.expire_previous_in_seconds ?? 0),
      ),
  })

const testRoute = (webhooks: WebhookService): Route =>
  route({
    operation: 'webhook_endpoints.test',
    method: 'POST',
    path: '/v1/webhook_endpoints/{id}/test',
    scope: 'webhooks:write',
    idempotent: 'lease',
    tag,
    summary: 'Send a test event',
    description:
      'Delivers a signed `webhook.test` event to this endpoint alone, whatever it subscribes to. Waits up to 5 seconds for the first attempt and answers the delivery as it then is. ' +
      'The delivery is retried and counted as any other. A disabled endpoint gets nothing: `failed`, `endpoint_disabled`.',
    replies: { 200: WebhookDelivery },
    errors: ['resource_missing'],
    handler: async ({ caller, params }) => reply(200, await webhooks.deliveries.test(caller, params['id']!)),
  })

const deliveryReadRoutes = (webhooks: WebhookService): Route[] => [
  route({
    operation: 'webhook_endpoints.list_deliveries',
    method: 'GET',
    path: '/v1/webhook_endpoints/{id}/deliveries',
    scope: 'webhooks:read',
    tag,
    summary: "List an endpoint's deliveries",
    description: 'Kept 30 days.',
    query: DeliveryFilter,
    replies: { 200: listOf(WebhookDelivery) },
    errors: ['resource_missing'],
    handler: async ({ caller, params, query, sql }) => {
      const page = pageOf(query)
      return reply(
        200,
        pageReply(await webhooks.deliveries.list(sql, caller, params['id']!, query.status, page), page.limit),
      )
    },
  }),
  route({
    operation: 'webhook_endpoints.retrieve_delivery',
    method: 'GET',
    path: '/v1/webhook_endpoints/{id}/deliveries/{delivery_id}',
    scope: 'webhooks:read',
    tag,
    summary: 'Retrieve a delivery',
    description: 'The response to its last attempt, and the time of the next one.',
    replies: { 200: WebhookDelivery },
    errors: ['resource_missing'],
    handler: async ({ caller, params, sql }) =>
      reply(200, await webhooks.deliveries.get(sql, caller, params['id']!, params['delivery_id']!)),
  }),
]

const retryRoute = (webhooks: WebhookService): Route =>
  route({
    operation: 'webhook_endpoints.retry_delivery',
    method: 'POST',
    path: '/v1/webhook_endpoints/{id}/deliveries/{delivery_id}/retry',
    scope: 'webhooks:write',
    idempotent: 'lease',
    tag,
    summary: 'Retry a delivery',
    description:
      'One attempt now, with the same body, of a delivery that is not pending; it is counted, and no further attempts follow. Waits up to 5 seconds and answers the delivery as it then is.',
    replies: { 200: WebhookDelivery },
    errors: ['resource_missing', 'delivery_state_invalid'],
    handler: async ({ caller, params }) =>
      reply(200, await webhooks.deliveries.retry(caller, params['id']!, params['delivery_id']!)),
  })
