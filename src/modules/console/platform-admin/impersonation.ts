/** Impersonation: acting for an account for half an hour, with a logged reason (behaviour: console 3.15). */
import { invalid } from '../../../api/problem.ts'
import { isoTime } from '../../../lib/clock.ts'
import { type Db, transact } from '../../../platform/database/sql.ts'
import type { Route } from '../../../platform/http/route.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { AccountService } from '../../accounts/service.ts'
import { insertAudit } from '../audit/repository.ts'
import { firstOwner } from '../people/repository.ts'
import { type Impersonation, updateImpersonation } from '../sign-in/repository.ts'
import { requireRecent, type Session } from '../sign-in/sessions.ts'

const validForMs = 30 * 60_000

interface From {
  readonly address: string
  readonly request_id: string
}

/** Problems: `reauthentication_required`; `parameter_invalid` for an unknown account or a missing reason. */
export async function beginImpersonation(
  platform: Platform,
  accounts: AccountService,
  session: Session,
  body: { readonly account: string; readonly reason: string },
  from: From,
): Promise<void> {
  requireRecent(platform, session)
  const { pool, clock } = platform
  const reason = body.reason.trim()
  if (reason.length < 3) throw invalid('reason', 'too_short', 'Say why you act for the account: its people read it.')
  if ((await accounts.stateOf(pool, body.account)) === null)
    throw invalid(
      'account',
      'invalid_value',
      'There is no account of this id. GET /console/api/admin/accounts lists them.',
    )
  await transact(pool, async (tx) => {
    const account_id = body.account as Impersonation['account_id']
    const impersonation = {
      account_id,
      user_id: await firstOwner(tx, account_id),
      reason,
      expires_at: isoTime(clock.now() + validForMs),
    }
    await updateImpersonation(tx, session.id, impersonation)
    await audit(platform, tx, session, impersonation, 'impersonations.create', { reason }, from)
  })
}

export async function endImpersonation(platform: Platform, session: Session, from: From): Promise<void> {
  const { impersonation } = session
  if (impersonation === null) return
  await transact(platform.pool, async (tx) => {
    await updateImpersonation(tx, session.id, null)
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

/** Besides reads. Some of these POST operations only compute something. */
export const openToImpersonation: readonly string[] = [
  'session.delete',
  'session.reauthenticate',
  'impersonations.delete',
  'campaigns.pause',
  'campaigns.rehearse',
  'automations.simulate',
  'segments.preview',
  'channels.reconnect',
  'webhook_endpoints.test',
  'webhook_endpoints.retry_delivery',
  'deliveries.retry',
  'segment_previews.create',
  'preview.message',
]

const open: ReadonlySet<string> = new Set(openToImpersonation)

export const isOpenToImpersonation = (
  { method, operation }: Pick<Route, 'method' | 'operation'>,
  isExport: boolean,
): boolean => !isExport && (method === 'GET' || open.has(operation))
