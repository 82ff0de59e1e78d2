/** Requests that send one message: checked, submitted, and under an Idempotency-Key answered again as they were first. */
import type { Caller } from '../../../api/caller.ts'
import type { ErrorCode } from '../../../api/errors.ts'
import { Problem } from '../../../api/problem.ts'
import {
  canonicalFingerprint,
  keyedRequest,
  replayedHeaders,
  replayedRefusal,
} from '../../../platform/http/idempotency.ts'
import type { KeyedRequest, KeyRow } from '../../../platform/http/idempotency-store.ts'
import { checkMessage, type CheckDeps } from './validate.ts'
import type { Ingest } from './group-commit.ts'
import { problemOf, refusalOf } from './refusals.ts'
import type { Alongside, Submission } from './submission.ts'
import type { RequestKeys } from './request-keys.ts'
import type { MessageRow } from '../message.ts'
import { findMessage } from '../repository.ts'

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
export interface SendingDeps extends CheckDeps {
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
