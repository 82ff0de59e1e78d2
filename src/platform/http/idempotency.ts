/**
 * Idempotency keys (behaviour: idempotency 1, 2, 3). A key belongs to account, mode and operation (method and path with its ids). Operations of
 * the database alone write it in their own transaction; operations with a network call hold it under a lease.
 */
import { isUtf8 } from 'node:buffer'
import { hash } from 'node:crypto'
import type { Caller } from '../../contract/caller.ts'
import { consoleErrorCatalogue } from '../../contract/console-errors.ts'
import { errorCatalogue, type Detail, type ErrorCode } from '../../contract/errors.ts'
import { limits } from '../../contract/limits.ts'
import { Problem, invalid } from '../../contract/problem.ts'
import { isoTime } from '../../lib/clock.ts'
import { transact, type Db } from '../database/sql.ts'
import type { Platform } from '../platform.ts'
import { claimKey, extendLease, findKey, freeKey, storeReply, type Claim, type KeyedRequest, type KeyRow } from './idempotency-store.ts'
import type { KeepReply, Reply } from './route.ts'

const leaseMs = 60_000

/** SHA-256 of the canonical body (fields in the order of their names) and query: the same for the same request. */
export const canonicalFingerprint = (body: unknown, query: object = {}): string => hash('sha256', `${canonical(body)}\n${canonical(query)}`, 'base64url')

function canonical(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  const fields = value as Record<string, unknown>
  let text = '{'
  for (const key of Object.keys(fields).sort()) text += `${text.length === 1 ? '' : ','}${JSON.stringify(key)}:${canonical(fields[key])}`
  return `${text}}`
}

/** The value of an Idempotency-Key header, which Node reads byte by byte. Throws for one that is empty or too long. */
export function checkIdempotencyKey(header: string): string {
  const bytes = Buffer.from(header, 'latin1')
  const key = isUtf8(bytes) ? bytes.toString('utf8') : header
  if (key === '') throw invalid('Idempotency-Key', 'too_short', 'The header `Idempotency-Key` is empty. Give it a value or leave it out.')
  if (key.length > limits.idempotency_key_length_max && [...key].length > limits.idempotency_key_length_max)
    throw invalid('Idempotency-Key', 'too_long', `The header \`Idempotency-Key\` must have at most ${limits.idempotency_key_length_max} characters.`)
  return key
}

/** What a keyed request of this caller is about. */
export const keyedRequest = (caller: Caller, operation: string, key: string, fingerprint: string): KeyedRequest => ({
  account_id: caller.account_id,
  mode: caller.mode,
  operation,
  key,
  fingerprint,
})

/** Keys whose first request is still running in this process. */
export interface InFlight {
  /** Enters a request; throws `idempotency_key_in_use`, or `idempotency_key_reused` where the other one is a different request. */
  enter(request: KeyedRequest): void
  leave(request: KeyedRequest): void
}

export function inFlight(): InFlight {
  const running = new Map<string, string>()
  const name = (request: KeyedRequest) => `${request.account_id} ${request.mode} ${request.operation}\n${request.key}`
  return {
    enter(request) {
      const key = name(request)
      const fingerprint = running.get(key)
      if (fingerprint !== undefined) throw refusal(fingerprint, request)
      running.set(key, request.fingerprint)
    },
    leave: (request) => void running.delete(name(request)),
  }
}

const refusal = (fingerprint: string, request: KeyedRequest): Problem =>
  new Problem(fingerprint === request.fingerprint ? 'idempotency_key_in_use' : 'idempotency_key_reused')

/** The header that a replayed response carries. */
export const replayedHeaders = { 'idempotent-replayed': 'true' } as const

/** Statuses of refusals that an operation itself decided, and that are therefore stored. */
const storedRefusals: ReadonlySet<number> = new Set([402, 404, 409, 422])

/** True for a refusal that is kept and replayed; every other one leaves the key free. */
export const isStoredRefusal = (error: unknown): error is Problem =>
  error instanceof Problem && storedRefusals.has(error.status) && error.code !== 'idempotency_key_in_use' && error.code !== 'idempotency_key_reused'

/** What is stored of a refusal: everything but what belongs to one request. */
export const storedRefusal = (problem: Problem): object => ({
  error: { code: problem.code, message: problem.message, param: problem.param, details: problem.details },
})

/** The stored outcome: a reply, or the refusal thrown again. Errors get the new request's id from the HTTP layer. */
export function replay(platform: Pick<Platform, 'secrets'>, row: KeyRow): Reply {
  if (row.status! >= 400) throw replayedRefusal(storedBody(platform, row))
  return { status: row.status!, body: storedBody(platform, row), headers: replayedHeaders }
}

const storedBody = (platform: Pick<Platform, 'secrets'>, row: KeyRow): unknown =>
  row.encrypted_response === null ? row.response : JSON.parse(platform.secrets.open(row.encrypted_response))

/** The Problem of a body that `storedRefusal` made. */
export function replayedRefusal(stored: unknown): Problem {
  const { error } = stored as { error: { code: ErrorCode; message: string; param?: string; details?: Detail[] } }
  const more: { param?: string; details?: readonly Detail[]; headers: Record<string, string> } = { headers: replayedHeaders }
  if (error.param !== undefined) more.param = error.param
  if (error.details !== undefined) more.details = error.details
  return new Problem(error.code in errorCatalogue || error.code in consoleErrorCatalogue ? error.code : 'internal_error', error.message, more)
}

/** Throws `idempotency_key_reused` unless the row is of the same request. */
export function sameRequest(row: KeyRow, request: KeyedRequest): void {
  if (row.fingerprint !== request.fingerprint) throw new Problem('idempotency_key_reused')
}

/** Refuses a request of a wrong shape whose key belongs to another one, still running or stored; the key goes before the shape. */
export async function refuseReused(platform: Platform, running: InFlight, request: KeyedRequest): Promise<void> {
  running.enter(request)
  running.leave(request)
  const row = await findKey(platform.pool, request)
  if (row !== null && Date.parse(row.created_at) > platform.ageing.now() - limits.idempotency_window_ms) sameRequest(row, request)
}

/** Of a request whose reply is not for its handler to keep. */
export const keepNothing: KeepReply = () => Promise.resolve()

interface Operation {
  readonly request: KeyedRequest
  readonly secret: boolean
  readonly handler: (sql: Db, keep: KeepReply) => Promise<Reply>
  /** Reads a streamed body that came again; null for one that cannot be read. */
  readonly digest?: () => Promise<string | null>
}

/** Runs an operation of the database alone: its effects, its reply and its key are one transaction. */
export async function inTransaction(platform: Platform, running: InFlight, operation: Operation): Promise<Reply> {
  const { request } = operation
  running.enter(request)
  try {
    const outcome = await transact(platform.pool, async (tx) => {
      const now = platform.clock.now()
      // a twin in another process waits here until the first commits or rolls back
      if (!(await claimKey(tx, request, null, now, platform.ageing.now()))) return undefined
      const result = await attempt(() => tx.savepoint((inner) => operation.handler(inner, keepNothing)))
      await settleKey(tx, platform, operation, isoTime(now), result)
      return result
    })
    if (outcome === undefined) return replayOf(platform, operation)
    platform.notify()
    return unwrap(outcome)
  } finally {
    running.leave(request)
  }
}

/**
 * Runs an operation with a network call in it: the key is reserved first, kept so while the operation lasts, and settled afterwards, or by the operation
 * itself beside its effect.
 */
export async function underLease(platform: Platform, running: InFlight, operation: Operation): Promise<Reply> {
  const { request } = operation
  running.enter(request)
  try {
    const now = platform.clock.now()
    const claim: Claim = { request, claimed_at: isoTime(now) }
    if (!(await claimKey(platform.pool, request, isoTime(now + leaseMs), now, platform.ageing.now()))) return await replayOf(platform, operation)
    const keep: KeepReply = async (tx, reply) => {
      if (!(await settleKey(tx, platform, operation, claim.claimed_at, { reply }))) throw new Problem('idempotency_key_in_use')
    }
    let result: OperationOutcome
    const ended = new AbortController()
    const kept = keepLease(platform, claim, ended.signal)
    try {
      result = await attempt(() => operation.handler(platform.pool, keep))
    } catch (error) {
      await freeKey(platform.pool, claim)
      throw error
    } finally {
      ended.abort()
      await kept
    }
    await settleKey(platform.pool, platform, operation, claim.claimed_at, result)
    return unwrap(result)
  } finally {
    running.leave(request)
  }
}

/** Moves the end of a lease on until the operation has ended: an upload may take longer than one lease. */
async function keepLease(platform: Platform, claim: Claim, ended: AbortSignal): Promise<void> {
  const { pool, clock, log } = platform
  for (;;) {
    await clock.sleep(leaseMs / 3, ended)
    if (ended.aborted) return
    await extendLease(pool, claim, isoTime(clock.now() + leaseMs)).catch((error: unknown) =>
      log.warn({ err: error }, 'the lease of an idempotency key could not be moved on'),
    )
  }
}

type OperationOutcome = { readonly reply: Reply } | { readonly refusal: Problem }

/** Stored refusals become a value; everything else goes on as an exception, which leaves the key free. */
async function attempt(work: () => Promise<unknown>): Promise<OperationOutcome> {
  try {
    return { reply: (await work()) as Reply }
  } catch (error) {
    if (isStoredRefusal(error)) return { refusal: error }
    throw error
  }
}

function unwrap(outcome: OperationOutcome): Reply {
  if ('refusal' in outcome) throw outcome.refusal
  return outcome.reply
}

async function replayOf(platform: Platform, { request, digest }: Operation): Promise<Reply> {
  const row = await findKey(platform.pool, request)
  // rolled back or expired between two statements: rare, and safe to retry
  if (row === null) throw new Problem('idempotency_key_in_use')
  const [fingerprint, known] = row.fingerprint.split(digestMark) as [string, string?]
  sameRequest({ ...row, fingerprint }, request)
  if (row.status === null) throw new Problem('idempotency_key_in_use')
  if (known !== undefined && known !== (await digest?.())) throw new Problem('idempotency_key_reused')
  return replay(platform, row)
}

/** Stands between the fingerprint that is known before a streamed body is read and the digest of the body; neither can hold it. */
const digestMark = ':'

/** False: somebody else has the key by now. */
async function settleKey(sql: Db, platform: Platform, { request, secret }: Operation, claimed_at: string, outcome: OperationOutcome): Promise<boolean> {
  const [status, body] = 'refusal' in outcome ? [outcome.refusal.status, storedRefusal(outcome.refusal)] : [outcome.reply.status, outcome.reply.body]
  const text = JSON.stringify(body ?? null)
  const digest = 'reply' in outcome ? outcome.reply.digest : undefined
  const fingerprint = digest === undefined ? request.fingerprint : `${request.fingerprint}${digestMark}${digest}`
  const stored = { fingerprint, status, response: secret ? null : text, encrypted_response: secret ? platform.secrets.seal(text) : null }
  return await storeReply(sql, { request, claimed_at }, stored)
}
