/** A bare Fastify server with the product's authentication, limits, validation and serialization; stores nothing. */
import Fastify, { type FastifyInstance } from 'fastify'
import type { TSchema } from 'typebox'
import type { Caller } from '../../src/api/caller.ts'
import type { Id } from '../../src/api/ids.ts'
import { Problem } from '../../src/api/problem.ts'
import { Message } from '../../src/api/resources/message.ts'
import { messageObject } from '../../src/modules/messages/message.ts'
import type { MessageRow } from '../../src/modules/messages/message.ts'
import { isoTime } from '../../src/lib/clock.ts'
import type { BillingService } from '../../src/modules/billing/service.ts'
import type { ChannelService } from '../../src/modules/channels/service.ts'
import { queueLimit } from '../../src/modules/messages/accept/queue-limit.ts'
import { checkMessage } from '../../src/modules/messages/accept/requests.ts'
import type { CheckedMessage } from '../../src/modules/messages/accept/row.ts'
import { admit, bearerOf, callerOf, type FindKey } from '../../src/platform/http/auth.ts'
import { addressList } from '../../src/platform/http/headers.ts'
import type { RateLimiter } from '../../src/platform/http/rate-limit.ts'
import type { Platform } from '../../src/platform/platform.ts'

export interface BareParts {
  readonly platform: Platform
  readonly billing: BillingService
  readonly channels: ChannelService
  readonly findKey: FindKey
  readonly limiter: RateLimiter
}

export function bareServer({ platform, billing, channels, findKey, limiter }: BareParts): FastifyInstance {
  const { clock, ids, settings } = platform
  const isTrusted = addressList(settings.trusted_proxies)
  const queues = queueLimit(platform)
  const server: FastifyInstance = Fastify({ logger: false, genReqId: () => ids('req'), requestIdHeader: false })
  server.decorateRequest('caller', null)
  server.addHook('onRequest', async (request, reply) => {
    const key = await findKey(bearerOf(request.raw))
    admit(key, false, request.raw, clock.now(), isTrusted)
    request.caller = callerOf(key, request.id as Id<'req'>)
    const verdict = await limiter.take(key.key_id, 1, settings.rate_limit_messages)
    reply.headers({
      'x-request-id': request.id,
      'ratelimit-limit': settings.rate_limit_messages,
      'ratelimit-remaining': verdict.remaining,
      'ratelimit-reset': verdict.reset_s,
    })
    if (!verdict.allowed) throw new Problem('rate_limit_exceeded')
  })
  server.setErrorHandler((error, _request, reply) =>
    reply.code(error instanceof Problem ? error.status : 500).send({ error: String(error) }),
  )
  server.post('/v1/messages', { schema: { response: { 202: withoutIds(Message) } } }, async (request, reply) => {
    const item = await checkMessage({ platform, channels, billing, queues }, request.caller as Caller, request.body)
    return reply
      .code(202)
      .send(messageObject(rowOf(item, (request.caller as Caller).key_id!, ids('msg'), isoTime(clock.now()))))
  })
  return server
}

function withoutIds(schema: unknown): TSchema {
  return JSON.parse(JSON.stringify(schema, (key, value: unknown) => (key === '$id' ? undefined : value))) as TSchema
}

function rowOf(item: CheckedMessage, key_id: string, id: string, at: string): MessageRow {
  return {
    account_id: item.account_id,
    mode: item.mode,
    id,
    channel_id: item.channel_id,
    channel_type: item.channel_type,
    direction: 'outbound',
    to: item.to,
    from: item.from,
    type: item.type,
    content: item.content,
    status: 'queued',
    error: null,
    reference: item.reference,
    metadata: item.metadata,
    billing_source: 'wallet',
    amount_micros: item.price_micros,
    package_grant_id: null,
    refunded: false,
    contact_id: null,
    origin_type: 'api',
    origin_id: key_id,
    submission_key: null,
    reply_to: item.reply_to,
    segments: item.segments,
    encoding: item.encoding,
    priority: item.priority,
    send_at: item.send_at,
    expires_at: null,
    created_at: at,
    updated_at: at,
    sending_at: null,
    sent_at: null,
    delivered_at: null,
    read_at: null,
    failed_at: null,
  }
}
