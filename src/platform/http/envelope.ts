/** Errors on their way out: what an exception answers, and the bytes that malformed HTTP gets. */
import { STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { errorType } from '../../api/errors.ts'
import { errorEntry, Problem, retrySoon } from '../../api/problem.ts'
import type { ErrorBody } from '../../api/resources/api-error.ts'
import { isUnreachable, refusesWrites, wasCancelled } from '../database/failures.ts'

/** The refusal that an exception stands for; undefined for one that nobody expected. A database that cannot be asked, or cannot write, is 503 (behaviour: conventions 7.5). */
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

/** The error object of a request, as it stands in the envelope and in the items of a batch. It is as small as its Problem. */
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

/** Answers a request that was no valid HTTP, and returns with what; undefined where its socket takes no answer any more. */
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

/** A refusal as bytes, the last of its connection: for what does not come as far as a request. */
export function rawAnswer(problem: Problem, request_id: string, base_url: string): string {
  const body = JSON.stringify({ error: errorBody(problem, request_id, base_url) })
  const headers = {
    'Content-Type': 'application/json; charset=utf-8',
    'X-Request-Id': request_id,
    ...problem.headers,
    'Content-Length': Buffer.byteLength(body),
    Connection: 'close',
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}\r\n${lines.join('')}\r\n${body}`
}
