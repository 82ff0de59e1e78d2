/**
 * Another e-mail address of a user. It counts once its link is opened; the address before it gets
 * an e-mail (behaviour: console 3.16).
 */
import { Problem } from '../../../api/problem.ts'
import { isoTime } from '../../../lib/clock.ts'
import { oneLine } from '../../../lib/text.ts'
import { type Db, transact } from '../../../platform/database/sql.ts'
import type { Platform } from '../../../platform/platform.ts'
import { enqueueEmail } from '../../mail/service.ts'
import { auditUser } from '../audit/recording.ts'
import { dayMs, emailChangeAllowance, confirmationAllowance, requireAllowance, takeAllowance } from './allowances.ts'
import { tokenHash, type UserRow } from './repository.ts'
import * as repository from './repository.ts'
import { createUserLink, useUserLink } from './user-links.ts'

/**
 * Mails a link to the new address. Anybody's address is answered alike, except that of a colleague; where it is
 * somebody else's, the mail says so and has no link. The present address withdraws an earlier request. Resolves to the
 * pending address, which the caller stores. Problems: `email_taken`, `rate_limit_exceeded`.
 */
export async function requestEmailChange(
  platform: Platform,
  tx: Db,
  user: UserRow,
  email: string,
): Promise<string | null> {
  if (email !== user.pending_email) await repository.deleteTokens(tx, ['email'], user.id)
  if (email === user.email) return null
  if (await repository.isColleague(tx, user.id, email)) throw new Problem('email_taken')
  await requireAllowance(
    tx,
    platform.clock,
    emailChangeAllowance,
    user.id,
    'You have asked for another e-mail address several times. Open the link that was sent before, or wait the seconds of Retry-After.',
  )
  const link = await emailLink(platform, tx, user.id)
  const owner = await repository.findUserByEmail(tx, email)
  if ((await takeAllowance(tx, platform.clock, confirmationAllowance, email)) === null)
    await enqueueEmail(tx, platform, {
      account_id: null,
      recipient: email,
      retry_for_ms: dayMs,
      ...(owner === null ? confirmation(user, link) : notice(owner)),
    })
  await enqueueEmail(tx, platform, { account_id: null, recipient: user.email, ...announcement(platform, user, email) })
  return email
}

/** Valid for a day, beside earlier ones for the same address. */
export const emailLink = async (platform: Platform, tx: Db, user_id: string): Promise<string> =>
  await createUserLink(platform, tx, user_id, { kind: 'email', page: 'confirm-email', valid_ms: dayMs })

/** Ends links for a new password. Problems: `token_invalid`; `email_taken` if another user has it meanwhile. */
export async function confirmEmail(
  platform: Platform,
  token: string,
  from: { readonly address: string; readonly request_id: string },
): Promise<string> {
  const { pool, clock } = platform
  return await transact(pool, async (tx) => {
    const user = await useUserLink(tx, 'email', tokenHash(token), isoTime(clock.now()))
    const email = user.pending_email
    if (email === null) throw new Problem('token_invalid')
    if ((await repository.findUserByEmail(tx, email)) !== null) throw new Problem('email_taken')
    await repository.deleteTokens(tx, ['email', 'reset'], user.id)
    await repository.updateUser(tx, { ...user, email, pending_email: null })
    await enqueueEmail(tx, platform, { account_id: null, recipient: user.email, ...change(user, email) })
    await auditUser(tx, platform, user.id, {
      actor_type: 'user',
      actor_id: user.id,
      action: 'email_confirmations.create',
      object_id: user.id,
      changes: { email },
      ...from,
    })
    return email
  }).catch((error: unknown) => {
    throw repository.wasTaken(error) ? new Problem('email_taken') : error
  })
}

interface Mail {
  readonly subject: string
  readonly body: string
  readonly link?: string
}

const confirmation = ({ name }: UserRow, link: string): Mail => ({
  subject: 'Confirm your e-mail address',
  body: [
    `Hello ${oneLine(name)},`,
    '',
    'you asked to sign in to the console of Posthorn with this e-mail address. Confirm it here, within a day:',
    '',
    '{link}',
    '',
    'If it was not you, do nothing: somebody mistyped their address.',
    '',
  ].join('\n'),
  link,
})

const notice = ({ name }: UserRow): Mail => ({
  subject: 'Somebody asked to use your e-mail address',
  body: [
    `Hello ${oneLine(name)},`,
    '',
    'somebody asked to sign in to the console of Posthorn with this e-mail address. It is yours already, so nothing was changed.',
    'If it was you, sign in with this address instead.',
    '',
  ].join('\n'),
})

const announcement = ({ settings }: Platform, { name, email }: UserRow, next: string): Mail => ({
  subject: 'Your e-mail address is about to change',
  body: [
    `Hello ${oneLine(name)},`,
    '',
    `somebody, most likely you, asked to sign in to the console of Posthorn with ${next} instead of ${email}. This happens once the link is opened that was sent there.`,
    '',
    `If it was not you, choose a new password at ${settings.base_url}/console/reset: this ends the request.`,
    '',
  ].join('\n'),
})

const change = ({ name, email }: UserRow, next: string): Mail => ({
  subject: 'Your e-mail address was changed',
  body: [
    `Hello ${oneLine(name)},`,
    '',
    `from now on you sign in to the console of Posthorn with ${next} instead of ${email}.`,
    '',
    'If it was not you, ask an owner of your account or the operator of this installation for help at once.',
    '',
  ].join('\n'),
})
