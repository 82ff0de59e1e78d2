/** The in-memory buffer of the request log, written once per second (behaviour: console 4.1). */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { isoTime } from '../../../lib/clock.ts'
import type { Worker } from '../../../platform/jobs/worker.ts'
import type { Platform } from '../../../platform/platform.ts'
import { insertRequests, type RequestRow } from './repository.ts'

/** Per process. Requests beyond it are counted and dropped. */
const bufferMax = 10_000
const writtenAtOnce = 1_000
const everyMs = 1_000
const pathLengthMax = 512

/** The accepted message itself is the record. */
const sends: ReadonlySet<string> = new Set(['messages.send', 'messages.send_batch'])

export interface RequestRing {
  /** Never fails and never waits. */
  note(request: FastifyRequest, reply: FastifyReply): void
  readonly worker: Worker
  flush(): Promise<void>
}

/** `changed` is called for each change right after its response. */
export function requestRing(platform: Platform, changed: (row: RequestRow) => void = () => undefined): RequestRing {
  const { pool, clock, metrics } = platform
  let buffer: RequestRow[] = []
  const write = async (): Promise<number> => {
    const rows = buffer.slice(0, writtenAtOnce)
    if (rows.length === 0) return 0
    await insertRequests(pool, rows)
    buffer = buffer.slice(rows.length)
    return rows.length
  }
  const writeBuffer = async (): Promise<number> => {
    const count = buffer.length
    let written = 0
    while (written < count) written += await write()
    return written
  }
  // one write at a time: two would write the same rows and drop others
  let last: Promise<unknown> = Promise.resolve()
  const writeAll = (): Promise<number> => {
    const turn = last.then(writeBuffer)
    last = turn.catch(() => undefined)
    return turn
  }
  return {
    note(request, reply) {
      if (!isLogged(request, reply)) return
      const row = rowOf(request, reply, clock.now())
      if (row.status < 400) changed(row)
      if (buffer.length < bufferMax) buffer.push(row)
      else metrics.requests_unlogged.inc()
    },
    // a pause after each write: a busy service writes as often as an idle one
    worker: { name: 'request-log', poll_every_ms: 0, pause_ms: everyMs, tick: writeAll },
    async flush() {
      while ((await writeAll()) > 0);
    },
  }
}

/** Failed requests and changes of known accounts. */
function isLogged({ caller, prepared }: FastifyRequest, { statusCode }: FastifyReply): boolean {
  // sign-ins belong to no account, so nobody could see them
  if (caller === null || (caller.key_id === null && caller.user_id === null)) return false
  if (statusCode >= 400) return true
  return prepared !== null && prepared.route.method !== 'GET' && !sends.has(prepared.route.operation)
}

function rowOf(request: FastifyRequest, reply: FastifyReply, now: number): RequestRow {
  const { account_id, mode, key_id, user_id } = request.caller!
  return {
    account_id,
    mode,
    id: request.id,
    method: request.method,
    path: request.url.split('?', 1)[0]!.slice(0, pathLengthMax).toWellFormed(),
    operation: request.prepared?.route.operation ?? null,
    status: reply.statusCode,
    code: request.refused,
    key_id,
    user_id,
    duration_ms: Math.round(reply.elapsedTime),
    created_at: isoTime(now),
  }
}
