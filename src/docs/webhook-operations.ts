/** The `webhooks` of the document: one request per event type. */
import { eventTypes, type EventType } from '../api/events.ts'
import type { Components, Json } from './components.ts'
import { eventSchema } from './unions.ts'
import { sample } from './samples.ts'

export const eventsTag = 'Webhook events'

const signature = 'a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f90'

/** (behaviour: webhooks 4.1) */
const deliveryHeaders: readonly (readonly [name: string, description: string, example: string])[] = [
  [
    'Service-Signature',
    '`t=<unix seconds>,v1=<hex HMAC-SHA-256>` of `<t>.<body>` under the whole `whsec_…` text. While two secrets are in force there are two `v1`.',
    `t=1769851800,v1=${signature}`,
  ],
  [
    'Service-Event-Id',
    'The `id` of the event, the same in every retry: deduplicate on it.',
    'evt_01m7z10y8texgrjk0p9bvk2cq6',
  ],
  ['Service-Event-Type', 'The `type` of the event, to choose by before the body is read.', 'message.delivered'],
  ['webhook-id', 'Standard Webhooks: the `id` of the event.', 'evt_01m7z10y8texgrjk0p9bvk2cq6'],
  [
    'webhook-timestamp',
    'Standard Webhooks: when it was signed, in Unix seconds. A retry is signed afresh.',
    '1769851800',
  ],
  [
    'webhook-signature',
    'Standard Webhooks: `v1,` and the base64 HMAC-SHA-256 of `<webhook-id>.<webhook-timestamp>.<body>` under the base64-decoded part of the secret behind `whsec_`. While two secrets are in force both, separated by a space.',
    'v1,obLD1OX2Bxgpajtcbn+PkKGyw9Tl9gcYKWo7XG5/j5A=',
  ],
]

export function webhookOperations(components: Components): Json {
  return Object.fromEntries(
    (Object.keys(eventTypes) as EventType[]).map((type) => [type, { post: operation(type, components) }]),
  )
}

function operation(type: EventType, components: Components): Json {
  const schema = eventSchema(type)
  return {
    operationId: `on_${type.replaceAll('.', '_')}`,
    summary: `Sent when ${eventTypes[type].when}.`,
    description:
      'Verify the signature over the raw body before anything else, answer any 2xx within ten seconds, and do the work afterwards: everything else is repeated.',
    tags: [eventsTag],
    security: [],
    parameters: [
      ...deliveryHeaders.map(([name, description, example]) => ({
        name,
        in: 'header',
        required: true,
        description,
        schema: { type: 'string' },
        example,
      })),
      {
        name: 'Service-Verification-Token',
        in: 'header',
        required: false,
        description: 'The `verification_token` of the endpoint, where it has one.',
        schema: { type: 'string' },
        example: 'a-word-of-your-own',
      },
    ],
    requestBody: {
      required: true,
      content: { 'application/json': { schema: components.response(schema), example: sample(schema) } },
    },
    responses: {
      '2XX': { description: 'Any 2xx within ten seconds counts as delivered.' },
      '4XX': {
        description:
          'As everything that is not a 2xx: repeated later, and the endpoint is disabled after 50 failed attempts in a row.',
      },
    },
  }
}
