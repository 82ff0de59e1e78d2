/**
 * Runs a request through its route: authentication and limits (`guard`), then body, key, shape and operation
 * (`perform`).
 */
import type { FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify'
import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import type { TObject } from 'typebox'
import type { Caller } from '../../api/caller.ts'
import type { Detail } from '../../api/errors.ts'
import type { Id } from '../../api/ids.ts'
import { limits } from '../../api/limits.ts'
import { Problem } from '../../api/problem.ts'
import { validator, type Validator } from '../../api/validation.ts'
import { TimeSlices } from '../../lib/concurrency.ts'
import type { Db } from '../database/sql.ts'
import type { Platform } from '../platform.ts'
import { asksForCsv, type AddressList } from './headers.ts'
import { admit, bearerOf, callerOf, type FindKey, type KeyFacts } from './auth.ts'
import { Body, isJsonType, isPlainEncoding, parseBody, tooMany, type BodyBounds } from './body.ts'
import { type BodyBudget, isHeavy } from './body-budget.ts'
import { namingUnknown, type RefuseUnknown } from './hints.ts'
import {
  canonicalFingerprint,
  checkIdempotencyKey,
  inTransaction,
  storeNothing,
  keyedRequest,
  refuseReused,
  underLease,
  type InFlight,
} from './idempotency.ts'
import { queryReader, type QueryReader, type RawQuery } from './query.ts'
import type { RateLimiter, Verdict } from './rate-limit.ts'
import { recorded, type Call, type Change, type Recorder } from './audit-hook.ts'
import type { StoreReply, Reply, Route, RouteRequest } from './route.ts'

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller | null
    arrived_at: number
    /** Null for unknown paths. */
    prepared: PreparedRoute | null
    /** Null for an API key. */
    session: unknown
    /** Null until it is read. */
    read_body: Body | null
  }
}

export interface Pipeline {
  readonly platform: Platform
  readonly findKey: FindKey
  readonly limiter: RateLimiter
  readonly isTrusted: AddressList
  readonly flights: InFlight
  readonly bodies: BodyBudget
  readonly refuseUnknown: RefuseUnknown
}

export interface PreparedRoute {
  readonly route: Route
  readonly index: number
  readonly rate_limit: number
  readonly readQuery: QueryReader
  readonly checkBody: Validator | undefined
  readonly bodyOptional: boolean
  /** Undefined if any field is allowed. */
  readonly known: ReadonlySet<string> | undefined
  readonly open: boolean
  readonly record: Recorder | undefined
}

export function prepare(route: Route, index: number, rate_limit: number, record?: Recorder): PreparedRoute {
  const schema = route.body as (TObject & { required?: string[]; additionalProperties?: unknown }) | undefined
  const open = schema?.additionalProperties === true
  return {
    route,
    index,
    rate_limit,
    readQuery: queryReader(route.query),
    // unknown top-level fields are reported, not refused (behaviour: conventions 4.4)
    checkBody:
      schema === undefined || route.body_unchecked === true
        ? undefined
        : validator(schema.additionalProperties === false ? { ...schema, additionalProperties: true } : schema),
    bodyOptional: route.body_optional ?? (schema?.required ?? []).length === 0,
    known:
      open && route.known_fields === undefined
        ? undefined
        : new Set([...Object.keys(schema?.properties ?? {}), ...(route.known_fields ?? [])]),
    open,
    record,
  }
}

/** (behaviour: conventions 3) */
export function guard(pipeline: Pipeline, prepared: PreparedRoute | undefined) {
  return (request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction): void => {
    if (prepared !== undefined) request.prepared = prepared
    try {
      const found = pipeline.findKey(bearerOf(request.raw))
      if (found instanceof Promise) found.then((key) => enter(pipeline, prepared, key, request, reply, done), done)
      else enter(pipeline, prepared, found, request, reply, done)
    } catch (error) {
      done(error as Error)
    }
  }
}

function enter(
  pipeline: Pipeline,
  prepared: PreparedRoute | undefined,
  key: KeyFacts | null,
  request: FastifyRequest,
  reply: FastifyReply,
  done: HookHandlerDoneFunction,
): void {
  try {
    const { platform, limiter } = pipeline
    admit(key, prepared?.route.source_key === true, request.raw, request.arrived_at, pipeline.isTrusted)
    request.caller = callerOf(key, request.id as Id<'req'>, request.trace)
    const limit = prepared?.rate_limit ?? platform.settings.rate_limit_default
    const verdict = limiter.take(key.key_id, prepared?.index ?? 0, limit)
    if (verdict instanceof Promise)
      verdict.then((late) => afterLimit(pipeline, prepared, key, late, limit, request, reply, done), done)
    else afterLimit(pipeline, prepared, key, verdict, limit, request, reply, done)
  } catch (error) {
    done(error as Error)
  }
}

function afterLimit(
  pipeline: Pipeline,
  prepared: PreparedRoute | undefined,
  key: KeyFacts,
  verdict: Verdict,
  limit: number,
  request: FastifyRequest,
  reply: FastifyReply,
  done: HookHandlerDoneFunction,
): void {
  reply.header('ratelimit-limit', limit)
  reply.header('ratelimit-remaining', verdict.remaining)
  reply.header('ratelimit-reset', verdict.reset_s)
  if (!verdict.allowed) {
    reply.header('retry-after', verdict.reset_s)
    done(new Problem('rate_limit_exceeded', overLimit(limit)))
  } else if (prepared === undefined) done(pipeline.refuseUnknown(request))
  else done(forbidden(prepared.route, key))
}

const overLimit = (limit: number): string =>
  `The key exceeded its limit of ${limit} requests per second for this operation. Wait for the seconds in Retry-After, then repeat; nothing was processed or charged.`

const apiKeyOnSource =
  "This operation requires a source key (`svc_src_…`). With an API key, use the operation that takes the source's id in its path."

function forbidden(route: Route, key: KeyFacts): Problem | undefined {
  if (key.source_status === 'disabled') return new Problem('source_disabled')
  if (route.source_key === true && key.source_status === null) return new Problem('scope_missing', apiKeyOnSource)
  if (route.scope !== null && !key.scopes.includes(route.scope)) {
    return new Problem(
      'scope_missing',
      `The API key ${key.key_id} lacks the scope ${route.scope} of this operation. GET /v1/me shows the scopes of a key.`,
    )
  }
  if (route.mode !== undefined && route.mode !== key.mode)
    return new Problem(route.mode === 'live' ? 'live_mode_required' : 'test_mode_required')
  return undefined
}

class Context implements RouteRequest<unknown, unknown> {
  readonly caller: Caller
  readonly params: Readonly<Record<string, string>>
  readonly query: unknown
  readonly body: unknown
  readonly sql: Db
  readonly keep: StoreReply
  readonly idempotency_key: string | undefined
  readonly arrived_at: number
  readonly raw: IncomingMessage
  readonly session: unknown
  readonly bodyChecked: () => void
  readonly #reply: FastifyReply
  #aborter: AbortController | undefined

  constructor(
    request: FastifyRequest,
    reply: FastifyReply,
    query: unknown,
    body: unknown,
    sql: Db,
    idempotency_key: string | undefined,
    keep = storeNothing,
  ) {
    this.caller = request.caller!
    this.params = request.params as Record<string, string>
    this.query = query
    this.body = body
    this.sql = sql
    this.keep = keep
    this.idempotency_key = idempotency_key
    this.arrived_at = request.arrived_at
    this.raw = request.raw
    this.session = request.session
    this.bodyChecked = () => request.read_body?.checked()
    this.#reply = reply
  }

  get signal(): AbortSignal {
    if (this.#aborter === undefined) {
      const aborter = (this.#aborter = new AbortController())
      const [{ raw }, { socket }] = [this.#reply, this.raw]
      const gone = () => {
        if (!raw.writableFinished) aborter.abort()
      }
      // of pipelined requests that wait, only the socket is notified
      socket.setMaxListeners(0).once('close', gone)
      raw.once('close', () => {
        socket.off('close', gone)
        gone()
      })
      if (socket.destroyed) gone()
    }
    return this.#aborter.signal
  }
}

/** (behaviour: conventions 3) */
export function perform(pipeline: Pipeline, prepared: PreparedRoute) {
  const { route } = prepared
  const takesBody = (route.method === 'POST' || route.method === 'PATCH') && route.streamed !== true
  const bounds = boundsOf(route)
  const answer = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    if (!takesBody) return await answerRead(pipeline, prepared, request, reply, undefined)
    const body = (request.read_body = new Body(request.raw, bounds, pipeline.bodies))
    try {
      const bytes = await body.read(request.caller!.account_id)
      const slices = isHeavy(bytes.length) ? new TimeSlices() : undefined
      const read = authorizedBody(pipeline, prepared, request, reply, bytes)
      await slices?.next()
      await answerRead(pipeline, prepared, request, reply, read, slices)
    } finally {
      body.done()
    }
  }
  // Fastify would wait for a returned promise after the response was sent
  return (request: FastifyRequest, reply: FastifyReply): void => {
    answer(request, reply).catch((error: unknown) =>
      reply.send(
        error instanceof Error ? error : new Error('a handler threw a value that is not an Error', { cause: error }),
      ),
    )
  }
}

/** Of a body that was read: a Problem refuses it, once the Idempotency-Key is known. */
async function answerRead(
  pipeline: Pipeline,
  prepared: PreparedRoute,
  request: FastifyRequest,
  reply: FastifyReply,
  read: Record<string, unknown> | Problem | undefined,
  slices?: TimeSlices,
): Promise<void> {
  const { route } = prepared
  const header = route.method === 'POST' ? request.raw.headers['idempotency-key'] : undefined
  const key = header === undefined ? undefined : checkIdempotencyKey(String(header))
  const details: Detail[] = []
  const query = prepared.readQuery(request.query as RawQuery, request.url, details)
  const refusedQuery = details.length > 0
  const parsed = read instanceof Problem ? undefined : read
  if (prepared.checkBody !== undefined && parsed !== undefined)
    details.push(...failuresOf(prepared.checkBody(parsed), parsed, route))
  await slices?.next()
  const refusal =
    read instanceof Problem ? read : details.length > 0 ? Problem.invalid(details as [Detail, ...Detail[]]) : undefined
  if (refusal !== undefined) {
    if (key !== undefined)
      await refuseReused(
        pipeline.platform,
        pipeline.flights,
        // such requests were never executed
        keyedRequest(
          request.caller!,
          operationOf(route, request),
          key,
          canonicalFingerprint(parsed, refusedQuery ? (request.query as RawQuery) : query),
        ),
      )
    throw parsed === undefined ? refusal : namingUnknown(refusal, parsed, prepared.known, route.other_names)
  }
  const body = parsed === undefined ? undefined : ignoreUnknown(prepared, parsed, reply)
  try {
    send(route, reply, await operate(pipeline, prepared, request, reply, query, parsed, body, key))
  } catch (error) {
    throw parsed === undefined ? error : namingUnknown(error, parsed, prepared.known, route.other_names)
  }
}

export function performSigned(pipeline: Pipeline, route: Route, handler: NonNullable<Route['signedHandler']>) {
  const bounds = boundsOf(route)
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const { raw, arrived_at } = request
    const body = new Body(raw, bounds, pipeline.bodies)
    const params = request.params as Record<string, string>
    try {
      send(route, reply, await handler({ params, raw, arrived_at, readBody: (sender) => body.read(sender) }))
    } finally {
      body.done()
    }
  }
}

const boundsOf = ({ body_bytes_max, body_members_max, body_names_max }: Route): BodyBounds => ({
  bytes_max: body_bytes_max ?? limits.body_bytes,
  members_max: body_members_max ?? limits.body_members_max,
  names_max: body_names_max ?? limits.body_names_max,
})

function failuresOf(found: Detail[], parsed: Record<string, unknown>, { inspect }: Route): Detail[] {
  if (found.length === 0 || inspect === undefined) return found
  const named = new Set(found.map(({ param }) => param))
  const mistyped = new Set([...named].filter((param) => !param.includes('.')).map((param) => param.split('[', 1)[0]))
  const rest = Object.fromEntries(Object.entries(parsed).filter(([field]) => !mistyped.has(field)))
  return [...found, ...inspect(rest).filter(({ param }) => !named.has(param))]
}

function operate(
  pipeline: Pipeline,
  { route, record }: PreparedRoute,
  request: FastifyRequest,
  reply: FastifyReply,
  query: unknown,
  parsed: unknown,
  body: unknown,
  key: string | undefined,
): Promise<Reply> {
  const handler = route.handler as unknown as (context: RouteRequest<unknown, unknown>) => Promise<Reply>
  const { platform, flights } = pipeline
  if (route.csv !== undefined && asksForCsv(request.raw.headers.accept))
    return route.csv(
      new Context(request, reply, query, body, platform.pool, undefined) as unknown as Parameters<
        NonNullable<Route['csv']>
      >[0],
    )
  if (route.expensive?.when?.(query as never) ?? route.expensive !== undefined) {
    const { signal, caller } = new Context(request, reply, query, body, platform.pool, key)
    const { narrow } = route.expensive!
    return platform.reads.run({ account_id: caller.account_id, gone: signal, narrow }, (sql) =>
      handler(new Context(request, reply, query, body, sql, key)),
    )
  }
  route.permit?.(
    new Context(request, reply, query, body, platform.pool, key) as unknown as Parameters<
      NonNullable<Route['permit']>
    >[0],
  )
  const plain: Call = (sql, keep) => handler(new Context(request, reply, query, body, sql, key, keep))
  const call =
    record === undefined
      ? plain
      : recorded(route, (tx, outcome) => record(tx, { route, request: changeOf(request, body), outcome }), plain)
  if (key === undefined || route.idempotent === 'own') return call(platform.pool, storeNothing)
  const fingerprint =
    route.streamed === true ? streamFingerprint(request, query) : canonicalFingerprint(parsed, query as object)
  const operation = {
    request: keyedRequest(request.caller!, operationOf(route, request), key, fingerprint),
    secret: route.secret_reply === true,
    handler: call,
    ...(route.digestOf === undefined
      ? {}
      : { digest: () => route.digestOf!({ query: query as never, raw: request.raw }) }),
  }
  return route.idempotent === 'lease' || route.streamed === true
    ? underLease(platform, flights, operation)
    : inTransaction(platform, flights, operation)
}

const changeOf = ({ caller, params, raw, session }: FastifyRequest, body: unknown): Change['request'] => ({
  caller: caller!,
  params: params as Record<string, string>,
  body,
  raw,
  session,
})

/** With ids in canonical escaping. */
const operationOf = (route: Route, request: FastifyRequest): string =>
  `${route.method} ${route.path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(((request.params as Record<string, string>)[name] ?? '').toWellFormed()),
  )}`

/** Length and type identify a streamed body until it is read. */
const streamFingerprint = (request: FastifyRequest, query: unknown): string =>
  canonicalFingerprint(
    [request.headers['content-length'] ?? null, (request.headers['content-type'] ?? '').split(';')[0]],
    query as object,
  )

/** Rights come first, also where they depend on the body; an unreadable body has no fields. */
function authorizedBody(
  { platform }: Pipeline,
  prepared: PreparedRoute,
  request: FastifyRequest,
  reply: FastifyReply,
  bytes: Buffer,
): Record<string, unknown> | Problem {
  const { authorize } = prepared.route
  if (authorize === undefined) return bodyOf(prepared, request.raw, bytes)
  const check = (body: object) =>
    authorize(
      new Context(request, reply, {}, body, platform.pool, undefined) as unknown as Parameters<typeof authorize>[0],
    )
  let read: Record<string, unknown> | Problem
  try {
    read = bodyOf(prepared, request.raw, bytes)
  } catch (error) {
    check({})
    throw error
  }
  check(read instanceof Problem ? {} : read)
  return read
}

/**
 * Returns a Problem for values that no field may contain, because the key is checked first. Throws for invalid JSON.
 */
function bodyOf(prepared: PreparedRoute, raw: IncomingMessage, bytes: Buffer): Record<string, unknown> | Problem {
  if (bytes.length === 0 && prepared.bodyOptional) return {}
  const { 'content-type': type, 'content-encoding': encoding } = raw.headers
  if (!isJsonType(type) || !isPlainEncoding(encoding)) {
    if (prepared.route.body === undefined) return {}
    throw notJson(bytes, type, encoding)
  }
  try {
    return withoutManyUnknown(prepared, parseBody(bytes, prepared.route.items_apart))
  } catch (error) {
    if (error instanceof Problem && error.code !== 'invalid_json') return error
    throw error
  }
}

function withoutManyUnknown({ known }: PreparedRoute, body: Record<string, unknown>): Record<string, unknown> {
  if (known === undefined) return body
  let unknown = 0
  for (const field in body) if (!known.has(field)) unknown++
  if (unknown <= limits.unknown_fields_max) return body
  throw tooMany(
    `The body has ${unknown} unknown fields; at most ${limits.unknown_fields_max} are ignored. Remove the fields that this operation does not know.`,
  )
}

function notJson(bytes: Buffer, type: string | undefined, encoding: string | undefined): Problem {
  if (bytes.length === 0)
    return new Problem(
      'invalid_json',
      'The body is empty. Send a JSON object with the header Content-Type: application/json.',
    )
  if (!isPlainEncoding(encoding))
    return new Problem('invalid_json', 'The body is compressed. Send it uncompressed, without Content-Encoding.')
  return new Problem(
    'invalid_json',
    `The body ${type === undefined ? 'has no Content-Type' : 'has another Content-Type'}. Send JSON in UTF-8 with the header Content-Type: application/json.`,
  )
}

const namedMax = 20

/** In `Service-Ignored-Fields`. Removed if the schema is closed. */
function ignoreUnknown(
  prepared: PreparedRoute,
  body: Record<string, unknown>,
  reply: FastifyReply,
): Record<string, unknown> {
  const { known, route } = prepared
  if (known === undefined) return body
  let unknown: string[] | undefined
  for (const field of Object.keys(body)) if (!known.has(field)) (unknown ??= []).push(field)
  if (route.ignored_within !== undefined) unknown = [...(unknown ?? []), ...route.ignored_within(body)]
  if (unknown === undefined || unknown.length === 0) return body
  const named = unknown.slice(0, namedMax).map((field) => encodeURIComponent(field.slice(0, 64).toWellFormed()))
  reply.header(
    'service-ignored-fields',
    (unknown.length > namedMax ? [...named, `and-${unknown.length - namedMax}-more`] : named).join(', '),
  )
  return prepared.open ? body : Object.fromEntries(Object.entries(body).filter(([field]) => known.has(field)))
}

/** An undeclared status has no schema. */
function send(route: Route, reply: FastifyReply, { status, body, headers }: Reply): void {
  const schema = route.replies[status]
  if (schema === undefined)
    throw new Error(`${route.method} ${route.path} answered ${status}, which it does not declare`)
  reply.code(status)
  if (headers !== undefined) reply.headers(headers)
  if (route.csv !== undefined) reply.header('vary', reply.hasHeader('vary') ? 'origin, accept' : 'accept')
  if (route.csv !== undefined && body instanceof Readable) return sendText(reply, csvType, body)
  if (status === 304 || schema === '') reply.send()
  else if (typeof schema === 'string') sendText(reply, schema, body)
  else reply.send(body)
}

const csvType = 'text/csv; charset=utf-8'

function sendText(reply: FastifyReply, type: string, body: unknown): void {
  reply.type(type).send(body)
}
