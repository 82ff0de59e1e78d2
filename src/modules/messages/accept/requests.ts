/** Sends one message per request and replays known Idempotency-Keys. */
import type { Caller, Tenant } from '../../../api/caller.ts'
import type { ErrorCode } from '../../../api/errors.ts'
import { Problem, throwFailures } from '../../../api/problem.ts'
import {
  canonicalFingerprint,
  inFlight,
  isStoredRefusal,
  keyedRequest,
  knownKey,
  oneAtATime,
  replayedHeaders,
  replayedRefusal,
  storedRefusal,
} from '../../../platform/http/idempotency.ts'
import { insertReply, type KeyedRequest, type KeyRow } from '../../../platform/http/idempotency-repository.ts'
import { parseMessage, validateForChannel } from './validate.ts'
import { type EligibilityDeps, requireEligible, requireReplyTo } from './eligibility.ts'
import type { CheckedMessage } from './row.ts'
import { withPhoneHint } from '../../accounts/service.ts'
import type { Ingest } from './group-commit.ts'
import { problemOf, refusalOf } from './refusals.ts'
import type { ProducerData, Submission } from './submission.ts'
import type { MessageRow } from '../message.ts'
import { findMessage } from '../repository.ts'
import type { Platform } from '../../../platform/platform.ts'

export const sendErrors = [
  'resource_missing',
  'unsupported_message_type',
  'insufficient_balance',
  'channel_not_connected',
  'recipient_blocked',
  'policy_violation',
  'upstream_rejected',
  'upstream_unavailable',
] as const

export interface SendingDeps extends EligibilityDeps {
  readonly ingest: Ingest
  readonly keys: RequestKeys
}

/** `replayed`: accepted by an earlier request with the same key. */
export interface Sent {
  readonly row: MessageRow
  readonly replayed: boolean
}

export interface RequestKey {
  /** Method and path, with its ids. */
  readonly operation: string
  readonly key: string
  readonly fingerprint: string
}

/** Refusals are stored with the key (behaviour: idempotency 3). */
export async function sendMessage(
  deps: SendingDeps,
  caller: Caller,
  body: unknown,
  key: string | undefined,
): Promise<Sent> {
  const requestKey =
    key === undefined ? undefined : { operation: 'POST /v1/messages', key, fingerprint: canonicalFingerprint(body) }
  return await sendBuilt(deps, caller, requestKey, () => Promise.resolve(body))
}

export async function sendBuilt(
  deps: SendingDeps,
  caller: Caller,
  requestKey: RequestKey | undefined,
  build: () => Promise<unknown>,
): Promise<Sent> {
  if (requestKey === undefined) {
    const sent = await sendOne(deps, caller, await build(), undefined)
    if (sent instanceof Problem) throw sent
    if (sent === 'known') throw new Error('a message without a key was answered as known')
    return sent
  }
  const request = keyedRequest(caller, requestKey.operation, requestKey.key, requestKey.fingerprint)
  return await deps.keys.run({
    request,
    attempt: async () => await sendOne(deps, caller, await build(), request),
    replay: (row) => replayed(deps, caller, row),
  })
}

async function sendOne(
  deps: SendingDeps,
  caller: Caller,
  body: unknown,
  request: KeyedRequest | undefined,
): Promise<Sent | Problem | 'known'> {
  const message = await checkMessage(deps, caller, body)
  const [outcome] = await deps.ingest.submit({ ...submissionOf(caller, request), items: [{ message }] })
  if (outcome!.kind === 'accepted') return { row: outcome!.row, replayed: false }
  if (outcome!.kind === 'known') return 'known'
  const problem = problemOf(outcome!)
  // an undecided outcome is not stored with the key
  if (outcome!.kind === 'unavailable') throw problem
  return problem
}

export async function checkMessage(deps: EligibilityDeps, tenant: Tenant, written: unknown): Promise<CheckedMessage> {
  const { clock, pool } = deps.platform
  const request = parseMessage(written, clock.now())
  const channel = await deps.channels.find(tenant, request.channel)
  if (channel === null) throw await deps.channels.missing(pool, tenant, request.channel, 'channel')
  if (typeof request.reply_to === 'string') await requireReplyTo(deps, tenant, request.reply_to)
  const failures = validateForChannel(channel, request)
  if (failures.length > 0) throwFailures(await withPhoneHint(pool, tenant, failures, 'to', request.to))
  return await requireEligible(deps, tenant, channel, request)
}

export function submissionOf(
  caller: Caller,
  request: KeyedRequest | undefined,
  valueFrom?: ProducerData['valueFrom'],
): Omit<Submission, 'items'> {
  const origin =
    caller.user_id === null
      ? ({ type: 'api', id: caller.key_id } as const)
      : ({ type: 'console', id: caller.user_id } as const)
  const submission = { origin, traffic: 'interactive', trace: caller.trace } as const
  if (request === undefined) return submission
  const { operation, key, fingerprint } = request
  const producer = { kind: 'request', values: { operation, idempotency_key: key, fingerprint } }
  return { ...submission, producer: valueFrom === undefined ? producer : { ...producer, valueFrom } }
}

async function replayed({ platform }: SendingDeps, caller: Caller, row: KeyRow): Promise<Sent> {
  if (row.message_id !== null) {
    const message = await findMessage(platform.pool, caller, row.message_id)
    if (message !== null) return { row: message, replayed: true }
    throw new Problem(
      'idempotency_key_reused',
      'The message of this Idempotency-Key is not kept any more. Use a fresh key.',
    )
  }
  const stored = row.response as { error?: unknown; code?: ErrorCode }
  if (stored.error !== undefined) throw replayedRefusal(stored)
  const problem = refusalOf(stored.code!)
  throw new Problem(problem.code, problem.message, { headers: replayedHeaders })
}

export interface KeyedWork<A> {
  readonly request: KeyedRequest
  /** Resolves to a Problem that was stored with the key, or to `known`. */
  attempt(): Promise<A | Problem | 'known'>
  /** Or throws its refusal. */
  replay(row: KeyRow): Promise<A>
}

export interface RequestKeys {
  /** Refuses a concurrent request with the same key, stores refusals, replays known keys. */
  run<A>(work: KeyedWork<A>): Promise<A>
  /** False if another process was first. */
  storeAnswer(request: KeyedRequest, answer: StoredAnswer): Promise<boolean>
}

export interface StoredAnswer {
  readonly status: number
  readonly response: object
}

const storeAnswer = (
  { pool, clock, retention_clock }: Platform,
  request: KeyedRequest,
  answer: StoredAnswer,
): Promise<boolean> => insertReply(pool, request, answer, clock.now(), retention_clock.now())

export function requestKeys(platform: Platform): RequestKeys {
  const flights = inFlight()
  return {
    storeAnswer: (request, answer) => storeAnswer(platform, request, answer),
    run: (work) =>
      oneAtATime(platform, flights, work.request, {
        first: () => firstOrKnown(platform, work),
        again: (row) => work.replay(row),
      }),
  }
}

async function firstOrKnown<A>(platform: Platform, work: KeyedWork<A>): Promise<A | 'known'> {
  const answer = await work.attempt().catch((error: unknown) => refusedBefore(platform, work.request, error))
  if (answer instanceof Problem) throw answer
  return answer
}

/** A known key takes precedence over an invalid body. */
async function refusedBefore(platform: Platform, request: KeyedRequest, error: unknown): Promise<'known'> {
  if (!(error instanceof Problem)) throw error
  if ((await knownKey(platform, request)) !== null) return 'known'
  const overtaken =
    isStoredRefusal(error) &&
    !(await storeAnswer(platform, request, { status: error.status, response: storedRefusal(error) }))
  if (overtaken && (await knownKey(platform, request)) !== null) return 'known'
  throw error
}
