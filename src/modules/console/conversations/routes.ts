/** Operations of the inbox (behaviour: console 7.4). */
import { Type } from 'typebox'
import {
  Conversation,
  type ConversationStatus,
  conversationStatuses,
  ConversationUpdate,
} from '../../../api/resources/conversation.ts'
import { Message } from '../../../api/resources/message.ts'
import { listOf, listQuery, pageOf, pageReply } from '../../../platform/http/paging.ts'
import { reply } from '../../../platform/http/route.ts'
import { messageObject } from '../../messages/service.ts'
import { consoleRoute, type ConsoleRoute, type ConsoleServices } from '../route.ts'
import { changeConversation, getConversation, messagesOf, pageOfConversations } from './conversations.ts'

const reads = { access: 'account', moded: true, method: 'GET', scope: 'messages:read' } as const

const ConversationFilter = listQuery({
  status: Type.Optional(
    Type.Unsafe<ConversationStatus>({
      type: 'string',
      enum: [...conversationStatuses],
      description: 'With this status now.',
    }),
  ),
  assignee: Type.Optional(Type.String({ minLength: 1, description: 'Of this member (`usr_`).' })),
  contact: Type.Optional(Type.String({ minLength: 1, description: 'With this contact (`ct_`).' })),
})

export const conversationRoutes = (services: ConsoleServices): ConsoleRoute[] => [
  consoleRoute({
    ...reads,
    operation: 'conversations.list',
    path: '/console/api/conversations',
    summary: 'List the conversations',
    description: 'In which something came in last first.',
    query: ConversationFilter,
    replies: { 200: listOf(Conversation) },
    errors: [],
    async handler({ caller, query, sql }) {
      const page = pageOf(query)
      return reply(200, pageReply(await pageOfConversations(services, sql, caller, query, page), page.limit))
    },
  }),
  consoleRoute({
    ...reads,
    operation: 'conversations.retrieve',
    path: '/console/api/conversations/{id}',
    summary: 'Retrieve a conversation',
    replies: { 200: Conversation },
    errors: ['resource_missing'],
    handler: async ({ caller, params, sql }) => reply(200, await getConversation(services, sql, caller, params['id']!)),
  }),
  consoleRoute({
    ...reads,
    operation: 'conversations.list_messages',
    path: '/console/api/conversations/{id}/messages',
    summary: 'List the messages of a conversation',
    description: 'Inbound and outbound messages with the contact on the channel, newest first.',
    query: listQuery({}),
    replies: { 200: listOf(Message) },
    errors: ['resource_missing'],
    async handler({ caller, params, query, sql }) {
      const page = pageOf(query)
      return reply(
        200,
        pageReply(
          (await messagesOf(services.messages, sql, caller, params['id']!, page)).map(messageObject),
          page.limit,
        ),
      )
    },
  }),
  consoleRoute({
    ...reads,
    operation: 'conversations.update',
    method: 'PATCH',
    path: '/console/api/conversations/{id}',
    scope: 'messages:write',
    summary: 'Put a conversation away, hand it over, or mark it read',
    body: ConversationUpdate,
    replies: { 200: Conversation },
    errors: ['resource_missing'],
    handler: async ({ caller, params, body, sql }) =>
      reply(200, await changeConversation(services, sql, caller, params['id']!, body)),
  }),
]
