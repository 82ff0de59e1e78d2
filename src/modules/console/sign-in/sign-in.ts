/**
 * Signing in, locked after five failures in a row. Unknown e-mail addresses get the same response in the same time
 * (behaviour: console 3.2).
 */
import { hash } from 'node:crypto'
import { Problem } from '../../../api/problem.ts'
import { type Clock, isoTime, type SteadyClock } from '../../../lib/clock.ts'
import { type Db, transact } from '../../../platform/database/sql.ts'
import type { Platform } from '../../../platform/platform.ts'
import { hashPassword, isOutdatedHash, isPassword, WrongCredentials } from '../people/passwords.ts'
import { findUser, findUserByEmail, rehashPassword, type UserRow } from '../people/repository.ts'
import * as repository from './repository.ts'
import { useCode } from './second-factor.ts'
import type { Session } from './sessions.ts'

const failuresMax = 5
const lockMs = 15 * 60_000
const addressWindowMs = 60_000
const addressesMax = 10_000

export interface SignIn {
  readonly email: string
  readonly password: string
  readonly code?: string
}

const emailHash = (email: string): string => hash('sha256', `sign-in ${email}`, 'hex')

export async function signIn(platform: Platform, { email, password, code }: SignIn): Promise<UserRow> {
  const written = email.trim().normalize('NFC').toLowerCase()
  return await prove(platform, written, await findUserByEmail(platform.pool, written), { password, code })
}

/** Wrong credentials count as a failure. Problems: `invalid_credentials`, `mfa_required`, `account_locked`. */
export async function prove(
  platform: Platform,
  email: string,
  user: UserRow | null,
  { password, code }: { readonly password: string; readonly code?: string | undefined },
): Promise<UserRow> {
  const { pool, clock } = platform
  const email_hash = emailHash(email)
  requireUnlocked(clock, await repository.findFailures(pool, email_hash))
  const right = await isPassword(password, user?.password_hash ?? null)
  if (right && user !== null) {
    if (user.two_factor && (code === undefined || code.trim() === '')) throw new Problem('mfa_required')
    // a concurrent failure may have locked it
    requireUnlocked(clock, await repository.findFailures(pool, email_hash))
    if (!user.two_factor || (await transact(pool, (tx) => useCode(platform, tx, user.id, code!)))) {
      await repository.clearFailures(pool, email_hash)
      return await withCurrentHash(pool, user, password)
    }
  }
  const now = clock.now()
  const after = await repository.countFailure(pool, email_hash, failuresMax, isoTime(now), isoTime(now + lockMs))
  requireUnlocked(clock, after)
  throw right
    ? new Problem(
        'invalid_credentials',
        'The code is wrong or was used before. Type the one that the authenticator app shows now, or a recovery code that was not used.',
        { param: 'code' },
      )
    : new Problem(
        'invalid_credentials',
        'The e-mail address or the password is wrong. Check both, or choose a new password by a link.',
      )
}

async function withCurrentHash(sql: Db, user: UserRow, password: string): Promise<UserRow> {
  if (user.password_hash === null || !isOutdatedHash(user.password_hash)) return user
  const password_hash = await hashPassword(password)
  await rehashPassword(sql, user.id, user.password_hash, password_hash)
  return { ...user, password_hash }
}

/** For a signed-in person: errors are 400 and name `param`. Resolves to the verified user. */
export async function proveAgain(
  platform: Platform,
  session: Pick<Session, 'user_id' | 'email'>,
  proof: { readonly password: string; readonly code?: string | undefined },
  param: 'password' | 'current_password',
): Promise<UserRow> {
  const user = await findUser(platform.pool, session.user_id)
  if (user === null) throw new Problem('session_required')
  if (user.password_hash === null)
    throw new WrongCredentials(
      param,
      'You have no password. Sign in once more in the way in which you signed in, or choose a password by a link.',
    )
  try {
    // the session has passed the second factor
    return await prove(
      platform,
      user.email,
      param === 'current_password' ? { ...user, two_factor: false } : user,
      proof,
    )
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'invalid_credentials') throw error
    if (error.param === 'code') throw new WrongCredentials('code', error.message)
    throw wrongPassword(param)
  }
}

export const wrongPassword = (param: 'password' | 'current_password'): WrongCredentials =>
  new WrongCredentials(
    param,
    'This is not your password as it is now. Check it, or sign out and choose a new one by a link.',
  )

/** A reset link proves the identity. */
export const unlock = async (sql: Db, email: string): Promise<void> =>
  await repository.clearFailures(sql, emailHash(email))

function requireUnlocked(clock: Clock, row: repository.FailuresRow | null): void {
  if (row === null || row.locked_until === null) return
  const left_ms = Date.parse(row.locked_until) - clock.now()
  if (left_ms > 0)
    throw new Problem('account_locked', undefined, { headers: { 'retry-after': String(Math.ceil(left_ms / 1000)) } })
}

/** Per address and minute. Throws `rate_limit_exceeded` beyond `max`. */
export function addressLimit(clock: Pick<SteadyClock, 'elapsed'>, max: number): (address: string) => void {
  const tries = new Map<string, { since: number; count: number }>()
  return (address) => {
    const now = clock.elapsed()
    const known = tries.get(address)
    const window = known === undefined || now - known.since >= addressWindowMs ? { since: now, count: 0 } : known
    window.count += 1
    tries.delete(address)
    tries.set(address, window)
    if (tries.size > addressesMax) tries.delete(tries.keys().next().value!)
    if (window.count <= max) return
    const left = Math.max(1, Math.ceil((window.since + addressWindowMs - now) / 1000))
    throw new Problem(
      'rate_limit_exceeded',
      `More than ${max} tries a minute came from this address. Wait ${left} seconds.`,
      {
        headers: { 'retry-after': String(left) },
      },
    )
  }
}
