/** Sessions of people: begun by signing in, found by their cookie, ended by hand or by themselves (behaviour: console 2.4). */
import { Problem } from '../../../api/problem.ts'
import { isoTime } from '../../../lib/clock.ts'
import type { Db } from '../../../platform/database/sql.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { AccountService } from '../../accounts/service.ts'
import { listMemberships, lockUser, type UserRow } from '../people/store.ts'
import type { Role } from '../roles.ts'
import { cookieHash, newCookieValue, sessionLifetime } from './cookie.ts'
import * as store from './store.ts'

const seenEveryMs = 60_000
const agentLengthMax = 300

/** Where somebody signs in from. */
export interface From {
  readonly address: string
  readonly user_agent: string
}

/** Somebody who is signed in, with the accounts that are open to them. */
export interface Session extends store.OpenSession {
  readonly accounts: readonly { readonly id: `acc_${string}`; readonly name: string; readonly role: Role }[]
  /** For whom an administrator of the platform acts; its account is the only one that is open then. */
  readonly impersonation: store.Impersonation | null
}

export interface Sessions {
  /** Begins one of whom was proved to be `user`, as read before that. `invalid_credentials` where the password or second factor has changed since. Resolves to the value of its cookie, which nobody can read back. */
  begin(sql: Db, user: UserRow, from: From): Promise<string>
  /** The session of a cookie; null where it has ended. */
  find(cookie: string): Promise<Session | null>
  /** The roles that these sessions have now, by the hash of their cookie and the account. Of a session that has ended there are none. */
  rolesOf(hashes: readonly string[]): Promise<ReadonlyMap<string, ReadonlyMap<string, Role>>>
  list(user_id: string): Promise<store.SessionRow[]>
  end(sql: Db, user_id: string, id: string): Promise<boolean>
  /** Locks the user of a session until the transaction ends. `session_required` where it was ended meanwhile, by a reset for example. */
  lockUser(tx: Db, session: Pick<Session, 'user_id' | 'id'>): Promise<UserRow>
  endOthers(sql: Db, user_id: string, kept_id: string): Promise<number>
  endAll(sql: Db, user_id: string): Promise<void>
  /** Password and second factor were given just now. */
  renew(id: string): Promise<void>
  forgetEnded(): Promise<number>
}

export function sessions(platform: Platform, accounts: AccountService): Sessions {
  const { pool, clock, ids } = platform
  const bounds = (now: number) =>
    [isoTime(now - sessionLifetime.idle_ms), isoTime(now - sessionLifetime.all_ms)] as const
  return {
    async begin(sql, user, { address, user_agent }) {
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
      if (!(await store.insertSession(sql, row, user)))
        throw new Problem(
          'invalid_credentials',
          'The password or the second factor has changed just now. Sign in with what it is now.',
        )
      return cookie
    },
    async find(cookie) {
      const now = clock.now()
      const row = await store.findSession(pool, cookieHash(cookie), ...bounds(now))
      if (row === null) return null
      if (now - Date.parse(row.seen_at) >= seenEveryMs) await store.touchSession(pool, row.id, isoTime(now))
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
    },
    async rolesOf(hashes) {
      const now = clock.now()
      const rows = await store.listEntrances(pool, hashes, ...bounds(now), isoTime(now))
      const bySession = Map.groupBy(rows, ({ token_hash }) => token_hash)
      return new Map(
        [...bySession].map(([hash, own]) => [
          hash,
          new Map(own.map(({ account_id, role }) => [account_id, role as Role])),
        ]),
      )
    },
    list: (user_id) => store.listSessions(pool, user_id, ...bounds(clock.now())),
    end: (sql, user_id, id) => store.deleteSession(sql, user_id, id),
    async lockUser(tx, { user_id, id }) {
      const user = await lockUser(tx, user_id)
      if (user === null || !(await store.sessionStands(tx, user_id, id))) throw new Problem('session_required')
      return user
    },
    endOthers: (sql, user_id, kept_id) => store.deleteOtherSessions(sql, user_id, kept_id),
    endAll: (sql, user_id) => store.deleteAllSessions(sql, user_id),
    renew: (id) => store.renewSession(pool, id, isoTime(clock.now())),
    forgetEnded: () =>
      store.forgetSessions(pool, ...bounds(platform.ageing.now()), isoTime(platform.ageing.now() - 24 * 3600_000)),
  }
}

/** The role of somebody whom the guard let into an account. */
export const roleIn = ({ accounts }: Session, account_id: string): Role =>
  accounts.find(({ id }) => id === account_id)!.role

/** null where it has ended, or its user administers the platform no more. */
function impersonationOf(
  { impersonated_account_id: account_id, impersonated_user_id: user_id, ...row }: store.OpenSession,
  at: string,
): store.Impersonation | null {
  const { impersonation_reason: reason, impersonation_until: expires_at } = row
  if (account_id === null || reason === null || expires_at === null || expires_at <= at || !row.admin) return null
  return { account_id, user_id, reason, expires_at }
}
