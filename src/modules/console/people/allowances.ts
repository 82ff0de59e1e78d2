/** Limits actions of people per hour and day over all processes, such as e-mails that anybody may ask for. */
import { hash } from 'node:crypto'
import { Problem } from '../../../api/problem.ts'
import { type Clock, isoTime } from '../../../lib/clock.ts'
import type { Db } from '../../../platform/database/sql.ts'
import * as repository from './repository.ts'

export interface Allowance {
  readonly kind: 'password_reset' | 'email_confirmation' | 'email_change' | 'invitation'
  readonly limits: readonly { readonly max: number; readonly within_ms: number }[]
}

const hourMs = 3600_000
export const dayMs = 24 * hourMs

const hourlyAndDaily = [
  { max: 3, within_ms: hourMs },
  { max: 10, within_ms: dayMs },
]

/** E-mails with a link for a new password, per person. Counted apart, so that no other e-mails use them up. */
export const resetAllowance: Allowance = { kind: 'password_reset', limits: hourlyAndDaily }
/** E-mails to an address that somebody wants to sign in with. */
export const confirmationAllowance: Allowance = { kind: 'email_confirmation', limits: hourlyAndDaily }
/** Requests of one user for another e-mail address. */
export const emailChangeAllowance: Allowance = { kind: 'email_change', limits: hourlyAndDaily }

/**
 * Takes one, and holds the lock on `subject` until the transaction ends. Resolves to null, or to the milliseconds until
 * the next one if none is left.
 */
export async function takeAllowance(
  tx: Db,
  clock: Pick<Clock, 'now'>,
  { kind, limits }: Allowance,
  subject: string,
): Promise<number | null> {
  const now = clock.now()
  const subject_hash = hash('sha256', `${kind} ${subject}`, 'hex')
  const longest_ms = Math.max(...limits.map(({ within_ms }) => within_ms))
  const times = (await repository.lockActionTimes(tx, kind, subject_hash, isoTime(now))).filter(
    (time) => now - Date.parse(time) < longest_ms,
  )
  const waits = limits.map(({ max, within_ms }) => {
    const first = times.filter((time) => now - Date.parse(time) < within_ms).at(-max)
    return first === undefined ? 0 : Date.parse(first) + within_ms - now
  })
  const wait_ms = Math.max(...waits)
  if (wait_ms > 0) return wait_ms
  await repository.setActionTimes(tx, kind, subject_hash, [...times, isoTime(now)])
  return null
}

/** Throws `rate_limit_exceeded` with `message` if none is left. */
export async function requireAllowance(
  tx: Db,
  clock: Pick<Clock, 'now'>,
  allowance: Allowance,
  subject: string,
  message: string,
): Promise<void> {
  const wait_ms = await takeAllowance(tx, clock, allowance, subject)
  if (wait_ms !== null)
    throw new Problem('rate_limit_exceeded', message, { headers: { 'retry-after': String(Math.ceil(wait_ms / 1000)) } })
}
