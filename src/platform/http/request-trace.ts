/** The trace that a request is of: its own header's, or one that is recorded from here on (behaviour: operating 9). */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { readTraceparent, type TraceContext } from '../../lib/trace-context.ts'
import type { Span, Tracing } from '../observability/tracing.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** What follows from it is of this trace. */
    trace: TraceContext | undefined
    span: Span | undefined
  }
}

/** Costs the look for one header where nobody records. */
export function beginTrace(tracing: Tracing, request: FastifyRequest): void {
  const { traceparent } = request.raw.headers
  if (traceparent !== undefined) request.trace = readTraceparent(traceparent)
  if (!tracing.isRecording) return
  request.span = tracing.start(request.method, 'server', request.trace, { 'http.request.method': request.method })
  request.trace = request.span?.context
}

/** Names the route, never the path: that may hold what is the tenant's. What names no route, such as a look at the health, is not recorded. */
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
