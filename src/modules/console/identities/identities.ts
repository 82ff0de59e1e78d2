/** Signing in at the OIDC provider: it signs in who is linked, and links who is signed in and confirms it; never by an e-mail address (behaviour: console 3.14). */
import { Problem } from '../../../api/problem.ts'
import { isoTime } from '../../../lib/clock.ts'
import { transact, type Db } from '../../../platform/database/sql.ts'
import type { Platform } from '../../../platform/platform.ts'
import { findUser, lockUser, type UserRow } from '../people/store.ts'
import { requireRecent } from '../sessions/recent.ts'
import type { Session } from '../sessions/sessions.ts'
import * as store from './store.ts'

const pendingForMs = 10 * 60_000

/** Whose identity it is; null: nobody has linked it. */
export async function userOf({ pool }: Platform, { issuer, subject }: store.PendingIdentity): Promise<UserRow | null> {
  const identity = await store.findIdentity(pool, issuer, subject)
  return identity === null ? null : await findUser(pool, identity.user_id)
}

/** Has an identity wait until whoever is signed in confirms it. */
export const offer = async (
  { pool, clock }: Platform,
  session_id: string,
  pending: store.PendingIdentity,
): Promise<void> => await store.keepPending(pool, session_id, pending, isoTime(clock.now() + pendingForMs))

/** What waits. Throws `oauth_pending_expired`. */
export async function pendingOf(
  { pool, clock }: Platform,
  session: Session,
): Promise<store.PendingIdentity & { readonly until: string }> {
  const pending = await store.lockPending(pool, session.id, isoTime(clock.now()))
  if (pending === null) throw new Problem('oauth_pending_expired')
  return pending
}

/** Links what waits. Problems: `reauthentication_required`, `oauth_pending_expired`, `identity_exists`. */
export async function link(platform: Platform, sql: Db, session: Session): Promise<store.IdentityRow> {
  requireRecent(platform, session)
  const { clock, ids } = platform
  const at = isoTime(clock.now())
  return await transact(sql, async (tx) => {
    const pending = await store.lockPending(tx, session.id, at)
    if (pending === null) throw new Problem('oauth_pending_expired')
    const { issuer, subject, email } = pending
    const row: store.IdentityRow = { id: ids('idn'), user_id: session.user_id, issuer, subject, email, created_at: at }
    await store.keepPending(tx, session.id, null, null)
    if (await store.insertIdentity(tx, row)) return row
    const known = await store.findIdentity(tx, issuer, subject)
    if (known?.user_id !== session.user_id) throw new Problem('identity_exists')
    return known
  })
}

/** Forgets what waits. Throws `oauth_pending_expired`. */
export async function cancel(platform: Platform, session: Session): Promise<void> {
  await pendingOf(platform, session)
  await store.keepPending(platform.pool, session.id, null, null)
}

/** Problems: `reauthentication_required`, `resource_missing`, `last_sign_in_method`. */
export async function unlink(platform: Platform, sql: Db, session: Session, id: string): Promise<void> {
  requireRecent(platform, session)
  await transact(sql, async (tx) => {
    const user = await lockUser(tx, session.user_id)
    const { oidc } = platform.settings
    const another = oidc !== undefined && (await store.hasIdentity(tx, session.user_id, oidc.issuer, id))
    if (!(await store.deleteIdentity(tx, session.user_id, id)))
      throw new Problem('resource_missing', 'None of your identities has this id. Reload the list.')
    if (user?.password_hash === null && !another) throw new Problem('last_sign_in_method')
  })
}
