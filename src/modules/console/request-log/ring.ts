/** The in-memory buffer of the request log, written once per second (behaviour: console 4.1). */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { isoTime } from '../../../lib/clock.ts'
import { type Pool, transact } from '../../../platform/database/sql.ts'
import type { Worker } from '../../../platform/jobs/worker.ts'
import type { Platform } from '../../../platform/platform.ts'
import { deleteOldestRequests, insertRequests, lockSize, type RequestRow } from './repository.ts'

/** Per process. Requests beyond it are counted and dropped. */
const bufferMax = 10_000
const writtenAtOnce = 1_000
const everyMs = 1_000
/** Per second, and key or user of an account; further ones are one row a code. */
const wholeRefusalsMax = 20
/** Of an account that exceeds its size, so that not every write has to delete. */
const keptShare = 0.9
const trimsMax = 50
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
  const { pool, clock, metrics, settings } = platform
  const refusals = new RefusalLimit()
  let buffer: RequestRow[] = []
  const push = (row: RequestRow): void => {
    if (buffer.length < bufferMax) buffer.push(row)
    else metrics.requests_unlogged.inc(row.count)
  }
  const write = async (): Promise<number> => {
    const rows = buffer.slice(0, writtenAtOnce)
    if (rows.length === 0) return 0
    const large = await insertRequests(pool, rows, settings.request_log_bytes_max)
    buffer = buffer.slice(rows.length)
    for (const account_id of large) await deleteBeyond(pool, account_id, settings.request_log_bytes_max * keptShare)
    return rows.length
  }
  const writeBuffer = async (until: number): Promise<number> => {
    for (const row of refusals.takeBefore(until)) push(row)
    const count = buffer.length
    let written = 0
    while (written < count) written += await write()
    return written
  }
  // one write at a time: two would write the same rows and drop others
  let last: Promise<unknown> = Promise.resolve()
  const writeAll = (until = clock.now()): Promise<number> => {
    const turn = last.then(() => writeBuffer(until))
    last = turn.catch(() => undefined)
    return turn
  }
  return {
    note(request, reply) {
      if (!isLogged(request, reply)) return
      const now = clock.now()
      const row = rowOf(request, reply, now)
      if (row.status < 400) changed(row)
      else if (!refusals.isWhole(row, now)) return
      push(row)
    },
    // a pause after each write: a busy service writes as often as an idle one
    worker: { name: 'request-log', poll_every_ms: 0, pause_ms: everyMs, tick: () => writeAll() },
    async flush() {
      while ((await writeAll(Infinity)) > 0);
    },
  }
}

/** Deletes an account's oldest rows until the others have at most `bytes_max` bytes. */
export async function deleteBeyond(pool: Pool, account_id: string, bytes_max: number): Promise<void> {
  for (let turn = 0; turn < trimsMax; turn++) {
    const deleted = await transact(pool, async (tx) => {
      const excess = (await lockSize(tx, account_id)) - bytes_max
      return excess <= 0 ? 0 : await deleteOldestRequests(tx, account_id, Math.ceil(excess))
    })
    if (deleted === 0) return
  }
}

/** The first refusals of a second stay as they are; the others become one row a code, with a count (behaviour: console 4.2). */
class RefusalLimit {
  #second = -Infinity
  readonly #whole = new Map<string, number>()
  /** By second, key and code; complete once their second has passed. */
  readonly #counted = new Map<string, { readonly second: number; readonly row: RequestRow; count: number }>()

  isWhole(row: RequestRow, now: number): boolean {
    const second = Math.floor(now / 1000)
    if (second !== this.#second) {
      this.#second = second
      this.#whole.clear()
    }
    const key = `${row.account_id} ${row.mode} ${row.key_id ?? row.user_id}`
    const before = this.#whole.get(key) ?? 0
    this.#whole.set(key, before + 1)
    if (before < wholeRefusalsMax) return true
    const counted = `${second} ${key} ${row.code}`
    const known = this.#counted.get(counted)
    if (known === undefined) this.#counted.set(counted, { second, row, count: 1 })
    else known.count += 1
    return false
  }

  takeBefore(until: number): RequestRow[] {
    const rows: RequestRow[] = []
    for (const [key, { second, row, count }] of this.#counted)
      // also those of a clock that was set back
      if (second !== Math.floor(until / 1000)) {
        this.#counted.delete(key)
        rows.push({ ...row, count })
      }
    return rows
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
    count: 1,
  }
}
