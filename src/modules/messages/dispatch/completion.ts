/** What came of a job, and what it makes of its message: transitions, references, attempts, reports, and when the hand-over is repeated. */
import { tenantOf } from '../../../api/caller.ts'
import { isoTime } from '../../../lib/clock.ts'
import type { IdMaker } from '../../../lib/ids.ts'
import type { Outcome, DeliveryReceipt, CallbackItem } from '../../../providers/provider.ts'
import { type MessageRow, providerCodeOf } from '../message.ts'
import type { NewReference } from '../references-repository.ts'
import type { NewReport } from '../callbacks/repository.ts'
import type { TransitionRequest } from '../transitions.ts'
import type { Job } from './job.ts'
import type { NewAttempt, ReturnedJob } from './repository.ts'

/** A job that was handed over, or asked about, and the provider's answer. */
export interface HandedOver {
  readonly job: Job
  readonly provider: string
  readonly outcome: Outcome
  /** When it was begun, by the time. */
  readonly began_ms: number
  /** How long it took, whatever was done to the time meanwhile. */
  readonly duration_ms: number
  /** When the answer came. */
  readonly at_ms: number
  /** The provider answers at once, within this process. */
  readonly instant: boolean
  /** The provider said, when it was asked about an earlier hand-over, that it never had the message. */
  readonly neverHad?: boolean
  /** Nothing was handed over: the provider was asked about an earlier time, and this is what it told. */
  readonly asked?: true
  /** The ids of what receipts have proved meanwhile to be taken of the message: more than the outcome tells, which is of a part that went out before. */
  readonly proved?: readonly string[]
}

/** A job that ended without a hand-over. `gone`: its message is final already, or another process has it. */
export interface Ended {
  readonly job: Job
  readonly outcome: { readonly kind: 'expired' | 'blocked' | 'gone' | 'channel_deleted' }
  readonly at_ms: number
}

export type Completion = HandedOver | Ended

const unknownWaitMs = 30_000
const backoffFirstMs = 500
const backoffMaxMs = 60_000
/** A provider that goes on throttling means by it what it says in `if_lasting`. */
const throttledMax = 8
/** Hand-overs of a message whose provider never tells what became of them: each may be a copy. */
const unknownsMax = 8

export const wasHandedOver = (completion: Completion): completion is HandedOver => 'provider' in completion

/** The provider was asked, and nothing was handed over. */
export const wasAsked = (completion: Completion): boolean => wasHandedOver(completion) && completion.asked === true

/** The provider has the part of which the outcome tells: it has told so by a receipt, and what is left is the rest. */
const wasProved = (completion: Completion): boolean => wasHandedOver(completion) && completion.proved !== undefined

/** The completion, where its job knows of more that was taken of the message than it does: of what it tells the provider has told otherwise. */
export function withProof(completion: Completion, accepted_ids: readonly string[]): Completion {
  return wasHandedOver(completion) && accepted_ids.length > takenOf(completion).length
    ? { ...completion, proved: accepted_ids }
    : completion
}

/** When the hand-over is repeated, in milliseconds; null when the job has ended. */
export function nextDue(completion: Completion): number | null {
  const { job, outcome, at_ms } = completion
  if (wasProved(completion)) return at_ms
  if (outcome.kind !== 'throttled' && outcome.kind !== 'unavailable' && outcome.kind !== 'unknown') return null
  const due_ms = at_ms + waitOf(completion)
  if (job.row.expires_at === null) return due_ms
  // a message that expires while it waits is looked at when it does; one that was handed over long after, since the clock has jumped, is no hurry
  const expires_ms = Date.parse(job.row.expires_at)
  if (wasHandedOver(completion) && expires_ms < completion.began_ms - backoffMaxMs) return due_ms
  return Math.min(due_ms, Math.max(at_ms, expires_ms))
}

/** How long the next hand-over waits, or the next question. */
function waitOf(completion: Completion): number {
  const { job, outcome } = completion
  if (wasAsked(completion)) return unknownWaitMs
  if (outcome.kind === 'unknown') return unknownWaitMs * 2 ** Math.min(job.unknowns ?? 0, unknownsMax)
  const wait_ms = Math.min(backoffFirstMs * 2 ** Math.min(job.attempts, 10), backoffMaxMs)
  return Math.max(wait_ms, outcome.kind === 'throttled' ? Math.min(outcome.retry_after_ms ?? 0, backoffMaxMs) : 0)
}

const errors: Readonly<Record<Exclude<Ended['outcome']['kind'], 'gone'>, MessageRow['error']>> = {
  expired: {
    code: 'expired',
    message: 'The validity of the message ended before its provider took it.',
    provider_code: null,
  },
  blocked: {
    code: 'recipient_blocked',
    message: 'The recipient opted out or was blocked before the provider took the message.',
    provider_code: null,
  },
  channel_deleted: {
    code: 'channel_not_connected',
    message: 'The channel was deleted before its provider took the message.',
    provider_code: null,
  },
}

/** Of one that may have been sent it is not said that it was not, nor of one that went out in part. */
function errorOf(kind: keyof typeof errors, { outcome_unknown, accepted_ids = [] }: Job): MessageRow['error'] {
  const error = errors[kind]!
  const message = partlyTaken(accepted_ids, error.message)
  return {
    ...error,
    message: outcome_unknown ? `${message} An earlier hand-over had no answer: the recipient may have it.` : message,
  }
}

/** What the provider took of a message that it has not taken whole, at this and earlier hand-overs. */
function takenOf(completion: Completion): readonly string[] {
  const { job, outcome } = completion
  if (outcome.kind === 'accepted') return []
  if (wasHandedOver(completion) && completion.proved !== undefined) return completion.proved
  const [before, now] = [job.accepted_ids ?? [], 'provider_ids' in outcome ? (outcome.provider_ids ?? []) : []]
  return now.length > before.length ? now : before
}

/** What became of the rest of a message that the provider took in part. */
const partlyTaken = (accepted_ids: readonly string[], message: string): string =>
  accepted_ids.length === 0 ? message : `${partsTaken(accepted_ids)} went out, and the rest did not: ${message}`

const partsTaken = ({ length }: readonly string[]): string => `${length} of its parts`

/**
 * What an outcome comes to: a message that was throttled often enough is refused, where the provider says with what, and so is one of which nobody
 * could tell often enough whether it was sent.
 */
export function outcomeOf({ attempts, unknowns = 0 }: Pick<Job, 'attempts' | 'unknowns'>, outcome: Outcome): Outcome {
  const taken = outcome.provider_ids === undefined ? {} : { provider_ids: outcome.provider_ids }
  if (outcome.kind === 'unknown' && unknowns + 1 >= unknownsMax) return { ...neverTold, ...taken }
  if (outcome.kind !== 'throttled' || outcome.if_lasting === undefined || attempts + 1 < throttledMax) return outcome
  return { kind: 'refused', ...outcome.if_lasting, ...taken }
}

const neverTold: Outcome & { readonly kind: 'refused' } = {
  kind: 'refused',
  code: 'provider_error',
  provider_code: null,
  message:
    'The provider took the message again and again without telling what became of it. The recipient may have it: ask before you send it again.',
}

const notStored = 'The provider gave an answer that could not be stored.'

/** The completion without anything that the provider said, for what of it cannot be stored; null where it said nothing. */
export function inOwnWords(completion: Completion): Completion | null {
  if (!wasHandedOver(completion)) return null
  const { job, outcome } = completion
  if (outcome.kind === 'accepted')
    return { ...completion, outcome: { kind: 'accepted', provider_ids: [`unnamed:${job.row.id}`] } }
  // what it took of the message cannot be told without its ids, and would go out again
  const whole = outcome.provider_ids === undefined || outcome.provider_ids.length === 0
  if (whole && outcome.kind === 'unknown') return { ...completion, outcome: { kind: 'unknown', message: notStored } }
  if (whole && outcome.kind === 'unavailable')
    return { ...completion, outcome: { kind: 'unavailable', provider_code: null, message: notStored } }
  if (whole && outcome.kind === 'throttled')
    return {
      ...completion,
      outcome: { kind: 'throttled', limit_on: outcome.limit_on, provider_code: null, message: notStored },
    }
  const message = `${notStored} The recipient may have the message: ask before you send it again.`
  return { ...completion, outcome: { kind: 'refused', code: 'provider_error', provider_code: null, message } }
}

/** What is asked of the message, in order. */
export function transitionsOf(completion: Completion): TransitionRequest[] {
  const { job, at_ms } = completion
  const request = { ...tenantOf(job.row), message_id: job.row.id, at: isoTime(at_ms), row: job.row }
  if (!wasHandedOver(completion)) {
    const { kind } = completion.outcome
    return kind === 'gone' ? [] : [{ ...request, transition: 'refuse', error: errorOf(kind, job) }]
  }
  const { outcome } = completion
  // it may have been handed over without a word of it
  const claim: TransitionRequest = { ...request, transition: 'claim', at: isoTime(completion.began_ms) }
  if (outcome.kind === 'refused' && !wasProved(completion)) {
    const { code, message, provider_code } = outcome
    return [
      claim,
      {
        ...request,
        transition: 'refuse',
        error: { code, message: partlyTaken(takenOf(completion), message), provider_code },
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

/** The receipts of a provider that answers at once, and that are due at once: they are applied with the answer. */
function immediateReceipts({ outcome, instant }: HandedOver): DeliveryReceipt[] {
  if (!instant || outcome.kind !== 'accepted') return []
  return (outcome.later_items ?? []).flatMap(({ after_ms, item: report }) =>
    after_ms === 0 && report.kind === 'delivery_receipt' ? [report] : [],
  )
}

/** By which ids the provider knows the message. What it took of one that it has not taken whole are parts, of which at least one is to come. */
export function referencesOf(completion: Completion): NewReference[] {
  if (!wasHandedOver(completion)) return []
  const { job, outcome, at_ms } = completion
  const { channel_id, id: message_id } = job.row
  const whole = outcome.kind === 'accepted'
  const provider_ids = whole ? outcome.provider_ids : takenOf(completion)
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

/** The reports that came with the answer and are applied later. */
export function reportsOf(completion: Completion, ids: IdMaker): NewReport[] {
  const { job, at_ms } = completion
  const immediate = new Set<CallbackItem>(wasHandedOver(completion) ? immediateReceipts(completion) : [])
  return told(completion)
    .filter(({ item }) => !immediate.has(item))
    .map(({ after_ms, item: report }) => ({
      id: ids('req'),
      ...tenantOf(job.row),
      channel_id: job.row.channel_id,
      provider_id: report.kind === 'delivery_receipt' ? report.provider_id : null,
      report,
      next_run_at: isoTime(at_ms + after_ms),
      created_at: isoTime(at_ms),
    }))
}

/** The reports of a message that was taken, and the opt-out that a refusal tells of. */
function told(completion: Completion): readonly { readonly after_ms: number; readonly item: CallbackItem }[] {
  if (!wasHandedOver(completion)) return []
  const { job, outcome } = completion
  if (outcome.kind === 'accepted') return outcome.later_items ?? []
  if (outcome.kind !== 'refused' || outcome.opted_out === undefined) return []
  const stop = { kind: 'preference', provider_id: job.row.id, from: job.row.to, marketing: 'stop' } as const
  return [{ after_ms: 0, item: outcome.opted_out === 'everything' ? { ...stop, everything: true } : stop }]
}

export function attemptsOf(completion: Completion, ids: IdMaker): NewAttempt[] {
  if (!wasHandedOver(completion) || completion.asked === true) return []
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

/** What the provider said of a hand-over, and what of the message it had taken by then. */
function messageOf(completion: Completion, said: string): string {
  const taken = takenOf(completion)
  return taken.length === 0 ? said : `${partsTaken(taken)} went out before: ${said}`
}

/** The job as it is given back for the next hand-over, with the count of attempts, whether the last one may have arrived, and what was taken of the message. */
export function returnedJobOf(completion: Completion): ReturnedJob[] {
  const due_ms = nextDue(completion)
  if (due_ms === null) return []
  const { job, outcome } = completion
  // a question that was not answered leaves things as they were
  const asked = wasAsked(completion)
  // an earlier hand-over stays in doubt until the provider has told of it
  const inDoubt = job.outcome_unknown && !(wasHandedOver(completion) && completion.neverHad === true)
  const outcome_unknown = !wasProved(completion) && (inDoubt || asked || outcome.kind === 'unknown')
  return [
    {
      message_id: job.row.id,
      next_run_at: isoTime(due_ms),
      attempts: job.attempts + (asked ? 0 : 1),
      outcome_unknown,
      accepted_ids: takenOf(completion),
    },
  ]
}
