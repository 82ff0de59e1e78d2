/** Signing in: a password, a lock after five failures in a row, and the same answer in the same time whether an e-mail address is known or not (behaviour: console 3.2). */
import { hash } from 'node:crypto'
import { Problem } from '../../../contract/problem.ts'
import { isoTime, type Clock } from '../../../lib/clock.ts'
import type { Platform } from '../../../platform/platform.ts'
import { isPassword } from '../people/passwords.ts'
import { findUserByEmail, type UserRow } from '../people/store.ts'
import * as store from './store.ts'

const failuresMax = 5
const lockMs = 15 * 60_000
const addressWindowMs = 60_000
const addressesMax = 10_000

export interface SignIn {
  readonly email: string
  readonly password: string
}

const emailHash = (email: string): string => hash('sha256', `sign-in ${email}`, 'hex')

/** Whose password it is. Throws `invalid_credentials`, and `account_locked` where signing in by this e-mail address is locked. */
export async function signIn({ pool, clock }: Platform, { email, password }: SignIn): Promise<UserRow> {
  const written = email.trim().normalize('NFC').toLowerCase()
  const email_hash = emailHash(written)
  requireUnlocked(clock, await store.findFailures(pool, email_hash))
  const user = await findUserByEmail(pool, written)
  const right = await isPassword(password, user?.password_hash ?? null)
  if (right && user !== null) {
    // another one may have locked it meanwhile
    requireUnlocked(clock, await store.findFailures(pool, email_hash))
    await store.clearFailures(pool, email_hash)
    return user
  }
  const now = clock.now()
  const after = await store.countFailure(pool, email_hash, failuresMax, isoTime(now), isoTime(now + lockMs))
  requireUnlocked(clock, after)
  throw new Problem('invalid_credentials', 'The e-mail address or the password is wrong. Check both, or choose a new password by a link.')
}

function requireUnlocked(clock: Clock, row: store.FailuresRow | null): void {
  if (row === null || row.locked_until === null) return
  const left_ms = Date.parse(row.locked_until) - clock.now()
  if (left_ms > 0) throw new Problem('account_locked', undefined, { headers: { 'retry-after': String(Math.ceil(left_ms / 1000)) } })
}

/** Counts tries of an address within a minute. Throws `rate_limit_exceeded` beyond `max` of them. */
export function addressLimit(clock: Clock, max: number): (address: string) => void {
  const tries = new Map<string, { since: number; count: number }>()
  return (address) => {
    const now = clock.now()
    const known = tries.get(address)
    const window = known === undefined || now - known.since >= addressWindowMs ? { since: now, count: 0 } : known
    window.count += 1
    tries.delete(address)
    tries.set(address, window)
    if (tries.size > addressesMax) tries.delete(tries.keys().next().value!)
    if (window.count <= max) return
    const left = Math.max(1, Math.ceil((window.since + addressWindowMs - now) / 1000))
    throw new Problem('rate_limit_exceeded', `More than ${max} tries a minute came from this address. Wait ${left} seconds.`, {
      headers: { 'retry-after': String(left) },
    })
  }
}
