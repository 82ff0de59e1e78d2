/** The HTTP server: Fastify around the pipeline. */
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Readable } from 'node:stream'
import { Problem } from '../../api/problem.ts'
import { wasCancelled } from '../database/failures.ts'
import type { Platform } from '../platform.ts'
import type { FindKey } from './auth.ts'
import { bodyBudget, type BodyBudget } from './body-budget.ts'
import { addressList, firstValue, timesGiven } from './headers.ts'
import type { Connections } from './connections.ts'
import { answerOrigins } from './cors.ts'
import { mountGuard, type Guard } from './guard.ts'
import { answerMalformed, errorBody, problemOf, responses, routerPath, serialiser } from './responses.ts'
import { type HasPage, type KnownPage, paramLengthMax, pathsMistakenForIds, unknownRoutes } from './hints.ts'
import { inFlight, type InFlight } from './idempotency.ts'
import { isDecodable } from './query.ts'
import { guard, perform, performSigned, prepare, type Pipeline, type PreparedRoute } from './pipeline.ts'
import type { RateLimiter } from './rate-limit.ts'
import { beginTrace, endSpan, requestLog, type NoteAnswer } from './request-log.ts'
import type { Recorder, RecorderOf } from './audit-hook.ts'
import type { Route } from './route.ts'
import { UnreadResponses } from './unread-responses.ts'

export interface ServerParts {
  readonly platform: Platform
  readonly findKey: FindKey
  readonly limiter: RateLimiter
  readonly routes: readonly Route[]
  readonly flights?: InFlight
  readonly bodies?: BodyBudget
  readonly connections: Connections
  readonly guards?: readonly Guard[]
  readonly note?: NoteAnswer
  readonly recorderOf?: RecorderOf
}

export function makeServer(parts: ServerParts): FastifyInstance {
  const { platform, routes, connections } = parts
  const onMalformed = (error: Error, socket: Socket) =>
    connections.onClientError(error, socket, () => refuseMalformed(platform, error, socket))
  const server: FastifyInstance = Fastify({
    ...serverOptions(platform, connections),
    clientErrorHandler: onMalformed,
    frameworkErrors: (_error, request, reply) => {
      begin(platform, request as unknown as FastifyRequest, reply as unknown as FastifyReply)
      unknown(request as unknown as FastifyRequest, reply as unknown as FastifyReply)
    },
  })
  connections.attach(server.server)
  decorateRequests(server)
  // the pipeline reads bodies itself, after the checks that need none
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'QUERY'])
    server.addHttpMethod(method, { hasBody: false, overrideExisting: true })
  server.setValidatorCompiler(() => () => true)
  server.setSerializerCompiler(serialiser)
  addHooks(server, parts)
  server.server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) =>
    server.server.emit('request', request, response),
  )
  // Node would close the connection without a response
  server.server.on('connect', (request: IncomingMessage, socket: Socket) =>
    onMalformed(new Error(request.method), socket),
  )
  server.setErrorHandler((error, request, reply) => fail(platform, error, request, reply))
  const pipeline = pipelineOf(parts, pagesOf(server))
  const unknown = unknownPath(pipeline, parts.guards ?? [])
  server.setNotFoundHandler(unknown)
  routes.forEach((route, index) => mount(server, pipeline, route, index + 1, parts.recorderOf?.(route)))
  for (const { method, path } of pathsMistakenForIds(routes))
    server.route({ method, url: routerPath(path), handler: unknown })
  for (const guard of parts.guards ?? []) mountGuard(server, pipeline, guard)
  return server
}

const serverOptions = ({ ids }: Platform, connections: Connections) =>
  ({
    logger: false,
    genReqId: () => ids('req'),
    requestIdHeader: false,
    exposeHeadRoutes: false,
    requestTimeout: connections.serverOptions.requestTimeout,
    keepAliveTimeout: connections.idleMs,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    rewriteUrl: ({ url }: IncomingMessage) => routableUrl(url ?? '/'),
    routerOptions: { maxParamLength: paramLengthMax },
    http: {
      maxHeaderSize: 32 * 1024,
      requireHostHeader: false,
      joinDuplicateHeaders: true,
      ...connections.serverOptions,
    },
  }) as const

function decorateRequests(server: FastifyInstance): void {
  server.decorateRequest('caller', null)
  server.decorateRequest('arrived_at', 0)
  server.decorateRequest('prepared', null)
  server.decorateRequest('session', null)
  server.decorateRequest('read_body', null)
  server.decorateRequest('refused', null)
  server.decorateRequest('trace', undefined)
  server.decorateRequest('span', undefined)
}

function addHooks(server: FastifyInstance, { platform, connections, note }: ServerParts): void {
  const { cors_origins } = platform.settings
  const unread = new UnreadResponses(platform.clock)
  server.addHook('onSend', (_request, reply, payload, done) => {
    done(null, payload)
    unread.sent(reply.raw, Buffer.isBuffer(payload), payload instanceof Readable)
  })
  server.addHook('onRequest', (request, reply, done) => {
    if (request.raw.socket.destroyed) return
    begin(platform, request, reply)
    unread.inOrder(request.raw, reply.raw, () => connections.begin(reply.raw, () => done(hostProblem(request.raw))))
  })
  if (cors_origins.length > 0) server.addHook('onRequest', answerOrigins(cors_origins))
  const log = requestLog(platform, note)
  server.addHook('onResponse', (request, reply, done) => {
    log(request, reply)
    if (request.span !== undefined) endSpan(request, reply)
    done()
  })
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** For a path that ends in `*`. */
    has_page?: HasPage
  }
}

function pagesOf(server: FastifyInstance): readonly KnownPage[] {
  const pages: KnownPage[] = []
  server.addHook('onRoute', ({ url, method, config }) => {
    if (url.startsWith('/v1/')) return
    const path = url.replaceAll(/:(\w+)/g, '{$1}')
    for (const each of [method].flat())
      if (each !== 'HEAD' && each !== 'OPTIONS') pages.push({ path, method: each, has_page: config?.has_page })
  })
  return pages
}

function pipelineOf(
  { platform, findKey, limiter, routes, flights, bodies }: ServerParts,
  pages: readonly KnownPage[],
): Pipeline {
  return {
    platform,
    findKey,
    limiter,
    isTrusted: addressList(platform.settings.trusted_proxies),
    flights: flights ?? inFlight(),
    bodies: bodies ?? bodyBudget(),
    refuseUnknown: unknownRoutes(routes, pages),
  }
}

/** Normalizes targets (behaviour: conventions 1.3) by RFC 9112 3.2.2 and RFC 3986 6.2.2.2. */
function routableUrl(target: string): string {
  const url = target.startsWith('/') ? target : target.replace(/^https?:\/\/[^/?#]*\/?/i, '/')
  const end = url.indexOf('?')
  let path = end === -1 ? url : url.slice(0, end)
  const query = end === -1 ? '' : url.slice(end)
  if (path.length > 1 && path.endsWith('/')) path = path.slice(0, -1)
  else if (!path.includes('%')) return url
  if (!isDecodable(path)) path = path.replaceAll('%', '%25')
  return `${path.replaceAll(/%(3[0-9]|[46][1-9a-f]|[57][0-9a])/gi, (encoded) => decodeURIComponent(encoded))}${query}`
}

/** Node would refuse a missing Host without a request id, and accept the first of two. */
function hostProblem(request: IncomingMessage): Problem | undefined {
  const hosts = timesGiven(request, 'host')
  if (hosts === 0 && request.httpVersion === '1.1')
    return new Problem('parameter_invalid', 'HTTP/1.1 requires the header Host. Add it.')
  if (hosts > 1) return new Problem('parameter_invalid', 'The header Host occurs more than once. Send it once.')
  return undefined
}

/** The first of several values counts; an invalid one means arbitrary bytes. */
function normalizeContentType({ raw }: FastifyRequest): void {
  if (timesGiven(raw, 'content-type') > 1) raw.headers['content-type'] = firstValue(raw, 'content-type')
  const type = raw.headers['content-type']
  if (type === undefined || type === 'application/json') return
  if (!/^[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+[ \t]*(;|$)/.test(type))
    raw.headers['content-type'] = 'application/octet-stream'
}

function mount(
  server: FastifyInstance,
  pipeline: Pipeline,
  route: Route,
  index: number,
  record: Recorder | undefined,
): void {
  const { settings } = pipeline.platform
  const prepared = prepare(route, index, settings[route.rate_limit ?? 'rate_limit_default'], record)
  server.route({
    method: route.method,
    url: routerPath(route.path),
    onRequest: route.signedHandler === undefined ? guard(pipeline, prepared) : named(prepared),
    handler:
      route.signedHandler === undefined
        ? perform(pipeline, prepared)
        : performSigned(pipeline, route, route.signedHandler),
    schema: { response: responses(route) },
  })
}

const named =
  (prepared: PreparedRoute) =>
  (request: FastifyRequest, _reply: FastifyReply, done: () => void): void => {
    request.prepared = prepared
    done()
  }

/** In `/v1` after authentication and rate limit; behind a guard without caching. */
function unknownPath(pipeline: Pipeline, guards: readonly Guard[]) {
  const check = guard(pipeline, undefined)
  const isBehindGuard = (path: string): boolean =>
    guards.some(({ prefix }) => prefix !== '' && `${path}/`.startsWith(`${prefix}/`))
  return (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const path = request.url.split('?', 1)[0]!
    if (isBehindGuard(path)) reply.header('cache-control', 'no-store')
    if (path !== '/v1' && !path.startsWith('/v1/'))
      return fail(pipeline.platform, pipeline.refuseUnknown(request), request, reply)
    check(request, reply, (error) => fail(pipeline.platform, error, request, reply))
    return reply
  }
}

function refuseMalformed({ ids, log, settings }: Platform, error: Error, socket: Socket): void {
  const request_id = ids('req')
  const refused = answerMalformed(error, socket, request_id, settings.base_url)
  if (refused !== undefined)
    log.info({ request_id, route: 'other', status: refused.status, code: refused.code }, 'a request was refused')
}

function begin(platform: Platform, request: FastifyRequest, reply: FastifyReply): void {
  request.arrived_at = platform.clock.now()
  reply.header('x-request-id', request.id)
  reply.header('x-content-type-options', 'nosniff')
  normalizeContentType(request)
  beginTrace(platform.tracing, request)
}

function fail(platform: Platform, error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  if (!request.raw.readableAborted) platform.storage.failed(error)
  const problem = problemOf(error) ?? unexpected(platform, error, request)
  platform.metrics.requests_refused.inc({ code: problem.code })
  request.refused = problem.code
  if (problem.headers !== undefined) reply.headers(problem.headers)
  reply.header('x-request-id', request.id)
  if (wasCancelled(error))
    platform.log.warn(
      { request_id: request.id, route: request.prepared?.route.path ?? 'other' },
      'the statement of a request was cancelled',
    )
  return reply.code(problem.status).send({ error: errorBody(problem, request.id, platform.settings.base_url) })
}

function unexpected(platform: Platform, error: unknown, request: FastifyRequest): Problem {
  platform.log.error(
    { err: error, request_id: request.id, method: request.method, route: request.prepared?.route.path ?? 'other' },
    'a request failed',
  )
  return new Problem('internal_error')
}
