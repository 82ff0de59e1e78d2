/** Requests that send one message: checked, submitted, and under an Idempotency-Key answered again as they were first. */
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
import { keepReply, type KeyedRequest, type KeyRow } from '../../../platform/http/idempotency-store.ts'
import { parseMessage, validateForChannel } from './validate.ts'
import { type EligibilityDeps, requireEligible, requireReplyTo } from './eligibility.ts'
import type { CheckedMessage } from './row.ts'
import { withMeantPhone } from '../../accounts/service.ts'
import type { Ingest } from './group-commit.ts'
import { problemOf, refusalOf } from './refusals.ts'
import type { Alongside, Submission } from './submission.ts'
import type { MessageRow } from '../message.ts'
import { findMessage } from '../repository.ts'
import type { Platform } from '../../../platform/platform.ts'

/** What an operation that sends a message may be refused with, beside what all are. */
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

/** What requests that send are made of. */
export interface SendingDeps extends EligibilityDeps {
  readonly ingest: Ingest
  readonly keys: RequestKeys
}

/** An accepted message; `replayed`: by an earlier request of the same key. */
export interface Sent {
  readonly row: MessageRow
  readonly replayed: boolean
}

/** A keyed request, before it is known who asks. */
export interface RequestKey {
  /** Method and path with its ids. */
  readonly operation: string
  readonly key: string
  readonly fingerprint: string
}

/** `POST /v1/messages`. Throws the Problem that refuses the message, which is kept where there is a key (behaviour: idempotency 3). */
export async function sendMessage(
  deps: SendingDeps,
  caller: Caller,
  body: unknown,
  key: string | undefined,
): Promise<Sent> {
  const asked =
    key === undefined ? undefined : { operation: 'POST /v1/messages', key, fingerprint: canonicalFingerprint(body) }
  return await sendMade(deps, caller, asked, () => Promise.resolve(body))
}

/** Sends what `make` resolves to, the body of `POST /v1/messages`, on behalf of another operation. Where its key is known already, what was made of it counts. */
export async function sendMade(
  deps: SendingDeps,
  caller: Caller,
  asked: RequestKey | undefined,
  make: () => Promise<unknown>,
): Promise<Sent> {
  if (asked === undefined) {
    const sent = await sendOne(deps, caller, await make(), undefined)
    if (sent instanceof Problem) throw sent
    if (sent === 'known') throw new Error('a message without a key was answered as known')
    return sent
  }
  const request = keyedRequest(caller, asked.operation, asked.key, asked.fingerprint)
  return await deps.keys.run({
    request,
    attempt: async () => await sendOne(deps, caller, await make(), request),
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
  const [outcome] = await deps.ingest.submit({ ...ofRequest(caller, request), items: [{ message }] })
  if (outcome!.kind === 'accepted') return { row: outcome!.row, replayed: false }
  if (outcome!.kind === 'known') return 'known'
  const problem = problemOf(outcome!)
  // what could not be decided was not kept either
  if (outcome!.kind === 'unavailable') throw problem
  return problem
}

/** Checks a body of `POST /v1/messages` for whom it is sent. Throws the Problem that refuses it. */
export async function checkMessage(deps: EligibilityDeps, tenant: Tenant, written: unknown): Promise<CheckedMessage> {
  const { clock, pool } = deps.platform
  const request = parseMessage(written, clock.now())
  const channel = await deps.channels.find(tenant, request.channel)
  if (channel === null) throw await deps.channels.missing(pool, tenant, request.channel, 'channel')
  if (typeof request.reply_to === 'string') await requireReplyTo(deps, tenant, request.reply_to)
  const failures = validateForChannel(channel, request)
  if (failures.length > 0) throwFailures(await withMeantPhone(pool, tenant, failures, 'to', request.to))
  return await requireEligible(deps, tenant, channel, request)
}

/** What all submissions of requests share; `valueFrom` makes what the key keeps of a batch, a single message stands for itself. */
export function ofRequest(
  caller: Caller,
  request: KeyedRequest | undefined,
  valueFrom?: Alongside['valueFrom'],
): Omit<Submission, 'items'> {
  const origin =
    caller.user_id === null
      ? ({ type: 'api', id: caller.key_id } as const)
      : ({ type: 'console', id: caller.user_id } as const)
  const submission = { origin, traffic: 'interactive', trace: caller.trace } as const
  if (request === undefined) return submission
  const { operation, key, fingerprint } = request
  const alongside = { kind: 'request', values: { operation, idempotency_key: key, fingerprint } }
  return { ...submission, alongside: valueFrom === undefined ? alongside : { ...alongside, valueFrom } }
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

/** A keyed request of the answer `A`. */
export interface KeyedWork<A> {
  readonly request: KeyedRequest
  /** Resolves to a Problem that has been kept under the key, and to `known` where the key was used before; throws what was refused before anything was submitted. */
  attempt(): Promise<A | Problem | 'known'>
  /** What the first request was answered; throws its refusal. The row is of the same request, and complete. */
  replay(row: KeyRow): Promise<A>
}

export interface RequestKeys {
  /** Runs keyed work: a twin of one that runs in this process is refused, refusals that the operation decided are kept, a known key is replayed. */
  run<A>(work: KeyedWork<A>): Promise<A>
  /** Keeps the answer of a request that submits nothing. False where a twin in another process was quicker: its answer is the one that stands. */
  keep(request: KeyedRequest, answer: KeptAnswer): Promise<boolean>
}

/** What a key answers from now on. */
export interface KeptAnswer {
  readonly status: number
  readonly response: object
}

const keep = ({ pool, clock, ageing }: Platform, request: KeyedRequest, answer: KeptAnswer): Promise<boolean> =>
  keepReply(pool, request, answer, clock.now(), ageing.now())

export function requestKeys(platform: Platform): RequestKeys {
  const flights = inFlight()
  return {
    keep: (request, answer) => keep(platform, request, answer),
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

/** Keeps a refusal and throws it, unless the key is known: it goes before the shape, so that a known one decides. */
async function refusedBefore(platform: Platform, request: KeyedRequest, error: unknown): Promise<'known'> {
  if (!(error instanceof Problem)) throw error
  if ((await knownKey(platform, request)) !== null) return 'known'
  const overtaken =
    isStoredRefusal(error) && !(await keep(platform, request, { status: error.status, response: storedRefusal(error) }))
  if (overtaken && (await knownKey(platform, request)) !== null) return 'known'
  throw error
}
