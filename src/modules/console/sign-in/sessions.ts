/** Sessions: created by signing in, identified by a cookie, ended by hand or by age (behaviour: console 2.4). */
import { hash, randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { Problem } from '../../../api/problem.ts'
import type { ConsoleSession, SessionSummary } from '../../../api/resources/console-session.ts'
import type { Settings } from '../../../config/settings.ts'
import { isoTime } from '../../../lib/clock.ts'
import type { Db } from '../../../platform/database/sql.ts'
import { reply, type Reply } from '../../../platform/http/route.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { AccountService } from '../../accounts/service.ts'
import { dayMs } from '../people/allowances.ts'
import { forgetPeople, listMemberships, lockUser, type UserRow } from '../people/repository.ts'
import type { Role } from '../roles.ts'
import * as repository from './repository.ts'
import type { SessionRow } from './repository.ts'

const seenEveryMs = 60_000
const agentLengthMax = 300

export interface From {
  readonly address: string
  readonly user_agent: string
}

export interface Session extends repository.OpenSession {
  readonly accounts: readonly { readonly id: `acc_${string}`; readonly name: string; readonly role: Role }[]
  /** Only its account is accessible. */
  readonly impersonation: repository.Impersonation | null
}

export interface Sessions {
  /**
   * Throws `invalid_credentials` if the password or second factor has changed since `user` was verified. Resolves to
   * the cookie value, which is stored only as a hash.
   */
  begin(sql: Db, user: UserRow, from: From): Promise<string>
  find(cookie: string): Promise<Session | null>
  /** By cookie hash and account; none for ended sessions. */
  rolesOf(hashes: readonly string[]): Promise<ReadonlyMap<string, ReadonlyMap<string, Role>>>
  list(user_id: string): Promise<repository.SessionRow[]>
  end(sql: Db, user_id: string, id: string): Promise<boolean>
  /** Throws `session_required` if the session was ended meanwhile, for example by a reset. */
  lockUser(tx: Db, session: Pick<Session, 'user_id' | 'id'>): Promise<UserRow>
  endOthers(sql: Db, user_id: string, kept_id: string): Promise<number>
  endAll(sql: Db, user_id: string): Promise<void>
  renew(id: string): Promise<void>
  forgetEnded(): Promise<number>
}

export function sessions(platform: Platform, accounts: AccountService): Sessions {
  const { pool, clock } = platform
  return {
    begin: (sql, user, from) => createSession(platform, sql, user, from),
    find: (cookie) => findSession(platform, accounts, cookie),
    async rolesOf(hashes) {
      const now = clock.now()
      const rows = await repository.listEntrances(pool, hashes, ...oldest(now), isoTime(now))
      const bySession = Map.groupBy(rows, ({ token_hash }) => token_hash)
      return new Map(
        [...bySession].map(([hash, own]) => [
          hash,
          new Map(own.map(({ account_id, role }) => [account_id, role as Role])),
        ]),
      )
    },
    list: (user_id) => repository.listSessions(pool, user_id, ...oldest(clock.now())),
    end: (sql, user_id, id) => repository.deleteSession(sql, user_id, id),
    async lockUser(tx, { user_id, id }) {
      const user = await lockUser(tx, user_id)
      if (user === null || !(await repository.sessionExists(tx, user_id, id))) throw new Problem('session_required')
      return user
    },
    endOthers: (sql, user_id, kept_id) => repository.deleteOtherSessions(sql, user_id, kept_id),
    endAll: (sql, user_id) => repository.deleteAllSessions(sql, user_id),
    renew: (id) => repository.renewSession(pool, id, isoTime(clock.now())),
    async forgetEnded() {
      const now = platform.retention_clock.now()
      const dayAgo = isoTime(now - dayMs)
      return (
        (await repository.forgetSessions(pool, ...oldest(now), dayAgo)) +
        (await forgetPeople(pool, isoTime(now), dayAgo))
      )
    },
  }
}

async function createSession(
  { clock, ids }: Platform,
  sql: Db,
  user: UserRow,
  { address, user_agent }: From,
): Promise<string> {
  const cookie = newCookieValue()
  const at = isoTime(clock.now())
  const agent = user_agent.slice(0, agentLengthMax).toWellFormed().replaceAll('\0', '')
  const row = {
    id: ids('ses'),
    user_id: user.id,
    token_hash: cookieHash(cookie),
    authenticated_at: at,
    seen_at: at,
    address,
    user_agent: agent,
    created_at: at,
  }
  if (!(await repository.insertSession(sql, row, user)))
    throw new Problem(
      'invalid_credentials',
      'The password or second factor was changed just now. Sign in with the new one.',
    )
  return cookie
}

async function findSession(
  { pool, clock }: Platform,
  accounts: AccountService,
  cookie: string,
): Promise<Session | null> {
  const now = clock.now()
  const row = await repository.findSession(pool, cookieHash(cookie), ...oldest(now))
  if (row === null) return null
  if (now - Date.parse(row.seen_at) >= seenEveryMs) await repository.touchSession(pool, row.id, isoTime(now))
  const impersonation = impersonationOf(row, isoTime(now))
  const memberships =
    impersonation === null
      ? await listMemberships(pool, row.user_id)
      : [{ account_id: impersonation.account_id, role: 'owner' as const }]
  const names = await accounts.namesOf(
    pool,
    memberships.map(({ account_id }) => account_id),
  )
  return {
    ...row,
    impersonation,
    accounts: memberships.map(({ account_id, role }) => ({
      id: account_id,
      name: names.get(account_id) ?? '',
      role,
    })),
  }
}

/** Sessions last used or created before these times have ended. */
const oldest = (now: number) => [isoTime(now - sessionLifetime.idle_ms), isoTime(now - sessionLifetime.all_ms)] as const

export const roleIn = ({ accounts }: Session, account_id: string): Role =>
  accounts.find(({ id }) => id === account_id)!.role

/** null if it has ended, or the user is no longer a platform administrator. */
function impersonationOf(
  { impersonated_account_id: account_id, impersonated_user_id: user_id, ...row }: repository.OpenSession,
  at: string,
): repository.Impersonation | null {
  const { impersonation_reason: reason, impersonation_until: expires_at } = row
  if (account_id === null || reason === null || expires_at === null || expires_at <= at || !row.admin) return null
  return { account_id, user_id, reason, expires_at }
}

const sessionLifetime = { idle_ms: 12 * 3600_000, all_ms: 14 * 24 * 3600_000 } as const

const isSecure = ({ base_url }: Settings): boolean => base_url.startsWith('https:')

/** Browsers accept the `__Host-` prefix only from us and over https (RFC 6265bis 4.1.3.2). */
const nameOf = (settings: Settings): string => (isSecure(settings) ? '__Host-posthorn' : 'posthorn')

const newCookieValue = (): string => randomBytes(32).toString('base64url')

export const cookieHash = (value: string): string => hash('sha256', value, 'hex')

const attributes = (settings: Settings): string =>
  `Path=/; HttpOnly; SameSite=Lax${isSecure(settings) ? '; Secure' : ''}`

export const setCookie = (settings: Settings, value: string): string =>
  `${nameOf(settings)}=${value}; ${attributes(settings)}; Max-Age=${sessionLifetime.all_ms / 1000}`

export const clearCookie = (settings: Settings): string => `${nameOf(settings)}=; ${attributes(settings)}; Max-Age=0`

const shape = /^[\w-]{43}$/

export function cookieOf({ headers }: Pick<IncomingMessage, 'headers'>, settings: Settings): string | undefined {
  const wanted = `${nameOf(settings)}=`
  for (const part of (headers.cookie ?? '').split(';')) {
    const pair = part.trim()
    if (pair.startsWith(wanted) && shape.test(pair.slice(wanted.length))) return pair.slice(wanted.length)
  }
  return undefined
}

export const sessionObject = (session: Session): ConsoleSession => ({
  object: 'session',
  id: session.id,
  user: userObject(session),
  accounts: session.accounts.map(({ id, name, role }) => ({ id, name, role })),
  impersonating: impersonatingOf(session),
})

/** 201 with the session and its cookie. */
export async function startSession(
  { platform: { pool, settings }, sessions }: { readonly platform: Platform; readonly sessions: Sessions },
  user: UserRow,
  address: string,
  { headers }: Pick<IncomingMessage, 'headers'>,
): Promise<Reply> {
  const cookie = await sessions.begin(pool, user, { address, user_agent: headers['user-agent'] ?? '' })
  const session = await sessions.find(cookie)
  return reply(201, sessionObject(session!), { 'set-cookie': setCookie(settings, cookie) })
}

function impersonatingOf({ impersonation }: Session): ConsoleSession['impersonating'] {
  return impersonation === null
    ? null
    : { account_id: impersonation.account_id, reason: impersonation.reason, expires_at: impersonation.expires_at }
}

export const userObject = ({
  user_id,
  name,
  email,
  pending_email,
  admin,
  two_factor,
}: Pick<Session, 'user_id' | 'name' | 'email' | 'pending_email' | 'admin' | 'two_factor'>): ConsoleSession['user'] => ({
  id: user_id,
  name,
  email,
  pending_email,
  admin,
  two_factor,
})

export const summaryObject = (row: SessionRow, current_id: string): SessionSummary => ({
  object: 'session_summary',
  id: row.id,
  current: row.id === current_id,
  address: row.address,
  user_agent: row.user_agent === '' ? null : row.user_agent,
  seen_at: row.seen_at,
  created_at: row.created_at,
})

/** Throws `reauthentication_required`. */
export function requireRecent({ clock, settings }: Platform, { authenticated_at }: Session): void {
  if (clock.now() - Date.parse(authenticated_at) > settings.reauthenticate_after_ms)
    throw new Problem('reauthentication_required')
}

/**
 * For what makes another way to sign in: the password or second factor was given after `since`. Whoever has neither has
 * signed in recently. Throws `reauthentication_required`.
 */
export function requireProofSince(platform: Platform, session: Session, since: string): void {
  requireRecent(platform, session)
  if ((session.has_password || session.two_factor) && session.authenticated_at < since)
    throw new Problem('reauthentication_required')
}

/** Operations of `/v1` that need a recent authentication. */
const operations: ReadonlySet<string> = new Set([
  'channels.create',
  'contacts.export',
  'contacts.export_data',
  'integration_sources.roll_key',
  'webhook_endpoints.roll_secret',
])

export const takesRecent = (operation: string): boolean => operations.has(operation)
