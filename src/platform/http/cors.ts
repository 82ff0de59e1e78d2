/** Browsers of other origins (behaviour: conventions 1.7): what pages of the origins in `POSTHORN_CORS_ORIGINS` may ask of `/v1`, and read of its answers. */
import type { FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify'

/** What a page reads of an answer beside its body. */
const exposed =
  'X-Request-Id, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, Retry-After, Idempotent-Replayed, Service-Ignored-Fields'

const preflightHeaders = {
  'access-control-allow-methods': 'GET, POST, PATCH, DELETE',
  'access-control-allow-headers': 'Authorization, Content-Type, Idempotency-Key, If-None-Match, X-Request-Id',
  // two hours, which is as long as browsers keep it
  'access-control-max-age': '7200',
}

/** The hook for these origins: their answers say so, refusals too, and what a browser asks before a request is answered 204 without a key or a rate limit. */
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
