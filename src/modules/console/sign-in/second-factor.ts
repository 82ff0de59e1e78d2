/** The second factor: TOTP codes (RFC 6238) and recovery codes (behaviour: console 3.6). */
import { randomInt } from 'node:crypto'
import { Problem } from '../../../api/problem.ts'
import { isoTime } from '../../../lib/clock.ts'
import { type Db, transact } from '../../../platform/database/sql.ts'
import type { PeriodicJob, Platform } from '../../../platform/platform.ts'
import { resealAll } from '../../../platform/secrets/resealing.ts'
import { WrongCredentials } from '../people/passwords.ts'
import { deleteTokens, updateUser } from '../people/repository.ts'
import {
  beginSecondFactor,
  confirmSecondFactor,
  deleteSecondFactor,
  recordStep,
  listSealedFactors,
  lockSecondFactor,
  resealFactor,
  useRecoveryCode,
} from './second-factor-repository.ts'
import type { Session, Sessions } from './sessions.ts'

const stepMs = 30_000
const recoveryCodes = 10
const letters = 'abcdefghjkmnpqrstuvwxyz23456789'

export interface BegunFactor {
  /** In base 32. */
  readonly secret: string
  readonly otpauth_url: string
}

export async function beginFactor({ pool, secrets }: Platform, { user_id, email }: Session): Promise<BegunFactor> {
  const { Secret } = await import('otpauth')
  const secret = new Secret({ size: 20 }).base32
  await beginSecondFactor(pool, user_id, secrets.seal(secret))
  return { secret, otpauth_url: (await totpOf(secret, email)).toString() }
}

/**
 * Ends the other sessions. Resolves to the recovery codes. Problems: 400 `invalid_credentials`, `resource_missing`
 * without a pending secret.
 */
export async function confirmFactor(
  platform: Platform,
  sql: Db,
  sessions: Sessions,
  session: Session,
  code: string,
): Promise<string[]> {
  const { clock } = platform
  const { user_id, id } = session
  const codes = Array.from({ length: recoveryCodes }, newRecoveryCode)
  await transact(sql, async (tx) => {
    const user = await sessions.lockUser(tx, session)
    const row = await lockSecondFactor(tx, user_id)
    if (row === null || row.second_factor_pending === null)
      throw new Problem('resource_missing', 'No second factor waits for its first code. Begin with a new secret key.')
    const step = await stepOf(platform, row.second_factor_pending, code)
    if (step === null)
      throw new WrongCredentials(
        'code',
        'This is not the code of the authenticator app at this time. Type the one that it shows now, and check the clock of the phone.',
      )
    const hashes = codes.map((each) => hashOf(platform, each))
    await confirmSecondFactor(tx, user_id, step, hashes, isoTime(clock.now()))
    await deleteTokens(tx, ['email'], user_id)
    await updateUser(tx, { ...user, pending_email: null })
    await sessions.endOthers(tx, user_id, id)
  })
  return codes
}

export const removeFactor = async (sql: Db, { user_id }: Session): Promise<void> =>
  await transact(sql, (tx) => deleteSecondFactor(tx, user_id))

export async function useCode(platform: Platform, tx: Db, user_id: string, code: string): Promise<boolean> {
  const row = await lockSecondFactor(tx, user_id)
  if (row === null || row.second_factor === null) return false
  const step = await stepOf(platform, row.second_factor, code)
  if (step !== null) {
    if (row.second_factor_step !== null && step <= row.second_factor_step) return false
    await recordStep(tx, user_id, step)
    return true
  }
  const hash = hashOf(platform, code)
  if (!row.recovery_codes.includes(hash)) return false
  await useRecoveryCode(tx, user_id, hash)
  return true
}

/** Within one step of now; null if none matches. */
async function stepOf({ clock, secrets }: Platform, sealed: string, code: string): Promise<number | null> {
  const token = code.replaceAll(/\s/g, '')
  if (!/^\d{6}$/.test(token)) return null
  const now = clock.now()
  const delta = (await totpOf(secrets.open(sealed), '')).validate({ token, timestamp: now, window: 1 })
  return delta === null ? null : Math.floor(now / stepMs) + delta
}

async function totpOf(secret: string, label: string) {
  // loaded on first use, to keep startup fast
  const { TOTP } = await import('otpauth')
  return new TOTP({ issuer: 'Posthorn', label, secret, algorithm: 'SHA1', digits: 6, period: stepMs / 1000 })
}

/** About 50 bits. */
function newRecoveryCode(): string {
  const text = Array.from({ length: 10 }, () => letters[randomInt(letters.length)]).join('')
  return `${text.slice(0, 5)}-${text.slice(5)}`
}

const hashOf = ({ secrets }: Platform, code: string): string =>
  secrets.keyedHash(`recovery ${code.replaceAll(/[\s-]/g, '').toLowerCase()}`)

export const secondFactorPeriodicJobs = (platform: Platform): PeriodicJob[] => [
  {
    name: 'reencrypt-second-factors',
    every_ms: 3600_000,
    run: () => resealAll(platform, { what: 'second factor', list: listSealedFactors, reseal: resealFactor }),
  },
]
