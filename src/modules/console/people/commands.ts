/** User administration by CLI: prints links, never passwords (behaviour: command-line 3.4). */
import { Problem } from '../../../api/problem.ts'
import { isoTime } from '../../../lib/clock.ts'
import { type Db, transact } from '../../../platform/database/sql.ts'
import type { Platform } from '../../../platform/platform.ts'
import { auditUser, type UserEntry } from '../audit/recording.ts'
import type { Role } from '../roles.ts'
import { deleteSecondFactor } from '../sign-in/second-factor-repository.ts'
import type { Sessions } from '../sign-in/sessions.ts'
import * as repository from './repository.ts'
import { emailLink } from './email-change.ts'
import { resetLink } from './resets.ts'
import { requireEmail, requireName } from './setup.ts'

export interface NewUser {
  readonly email: string
  readonly name: string
  readonly admin: boolean
  /** null for none. */
  readonly membership: { readonly account_id: `acc_${string}`; readonly role: Role } | null
}

export interface Linked {
  readonly user: repository.UserRow
  readonly link: string
}

export interface PeopleCommands {
  /** Problems: `parameter_invalid`, `email_taken`. */
  create(input: NewUser): Promise<Linked>
  /** Problems: `resource_missing`. */
  resetPassword(email: string): Promise<Linked>
  /**
   * A link to confirm the pending address, found by it or by the present one. Problems: `resource_missing`,
   * `email_taken`.
   */
  verifyEmail(email: string): Promise<Linked>
  /** Also ends the sessions. Problems: `resource_missing`. */
  resetTwoFactor(email: string): Promise<Linked>
}

export const peopleCommands = (platform: Platform, sessions: Sessions): PeopleCommands => ({
  create: (input) => createUser(platform, input),
  resetPassword: (email) =>
    transact(platform.pool, async (tx) => {
      const user = await lockKnownUser(tx, email)
      await auditUser(tx, platform, user.id, entryOf('users reset-password', 'password_resets.create', user.id))
      return { user, link: await resetLink(platform, tx, user.id) }
    }),
  verifyEmail: (email) => transact(platform.pool, (tx) => verifyEmail(platform, tx, email)),
  resetTwoFactor: (email) =>
    transact(platform.pool, async (tx) => {
      const user = await lockKnownUser(tx, email)
      await deleteSecondFactor(tx, user.id)
      await auditUser(tx, platform, user.id, entryOf('users reset-two-factor', 'two_factor.delete', user.id))
      await sessions.endAll(tx, user.id)
      return { user: { ...user, two_factor: false }, link: await resetLink(platform, tx, user.id) }
    }),
})

async function createUser(platform: Platform, { admin, membership, ...input }: NewUser): Promise<Linked> {
  const at = isoTime(platform.clock.now())
  const named = { email: requireEmail('email', input.email), name: requireName('name', input.name) }
  const user: repository.UserRow = {
    id: platform.ids('usr'),
    ...named,
    pending_email: null,
    password_hash: null,
    admin,
    two_factor: false,
    created_at: at,
  }
  return await transact(platform.pool, async (tx) => {
    if ((await repository.findUserByEmail(tx, user.email)) !== null) throw new Problem('email_taken')
    await repository.insertUser(tx, user)
    if (membership !== null) {
      await repository.insertMembership(tx, { ...membership, user_id: user.id }, at)
      await auditUser(
        tx,
        platform,
        user.id,
        entryOf('users create', 'members.create', user.id, { ...named, role: membership.role, admin }),
      )
    }
    return { user, link: await resetLink(platform, tx, user.id) }
  }).catch((error: unknown) => {
    throw repository.wasTaken(error) ? new Problem('email_taken') : error
  })
}

const entryOf = (
  command: string,
  action: string,
  object_id: string,
  changes: UserEntry['changes'] = {},
): UserEntry => ({
  actor_type: 'command',
  actor_id: command,
  action,
  object_id,
  changes,
  address: null,
  request_id: null,
})

async function verifyEmail(platform: Platform, tx: Db, input: string): Promise<Linked> {
  const email = requireEmail('email', input)
  const found = await repository.findUserByEmail(tx, email)
  const pending = found === null ? await repository.listUsersByPendingEmail(tx, email) : [found]
  if (pending.length > 1)
    throw new Problem(
      'resource_missing',
      `Several users have asked for ${email}. Give the address with which the right one signs in now.`,
    )
  const user = await repository.lockUser(tx, pending[0]?.id ?? '')
  if (user === null || user.pending_email === null)
    throw new Problem(
      'resource_missing',
      `Nobody waits to confirm the e-mail address ${email}. They ask for another address on their profile first.`,
    )
  if ((await repository.findUserByEmail(tx, user.pending_email)) !== null) throw new Problem('email_taken')
  await auditUser(
    tx,
    platform,
    user.id,
    entryOf('users verify-email', 'email_confirmations.create_link', user.id, { email: user.pending_email }),
  )
  return { user, link: await emailLink(platform, tx, user.id) }
}

/** Locks the user, as everywhere that links are created or used. */
async function lockKnownUser(tx: Db, input: string): Promise<repository.UserRow> {
  const user = await repository.lockUserByEmail(tx, requireEmail('email', input))
  if (user === null)
    throw new Problem(
      'resource_missing',
      `Nobody has the e-mail address ${JSON.stringify(input.slice(0, 80))}. \`posthorn users create\` makes somebody.`,
    )
  return user
}
