/** Changes that people make to their own user (behaviour: console 3). */
import { invalid, Problem } from '../../../api/problem.ts'
import { type Db, transact } from '../../../platform/database/sql.ts'
import type { Platform } from '../../../platform/platform.ts'
import { hasIdentity } from '../sign-in/repository.ts'
import { requireRecent, type Session, type Sessions } from '../sign-in/sessions.ts'
import { proveAgain, wrongPassword } from '../sign-in/sign-in.ts'
import { hashPassword, requirePassword } from './passwords.ts'
import * as repository from './repository.ts'
import { requireEmail, requireName } from './setup.ts'

export interface MyChanges {
  readonly name?: string
  readonly email?: string
  readonly current_password?: string
  readonly new_password?: string
}

/**
 * A new password ends the other sessions. Problems: `parameter_missing` without a required current password, 400
 * `invalid_credentials`, `reauthentication_required`, `email_taken`.
 */
export async function updateMe(
  platform: Platform,
  sql: Db,
  sessions: Sessions,
  session: Session,
  changes: MyChanges,
): Promise<{ name: string; email: string }> {
  const name = changes.name === undefined ? undefined : requireName('name', changes.name)
  const email = changes.email === undefined ? undefined : requireEmail('email', changes.email)
  if (changes.new_password !== undefined) requirePassword('new_password', changes.new_password)
  const proved = await requireProof(platform, session, changes, email)
  const password_hash = changes.new_password === undefined ? undefined : await hashPassword(changes.new_password)
  return await transact(sql, async (tx) => {
    const user = await sessions.lockUser(tx, session)
    // another request may have changed the password meanwhile
    if (proved !== undefined && user.password_hash !== proved.password_hash) throw wrongPassword('current_password')
    const next = {
      ...user,
      name: name ?? user.name,
      email: email ?? user.email,
      password_hash: password_hash ?? user.password_hash,
    }
    if (next.email !== user.email && (await repository.findUserByEmail(tx, next.email)) !== null)
      throw new Problem('email_taken')
    await repository.updateUser(tx, next)
    if (password_hash !== undefined) await sessions.endOthers(tx, user.id, session.id)
    return { name: next.name, email: next.email }
  }).catch((error: unknown) => {
    throw repository.wasTaken(error) ? new Problem('email_taken') : error
  })
}

/**
 * A new password requires the current one; a new e-mail address or a first password requires a recent authentication.
 * Resolves to the verified user, if any.
 */
async function requireProof(
  platform: Platform,
  session: Session,
  { current_password, new_password }: MyChanges,
  email: string | undefined,
): Promise<repository.UserRow | undefined> {
  const changesEmail = email !== undefined && email !== session.email
  if (new_password === undefined && !changesEmail) return undefined
  if (current_password !== undefined && session.has_password)
    return await proveAgain(platform, session, { password: current_password }, 'current_password')
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
    await repository.updateUser(tx, { ...user, password_hash: null })
  })
}
