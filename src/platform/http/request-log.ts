/** What is kept of a request once it was answered: its time in the figures, and a line in the log where it was refused (behaviour: operating 2.2). */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ProblemCode } from '../../api/problem.ts'
import type { Series } from '../observability/fast-histogram.ts'
import type { Platform } from '../platform.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** What it was refused with; null while it was not. */
    refused: ProblemCode | null
  }
}

const clientIdLengthMax = 128

/** Is told of every answer; must cost next to nothing and never fail. */
export type NoteAnswer = (request: FastifyRequest, reply: FastifyReply) => void

/** `otherTimes` are those of requests that name no route, by status. */
export function requestLog(platform: Platform, note: NoteAnswer | undefined, otherTimes = new Map<number, Series>()) {
  return (request: FastifyRequest, reply: FastifyReply): void => {
    observe(platform, request, reply, otherTimes)
    note?.(request, reply)
    if (reply.statusCode >= 400) platform.log.info(lineOf(request, reply), 'a request was refused')
    else if (platform.log.isLevelEnabled('debug')) platform.log.debug(lineOf(request, reply), 'a request was answered')
  }
}

function observe(
  platform: Platform,
  { prepared }: FastifyRequest,
  reply: FastifyReply,
  otherTimes: Map<number, Series>,
): void {
  const times = prepared === null ? otherTimes : prepared.times
  let series = times.get(reply.statusCode)
  if (series === undefined) {
    const labels =
      prepared === null
        ? { method: 'any', route: 'other' }
        : { method: prepared.route.method, route: prepared.route.path }
    times.set(
      reply.statusCode,
      (series = platform.metrics.request_seconds.series({ ...labels, status: reply.statusCode })),
    )
  }
  series.observe(reply.elapsedTime / 1000)
}

/** Nothing of the request's path, query, body or key but what names them: those are the tenants'. */
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
