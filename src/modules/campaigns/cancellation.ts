/** What becomes of the recipients of a campaign that was cancelled or has failed: who was not sent to is cancelled, with or without a message (behaviour: campaigns 2). */
import type { Tenant } from '../../api/caller.ts'
import { Problem } from '../../api/problem.ts'
import type { Campaign } from '../../api/resources/campaign.ts'
import { isoTime } from '../../lib/clock.ts'
import { covers, requireAction } from './campaign.ts'
import { addDeltas } from './counter-repository.ts'
import type { CampaignDeps } from './deps.ts'
import { requireCampaign, lockCampaignOrThrow, campaignWithRecipients } from './queries.ts'
import {
  cancelUnsent,
  cancelWithdrawn,
  deletePartialSnapshot,
  isAnybodyPending,
  lockInFlight,
  unsentNumbers,
} from './recipient-repository.ts'
import { type StoreAnswer, storeAndReturn, move, toPaused } from './transitions.ts'
import { type Db, sqlState, transact, type Transaction } from '../../platform/database/sql.ts'

/** Recipients without a message who are cancelled in one transaction. */
const cancelledAtOnce = 5000
/** Messages withdrawn in one transaction: each has its event and its refund. */
const withdrawnAtOnce = 500
/** So long a worker cancels recipients of one campaign before others have their turn. */
export const cancelBudgetMs = 300
const attemptsMax = 3

type Deps = Pick<CampaignDeps, 'platform' | 'messages'>
type CampaignKey = Tenant & { readonly id: string }

/**
 * Cancels all who were not sent to, and withdraws their messages, in transactions of some hundreds or thousands of rows, for at most so long. It waits for no recipient that another
 * transaction holds. False where somebody is left: the worker goes on with them. Ended in the midst of its snapshot, a campaign has no recipients.
 */
export async function cancelRecipients(deps: Deps, tenant: Tenant, id: string, most_ms: number): Promise<boolean> {
  const { pool, clock } = deps.platform
  const until_ms = clock.elapsed() + most_ms
  const whose = { ...tenant, id }
  while ((await deletePartialSnapshot(pool, whose, cancelledAtOnce)) === cancelledAtOnce)
    if (clock.elapsed() >= until_ms) return false
  const unsent = await unsentNumbers(pool, whose)
  for (let after = (unsent?.first ?? 1) - 1; after < (unsent?.last ?? 0); after += cancelledAtOnce) {
    await cancelUnsent(pool, whose, { after, until: after + cancelledAtOnce })
    if (clock.elapsed() >= until_ms) return false
  }
  for (let after: number | null = 0; after !== null;) {
    if (clock.elapsed() >= until_ms && after > 0) return false
    after = await withdrawBatch(deps, whose, after)
  }
  return !(await isAnybodyPending(pool, whose))
}

/** Resolves to the number of the last recipient that was looked at; null: there is none above `after`. What collides with others at the wallet is repeated. */
async function withdrawBatch(deps: Deps, whose: CampaignKey, after: number): Promise<number | null> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await transact(deps.platform.pool, (tx) => withdrawMessages(tx, deps, whose, after))
    } catch (error) {
      if (sqlState(error) !== '40P01' || attempt === attemptsMax) throw error
    }
  }
}

async function withdrawMessages(
  tx: Transaction,
  { platform, messages }: Deps,
  whose: CampaignKey,
  after: number,
): Promise<number | null> {
  const rows = await lockInFlight(tx, whose, { after, limit: withdrawnAtOnce })
  const withdrawn = await messages.withdraw(
    tx,
    whose,
    rows.map(({ message_id }) => message_id),
  )
  const cancelled = rows.filter(({ message_id }) => withdrawn.has(message_id))
  await cancelWithdrawn(
    tx,
    whose,
    cancelled.map(({ n }) => n),
  )
  if (cancelled.length > 0) {
    // the transitions of these messages count them as failed
    const delta = { campaign_id: whose.id, wallet_micros: 0, package_credits: 0 }
    await addDeltas(tx, whose, [
      { ...delta, status: 'failed', recipients: -cancelled.length },
      { ...delta, status: 'pending', recipients: cancelled.length },
    ])
    platform.notify('fan-out', 'follow-campaigns')
  }
  return rows.at(-1)?.n ?? null
}

/** So long a request waits until the recipients are cancelled. */
const cancellingMs = 5000

/** Here as below the campaign is locked before anything else: what a transaction writes stands in the feed by when it wrote first. */
export async function pauseCampaign(
  { platform }: CampaignDeps,
  sql: Db,
  tenant: Tenant,
  id: string,
  storeAnswer: StoreAnswer,
): Promise<Campaign> {
  const shown = await transact(sql, async (tx) => {
    const before = await lockCampaignOrThrow(tx, tenant, id)
    requireAction(before, 'pause')
    return await storeAndReturn(
      tx,
      storeAnswer,
      await campaignWithRecipients(
        tx,
        await move(tx, platform, before, toPaused('user', isoTime(platform.clock.now()))),
      ),
    )
  })
  platform.notify('fan-out')
  return shown
}

/** A live campaign must have funds for one message at least. One paused before its snapshot takes it now, or once its `send_at` has come. */
export async function resumeCampaign(
  { platform, accounts, billing }: CampaignDeps,
  sql: Db,
  tenant: Tenant,
  id: string,
  storeAnswer: StoreAnswer,
): Promise<Campaign> {
  const shown = await transact(sql, async (tx) => {
    const before = await lockCampaignOrThrow(tx, tenant, id)
    // one that is suspended from now on fails its campaigns, this one among them, once it is not locked any more
    if ((await accounts.stateOf(tx, tenant.account_id))?.suspended === true) throw new Problem('account_suspended')
    requireAction(before, 'resume')
    if (!covers(1, await billing.fundsOf(tx, tenant, before.channel_type)))
      throw new Problem(
        'insufficient_balance',
        'No package credit applies and the wallet is below the price of one message. Top up, then resume.',
      )
    return await storeAndReturn(
      tx,
      storeAnswer,
      await campaignWithRecipients(
        tx,
        await move(tx, platform, before, { status: 'sending', pause_reason: null, paused_at: null }),
      ),
    )
  })
  platform.notify('campaign-snapshots', 'campaigns', 'fan-out')
  return shown
}

/** Who was not sent to is cancelled before this answers, or, of hundreds of thousands, soon afterwards; what was sent is not recalled. What is kept first counts them as waiting. */
export async function cancelCampaign(
  deps: CampaignDeps,
  sql: Db,
  tenant: Tenant,
  id: string,
  storeAnswer: StoreAnswer,
): Promise<Campaign> {
  const { platform } = deps
  await transact(sql, async (tx) => {
    const before = await lockCampaignOrThrow(tx, tenant, id)
    requireAction(before, 'cancel')
    const row = await move(tx, platform, before, {
      status: 'cancelled',
      pause_reason: null,
      cancelled_at: isoTime(platform.clock.now()),
    })
    await storeAnswer(tx, await campaignWithRecipients(tx, row))
  })
  // it is cancelled, whatever comes now: the worker goes on with what is left
  const done = await cancelRecipients(deps, tenant, id, cancellingMs).catch((error: unknown) => {
    platform.log.error(
      { err: error, campaign_id: id },
      'recipients of a cancelled campaign could not be cancelled at once; they are soon',
    )
    return false
  })
  if (!done) platform.notify('campaigns')
  return await campaignWithRecipients(sql, await requireCampaign(sql, tenant, id))
}
