/** Texts of refusals that the database decides. */
import type { ErrorCode } from '../../../api/errors.ts'
import { Problem, retrySoon } from '../../../api/problem.ts'
import type { ItemOutcome, UnavailableReason } from './submission.ts'

const words: Partial<Record<ErrorCode, string>> = {
  recipient_blocked:
    'The recipient is blocked or has opted out on this channel. Do not retry; the recipient must opt in again first.',
  policy_violation:
    'The recipient has not written to this channel in the last 24 hours, so only an approved template may be sent. Send a `template`.',
  insufficient_balance:
    'No package credit applies and the wallet is below the price of the message. Top up, then send again; nothing was created or charged.',
  parameter_invalid:
    'The message breaks a rule of the database and cannot be stored. Change its content, then send again.',
}

export const refusalOf = (code: ErrorCode): Problem => new Problem(code, words[code])

/** Throws for outcomes that requests cannot have. */
export function problemOf(outcome: Exclude<ItemOutcome, { kind: 'accepted' }>): Problem {
  if (outcome.kind === 'refused') return refusalOf(outcome.code)
  if (outcome.kind === 'no_funds') return refusalOf('insufficient_balance')
  if (outcome.kind === 'unavailable') return unavailable[outcome.reason]()
  throw new Error(`a request was answered as ${outcome.kind}`)
}

const later = (sentence: string): Problem =>
  new Problem(
    'upstream_unavailable',
    `${sentence} Repeat with backoff and the same Idempotency-Key; nothing was charged.`,
    { headers: retrySoon },
  )

const notNow = () => later('The service cannot store messages right now.')

const unavailable: Readonly<Record<UnavailableReason, () => Problem>> = {
  full: () => later('Too many messages are waiting to be stored.'),
  unreachable: notNow,
  stopping: notNow,
  uncertain: () =>
    new Problem(
      'internal_error',
      'The database went away while the message was being stored. It may have been accepted: repeat with the same Idempotency-Key, or look for it.',
    ),
}
