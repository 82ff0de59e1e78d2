/** CORS for `/v1` from the origins in `POSTHORN_CORS_ORIGINS` (behaviour: conventions 1.7). */
import type { FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify'

const exposed =
  'X-Request-Id, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, Retry-After, Idempotent-Replayed, Service-Ignored-Fields'

const preflightHeaders = {
  'access-control-allow-methods': 'GET, POST, PATCH, DELETE',
  'access-control-allow-headers': 'Authorization, Content-Type, Idempotency-Key, If-None-Match, X-Request-Id',
  // two hours, the maximum in browsers
  'access-control-max-age': '7200',
}

/** Preflight requests need no key and have no rate limit. */
export function answerOrigins(origins: readonly string[]) {
  const allowed = new Set(origins)
  return (request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction): void => {
    if (!/^\/v1(?:[/?]|$)/.test(request.url)) return done()
    reply.header('vary', 'origin')
    const { origin } = request.headers
    if (origin === undefined || !allowed.has(origin)) return done()
    reply.header('access-control-allow-origin', origin)
    if (request.method !== 'OPTIONS' || request.headers['access-control-request-method'] === undefined) {
      reply.header('access-control-expose-headers', exposed)
      return done()
    }
    reply.headers(preflightHeaders).code(204).send()
  }
}
