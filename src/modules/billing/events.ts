/**
 * Billing events (behaviour: billing 6): package.exhausted and package.expiring once per grant, balance.low at most once
 * in 24 hours.
 */
import type { Id } from '../../api/ids.ts'
import { isoTime } from '../../lib/clock.ts'
import type { Db } from '../../platform/database/sql.ts'
import { recordEvents, type NewEvent } from '../../platform/events/outbox.ts'
import type { Platform } from '../../platform/platform.ts'
import { balanceObject, type WalletRow } from './balance.ts'
import { endedPackageShownMs, isUsable, packageObject, type GrantRow } from './package.ts'
import { listShownGrants, markExpiring, markLow } from './repository.ts'

const lowBalanceIntervalMs = 24 * 3600_000

export const expiryNoticeMs = 7 * 24 * 3600_000

export interface Movements {
  readonly at: string
  readonly wallets: readonly WalletRow[]
  /** With the earlier `exhausted_at`. */
  readonly grants: readonly GrantRow[]
}

/** The locks keep other processes from recording the same. */
export async function recordBillingEvents(tx: Db, platform: Platform, movements: Movements): Promise<void> {
  const { at } = movements
  const exhausted = movements.grants.filter((grant) => grant.credits_remaining === 0 && grant.exhausted_at === null)
  const events = exhausted.map((grant) =>
    packageEvent(platform, 'package.exhausted', { ...grant, exhausted_at: at }, at),
  )
  await recordEvents(tx, [...events, ...(await lowBalances(tx, platform, movements))])
}

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

async function lowBalances(
  tx: Db,
  platform: Platform,
  { at, wallets, grants: locked }: Movements,
): Promise<NewEvent[]> {
  const cutoff = isoTime(Date.parse(at) - lowBalanceIntervalMs)
  const funded = new Set(locked.filter((grant) => isUsable(grant, at)).map((grant) => grant.account_id))
  const low = wallets.filter(
    (wallet) =>
      wallet.balance_micros < wallet.low_balance_micros &&
      !funded.has(wallet.account_id) &&
      (wallet.low_balance_at === null || wallet.low_balance_at <= cutoff),
  )
  if (low.length === 0) return []
  const grants = await listShownGrants(
    tx,
    low.map((wallet) => wallet.account_id),
    isoTime(Date.parse(at) - endedPackageShownMs),
  )
  const unfunded = low.filter(
    (wallet) => !grants.some((grant) => grant.account_id === wallet.account_id && isUsable(grant, at)),
  )
  if (unfunded.length === 0) return []
  await markLow(
    tx,
    unfunded.map((wallet) => wallet.account_id),
    at,
  )
  await platform.domain_events.publish(
    tx,
    'balance_low',
    unfunded.map(({ account_id, balance_micros, low_balance_micros }) => ({
      account_id,
      balance_micros,
      low_balance_micros,
    })),
  )
  return unfunded.map((wallet) => ({
    id: platform.ids('evt'),
    account_id: wallet.account_id as Id<'acc'>,
    mode: 'live',
    type: 'balance.low',
    // a balance has no ID of its own
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
