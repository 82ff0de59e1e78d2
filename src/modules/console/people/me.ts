/** Changes that people make to their own user (behaviour: console 3). */
import { invalid, Problem } from '../../../api/problem.ts'
import { type Db, transact } from '../../../platform/database/sql.ts'
import { networkOf } from '../../../platform/http/headers.ts'
import type { Platform } from '../../../platform/platform.ts'
import { hasIdentity } from '../sign-in/repository.ts'
import { requireRecent, type Session, type Sessions } from '../sign-in/sessions.ts'
import { proveAgain, wrongPassword } from '../sign-in/sign-in.ts'
import { requestEmailChange } from './email-change.ts'
import { hashingTurn, hashPassword, requirePassword } from './passwords.ts'
import * as repository from './repository.ts'
import { requireEmail, requireName } from './setup.ts'

export interface MyChanges {
  readonly name?: string
  readonly email?: string
  readonly current_password?: string
  readonly code?: string
  readonly new_password?: string
}

/**
 * A new password ends the other sessions and all links. A new e-mail address waits for its link. Problems:
 * `parameter_missing` without a required current password, `mfa_required` without a required code, 400
 * `invalid_credentials`, `reauthentication_required`, `email_taken`, `rate_limit_exceeded`.
 */
export async function updateMe(
  platform: Platform,
  sql: Db,
  sessions: Sessions,
  session: Session,
  changes: MyChanges,
  address: string,
): Promise<Pick<repository.UserRow, 'name' | 'email' | 'pending_email'>> {
  const name = changes.name === undefined ? undefined : requireName('name', changes.name)
  const email = changes.email === undefined ? undefined : requireEmail('email', changes.email)
  if (changes.new_password !== undefined) requirePassword('new_password', changes.new_password)
  const proved = await requireProof(platform, session, changes, email, address)
  const { new_password } = changes
  const password_hash =
    new_password === undefined ? undefined : await hashingTurn(networkOf(address), () => hashPassword(new_password))
  return await transact(sql, async (tx) => {
    const user = await sessions.lockUser(tx, session)
    // another request may have changed the password meanwhile
    if (proved !== undefined && user.password_hash !== proved.password_hash) throw wrongPassword('current_password')
    let next = { ...user, name: name ?? user.name }
    if (password_hash !== undefined) {
      await repository.deleteTokens(tx, ['reset', 'email'], user.id)
      await sessions.endOthers(tx, user.id, session.id)
      next = { ...next, password_hash, pending_email: null }
    }
    if (email !== undefined) next = { ...next, pending_email: await requestEmailChange(platform, tx, next, email) }
    await repository.updateUser(tx, next)
    return next
  })
}

/**
 * A new password requires the current one; a new e-mail address or a first password requires a recent authentication.
 * Resolves to the verified user, if any.
 */
async function requireProof(
  platform: Platform,
  session: Session,
  { current_password, code, new_password }: MyChanges,
  email: string | undefined,
  address: string,
): Promise<repository.UserRow | undefined> {
  const changesEmail = email !== undefined && email !== session.email
  if (new_password === undefined && !changesEmail) return undefined
  if (current_password !== undefined && session.has_password)
    return await proveAgain(platform, session, address, { password: current_password, code }, 'current_password')
  if (new_password !== undefined && session.has_password)
    throw invalid('current_password', 'missing_field', 'Give your password as it is now.')
  requireRecent(platform, session)
  return undefined
}

/** OIDC remains the only sign-in method. Throws `last_sign_in_method` without a linked identity. */
export async function removePassword(platform: Platform, sql: Db, sessions: Sessions, session: Session): Promise<void> {
  requireRecent(platform, session)
  await transact(sql, async (tx) => {
    const user = await sessions.lockUser(tx, session)
    const { oidc } = platform.settings
    if (oidc === undefined || !(await hasIdentity(tx, user.id, oidc.issuer))) throw new Problem('last_sign_in_method')
    await repository.deleteTokens(tx, ['reset', 'email'], user.id)
    await repository.updateUser(tx, { ...user, password_hash: null, pending_email: null })
  })
}
