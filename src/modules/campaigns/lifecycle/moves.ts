/** How a campaign's status changes: each change in one transaction with its event and its job, and only from where the table of states allows it. */
import type { CampaignStatus, FailureReason, PauseReason } from '../../../api/resources/campaign.ts'
import type { EventType } from '../../../api/events.ts'
import { isoTime } from '../../../lib/clock.ts'
import { recordEvents } from '../../../platform/events/outbox.ts'
import type { Db, Transaction } from '../../../platform/database/sql.ts'
import type { Platform } from '../../../platform/platform.ts'
import { deleteJob, putJob } from '../job-store.ts'
import { withoutRecipients } from '../reading.ts'
import type { CampaignRow } from '../rows.ts'
import { updateState } from '../store.ts'

type Moves = Pick<Platform, 'clock' | 'ids'>

const eventOf: Readonly<Partial<Record<CampaignStatus, EventType>>> = {
  sending: 'campaign.started',
  paused: 'campaign.paused',
  completed: 'campaign.completed',
  failed: 'campaign.failed',
}

/** Writes a campaign as it is from now on, with the event of its new status; `before` is the locked row. */
export async function move(
  tx: Transaction,
  { clock, ids }: Moves,
  before: CampaignRow,
  change: Partial<CampaignRow> & { readonly status: CampaignStatus },
): Promise<CampaignRow> {
  const at = isoTime(clock.now())
  const row: CampaignRow = { ...before, ...change, updated_at: at }
  await updateState(tx, row)
  await keepJob(tx, row, at)
  const type = eventOf[row.status]
  if (type === undefined || row.status === before.status) return row
  const [object] = await withoutRecipients(tx, row, [row])
  await recordEvents(tx, [
    {
      account_id: row.account_id,
      mode: row.mode,
      id: ids('evt'),
      type,
      object_id: row.id,
      object: object!,
      created_at: at,
    },
  ])
  return row
}

/** Long past: a clock that is set back holds no campaign up that was due already. */
const dueAtOnce = '2000-01-01T00:00:00.000Z'

/** What a campaign of this status is to be worked on for. Nothing goes out before `send_at`. */
async function keepJob(tx: Db, row: CampaignRow, at: string): Promise<void> {
  if (row.status === 'draft') return
  // of a cancelled or failed one the worker sees to it that nobody is left waiting, should whoever ended it not come to that
  if (row.status === 'cancelled' || row.status === 'failed') return await putJob(tx, row, 'send', dueAtOnce)
  if (row.status === 'paused' || row.status === 'completed') return await deleteJob(tx, row)
  const next_run_at = row.send_at !== null && row.send_at > at ? row.send_at : dueAtOnce
  await putJob(tx, row, row.snapshot_at === null ? 'snapshot' : 'send', next_run_at)
}

/** What becomes of a campaign that is paused, and of one that fails. */
export const pausedRow = (reason: PauseReason, at: string) => ({
  status: 'paused' as const,
  pause_reason: reason,
  paused_at: at,
})
export const failedRow = (reason: FailureReason) => ({
  status: 'failed' as const,
  failure_reason: reason,
  pause_reason: null,
})
