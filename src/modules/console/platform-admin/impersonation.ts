/** Acting for an account: for half an hour, with a reason that its audit log shows (behaviour: console 3.15). */
import { invalid } from '../../../api/problem.ts'
import { isoTime } from '../../../lib/clock.ts'
import { transact, type Db } from '../../../platform/database/sql.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { AccountService } from '../../accounts/service.ts'
import { insertAudit } from '../audit/store.ts'
import { firstOwner } from '../people/store.ts'
import { requireRecent } from '../sessions/recent.ts'
import type { Session } from '../sessions/sessions.ts'
import { keepImpersonation, type Impersonation } from '../sessions/store.ts'

const validForMs = 30 * 60_000

/** Where a request comes from, for the audit log. */
interface From {
  readonly address: string
  readonly request_id: string
}

/** Problems: `reauthentication_required`, `parameter_invalid` for no account and for no reason. */
export async function beginImpersonation(
  platform: Platform,
  accounts: AccountService,
  session: Session,
  given: { readonly account: string; readonly reason: string },
  from: From,
): Promise<void> {
  requireRecent(platform, session)
  const { pool, clock } = platform
  const reason = given.reason.trim()
  if (reason.length < 3) throw invalid('reason', 'too_short', 'Say why you act for the account: its people read it.')
  if ((await accounts.stateOf(pool, given.account)) === null)
    throw invalid(
      'account',
      'invalid_value',
      'There is no account of this id. GET /console/api/admin/accounts lists them.',
    )
  await transact(pool, async (tx) => {
    const account_id = given.account as Impersonation['account_id']
    const impersonation = {
      account_id,
      user_id: await firstOwner(tx, account_id),
      reason,
      expires_at: isoTime(clock.now() + validForMs),
    }
    await keepImpersonation(tx, session.id, impersonation)
    await audit(platform, tx, session, impersonation, 'impersonations.create', { reason }, from)
  })
}

/** Does nothing where nobody acts for anybody. */
export async function endImpersonation(platform: Platform, session: Session, from: From): Promise<void> {
  const { impersonation } = session
  if (impersonation === null) return
  await transact(platform.pool, async (tx) => {
    await keepImpersonation(tx, session.id, null)
    await audit(platform, tx, session, impersonation, 'impersonations.delete', {}, from)
  })
}

async function audit(
  { ids, clock }: Platform,
  tx: Db,
  session: Session,
  { account_id, user_id }: Impersonation,
  action: string,
  changes: Readonly<Record<string, unknown>>,
  from: From,
): Promise<void> {
  await insertAudit(tx, {
    account_id,
    id: ids('aud'),
    actor_type: 'user',
    actor_id: user_id ?? session.user_id,
    impersonator_id: session.user_id,
    action,
    object_id: account_id,
    changes,
    ...from,
    created_at: isoTime(clock.now()),
  })
}
