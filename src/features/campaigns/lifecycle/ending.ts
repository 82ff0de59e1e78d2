/** What the service itself does to a campaign on its way: pauses, completes or fails it. Each happens once, whoever sees the reason first. */
import type { FailureReason, PauseReason } from '../../../contract/resources/campaign.ts'
import type { Tenant } from '../../../contract/caller.ts'
import { isoTime } from '../../../lib/clock.ts'
import { transact, type Transaction } from '../../../platform/database/sql.ts'
import type { Platform } from '../../../platform/platform.ts'
import { areCostsCounted } from '../counter-store.ts'
import { cancelUnsent, discardUnseen, progressOf, unsentNumbers } from '../recipient-store.ts'
import type { CampaignRow } from '../rows.ts'
import { servicesMoves } from '../states.ts'
import { lockCampaign } from '../store.ts'
import { failedRow, move, pausedRow } from './moves.ts'

/** Recipients cancelled in one transaction. */
const cancelledAtOnce = 5000
/** So long a lane cancels recipients of one campaign before others have their turn. */
export const endingMs = 300

/** False where the campaign was not on its way any more. */
export async function pauseFor(platform: Platform, tenant: Tenant, id: string, reason: PauseReason): Promise<boolean> {
  return await moveFrom(platform, tenant, id, 'paused', async (tx, row) => {
    await move(tx, platform, row, pausedRow(reason, isoTime(platform.clock.now())))
    return true
  })
}

export async function failFor(platform: Platform, tenant: Tenant, id: string, reason: FailureReason): Promise<boolean> {
  const failed = await moveFrom(platform, tenant, id, 'failed', async (tx, row) => {
    await move(tx, platform, row, failedRow(reason))
    return true
  })
  if (failed) await cancelRest(platform, tenant, id, endingMs)
  return failed
}

/** Completes a campaign of whose recipients none waits any more, once their costs are counted; false where it is not yet so far. */
export async function completeIfDone(platform: Platform, tenant: Tenant, id: string): Promise<boolean> {
  return await moveFrom(platform, tenant, id, 'completed', async (tx, row) => {
    if (row.snapshot_at === null) return false
    const [progress] = await progressOf(tx, [{ account_id: row.account_id, mode: row.mode, campaign_id: id, most: 1 }])
    if (progress!.unsent || progress!.under_way > 0) return false
    // its event tells them
    if (!(await areCostsCounted(tx, row))) return false
    await move(tx, platform, row, { status: 'completed', completed_at: isoTime(platform.clock.now()) })
    return true
  })
}

/**
 * Cancels all who got no message, in transactions of some thousand rows, for at most so long: false where some are left, whom the lane goes on to cancel. Ended in the midst of its
 * snapshot, a campaign has no recipients.
 */
export async function cancelRest({ pool, clock }: Pick<Platform, 'pool' | 'clock'>, tenant: Tenant, id: string, most_ms: number): Promise<boolean> {
  const until_ms = clock.now() + most_ms
  const whose = { ...tenant, id }
  while ((await discardUnseen(pool, whose, cancelledAtOnce)) === cancelledAtOnce) if (clock.now() >= until_ms) return false
  const unsent = await unsentNumbers(pool, whose)
  if (unsent === null) return true
  for (let after = unsent.first - 1; after < unsent.last; after += cancelledAtOnce) {
    await cancelUnsent(pool, whose, { after, until: after + cancelledAtOnce })
    if (clock.now() >= until_ms) return (await unsentNumbers(pool, whose)) === null
  }
  return true
}

async function moveFrom(
  platform: Platform,
  tenant: Tenant,
  id: string,
  to: 'paused' | 'completed' | 'failed',
  write: (tx: Transaction, row: CampaignRow) => Promise<boolean>,
): Promise<boolean> {
  const moved = await transact(platform.pool, async (tx) => {
    const row = await lockCampaign(tx, tenant, id)
    return row !== null && servicesMoves[to]!.includes(row.status) && (await write(tx, row))
  })
  if (moved) platform.notify('fan-out')
  return moved
}
