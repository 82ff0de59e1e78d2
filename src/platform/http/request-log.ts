/** Observes requests: duration, log of refusals (behaviour: operating 2.2), trace span (behaviour: operating 9). */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ProblemCode } from '../../api/problem.ts'
import { readTraceparent, type TraceContext } from '../../lib/trace-context.ts'
import type { Span, Tracing } from '../observability/tracing.ts'
import type { Platform } from '../platform.ts'

declare module 'fastify' {
  interface FastifyRequest {
    refused: ProblemCode | null
  }
}

const clientIdLengthMax = 128

export type NoteAnswer = (request: FastifyRequest, reply: FastifyReply) => void

export function requestLog(platform: Platform, note: NoteAnswer | undefined) {
  return (request: FastifyRequest, reply: FastifyReply): void => {
    const route = request.prepared?.route
    const labels = { method: route?.method ?? 'any', route: route?.path ?? 'other', status: reply.statusCode }
    platform.metrics.request_seconds.observe(labels, reply.elapsedTime / 1000)
    note?.(request, reply)
    if (reply.statusCode >= 400) platform.log.info(lineOf(request, reply), 'a request was refused')
    else if (platform.log.isLevelEnabled('debug')) platform.log.debug(lineOf(request, reply), 'a request was answered')
  }
}

/** Without the path, query, body or key, which contain tenants' data. */
function lineOf(request: FastifyRequest, reply: FastifyReply): object {
  const theirs = request.raw.headers['x-request-id']
  return {
    request_id: request.id,
    trace_id: request.trace?.trace_id,
    client_request_id: theirs === undefined ? undefined : String(theirs).slice(0, clientIdLengthMax),
    account_id: request.caller?.account_id,
    key_id: request.caller?.key_id,
    method: request.method,
    route: request.prepared?.route.path ?? 'other',
    status: reply.statusCode,
    code: request.refused ?? undefined,
    duration_ms: Math.round(reply.elapsedTime),
  }
}

declare module 'fastify' {
  interface FastifyRequest {
    trace: TraceContext | undefined
    span: Span | undefined
  }
}

export function beginTrace(tracing: Tracing, request: FastifyRequest): void {
  const { traceparent } = request.raw.headers
  if (traceparent !== undefined) request.trace = readTraceparent(traceparent)
  if (!tracing.isRecording) return
  request.span = tracing.start(request.method, 'server', request.trace, { 'http.request.method': request.method })
  request.trace = request.span?.context
}

/** Named after the route, because the path may contain tenants' data. */
export function endSpan({ span, prepared, caller, id, refused }: FastifyRequest, { statusCode }: FastifyReply): void {
  if (prepared === null) return
  const { method, path } = prepared.route
  span!.end({
    name: `${method} ${path}`,
    attributes: {
      'http.route': path,
      'http.response.status_code': statusCode,
      'posthorn.request_id': id,
      'posthorn.account_id': caller?.account_id,
      'posthorn.mode': caller?.mode,
      'error.type': refused ?? undefined,
    },
    failed: statusCode >= 500,
  })
}
