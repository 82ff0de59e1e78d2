/** The first owner, created with the set-up link printed at start (behaviour: console 1.5). */
import { invalid, Problem } from '../../../api/problem.ts'
import { isoTime } from '../../../lib/clock.ts'
import { isEmailAddress, normalizedEmail } from '../../../lib/email-address.ts'
import { hasLink, isOneLine } from '../../../lib/text.ts'
import { transact } from '../../../platform/database/sql.ts'
import { networkOf } from '../../../platform/http/headers.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { AccountService } from '../../accounts/service.ts'
import { insertAudit } from '../audit/repository.ts'
import { dayMs } from './allowances.ts'
import { hashingTurn, hashPassword, requirePassword } from './passwords.ts'
import { newLink, tokenHash } from './repository.ts'
import * as repository from './repository.ts'

const validForMs = dayMs
const nameLengthMax = 120

/** Normalised. Throws `parameter_invalid`. */
export function requireEmail(param: string, value: string): string {
  const email = normalizedEmail(value)
  if (!isEmailAddress(email))
    throw invalid(param, 'invalid_format', 'This is no e-mail address. Write it as name@example.com.')
  return email
}

/** Trimmed. Strangers read it in e-mails, so it has no link. Throws `parameter_invalid`. */
export function requireName(param: string, value: string): string {
  const name = value.trim()
  if (name === '' || [...name].length > nameLengthMax)
    throw invalid(param, name === '' ? 'too_short' : 'too_long', `A name has 1 to ${nameLengthMax} characters.`)
  if (!name.isWellFormed() || !isOneLine(name) || hasLink(name))
    throw invalid(param, 'invalid_value', 'A name has no line breaks and no web addresses. Leave them out.')
  return name
}

/** Ends earlier links; null once somebody can sign in. */
export async function offerSetup({ pool, clock, settings }: Platform): Promise<string | null> {
  return await transact(pool, async (tx) => {
    if (await repository.anyUser(tx)) return null
    const { token_hash, url } = newLink(settings.base_url, 'setup')
    const at = clock.now()
    await repository.deleteTokens(tx, ['setup'], null)
    await repository.insertToken(tx, {
      token_hash,
      kind: 'setup',
      user_id: null,
      expires_at: isoTime(at + validForMs),
      created_at: isoTime(at),
    })
    return url
  })
}

export interface FirstOwner {
  readonly token: string
  readonly name: string
  readonly email: string
  readonly password: string
}

/** Owner of the oldest account and platform administrator. Throws `token_invalid` or `parameter_invalid`. */
export async function setUp(
  platform: Platform,
  accounts: AccountService,
  owner: FirstOwner,
  address: string,
  request_id: string,
): Promise<repository.UserRow> {
  const name = requireName('name', owner.name)
  const email = requireEmail('email', owner.email)
  requirePassword('password', owner.password)
  const [oldest] = await accounts.list()
  if (oldest === undefined)
    throw new Problem(
      'token_invalid',
      'There is no account yet. Make one with `posthorn accounts create`, then start again.',
    )
  const at = isoTime(platform.clock.now())
  const row: repository.UserRow = {
    id: platform.ids('usr'),
    email,
    name,
    pending_email: null,
    password_hash: await hashingTurn(networkOf(address), () => hashPassword(owner.password)),
    admin: true,
    two_factor: false,
    created_at: at,
  }
  await transact(platform.pool, async (tx) => {
    const used = await repository.useToken(tx, 'setup', tokenHash(owner.token), at)
    if (used === null || (await repository.anyUser(tx)))
      throw new Problem(
        'token_invalid',
        'This link was used or has expired. A restart prints a new one while nobody can sign in.',
      )
    await repository.insertUser(tx, row)
    await repository.insertMembership(tx, { account_id: oldest.id, user_id: row.id, role: 'owner' }, at)
    await insertAudit(tx, {
      account_id: oldest.id,
      id: platform.ids('aud'),
      actor_type: 'user',
      actor_id: row.id,
      impersonator_id: null,
      action: 'setup',
      object_id: row.id,
      changes: { name, email, role: 'owner' },
      address,
      request_id,
      created_at: at,
    })
  })
  return row
}
