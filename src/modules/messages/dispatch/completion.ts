/** The effects of an outcome: transitions, references, attempts, callback items, next attempt. */
import { tenantOf } from '../../../api/caller.ts'
import { isoTime } from '../../../lib/clock.ts'
import type { IdMaker } from '../../../lib/ids.ts'
import type { Outcome, DeliveryReceipt, CallbackItem } from '../../../providers/provider.ts'
import { type MessageRow, providerCodeOf } from '../message.ts'
import type { NewReference } from '../references-repository.ts'
import type { NewCallbackItem } from '../callbacks/repository.ts'
import type { TransitionRequest } from '../transitions.ts'
import type { Job } from './job.ts'
import { setAsideError } from './unreadable.ts'
import type { NewAttempt, ReturnedJob } from './repository.ts'

export interface Attempted {
  readonly job: Job
  readonly provider: string
  readonly outcome: Outcome
  readonly began_ms: number
  /** By the monotonic clock. */
  readonly duration_ms: number
  readonly at_ms: number
  /** The provider runs in this process. */
  readonly instant: boolean
  /** A status query showed that the provider never had the message. */
  readonly notFound?: boolean
  /** Nothing was sent. */
  readonly statusQuery?: true
  /** Accepted parts proved by receipts, if more than the outcome has. */
  readonly proved?: readonly string[]
}

/** `superseded`: the message is final, or another process has the job. */
export interface Unsent {
  readonly job: Job
  readonly outcome: { readonly kind: 'expired' | 'blocked' | 'superseded' | 'channel_deleted' | 'unreadable' }
  readonly at_ms: number
}

export type Completion = Attempted | Unsent

const unknownWaitMs = 30_000
const backoffFirstMs = 500
const backoffMaxMs = 60_000
/** Attempts after which throttling with `if_lasting` is a refusal. */
const throttledMax = 8
/** Attempts without an answer; each may have sent a copy. */
const unknownsMax = 8

export const wasAttempted = (completion: Completion): completion is Attempted => 'provider' in completion

export const wasQueried = (completion: Completion): boolean =>
  wasAttempted(completion) && completion.statusQuery === true

const hasMoreAccepted = (completion: Completion): boolean => wasAttempted(completion) && completion.proved !== undefined

/** Adds accepted parts that only the job knows. */
export function withAcceptedIds(completion: Completion, accepted_ids: readonly string[]): Completion {
  return wasAttempted(completion) && accepted_ids.length > acceptedIdsOf(completion).length
    ? { ...completion, proved: accepted_ids }
    : completion
}

/** Milliseconds since 1970; null if the job has ended. */
export function nextDue(completion: Completion): number | null {
  const { job, outcome, at_ms } = completion
  if (hasMoreAccepted(completion)) return at_ms
  if (outcome.kind !== 'throttled' && outcome.kind !== 'unavailable' && outcome.kind !== 'unknown') return null
  const due_ms = at_ms + waitOf(completion)
  if (job.row.expires_at === null) return due_ms
  // a waiting message is checked when it expires, except after a clock jump
  const expires_ms = Date.parse(job.row.expires_at)
  if (wasAttempted(completion) && expires_ms < completion.began_ms - backoffMaxMs) return due_ms
  return Math.min(due_ms, Math.max(at_ms, expires_ms))
}

function waitOf(completion: Completion): number {
  const { job, outcome } = completion
  if (wasQueried(completion)) return unknownWaitMs
  if (outcome.kind === 'unknown') return unknownWaitMs * 2 ** Math.min(job.unknowns ?? 0, unknownsMax)
  const wait_ms = Math.min(backoffFirstMs * 2 ** Math.min(job.attempts, 10), backoffMaxMs)
  return Math.max(wait_ms, outcome.kind === 'throttled' ? Math.min(outcome.retry_after_ms ?? 0, backoffMaxMs) : 0)
}

const errors: Readonly<Record<Exclude<Unsent['outcome']['kind'], 'superseded'>, MessageRow['error']>> = {
  expired: {
    code: 'expired',
    message: 'The message expired before its provider accepted it.',
    provider_code: null,
  },
  blocked: {
    code: 'recipient_blocked',
    message: 'The recipient opted out or was blocked before the provider accepted the message.',
    provider_code: null,
  },
  channel_deleted: {
    code: 'channel_not_connected',
    message: 'The channel was deleted before its provider accepted the message.',
    provider_code: null,
  },
  unreadable: setAsideError,
}

/** A message that may have been sent is not called unsent. */
function errorOf(kind: keyof typeof errors, { outcome_unknown, accepted_ids = [] }: Job): MessageRow['error'] {
  const error = errors[kind]!
  const message = withAcceptedParts(accepted_ids, error.message)
  return {
    ...error,
    message: outcome_unknown ? `${message} An earlier send attempt had no answer: the recipient may have it.` : message,
  }
}

function acceptedIdsOf(completion: Completion): readonly string[] {
  const { job, outcome } = completion
  if (outcome.kind === 'accepted') return []
  if (wasAttempted(completion) && completion.proved !== undefined) return completion.proved
  const [before, now] = [job.accepted_ids ?? [], 'provider_ids' in outcome ? (outcome.provider_ids ?? []) : []]
  return now.length > before.length ? now : before
}

const withAcceptedParts = (accepted_ids: readonly string[], message: string): string =>
  accepted_ids.length === 0 ? message : `${acceptedParts(accepted_ids)} were sent, the others were not: ${message}`

const acceptedParts = ({ length }: readonly string[]): string => `${length} of its parts`

export function outcomeOf({ attempts, unknowns = 0 }: Pick<Job, 'attempts' | 'unknowns'>, outcome: Outcome): Outcome {
  const accepted = outcome.provider_ids === undefined ? {} : { provider_ids: outcome.provider_ids }
  if (outcome.kind === 'unknown' && unknowns + 1 >= unknownsMax) return { ...stillUnknown, ...accepted }
  if (outcome.kind !== 'throttled' || outcome.if_lasting === undefined || attempts + 1 < throttledMax) return outcome
  return { kind: 'refused', ...outcome.if_lasting, ...accepted }
}

const stillUnknown: Outcome & { readonly kind: 'refused' } = {
  kind: 'refused',
  code: 'provider_error',
  provider_code: null,
  message:
    'The provider never reported the outcome of several send attempts. The recipient may have the message: check before you send it again.',
}

const notStored = 'The answer of the provider could not be stored.'

/** The database rejected the provider's texts. Null for an unsent job. */
export function withoutProviderText(completion: Completion): Completion | null {
  if (!wasAttempted(completion)) return null
  const { job, outcome } = completion
  if (outcome.kind === 'accepted')
    return { ...completion, outcome: { kind: 'accepted', provider_ids: [`unnamed:${job.row.id}`] } }
  // without its ids, the accepted part would be sent again
  const whole = outcome.provider_ids === undefined || outcome.provider_ids.length === 0
  if (whole && outcome.kind === 'unknown') return { ...completion, outcome: { kind: 'unknown', message: notStored } }
  if (whole && outcome.kind === 'unavailable')
    return { ...completion, outcome: { kind: 'unavailable', provider_code: null, message: notStored } }
  if (whole && outcome.kind === 'throttled')
    return {
      ...completion,
      outcome: { kind: 'throttled', limit_on: outcome.limit_on, provider_code: null, message: notStored },
    }
  const message = `${notStored} The recipient may have the message: check before you send it again.`
  return { ...completion, outcome: { kind: 'refused', code: 'provider_error', provider_code: null, message } }
}

export function transitionsOf(completion: Completion): TransitionRequest[] {
  const { job, at_ms } = completion
  const request = { ...tenantOf(job.row), message_id: job.row.id, at: isoTime(at_ms), row: job.row }
  if (!wasAttempted(completion)) {
    const { kind } = completion.outcome
    return kind === 'superseded' ? [] : [{ ...request, transition: 'refuse', error: errorOf(kind, job) }]
  }
  const { outcome } = completion
  const claim: TransitionRequest = { ...request, transition: 'claim', at: isoTime(completion.began_ms) }
  if (outcome.kind === 'refused' && !hasMoreAccepted(completion)) {
    const { code, message, provider_code } = outcome
    return [
      claim,
      {
        ...request,
        transition: 'refuse',
        error: { code, message: withAcceptedParts(acceptedIdsOf(completion), message), provider_code },
      },
    ]
  }
  if (outcome.kind !== 'accepted') return [claim]
  const receipts = immediateReceipts(completion).map(({ transition, error }) => ({
    ...request,
    transition,
    ...(error === undefined ? {} : { error }),
  }))
  return [claim, { ...request, transition: 'accept' }, ...receipts]
}

/** Receipts of an in-process provider are applied together with the answer. */
function immediateReceipts({ outcome, instant }: Attempted): DeliveryReceipt[] {
  if (!instant || outcome.kind !== 'accepted') return []
  return (outcome.later_items ?? []).flatMap(({ after_ms, item }) =>
    after_ms === 0 && item.kind === 'delivery_receipt' ? [item] : [],
  )
}

/** A partly accepted message has at least one more part. */
export function referencesOf(completion: Completion): NewReference[] {
  if (!wasAttempted(completion)) return []
  const { job, outcome, at_ms } = completion
  const { channel_id, id: message_id } = job.row
  const whole = outcome.kind === 'accepted'
  const provider_ids = whole ? outcome.provider_ids : acceptedIdsOf(completion)
  const parts = provider_ids.length + (whole ? 0 : 1)
  return provider_ids.map((provider_id, part) => ({
    ...tenantOf(job.row),
    channel_id,
    provider_id,
    message_id,
    part,
    parts,
    created_at: isoTime(at_ms),
  }))
}

export function newItemsOf(completion: Completion, ids: IdMaker): NewCallbackItem[] {
  const { job, at_ms } = completion
  const immediate = new Set<CallbackItem>(wasAttempted(completion) ? immediateReceipts(completion) : [])
  return callbackItemsOf(completion)
    .filter(({ item }) => !immediate.has(item))
    .map(({ after_ms, item }) => ({
      id: ids('req'),
      ...tenantOf(job.row),
      channel_id: job.row.channel_id,
      provider_id: item.kind === 'delivery_receipt' ? item.provider_id : null,
      item,
      next_run_at: isoTime(at_ms + after_ms),
      created_at: isoTime(at_ms),
    }))
}

/** Includes the opt-out that a refusal reports. */
function callbackItemsOf(
  completion: Completion,
): readonly { readonly after_ms: number; readonly item: CallbackItem }[] {
  if (!wasAttempted(completion)) return []
  const { job, outcome } = completion
  if (outcome.kind === 'accepted') return outcome.later_items ?? []
  if (outcome.kind !== 'refused' || outcome.opted_out === undefined) return []
  const stop = { kind: 'preference', provider_id: job.row.id, from: job.row.to, marketing: 'stop' } as const
  return [{ after_ms: 0, item: outcome.opted_out === 'everything' ? { ...stop, everything: true } : stop }]
}

export function attemptsOf(completion: Completion, ids: IdMaker): NewAttempt[] {
  if (!wasAttempted(completion) || completion.statusQuery === true) return []
  const { job, provider, outcome, duration_ms, at_ms } = completion
  return [
    {
      account_id: job.row.account_id,
      mode: job.row.mode,
      message_id: job.row.id,
      number: job.attempts + 1,
      id: ids('att'),
      provider,
      outcome: outcome.kind,
      provider_code: 'provider_code' in outcome ? providerCodeOf(outcome.provider_code) : null,
      provider_message: 'message' in outcome ? messageOf(completion, outcome.message) : null,
      duration_ms,
      created_at: isoTime(at_ms),
    },
  ]
}

function messageOf(completion: Completion, message: string): string {
  const accepted_ids = acceptedIdsOf(completion)
  return accepted_ids.length === 0 ? message : `${acceptedParts(accepted_ids)} were sent before: ${message}`
}

export function returnedJobOf(completion: Completion): ReturnedJob[] {
  const due_ms = nextDue(completion)
  if (due_ms === null) return []
  const { job, outcome } = completion
  const queried = wasQueried(completion)
  // an earlier attempt stays unknown until the provider reports its outcome
  const isUnresolved = job.outcome_unknown && !(wasAttempted(completion) && completion.notFound === true)
  const outcome_unknown = !hasMoreAccepted(completion) && (isUnresolved || queried || outcome.kind === 'unknown')
  return [
    {
      message_id: job.row.id,
      next_run_at: isoTime(due_ms),
      attempts: job.attempts + (queried ? 0 : 1),
      outcome_unknown,
      accepted_ids: acceptedIdsOf(completion),
    },
  ]
}
