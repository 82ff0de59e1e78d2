/** What somebody changes about themselves (behaviour: console 3). */
import { invalid, Problem } from '../../../contract/problem.ts'
import type { Db } from '../../../platform/database/sql.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { Session, Sessions } from '../sessions/sessions.ts'
import { hashPassword, isPassword, requirePassword } from './passwords.ts'
import { requireEmail, requireName } from './setup.ts'
import * as store from './store.ts'

export interface MyChanges {
  readonly name?: string
  readonly email?: string
  readonly current_password?: string
  readonly new_password?: string
}

/**
 * Changes a user in the transaction `tx`; a new password ends the other sessions. Problems: `parameter_missing` without the current password where it is asked for, 400
 * `invalid_credentials` for a wrong one, `email_taken`.
 */
export async function updateMe(
  _platform: Platform,
  sessions: Sessions,
  tx: Db,
  session: Session,
  changes: MyChanges,
): Promise<{ name: string; email: string }> {
  const user = await store.lockUser(tx, session.user_id)
  if (user === null) throw new Problem('session_required')
  const name = changes.name === undefined ? user.name : requireName('name', changes.name)
  const email = changes.email === undefined ? user.email : requireEmail('email', changes.email)
  if (changes.new_password !== undefined) requirePassword('new_password', changes.new_password)
  if (changes.new_password !== undefined || email !== user.email) await requireCurrent(user, changes.current_password)
  if (email !== user.email && (await store.findUserByEmail(tx, email)) !== null) throw new Problem('email_taken')
  const password_hash = changes.new_password === undefined ? user.password_hash : await hashPassword(changes.new_password)
  await store.updateUser(tx, { ...user, name, email, password_hash })
  if (changes.new_password !== undefined) await sessions.endOthers(tx, user.id, session.id)
  return { name, email }
}

async function requireCurrent(user: store.UserRow, given: string | undefined): Promise<void> {
  if (user.password_hash === null) return
  if (given === undefined) throw invalid('current_password', 'missing_field', 'Give your password as it is now.')
  if (!(await isPassword(given, user.password_hash))) throw new WrongPassword()
}

/** `invalid_credentials` with the status that it has of somebody who is signed in already. */
class WrongPassword extends Problem {
  constructor() {
    super('invalid_credentials', 'This is not your password as it is now. Check it, or sign out and choose a new one by a link.', { param: 'current_password' })
  }

  override get status(): number {
    return 400
  }
}
