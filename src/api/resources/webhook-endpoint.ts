/** Webhook endpoints (behaviour: webhooks 2). */
import { Type, type Static } from 'typebox'
import { Mode, objectName } from './shared-fields.ts'
import { eventTypes } from '../events.ts'
import { messageTypes, inboundTypes, channelTypes, reservedChannelTypes } from './channel.ts'
import { AnyObject, NullableString, Timestamp } from './nullable.ts'

const endpointStatuses = ['active', 'disabled'] as const
export type EndpointStatus = (typeof endpointStatuses)[number]

const words = (values: readonly string[], description: string) =>
  Type.Optional(Type.Array(Type.String({ enum: [...values] }), { maxItems: 100, description }))
const idList = (description: string) =>
  Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 255 }), { maxItems: 100, description }))

const filtersDescription =
  'An event is delivered when it fits every key that is given (AND), by any of its values (OR). An event whose object a key does not speak of passes that key; an empty array restricts nothing.'

export const EndpointFilters = Type.Object(
  {
    channels: idList('Channel ids: of messages, channels and campaigns.'),
    channel_types: words(
      [...channelTypes, ...reservedChannelTypes],
      'Kinds of channel: of messages, channels and campaigns.',
    ),
    directions: words(['outbound', 'inbound'], 'Of messages.'),
    message_types: words([...messageTypes, ...inboundTypes], 'Of messages.'),
    campaigns: idList('Campaign ids: of campaigns, and of messages that a campaign sent.'),
  },
  { additionalProperties: false, description: filtersDescription },
)
export type EndpointFilters = Static<typeof EndpointFilters>

export const EventTypeList = (options: object = {}) =>
  Type.Array(Type.String({ enum: [...Object.keys(eventTypes), '*'] }), {
    minItems: 1,
    maxItems: 100,
    description: 'Event types, or the single entry `*` for all.',
    examples: [['message.delivered', 'message.failed']],
    ...options,
  })

const fields = {
  id: Type.String({ description: 'Prefix `we_`.' }),
  object: objectName('webhook_endpoint'),
  mode: Mode,
  url: Type.String({ description: 'Where events are posted.' }),
  description: Type.String({ description: 'For people; empty where there is none.' }),
  events: Type.Array(Type.String({ enum: [...Object.keys(eventTypes), '*'] }), {
    description: 'Subscribed event types, or the single entry `*` for all.',
  }),
  status: Type.String({
    enum: [...endpointStatuses],
    description: '`disabled` by a PATCH, or by the service after 50 failed attempts in a row.',
  }),
  filters: Type.Object(EndpointFilters.properties, { description: filtersDescription }),
  metadata: AnyObject({ description: 'Your own data, returned unchanged.' }),
  source: NullableString({ description: 'The integration source (`src_`) it was created for, otherwise null.' }),
  created_by: Type.Object(
    {
      type: Type.String({
        enum: ['api_key', 'user'],
        description: 'The actor type: an API key or a console user. More may be added.',
      }),
      id: Type.String({ description: 'The key (`key_`) or the user (`usr_`).' }),
    },
    { description: 'The author.' },
  ),
  has_verification_token: Type.Boolean({
    description: 'True when deliveries carry the header `Service-Verification-Token`.',
  }),
  created_at: Timestamp(),
}

export const WebhookEndpoint = Type.Object(fields, {
  $id: 'WebhookEndpoint',
  description: 'An address that receives signed events.',
})
export type WebhookEndpoint = Static<typeof WebhookEndpoint>

export const WebhookEndpointWithSecret = Type.Object(
  {
    ...fields,
    secret: Type.String({ description: 'Prefix `whsec_`. Shown only here; the whole text is the HMAC key.' }),
  },
  {
    $id: 'WebhookEndpointWithSecret',
    description: 'A webhook endpoint with its signing secret, as answered at creation and by roll_secret.',
  },
)
export type WebhookEndpointWithSecret = Static<typeof WebhookEndpointWithSecret>
