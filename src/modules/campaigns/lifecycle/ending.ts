/** What the service itself does to a campaign on its way: pauses, completes or fails it. Each happens once, whoever sees the reason first. */
import type { FailureReason, PauseReason } from '../../../api/resources/campaign.ts'
import type { Tenant } from '../../../api/caller.ts'
import { isoTime } from '../../../lib/clock.ts'
import { transact, type Transaction } from '../../../platform/database/sql.ts'
import type { Platform } from '../../../platform/platform.ts'
import { areCostsCounted } from '../counter-store.ts'
import { isAnybodyPending } from '../recipient-store.ts'
import type { CampaignRow } from '../rows.ts'
import { servicesMoves } from '../states.ts'
import { lockCampaign } from '../store.ts'
import { failedRow, move, pausedRow } from './moves.ts'

/** False where the campaign was not on its way any more. */
export async function pauseFor(platform: Platform, tenant: Tenant, id: string, reason: PauseReason): Promise<boolean> {
  return await moveFrom(platform, tenant, id, 'paused', async (tx, row) => {
    await move(tx, platform, row, pausedRow(reason, isoTime(platform.clock.now())))
    return true
  })
}

/** As `pauseFor`. Who got no message is cancelled by the worker. */
export async function failFor(platform: Platform, tenant: Tenant, id: string, reason: FailureReason): Promise<boolean> {
  const failed = await moveFrom(platform, tenant, id, 'failed', async (tx, row) => {
    await move(tx, platform, row, failedRow(reason))
    return true
  })
  if (failed) platform.notify('campaigns')
  return failed
}

/** Completes a campaign of whose recipients none waits any more, once their costs are counted; false where it is not yet so far. */
export async function completeIfDone(platform: Platform, tenant: Tenant, id: string): Promise<boolean> {
  return await moveFrom(platform, tenant, id, 'completed', async (tx, row) => {
    if (row.snapshot_at === null) return false
    if (await isAnybodyPending(tx, row)) return false
    // its event tells them
    if (!(await areCostsCounted(tx, row))) return false
    await move(tx, platform, row, { status: 'completed', completed_at: isoTime(platform.clock.now()) })
    return true
  })
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
