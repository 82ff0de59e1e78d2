/** HTTP routes of messages (behaviour: messages 2, 5, 8.4, 9; test-mode 4). */
import { Type } from 'typebox'
import { objectName } from '../../api/resources/shared-fields.ts'
import { DocumentedSendMessage } from '../../api/content/documented.ts'
import { limits } from '../../api/limits.ts'
import { inboundTypes, messageTypes } from '../../api/resources/channel.ts'
import { Message, MessageAttempt, MessageHistoryItem, messageStatuses } from '../../api/resources/message.ts'
import { NullableString } from '../../api/resources/nullable.ts'
import { DateTimeQuery } from '../../api/date-time-query.ts'
import { ErrorBody } from '../../api/resources/api-error.ts'
import { replayedHeaders } from '../../platform/http/idempotency.ts'
import { listOf, listQuery, onePage, onePageQuery, pageOf, pageReply } from '../../platform/http/paging.ts'
import { reply, route, type Route } from '../../platform/http/route.ts'
import type { InboundRequest } from './inbound/simulation.ts'
import { otherFieldNames } from './accept/batches.ts'
import { sendErrors } from './accept/requests.ts'
import { acceptedObject, attemptObject, batchObject, messageObject } from './message.ts'
import type { MessageService } from './service.ts'

const tag = 'Messages'

const Batch = Type.Object({
  object: objectName('batch'),
  data: Type.Array(
    Type.Object({
      index: Type.Integer({ description: 'Position in `messages` of the request, from 0.' }),
      status: Type.Integer({ description: 'The HTTP status of a single send.' }),
      message: Type.Optional(Message),
      error: Type.Optional(ErrorBody),
    }),
    {
      description:
        'One entry per message, in the order of the request: `message` if it was accepted, otherwise `error`.',
    },
  ),
  accepted: Type.Integer({ description: 'Messages that were stored and charged.' }),
  rejected: Type.Integer({ description: 'Messages that were refused and not charged.' }),
})

const BatchRequest = Type.Object(
  {
    messages: Type.Array(DocumentedSendMessage, {
      minItems: 1,
      maxItems: 100,
      description: 'Each message is validated, billed and accepted separately. Channels may differ.',
    }),
  },
  {
    // unknown fields are part of the fingerprint of an Idempotency-Key
    additionalProperties: true,
    examples: [
      {
        messages: [
          {
            channel: 'ch_test_whatsapp',
            to: '+15005550006',
            type: 'text',
            text: { body: 'Your parcel is on its way.' },
          },
          { channel: 'ch_test_sms', to: '+15005550010', type: 'text', text: { body: 'Your parcel arrives today.' } },
        ],
      },
    ],
  },
)

const InboundMessage = Type.Object(
  {
    channel: Type.String({ minLength: 1, description: 'A sandbox channel.' }),
    from: Type.String({ minLength: 1, maxLength: 255, description: 'Sender of the message.' }),
    type: Type.Optional(Type.String({ default: 'text', description: 'The content is under the key with this name.' })),
    profile_name: Type.Optional(
      NullableString({
        maxLength: 255,
        description: 'Name of the sender on the channel; used for a new contact.',
      }),
    ),
    reply_to: Type.Optional(NullableString({ description: 'The message that this one answers.' })),
  },
  {
    $id: 'InboundMessage',
    description: 'A message from a recipient, with its content object under the key named by `type`.',
    additionalProperties: true,
    examples: [
      { channel: 'ch_test_sms', from: '+14155550123', text: { body: 'Where is my parcel?' }, profile_name: 'Ada' },
    ],
  },
)

const filters = {
  channel: Type.Optional(Type.String({ minLength: 1, description: 'Messages of this channel (`ch_`).' })),
  direction: Type.Optional(Type.String({ enum: ['outbound', 'inbound'], description: 'Sent or received messages.' })),
  status: Type.Optional(Type.String({ enum: [...messageStatuses], description: 'Messages with this status.' })),
  to: Type.Optional(Type.String({ minLength: 1, description: 'Messages to this recipient, as in `to`.' })),
  reference: Type.Optional(Type.String({ minLength: 1, description: 'Messages with this `reference`.' })),
  created_after: Type.Optional(DateTimeQuery),
  created_before: Type.Optional(DateTimeQuery),
  updated_after: Type.Optional(DateTimeQuery),
}

const otherAccount = '/2010-04-01/Accounts/{account}'

/** Paths at which other services accept messages. */
const otherSendingPaths = [
  `${otherAccount}/Messages.json`,
  '/sms/json',
  '/sms/2/text/advanced',
  '/sms/3/messages',
  '/sms',
  '/send',
  '/v1/sms',
  '/v1/send',
]

/** `base_url`: for links in errors. */
export const messageRoutes = (messages: MessageService, base_url: string): Route[] => [
  sendRoute(messages),
  batchRoute(messages, base_url),
  listRoute(messages),
  ...readRoutes(messages),
  cancelRoute(messages),
  simulationRoute(messages),
]

const sendRoute = (messages: MessageService): Route =>
  route({
    operation: 'messages.send',
    method: 'POST',
    path: '/v1/messages',
    scope: 'messages:write',
    idempotent: 'own',
    tag,
    summary: 'Send a message',
    description:
      'Answers 202 once the message is stored and charged; read its outcome with GET /v1/messages/{id} or receive it by webhook.',
    body: DocumentedSendMessage,
    body_optional: false,
    body_unchecked: true,
    known_fields: [...messageTypes],
    other_names: otherFieldNames,
    other_paths: otherSendingPaths,
    example_body: {
      channel: 'ch_test_whatsapp',
      to: '+15005550006',
      type: 'text',
      text: { body: 'Your parcel is on its way.' },
      reference: 'order-1042',
    },
    rate_limit: 'rate_limit_messages',
    replies: { 202: Message },
    errors: sendErrors,
    async handler({ caller, body, idempotency_key }) {
      const { row, replayed } = await messages.send(caller, body, idempotency_key)
      return replayed ? reply(202, acceptedObject(row), replayedHeaders) : reply(202, messageObject(row))
    },
  })

const batchRoute = (messages: MessageService, base_url: string): Route =>
  route({
    operation: 'messages.send_batch',
    method: 'POST',
    path: '/v1/messages/batch',
    scope: 'messages:write',
    idempotent: 'own',
    tag,
    summary: 'Send up to 100 messages',
    description:
      'Answers 207 whenever the batch itself is well-formed, even if every item was rejected. The Idempotency-Key applies to the whole batch.',
    body: BatchRequest,
    body_optional: false,
    body_unchecked: true,
    known_fields: [],
    items_apart: { field: 'messages', items_max: limits.batch_messages_max },
    replies: { 207: Batch },
    errors: ['upstream_unavailable'],
    async handler({ caller, body, idempotency_key, bodyChecked }) {
      const { results, replayed } = await messages.sendBatch(caller, body, idempotency_key, bodyChecked)
      const batch = batchObject(results, replayed ? acceptedObject : messageObject, caller.request_id, base_url)
      return replayed ? reply(207, batch, replayedHeaders) : reply(207, batch)
    },
  })

const listRoute = (messages: MessageService): Route =>
  route({
    operation: 'messages.list',
    method: 'GET',
    path: '/v1/messages',
    scope: 'messages:read',
    tag,
    summary: 'List messages',
    other_paths: [`${otherAccount}/Messages.json`],
    description:
      'Newest first. `updated_after` covers new messages and changes of status; poll with an overlap of a few seconds.',
    query: listQuery(filters),
    replies: { 200: listOf(Message) },
    errors: [],
    handler: async ({ caller, query, sql }) => {
      const page = pageOf(query)
      // an unescaped plus sign of a phone number arrives as a space
      const asMeant = query.to === undefined ? query : { ...query, to: query.to.replace(/^ /, '+') }
      return reply(200, pageReply((await messages.list(sql, caller, asMeant, page)).map(messageObject), page.limit))
    },
  })

const readRoutes = (messages: MessageService): Route[] => [
  route({
    operation: 'messages.retrieve',
    method: 'GET',
    path: '/v1/messages/{id}',
    scope: 'messages:read',
    tag,
    summary: 'Retrieve a message',
    other_paths: [`${otherAccount}/Messages/{id}`],
    description: '`status` and its timestamps show progress; `error` explains a failure.',
    replies: { 200: Message },
    errors: ['resource_missing'],
    handler: async ({ caller, params, sql }) =>
      reply(200, messageObject(await messages.get(sql, caller, params['id']!))),
  }),
  route({
    operation: 'messages.list_events',
    method: 'GET',
    path: '/v1/messages/{id}/events',
    scope: 'messages:read',
    tag,
    summary: "List a message's history",
    description: 'Newest first, in one page.',
    query: onePageQuery,
    replies: { 200: listOf(MessageHistoryItem) },
    errors: ['resource_missing'],
    handler: async ({ caller, params, query, sql }) =>
      reply(200, onePage(await messages.history(sql, caller, params['id']!), query)),
  }),
  route({
    operation: 'messages.list_attempts',
    method: 'GET',
    path: '/v1/messages/{id}/attempts',
    scope: 'messages:read',
    tag,
    summary: "List a message's send attempts",
    description: 'Newest first, in one page.',
    query: onePageQuery,
    replies: { 200: listOf(MessageAttempt) },
    errors: ['resource_missing'],
    handler: async ({ caller, params, query, sql }) =>
      reply(200, onePage((await messages.attempts(sql, caller, params['id']!)).map(attemptObject), query)),
  }),
]

const cancelRoute = (messages: MessageService): Route =>
  route({
    operation: 'messages.cancel',
    method: 'POST',
    path: '/v1/messages/{id}/cancel',
    scope: 'messages:write',
    tag,
    summary: 'Cancel a message that is still queued',
    description: 'The message becomes `failed` with the error code `cancelled`, and is refunded.',
    replies: { 200: Message },
    errors: ['resource_missing', 'message_state_invalid'],
    handler: async ({ caller, params, sql }) =>
      reply(200, messageObject(await messages.cancel(sql, caller, params['id']!))),
  })

const simulationRoute = (messages: MessageService): Route =>
  route({
    operation: 'test.create_inbound_message',
    method: 'POST',
    path: '/v1/test/inbound_messages',
    scope: 'messages:write',
    mode: 'test',
    tag,
    summary: 'Simulate an inbound message',
    description:
      'On a sandbox channel: emits `message.received`, opens the service window, applies the opt-out keywords.',
    body: InboundMessage,
    known_fields: [...messageTypes, ...inboundTypes],
    replies: { 201: Message },
    errors: ['resource_missing', 'test_mode_required'],
    handler: async ({ caller, body, sql }) =>
      reply(201, messageObject(await messages.simulateInbound(sql, caller, body as unknown as InboundRequest))),
  })
