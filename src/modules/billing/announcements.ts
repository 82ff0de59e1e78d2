/** The events of money: package.exhausted once a grant, package.expiring once a grant, balance.low at most once in 24 hours. */
import type { Id } from '../../api/ids.ts'
import { isoTime } from '../../lib/clock.ts'
import type { Db } from '../../platform/database/sql.ts'
import { recordEvents, type NewEvent } from '../../platform/events/outbox.ts'
import type { Platform } from '../../platform/platform.ts'
import { balanceObject, packageObject, shownForMs } from './present.ts'
import { isUsable, type GrantRow, type WalletRow } from './charging.ts'
import { listShownGrants, markExpiring, markLow } from './store.ts'

const lowEveryMs = 24 * 3600_000

/** How long before its end a package with unused credits is announced (behaviour: billing 6.3). */
export const expiryNoticeMs = 7 * 24 * 3600_000

/** What a transaction has just done to locked rows. */
export interface Movements {
  /** ISO 8601. */
  readonly at: string
  /** Wallets that lost money or credits, as they are now. */
  readonly wallets: readonly WalletRow[]
  /** Locked grants as they are now; `exhausted_at` as it was before. */
  readonly grants: readonly GrantRow[]
}

/** Records what the movements call for, in their transaction. The rows are locked, so that no other process emits the same. */
export async function recordBilling(tx: Db, platform: Platform, movements: Movements): Promise<void> {
  const { at } = movements
  const exhausted = movements.grants.filter((grant) => grant.credits_remaining === 0 && grant.exhausted_at === null)
  const events = exhausted.map((grant) =>
    packageEvent(platform, 'package.exhausted', { ...grant, exhausted_at: at }, at),
  )
  await recordEvents(tx, [...events, ...(await lowBalances(tx, platform, movements))])
}

/** Records package.expiring of these locked grants that end soon and were not announced before; returns how many those were. */
export async function recordExpiring(
  tx: Db,
  platform: Platform,
  grants: readonly GrantRow[],
  at: string,
): Promise<number> {
  const marked = new Set((await markExpiring(tx, grants, at)).map((grant) => grant.id))
  const expiring = grants.filter((grant) => marked.has(grant.id))
  await recordEvents(
    tx,
    expiring.map((grant) => packageEvent(platform, 'package.expiring', grant, at)),
  )
  return marked.size
}

function packageEvent(
  platform: Platform,
  type: 'package.exhausted' | 'package.expiring',
  grant: GrantRow,
  at: string,
): NewEvent {
  return {
    id: platform.ids('evt'),
    account_id: grant.account_id as Id<'acc'>,
    mode: 'live',
    type,
    object_id: grant.id,
    object: packageObject(grant, at),
    created_at: at,
  }
}

/** balance.low of wallets below their threshold whose account has no credits left, emitted last 24 hours ago or never. */
async function lowBalances(
  tx: Db,
  platform: Platform,
  { at, wallets, grants: locked }: Movements,
): Promise<NewEvent[]> {
  const quietSince = isoTime(Date.parse(at) - lowEveryMs)
  const funded = new Set(locked.filter((grant) => isUsable(grant, at)).map((grant) => grant.account_id))
  const low = wallets.filter(
    (wallet) =>
      wallet.balance_micros < wallet.low_balance_micros &&
      !funded.has(wallet.account_id) &&
      (wallet.low_balance_at === null || wallet.low_balance_at <= quietSince),
  )
  if (low.length === 0) return []
  const grants = await listShownGrants(
    tx,
    low.map((wallet) => wallet.account_id),
    isoTime(Date.parse(at) - shownForMs),
  )
  const due = low.filter(
    (wallet) => !grants.some((grant) => grant.account_id === wallet.account_id && isUsable(grant, at)),
  )
  if (due.length === 0) return []
  await markLow(
    tx,
    due.map((wallet) => wallet.account_id),
    at,
  )
  await platform.domain_events.publish(
    tx,
    'balance_low',
    due.map(({ account_id, balance_micros, low_balance_micros }) => ({
      account_id,
      balance_micros,
      low_balance_micros,
    })),
  )
  return due.map((wallet) => ({
    id: platform.ids('evt'),
    account_id: wallet.account_id as Id<'acc'>,
    mode: 'live',
    type: 'balance.low',
    // a balance has no id of its own
    object_id: wallet.account_id,
    object: balanceObject(
      'live',
      wallet.balance_micros,
      grants.filter((grant) => grant.account_id === wallet.account_id),
      at,
    ),
    created_at: at,
  }))
}
