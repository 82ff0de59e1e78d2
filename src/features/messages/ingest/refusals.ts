/** The words of the refusals that the database decides, which carry none of their own: they say what to do next. */
import { errorCatalogue, type ErrorCode } from '../../../contract/errors.ts'
import { Problem } from '../../../contract/problem.ts'

const words: Partial<Record<ErrorCode, string>> = {
  recipient_blocked: 'The recipient is blocked or has opted out on this channel. Do not retry; the recipient must opt in again first.',
  policy_violation: 'The recipient has not written to this channel in the last 24 hours, so only an approved template may be sent. Send a `template`.',
  insufficient_balance: 'No package credit applies and the wallet is below the price of the message. Top up, then send again; nothing was created or charged.',
  parameter_invalid: 'The message breaks a rule of the database and cannot be stored. Change its content, then send again.',
}

export const refusalOf = (code: ErrorCode): Problem => new Problem(code, words[code] ?? `${errorCatalogue[code].title} ${errorCatalogue[code].fix}`)
