/** HTTP operations of channels (behaviour: channels 2, 3, 4.3, 6). */
import { Type } from 'typebox'
import { deletedOf } from '../../api/resources/shared-fields.ts'
import { Channel, channelTypes, ConnectedChannel, Template } from '../../api/resources/channel.ts'
import { AnyObject } from '../../api/resources/nullable.ts'
import { listOf, listQuery, onePage, onePageQuery, pageOf, pageReply } from '../../platform/http/paging.ts'
import { storingReply, reply, route, type Route } from '../../platform/http/route.ts'
import type { ChannelService } from './service.ts'

const Deleted = deletedOf('channel')
const ChannelCreation = Type.Object(
  {
    type: Type.String({ enum: [...channelTypes], description: 'Kind of channel.' }),
    provider: Type.Optional(Type.String({ description: 'Optional if the type has only one provider.' })),
    name: Type.String({ minLength: 1, maxLength: 120, description: 'A display name; recipients do not see it.' }),
    identifier: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 255,
        description: 'The sender; optional if the provider reports it.',
      }),
    ),
    credentials: AnyObject({ description: "The provider's credentials: encrypted at rest, never returned." }),
    settings: Type.Optional(AnyObject({ description: '`max_messages_per_second`, and the settings of the provider.' })),
  },
  {
    examples: [
      {
        type: 'sms',
        name: 'Order updates',
        identifier: '+14155550100',
        credentials: { account_sid: 'AC…', auth_token: '…' },
        settings: { max_messages_per_second: 10 },
      },
    ],
  },
)
const ChannelChange = Type.Object({
  name: Type.Optional(
    Type.String({ minLength: 1, maxLength: 120, description: 'A display name; recipients do not see it.' }),
  ),
  status: Type.Optional(
    Type.String({
      enum: ['active', 'disabled'],
      description: '`disabled`: new messages get 422 `channel_not_connected`, and accepted ones wait.',
    }),
  ),
  settings: Type.Optional(
    AnyObject({ description: '`max_messages_per_second`, and the settings of the provider. Replaces all settings.' }),
  ),
  credentials: Type.Optional(
    AnyObject({ description: "The provider's credentials. Replaces all of them; encrypted at rest, never returned." }),
  ),
})
const tag = 'Channels'

const listChannelsRoute = (channels: ChannelService): Route =>
  route({
    operation: 'channels.list',
    method: 'GET',
    path: '/v1/channels',
    scope: 'channels:read',
    tag,
    summary: 'List channels',
    description:
      'Newest first, without deleted ones. A test key sees the sandbox channels, whose ids begin with `ch_test_`.',
    query: listQuery({}),
    replies: { 200: listOf(Channel) },
    errors: [],
    handler: async ({ caller, query, sql }) => {
      const page = pageOf(query)
      return reply(200, pageReply(await channels.list(sql, caller, page), page.limit))
    },
  })

const createChannelRoute = (channels: ChannelService): Route =>
  route({
    operation: 'channels.create',
    method: 'POST',
    path: '/v1/channels',
    scope: 'channels:write',
    mode: 'live',
    idempotent: 'lease',
    secret_reply: true,
    tag,
    summary: 'Connect a channel',
    description:
      'The credentials are tested at once; nothing is created if the provider refuses them or cannot be reached. If the provider has a `verify_token` and none is given, one is generated and shown only here. ' +
      'See `/docs/providers` for the fields of each provider.',
    body: ChannelCreation,
    replies: { 201: ConnectedChannel },
    errors: ['channel_identifier_taken', 'upstream_rejected', 'upstream_unavailable', 'live_mode_required'],
    handler: async ({ caller, body, sql, keep }) =>
      reply(201, await channels.create(sql, caller, body, storingReply(keep, 201))),
  })

const retrieveChannelRoute = (channels: ChannelService): Route =>
  route({
    operation: 'channels.retrieve',
    method: 'GET',
    path: '/v1/channels/{id}',
    scope: 'channels:read',
    tag,
    summary: 'Retrieve a channel',
    description:
      'Check `connection_status` before sending, and `capabilities` for the content types that the channel can send.',
    replies: { 200: Channel },
    errors: ['resource_missing'],
    handler: async ({ caller, params, sql }) => reply(200, await channels.read(sql, caller, params['id']!)),
  })

const updateChannelRoute = (channels: ChannelService): Route =>
  route({
    operation: 'channels.update',
    method: 'PATCH',
    path: '/v1/channels/{id}',
    scope: 'channels:write',
    tag,
    summary: 'Update a channel',
    description:
      'Changes only the given fields; `settings` and `credentials` are replaced as a whole, except that a `verify_token` that is left out stays. New credentials are tested at once and must belong to the same sender; nothing changes if the provider refuses them or cannot be reached. The channel is then connected, and waiting messages continue. While `status` is `disabled`, new messages are refused with `channel_not_connected`, and accepted ones wait within their validity period until it is `active` again.',
    body: ChannelChange,
    replies: { 200: Channel },
    errors: [
      'parameter_missing',
      'resource_missing',
      'upstream_rejected',
      'upstream_unavailable',
      'live_mode_required',
      'channel_not_connected',
    ],
    handler: async ({ caller, params, body, sql }) =>
      reply(200, await channels.update(sql, caller, params['id']!, body as Parameters<ChannelService['update']>[3])),
  })

const deleteChannelRoute = (channels: ChannelService): Route =>
  route({
    operation: 'channels.delete',
    method: 'DELETE',
    path: '/v1/channels/{id}',
    scope: 'channels:write',
    tag,
    summary: 'Delete a channel',
    description:
      'New messages get 404. Messages that still wait on the channel, including scheduled ones, become `failed` with `channel_not_connected` and are refunded.',
    replies: { 200: Deleted },
    errors: ['resource_missing', 'live_mode_required'],
    handler: async ({ caller, params, sql }) => {
      await channels.remove(sql, caller, params['id']!)
      return reply(200, { id: params['id'], object: 'channel', deleted: true })
    },
  })

const reconnectChannelRoute = (channels: ChannelService): Route =>
  route({
    operation: 'channels.reconnect',
    method: 'POST',
    path: '/v1/channels/{id}/reconnect',
    scope: 'channels:write',
    idempotent: 'lease',
    tag,
    summary: 'Reconnect a channel',
    description:
      'Tests the credentials at once instead of at the next automatic attempt, and returns the updated channel.',
    replies: { 200: Channel },
    errors: [
      'resource_missing',
      'upstream_rejected',
      'upstream_unavailable',
      'live_mode_required',
      'channel_not_connected',
    ],
    handler: async ({ caller, params, sql }) => reply(200, await channels.reconnect(sql, caller, params['id']!)),
  })

const listChannelTemplatesRoute = (channels: ChannelService): Route =>
  route({
    operation: 'channels.list_templates',
    method: 'GET',
    path: '/v1/channels/{id}/templates',
    scope: 'channels:read',
    tag,
    summary: "List a channel's message templates",
    description: 'One page: `has_more` is always false.',
    query: onePageQuery,
    replies: { 200: listOf(Template) },
    errors: ['resource_missing'],
    handler: async ({ caller, params, query, sql }) =>
      reply(200, onePage(await channels.templates(sql, caller, params['id']!), query)),
  })

export const channelRoutes = (channels: ChannelService): Route[] => [
  listChannelsRoute(channels),
  createChannelRoute(channels),
  retrieveChannelRoute(channels),
  updateChannelRoute(channels),
  deleteChannelRoute(channels),
  reconnectChannelRoute(channels),
  listChannelTemplatesRoute(channels),
]
