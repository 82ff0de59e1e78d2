/**
 * Invitations: links for seven days, mailed or, without a mail server, shown to the inviter (behaviour: console 3.13).
 */
import { invalid, missing, Problem } from '../../../api/problem.ts'
import { isoTime } from '../../../lib/clock.ts'
import { oneLine } from '../../../lib/text.ts'
import { type Db, transact } from '../../../platform/database/sql.ts'
import { networkOf } from '../../../platform/http/headers.ts'
import type { PeriodicJob, Platform } from '../../../platform/platform.ts'
import { enqueueEmail } from '../../mail/service.ts'
import { insertAudit } from '../audit/repository.ts'
import { type Allowance, dayMs, requireAllowance } from '../people/allowances.ts'
import { hashingTurn, hashPassword, requirePassword } from '../people/passwords.ts'
import {
  findUserByEmail,
  insertMembership,
  insertUser,
  newLink,
  tokenHash,
  type UserRow,
  wasTaken,
} from '../people/repository.ts'
import { requireEmail, requireName } from '../people/setup.ts'
import type { Role } from '../roles.ts'
import { deleteIdentities } from '../sign-in/repository.ts'
import type { Session } from '../sign-in/sessions.ts'
import { signIn } from '../sign-in/sign-in.ts'
import { type Acting, requireGrant } from './members.ts'
import * as repository from './repository.ts'

const validForMs = 7 * dayMs
/** To one address from one account, a day. */
const perAddressMax = 3

export interface Inviting extends Acting {
  readonly account_name: string
  readonly name: string
}

/**
 * Replaces an earlier one for the same address. Returns the link only if it is not mailed. Problems:
 * `role_not_allowed`, `member_exists`.
 */
export async function invite(
  platform: Platform,
  sql: Db,
  acting: Inviting,
  input: { readonly email: string; readonly role: Role },
): Promise<repository.InvitationRow & { readonly url: string | null }> {
  const { clock, ids, settings } = platform
  const email = requireEmail('email', input.email)
  const link = newLink(settings.base_url, 'invitation')
  const at = clock.now()
  return await transact(sql, async (tx) => {
    const roles = await repository.lockRoles(tx, acting.account_id, [acting.user_id])
    const mine = roles.find(({ user_id }) => user_id === acting.user_id)?.role
    if (mine === undefined) throw new Problem('account_required')
    requireGrant(mine, input.role)
    // replacing an invitation needs the same right as withdrawing it
    const earlier = await repository.lockInvitationOf(tx, acting.account_id, email)
    if (earlier !== null) requireGrant(mine, earlier.role)
    if (await repository.isMember(tx, acting.account_id, email)) throw new Problem('member_exists')
    await requireInvitationsLeft(platform, tx, acting.account_id, email)
    const mailed = settings.smtp_url !== undefined
    const row: repository.InvitationRow = {
      account_id: acting.account_id as `acc_${string}`,
      id: ids('inv'),
      email,
      role: input.role,
      token_hash: link.token_hash,
      invited_by: acting.user_id,
      email_id: mailed ? await mail(platform, tx, acting, email, link.url) : null,
      expires_at: isoTime(at + validForMs),
      created_at: isoTime(at),
    }
    await repository.replaceInvitation(tx, row)
    return { ...row, url: mailed ? null : link.url }
  })
}

/** Throws `rate_limit_exceeded`. */
async function requireInvitationsLeft(
  { clock, settings }: Platform,
  tx: Db,
  account_id: string,
  email: string,
): Promise<void> {
  const perDay = (max: number): Allowance => ({ kind: 'invitation', limits: [{ max, within_ms: dayMs }] })
  await requireAllowance(
    tx,
    clock,
    perDay(settings.invitations_per_day),
    account_id,
    `The account has sent ${settings.invitations_per_day} invitations within a day. Wait the seconds of Retry-After, or ask the operator for more.`,
  )
  await requireAllowance(
    tx,
    clock,
    perDay(perAddressMax),
    `${account_id} ${email}`,
    `${email} was invited ${perAddressMax} times within a day. Wait the seconds of Retry-After, or withdraw the invitation.`,
  )
}

async function mail(
  platform: Platform,
  tx: Db,
  { account_id, account_name, name }: Inviting,
  recipient: string,
  link: string,
): Promise<number> {
  const body = [
    'Hello,',
    '',
    `${oneLine(name)} invites you to the account ${oneLine(account_name)} of Posthorn. Accept here, within seven days:`,
    '',
    '{link}',
    '',
    'If you do not know who that is, do nothing.',
    '',
  ].join('\n')
  return await enqueueEmail(tx, platform, { account_id, recipient, subject: `Join ${account_name}`, body, link })
}

export async function withdraw(sql: Db, { account_id, user_id }: Acting, id: string): Promise<void> {
  await transact(sql, async (tx) => {
    const roles = await repository.lockRoles(tx, account_id, [user_id])
    const row = await repository.lockInvitation(tx, account_id, id)
    if (row === null) throw missing('invitation', id)
    requireGrant(roles.find((each) => each.user_id === user_id)?.role ?? 'viewer', row.role)
    await repository.deleteInvitation(tx, account_id, id)
  })
}

/** Throws `token_invalid`. */
export async function invitationOf({ pool, clock }: Platform, token: string): Promise<repository.InvitationRow> {
  const row = await repository.findInvitation(pool, tokenHash(token), isoTime(clock.now()))
  if (row === null)
    throw new Problem('token_invalid', 'This invitation was used or withdrawn, or has expired. Ask for a new one.')
  return row
}

export interface Accepting {
  readonly token: string
  readonly name?: string
  readonly password?: string
  readonly code?: string
}

/**
 * Creates the user if there is none. Existing users prove their identity by session or password, and lose the
 * identities that were linked before. Problems: `token_invalid`, `session_required`, `member_exists`, those of signing
 * in.
 */
export async function accept(
  platform: Platform,
  input: Accepting,
  session: Session | null,
  from: { readonly address: string; readonly request_id: string },
): Promise<UserRow> {
  const invitation = await invitationOf(platform, input.token)
  const known = await findUserByEmail(platform.pool, invitation.email)
  const user = known === null ? await newUser(platform, input, invitation.email, from.address) : known
  const signInFirst = () =>
    new Problem(
      'session_required',
      `Sign in as ${invitation.email}, then open the link once more; or give the password.`,
    )
  if (known !== null && session?.user_id !== known.id) {
    if (input.password === undefined) throw signInFirst()
    await signIn(platform, { email: known.email, password: input.password, code: input.code }, from.address)
  }
  const at = isoTime(platform.clock.now())
  await transact(platform.pool, async (tx) => {
    if ((await repository.useInvitation(tx, invitation)) === null) throw new Problem('token_invalid')
    if (known === null) await insertUser(tx, user)
    else await unlinkIdentities(platform, tx, known)
    const { account_id, role, id } = invitation
    if (await repository.isMember(tx, account_id, user.email)) throw new Problem('member_exists')
    await insertMembership(tx, { account_id, user_id: user.id, role }, at)
    await insertAudit(tx, {
      account_id,
      id: platform.ids('aud'),
      actor_type: 'user',
      actor_id: user.id,
      impersonator_id: null,
      action: 'invitations.accept',
      object_id: id,
      changes: { role },
      ...from,
      created_at: at,
    })
  }).catch((error: unknown) => {
    // two invitations accepted concurrently by the same new person
    throw wasTaken(error) ? signInFirst() : error
  })
  return user
}

/**
 * Somebody else may have linked theirs before this person had the e-mail address. A user without a password has no
 * other way to sign in, and has used it to accept.
 */
async function unlinkIdentities(
  platform: Platform,
  tx: Db,
  { id, email, name, password_hash }: UserRow,
): Promise<void> {
  if (password_hash === null || (await deleteIdentities(tx, id)) === 0) return
  const body = [
    `Hello ${oneLine(name)},`,
    '',
    'you accepted an invitation to an account of Posthorn. Identities that were linked to your user before can no longer sign in. Sign in with your password, and link yours again on your profile:',
    '',
    `${platform.settings.base_url}/console/profile`,
    '',
  ].join('\n')
  await enqueueEmail(tx, platform, { account_id: null, recipient: email, subject: 'Link your identity again', body })
}

async function newUser(
  { ids, clock }: Platform,
  { name, password }: Accepting,
  email: string,
  address: string,
): Promise<UserRow> {
  if (name === undefined) throw invalid('name', 'missing_field', 'Say what you are called.')
  if (password === undefined) throw invalid('password', 'missing_field', 'Choose a password of 12 characters or more.')
  const named = requireName('name', name)
  requirePassword('password', password)
  return {
    id: ids('usr'),
    email,
    name: named,
    pending_email: null,
    password_hash: await hashingTurn(networkOf(address), () => hashPassword(password)),
    admin: false,
    two_factor: false,
    created_at: isoTime(clock.now()),
  }
}

export const invitationPeriodicJobs = ({ pool, retention_clock }: Platform): PeriodicJob[] => [
  {
    name: 'delete-expired-invitations',
    every_ms: 3600_000,
    run: () => repository.forgetInvitations(pool, isoTime(retention_clock.now())),
  },
]
