/** Responses: JSON serializers that write only declared fields, and error envelopes. */
import { STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import type { TSchema } from 'typebox'
import { errorType } from '../../api/errors.ts'
import { errorEntry, Problem, retrySoon } from '../../api/problem.ts'
import { ApiError, type ErrorBody } from '../../api/resources/api-error.ts'
import { isUnreachable, refusesWrites, wasCancelled } from '../database/failures.ts'
import type { Route } from './route.ts'

import fastJsonStringify, { type Schema } from 'fast-json-stringify'

export const routerPath = (path: string): string => path.replaceAll(/\{(\w+)\}/g, ':$1')

export function responses(route: Pick<Route, 'replies'>): Record<string, unknown> {
  const declared: Record<string, unknown> = { '4xx': apiError, '5xx': apiError }
  for (const [status, schema] of Object.entries(route.replies))
    if (typeof schema !== 'string') declared[status] = declaredFields(schema)
  return declared
}

const knownSchemas = new WeakMap<object, unknown>()

/** One serializer per schema and process. */
function declaredFields(schema: object): unknown {
  const known = knownSchemas.get(schema)
  if (known !== undefined) return known
  const made = plain(schema)
  knownSchemas.set(schema, made)
  return made
}

/** Removes `$id`: the serializer refuses repeated ones. */
function plain(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(plain)
  if (typeof schema !== 'object' || schema === null) return schema
  return Object.fromEntries(
    Object.entries(schema)
      .filter(([key, value]) => !(key === '$id' && typeof value === 'string'))
      .map(([key, value]) => [key, plain(value)]),
  )
}

const apiError = plain(ApiError as TSchema)

type Serialise = (value: unknown) => string

const serialisers = new WeakMap<object, Serialise>()

/** Compiled at first use (docs/decisions/http-pipeline.md). */
export function serialiser({ schema }: { readonly schema: object }): Serialise {
  const known = serialisers.get(schema)
  if (known !== undefined) return known
  let made: Serialise | undefined
  const serialise = (value: unknown): string => (made ??= fastJsonStringify(schema as Schema))(value)
  serialisers.set(schema, serialise)
  return serialise
}

/** Undefined for unexpected exceptions. An unreachable or read-only database is 503 (behaviour: conventions 7.5). */
export function problemOf(error: unknown): Problem | undefined {
  if (error instanceof Problem) return error
  if (isUnreachable(error) || refusesWrites(error))
    return new Problem(
      'upstream_unavailable',
      'The service cannot reach its database, or store in it, right now. Repeat with backoff and the same Idempotency-Key.',
      { headers: retrySoon },
    )
  if (wasCancelled(error))
    return new Problem(
      'upstream_unavailable',
      'The request was ended in the database before it was done: it took too long, or an operator ended it. Repeat with backoff and the same Idempotency-Key.',
      { headers: retrySoon },
    )
  return undefined
}

export function errorBody(error: Problem, request_id: string, base_url: string): ErrorBody {
  const body: ErrorBody = {
    type: errorType(errorEntry(error.code).status),
    code: error.code,
    message: error.message,
    request_id,
    doc_url: `${base_url}/docs/errors#${error.code}`,
  }
  if (error.param !== undefined) body.param = error.param
  if (error.details !== undefined)
    body.details = error.details.map(({ param, code, message }) => ({ param, code, message }))
  return body
}

export function answerMalformed(
  error: NodeJS.ErrnoException,
  socket: Duplex,
  request_id: string,
  base_url: string,
): Problem | undefined {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return undefined
  }
  const message =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? 'The request line and headers are too large. Send fewer or shorter ones.'
      : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? 'The request did not arrive in time. Send it again.'
        : error.message === 'CONNECT'
          ? 'The service is no proxy: it takes no CONNECT. Send the request to it itself.'
          : 'The request is not valid HTTP. Check its request line, headers and framing.'
  const problem = new Problem('parameter_invalid', message)
  socket.end(rawAnswer(problem, request_id, base_url))
  return problem
}

/** For connections without a request. */
export function rawAnswer(problem: Problem, request_id: string, base_url: string): string {
  const body = JSON.stringify({ error: errorBody(problem, request_id, base_url) })
  const headers = {
    'Content-Type': 'application/json; charset=utf-8',
    'X-Request-Id': request_id,
    'X-Content-Type-Options': 'nosniff',
    ...problem.headers,
    'Content-Length': Buffer.byteLength(body),
    Connection: 'close',
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}\r\n${lines.join('')}\r\n${body}`
}
