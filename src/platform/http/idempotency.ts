/** Idempotency keys, unique per account, mode and operation (behaviour: idempotency 1, 2, 3). */
import { isUtf8 } from 'node:buffer'
import { hash } from 'node:crypto'
import type { Caller } from '../../api/caller.ts'
import { consoleErrorCatalogue } from '../../api/console-errors.ts'
import { errorCatalogue, type Detail, type ErrorCode } from '../../api/errors.ts'
import { limits } from '../../api/limits.ts'
import { Problem, invalid } from '../../api/problem.ts'
import { isoTime } from '../../lib/clock.ts'
import { neverSent } from '../database/failures.ts'
import { transact, type Db } from '../database/sql.ts'
import type { Platform } from '../platform.ts'
import {
  claimKey,
  extendLease,
  findKey,
  releaseKey,
  storeReply,
  type Claim,
  type KeyedRequest,
  type KeyRow,
} from './idempotency-repository.ts'
import type { StoreReply, Reply } from './route.ts'

const leaseMs = 60_000

/** SHA-256 of the body with sorted fields, and of the query. */
export const canonicalFingerprint = (body: unknown, query: object = {}): string =>
  hash('sha256', `${canonical(body)}\n${canonical(query)}`, 'base64url')

function canonical(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  const fields = value as Record<string, unknown>
  let text = '{'
  for (const key of Object.keys(fields).sort())
    text += `${text.length === 1 ? '' : ','}${quoted(key)}:${canonical(fields[key])}`
  return `${text}}`
}

/** Thousands of items have the same names: writing them takes half of the time. */
const quotedNames = new Map<string, string>()
const quotedNamesMax = 1_000

function quoted(name: string): string {
  const known = quotedNames.get(name)
  if (known !== undefined) return known
  const text = JSON.stringify(name)
  if (quotedNames.size < quotedNamesMax && name.length < 64) quotedNames.set(name, text)
  return text
}

/** Node decodes the header as latin1. Throws if it is empty or too long. */
export function checkIdempotencyKey(header: string): string {
  const bytes = Buffer.from(header, 'latin1')
  const key = isUtf8(bytes) ? bytes.toString('utf8') : header
  if (key === '')
    throw invalid(
      'Idempotency-Key',
      'too_short',
      'The header `Idempotency-Key` is empty. Give it a value or leave it out.',
    )
  if (key.length > limits.idempotency_key_length_max && [...key].length > limits.idempotency_key_length_max)
    throw invalid(
      'Idempotency-Key',
      'too_long',
      `The header \`Idempotency-Key\` must have at most ${limits.idempotency_key_length_max} characters.`,
    )
  return key
}

/** Longer than any path with our ids; with the longest key it fits an index entry. */
const operationLengthMax = 1000

const shortened = (operation: string): string =>
  operation.length <= operationLengthMax ? operation : hash('sha256', operation, 'base64url')

/** Keys of the console belong to their users, because others may not see the reply. */
export const keyedRequest = (caller: Caller, operation: string, key: string, fingerprint: string): KeyedRequest => ({
  account_id: caller.account_id,
  mode: caller.mode,
  operation: shortened(caller.user_id === null ? operation : `${operation} ${caller.user_id}`),
  key,
  fingerprint,
})

export interface InFlight {
  running(request: KeyedRequest): string | undefined
  enter(request: KeyedRequest): void
  leave(request: KeyedRequest): void
  /** Claims whose end could not be written yet. */
  readonly unsettled: Set<Claim>
}

export function inFlight(): InFlight {
  const entered = new Map<string, string>()
  const name = (request: KeyedRequest) => `${request.account_id} ${request.mode} ${request.operation}\n${request.key}`
  return {
    running: (request) => entered.get(name(request)),
    enter: (request) => void entered.set(name(request), request.fingerprint),
    leave: (request) => void entered.delete(name(request)),
    unsettled: new Set(),
  }
}

interface KeyedTurn<A> {
  /** Returns `known` if the key is taken. */
  first(): Promise<A | 'known'>
  again(row: KeyRow): Promise<A>
}

/** Throws `idempotency_key_in_use` or, for another request, `idempotency_key_reused`. */
export async function oneAtATime<A>(
  platform: Platform,
  flights: InFlight,
  request: KeyedRequest,
  turn: KeyedTurn<A>,
): Promise<A> {
  const other = flights.running(request)
  if (other === undefined) {
    const answer = await alone(flights, request, turn)
    if (answer !== 'known') return answer
  }
  const row = await knownKey(platform, request)
  // null: running, or rolled back or expired between two statements
  if (row === null || row.status === null)
    throw refusalWhileRunning(row?.fingerprint ?? other ?? request.fingerprint, request)
  sameRequest(row, request)
  return await turn.again(row)
}

async function alone<A>(flights: InFlight, request: KeyedRequest, { first }: KeyedTurn<A>): Promise<A | 'known'> {
  flights.enter(request)
  try {
    return await first()
  } finally {
    flights.leave(request)
  }
}

const refusalWhileRunning = (fingerprint: string, request: KeyedRequest): Problem =>
  new Problem(fingerprint === request.fingerprint ? 'idempotency_key_in_use' : 'idempotency_key_reused')

/** Null if the key expired. */
export async function knownKey({ pool, retention_clock }: Platform, request: KeyedRequest): Promise<KeyRow | null> {
  const row = await findKey(pool, request)
  return row === null || Date.parse(row.created_at) <= retention_clock.now() - limits.idempotency_window_ms ? null : row
}

export const replayedHeaders = { 'idempotent-replayed': 'true' } as const

/** Decided by the operation itself. */
const storedRefusals: ReadonlySet<number> = new Set([402, 404, 409, 422])

/** Other errors leave the key free. */
export const isStoredRefusal = (error: unknown): error is Problem =>
  error instanceof Problem &&
  storedRefusals.has(error.status) &&
  error.code !== 'idempotency_key_in_use' &&
  error.code !== 'idempotency_key_reused'

/** Without the parts that belong to one request. */
export const storedRefusal = (problem: Problem): object => ({
  error: { code: problem.code, message: problem.message, param: problem.param, details: problem.details },
})

/** Throws a stored error. The HTTP layer adds the new request id. */
export function replay(platform: Pick<Platform, 'secrets'>, row: KeyRow): Reply {
  if (row.status! >= 400) throw replayedRefusal(storedBody(platform, row))
  return { status: row.status!, body: storedBody(platform, row), headers: replayedHeaders }
}

const storedBody = (platform: Pick<Platform, 'secrets'>, row: KeyRow): unknown =>
  row.encrypted_response === null ? row.response : JSON.parse(platform.secrets.open(row.encrypted_response))

export function replayedRefusal(stored: unknown): Problem {
  const { error } = stored as { error: { code: ErrorCode; message: string; param?: string; details?: Detail[] } }
  const more: { param?: string; details?: readonly Detail[]; headers: Record<string, string> } = {
    headers: replayedHeaders,
  }
  if (error.param !== undefined) more.param = error.param
  if (error.details !== undefined) more.details = error.details
  return new Problem(
    error.code in errorCatalogue || error.code in consoleErrorCatalogue ? error.code : 'internal_error',
    error.message,
    more,
  )
}

/** Before the digest of a streamed body. */
const digestMark = ':'

function sameRequest(row: KeyRow, request: KeyedRequest): void {
  if (row.fingerprint.split(digestMark, 1)[0] !== request.fingerprint) throw new Problem('idempotency_key_reused')
}

/** An invalid request is refused for its key first. */
export async function refuseReused(platform: Platform, flights: InFlight, request: KeyedRequest): Promise<void> {
  const other = flights.running(request)
  const row = await knownKey(platform, request)
  if (row !== null) sameRequest(row, request)
  else if (other !== undefined) throw refusalWhileRunning(other, request)
}

export const storeNothing: StoreReply = () => Promise.resolve()

interface Operation {
  readonly request: KeyedRequest
  readonly secret: boolean
  readonly handler: (sql: Db, keep: StoreReply) => Promise<Reply>
  readonly digest?: () => Promise<string | null>
}

/** For operations on the database alone: effects, reply and key share one transaction. */
export async function inTransaction(platform: Platform, flights: InFlight, operation: Operation): Promise<Reply> {
  const { request } = operation
  const first = async (): Promise<Reply | 'known'> => {
    const outcome = await transact(platform.pool, async (tx) => {
      const now = platform.clock.now()
      // a duplicate in another process waits here until the first commits or rolls back
      if (!(await claimKey(tx, request, null, now, platform.retention_clock.now()))) return undefined
      const result = await attempt(() => tx.savepoint((inner) => operation.handler(inner, storeNothing)))
      await settleKey(tx, platform, operation, isoTime(now), result)
      return result
    })
    if (outcome === undefined) return 'known'
    platform.notify()
    return unwrap(outcome)
  }
  return await oneAtATime(platform, flights, request, { first, again: (row) => replayOf(platform, operation, row) })
}

/** For operations with a network call, during which the lease is renewed. */
export async function underLease(platform: Platform, flights: InFlight, operation: Operation): Promise<Reply> {
  const { request } = operation
  const first = async (): Promise<Reply | 'known'> => {
    const now = platform.clock.now()
    const claim: Claim = { request, claimed_at: isoTime(now) }
    if (!(await claimUnderLease(platform, flights, claim, now))) return 'known'
    const result = await attemptHolding(platform, flights, operation, claim)
    await endClaim(platform, flights, claim, () =>
      settleKey(platform.pool, platform, operation, claim.claimed_at, result),
    )
    return unwrap(result)
  }
  return await oneAtATime(platform, flights, request, { first, again: (row) => replayOf(platform, operation, row) })
}

/** False if the key is taken. A claim with an unknown outcome is released later. */
async function claimUnderLease(platform: Platform, flights: InFlight, claim: Claim, now: number): Promise<boolean> {
  try {
    return await claimKey(platform.pool, claim.request, isoTime(now + leaseMs), now, platform.retention_clock.now())
  } catch (error) {
    if (!neverSent(error)) void retryEndingClaim(platform, flights, claim, () => releaseKey(platform.pool, claim))
    throw error
  }
}

async function attemptHolding(
  platform: Platform,
  flights: InFlight,
  operation: Operation,
  claim: Claim,
): Promise<OperationOutcome> {
  const keep: StoreReply = async (tx, reply) => {
    if (!(await settleKey(tx, platform, operation, claim.claimed_at, { reply })))
      throw new Problem('idempotency_key_in_use')
  }
  const ended = new AbortController()
  const kept = keepLease(platform, claim, ended.signal)
  try {
    return await attempt(() => operation.handler(platform.pool, keep))
  } catch (error) {
    await endClaim(platform, flights, claim, () => releaseKey(platform.pool, claim)).catch(() => undefined)
    throw error
  } finally {
    ended.abort()
    await kept
  }
}

/** While the database is unreachable. */
const [endAgainMs, endAgainMsMax] = [500, 5_000]
/** Then the lease simply expires. */
const [endWithinMs, unsettledMax] = [600_000, 200]

/** In the background if the database fails. */
async function endClaim(
  platform: Platform,
  flights: InFlight,
  claim: Claim,
  work: () => Promise<unknown>,
): Promise<void> {
  try {
    await work()
  } catch (error) {
    void retryEndingClaim(platform, flights, claim, work)
    throw error
  }
}

async function retryEndingClaim(
  { clock, log }: Platform,
  { unsettled }: InFlight,
  claim: Claim,
  work: () => Promise<unknown>,
): Promise<void> {
  if (unsettled.size >= unsettledMax) return
  unsettled.add(claim)
  const until = clock.elapsed() + endWithinMs
  let wait = endAgainMs
  while (unsettled.has(claim) && clock.elapsed() < until) {
    await clock.sleep(wait)
    wait = Math.min(wait * 2, endAgainMsMax)
    await work().then(
      () => unsettled.delete(claim),
      (error: unknown) => log.warn({ err: error }, 'an idempotency key could not be settled; it is tried again'),
    )
  }
  unsettled.delete(claim)
}

/** An upload may take longer than one lease. */
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

/** Other exceptions leave the key free. */
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

/** Throws if the streamed body differs. */
async function replayOf(platform: Platform, { digest }: Operation, row: KeyRow): Promise<Reply> {
  const [, known] = row.fingerprint.split(digestMark)
  if (known !== undefined && known !== (await digest?.())) throw new Problem('idempotency_key_reused')
  return replay(platform, row)
}

async function settleKey(
  sql: Db,
  platform: Platform,
  { request, secret }: Operation,
  claimed_at: string,
  outcome: OperationOutcome,
): Promise<boolean> {
  const [status, body] =
    'refusal' in outcome
      ? [outcome.refusal.status, storedRefusal(outcome.refusal)]
      : [outcome.reply.status, outcome.reply.body]
  const text = JSON.stringify(body ?? null)
  const digest = 'reply' in outcome ? outcome.reply.digest : undefined
  const fingerprint = digest === undefined ? request.fingerprint : `${request.fingerprint}${digestMark}${digest}`
  const stored = {
    fingerprint,
    status,
    response: secret ? null : text,
    encrypted_response: secret ? platform.secrets.seal(text) : null,
  }
  return await storeReply(sql, { request, claimed_at }, stored)
}
