/**
 * Signing in, locked after failures per client and in all. Unknown e-mail addresses get the same response in the same
 * time (behaviour: console 3.2).
 */
import { hash } from 'node:crypto'
import { invalid, Problem } from '../../../api/problem.ts'
import { isoTime, type SteadyClock } from '../../../lib/clock.ts'
import { normalizedEmail } from '../../../lib/email-address.ts'
import { type Db, transact } from '../../../platform/database/sql.ts'
import { networkOf } from '../../../platform/http/headers.ts'
import type { Platform } from '../../../platform/platform.ts'
import { dayMs } from '../people/allowances.ts'
import { hashingTurn, hashPassword, isOutdatedHash, isPassword, WrongCredentials } from '../people/passwords.ts'
import { findUser, findUserByEmail, rehashPassword, type UserRow } from '../people/repository.ts'
import * as repository from './repository.ts'
import { useCode } from './second-factor.ts'
import type { Session } from './sessions.ts'

const lockMs = 15 * 60_000
/** In a row, from one client. */
const ownFailures = { max: 5, within_ms: dayMs }
/** From all clients together. */
const allFailures = { max: 100, within_ms: 3600_000 }
const everywhere = ''
const addressWindowMs = 60_000
const addressesMax = 10_000

export interface SignIn {
  readonly email: string
  readonly password: string
  readonly code?: string | undefined
}

interface Proof {
  /** undefined: the user has none, and gives the code of a second factor only. */
  readonly password: string | undefined
  readonly code?: string | undefined
}

/** Where somebody tries to prove their identity: what failures count against, and whose turn to hash it is. */
interface Attempt {
  readonly email_hash: string
  /** Of the client, or the id of a session that asks again. */
  readonly origin: string
  readonly network: string
  /** A lock of all clients applies too. */
  readonly shared: boolean
}

const emailHash = (email: string): string => hash('sha256', `sign-in ${email}`, 'hex')

/** `address` is that of the client. Problems: `invalid_credentials`, `mfa_required`, `account_locked`. */
export async function signIn(platform: Platform, { email, ...proof }: SignIn, address: string): Promise<UserRow> {
  const written = normalizedEmail(email)
  const network = networkOf(address)
  const attempt = { email_hash: emailHash(written), origin: network, network, shared: true }
  return await prove(platform, attempt, await findUserByEmail(platform.pool, written), proof)
}

/** Wrong credentials count as a failure. */
async function prove(platform: Platform, attempt: Attempt, user: UserRow | null, proof: Proof): Promise<UserRow> {
  const { pool } = platform
  const { code } = proof
  await requireUnlocked(platform, attempt)
  const right = await isRight(attempt, user, proof.password)
  if (right && user !== null) {
    if (user.two_factor && (code === undefined || code.trim() === '')) throw new Problem('mfa_required')
    // a concurrent failure may have locked it
    await requireUnlocked(platform, attempt)
    if (!user.two_factor || (await transact(pool, (tx) => useCode(platform, tx, user.id, code!)))) {
      await repository.clearFailures(pool, attempt.email_hash, attempt.origin)
      return proof.password === undefined ? user : await withCurrentHash(pool, attempt, user, proof.password)
    }
  }
  await countFailure(platform, attempt)
  await requireUnlocked(platform, attempt)
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

const isRight = async ({ network }: Attempt, user: UserRow | null, password: string | undefined): Promise<boolean> =>
  password === undefined || (await hashingTurn(network, () => isPassword(password, user?.password_hash ?? null)))

async function withCurrentHash(sql: Db, { network }: Attempt, user: UserRow, password: string): Promise<UserRow> {
  if (user.password_hash === null || !isOutdatedHash(user.password_hash)) return user
  const password_hash = await hashingTurn(network, () => hashPassword(password))
  await rehashPassword(sql, user.id, user.password_hash, password_hash)
  return { ...user, password_hash }
}

/**
 * For a signed-in person: failures count per session, so that nobody else can lock it; errors are 400 and name `param`.
 * A person without a password gives the code of the second factor only. Resolves to the verified user.
 */
export async function proveAgain(
  platform: Platform,
  { user_id, email, id }: Pick<Session, 'user_id' | 'email' | 'id'>,
  address: string,
  proof: Proof,
  param: 'password' | 'current_password',
): Promise<UserRow> {
  const user = await findUser(platform.pool, user_id)
  if (user === null) throw new Problem('session_required')
  const hasPassword = user.password_hash !== null
  if (!hasPassword && (!user.two_factor || proof.code === undefined))
    throw new WrongCredentials(
      param,
      'You have no password. Sign in once more in the way in which you signed in, or choose a password by a link.',
    )
  if (hasPassword && proof.password === undefined) throw invalid(param, 'missing_field', 'Give your password.')
  const attempt = { email_hash: emailHash(email), origin: id, network: networkOf(address), shared: false }
  try {
    return await prove(platform, attempt, user, hasPassword ? proof : { ...proof, password: undefined })
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
  await repository.clearAllFailures(sql, emailHash(email))

async function countFailure({ pool, clock }: Platform, { email_hash, origin, shared }: Attempt): Promise<void> {
  const now = clock.now()
  const count = async (at_origin: string, { max, within_ms }: typeof ownFailures) =>
    await repository.countFailure(pool, {
      email_hash,
      origin: at_origin,
      at: isoTime(now),
      failures_max: max,
      since: isoTime(now - within_ms),
      locked_until: isoTime(now + lockMs),
    })
  await count(origin, ownFailures)
  if (shared) await count(everywhere, allFailures)
}

/** Throws `account_locked`. */
async function requireUnlocked({ pool, clock }: Platform, { email_hash, origin, shared }: Attempt): Promise<void> {
  const until = await repository.lockedUntil(pool, email_hash, shared ? [origin, everywhere] : [origin])
  const left_ms = until === null ? 0 : Date.parse(until) - clock.now()
  if (left_ms > 0)
    throw new Problem('account_locked', undefined, { headers: { 'retry-after': String(Math.ceil(left_ms / 1000)) } })
}

/** Per network (`networkOf`) and minute. Throws `rate_limit_exceeded` beyond `max`. */
export function addressLimit(clock: Pick<SteadyClock, 'elapsed'>, max: number): (address: string) => void {
  const tries = new Map<string, { since: number; count: number }>()
  return (address) => {
    const now = clock.elapsed()
    const network = networkOf(address)
    const known = tries.get(network)
    const window = known === undefined || now - known.since >= addressWindowMs ? { since: now, count: 0 } : known
    window.count += 1
    tries.delete(network)
    tries.set(network, window)
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
