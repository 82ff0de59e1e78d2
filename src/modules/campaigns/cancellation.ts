/** Cancels, pauses and resumes campaigns (behaviour: campaigns 2). */
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
import type { StoreAnswer } from '../../platform/http/route.ts'
import { storeAndReturn, transition, toPaused } from './transitions.ts'
import { type Db, sqlState, transact, type Transaction } from '../../platform/database/sql.ts'

const cancelledAtOnce = 5000
const withdrawnAtOnce = 500
export const cancelBudgetMs = 300
const attemptsMax = 3

type Deps = Pick<CampaignDeps, 'platform' | 'messages'>
type CampaignKey = Tenant & { readonly id: string }

/**
 * Cancels unsent recipients and withdraws their messages, in small transactions. Skips locked rows. False if some are
 * left: the worker continues.
 */
export async function cancelRecipients(deps: Deps, tenant: Tenant, id: string, most_ms: number): Promise<boolean> {
  const { pool, clock } = deps.platform
  const until_ms = clock.elapsed() + most_ms
  const campaign = { ...tenant, id }
  while ((await deletePartialSnapshot(pool, campaign, cancelledAtOnce)) === cancelledAtOnce)
    if (clock.elapsed() >= until_ms) return false
  const unsent = await unsentNumbers(pool, campaign)
  for (let after = (unsent?.first ?? 1) - 1; after < (unsent?.last ?? 0); after += cancelledAtOnce) {
    await cancelUnsent(pool, campaign, { after, until: after + cancelledAtOnce })
    if (clock.elapsed() >= until_ms) return false
  }
  for (let after: number | null = 0; after !== null;) {
    if (clock.elapsed() >= until_ms && after > 0) return false
    after = await withdrawBatch(deps, campaign, after)
  }
  return !(await isAnybodyPending(pool, campaign))
}

async function withdrawBatch(deps: Deps, campaign: CampaignKey, after: number): Promise<number | null> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await transact(deps.platform.pool, (tx) => withdrawMessages(tx, deps, campaign, after))
    } catch (error) {
      if (sqlState(error) !== '40P01' || attempt === attemptsMax) throw error
    }
  }
}

async function withdrawMessages(
  tx: Transaction,
  { platform, messages }: Deps,
  campaign: CampaignKey,
  after: number,
): Promise<number | null> {
  const rows = await lockInFlight(tx, campaign, { after, limit: withdrawnAtOnce })
  const withdrawn = await messages.withdraw(
    tx,
    campaign,
    rows.map(({ message_id }) => message_id),
  )
  const cancelled = rows.filter(({ message_id }) => withdrawn.has(message_id))
  await cancelWithdrawn(
    tx,
    campaign,
    cancelled.map(({ n }) => n),
  )
  if (cancelled.length > 0) {
    // the transitions of these messages count them as failed
    const delta = { campaign_id: campaign.id, wallet_micros: 0, package_credits: 0 }
    await addDeltas(tx, campaign, [
      { ...delta, status: 'failed', recipients: -cancelled.length },
      { ...delta, status: 'pending', recipients: cancelled.length },
    ])
    platform.notify('fan-out', 'project-campaigns')
  }
  return rows.at(-1)?.n ?? null
}

const cancellingMs = 5000

/** The campaign is locked before any write: the event feed is ordered by first writes. */
export async function pauseCampaign(
  { platform }: CampaignDeps,
  sql: Db,
  tenant: Tenant,
  id: string,
  storeAnswer: StoreAnswer<Campaign>,
): Promise<Campaign> {
  const shown = await transact(sql, async (tx) => {
    const before = await lockCampaignOrThrow(tx, tenant, id)
    requireAction(before, 'pause')
    return await storeAndReturn(
      tx,
      storeAnswer,
      await campaignWithRecipients(
        tx,
        await transition(tx, platform, before, toPaused('user', isoTime(platform.clock.now()))),
      ),
    )
  })
  platform.notify('fan-out')
  return shown
}

/** A live campaign needs funds for one message. One paused before its snapshot starts it now, or at its `send_at`. */
export async function resumeCampaign(
  { platform, accounts, billing }: CampaignDeps,
  sql: Db,
  tenant: Tenant,
  id: string,
  storeAnswer: StoreAnswer<Campaign>,
): Promise<Campaign> {
  const shown = await transact(sql, async (tx) => {
    const before = await lockCampaignOrThrow(tx, tenant, id)
    // a later suspension fails this campaign once the lock is released
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
        await transition(tx, platform, before, { status: 'sending', pause_reason: null, paused_at: null }),
      ),
    )
  })
  platform.notify('campaign-snapshots', 'campaigns', 'fan-out')
  return shown
}

/**
 * Cancels unsent recipients before the answer, or soon after if there are very many; the stored answer counts those as
 * pending.
 */
export async function cancelCampaign(
  deps: CampaignDeps,
  sql: Db,
  tenant: Tenant,
  id: string,
  storeAnswer: StoreAnswer<Campaign>,
): Promise<Campaign> {
  const { platform } = deps
  await transact(sql, async (tx) => {
    const before = await lockCampaignOrThrow(tx, tenant, id)
    requireAction(before, 'cancel')
    const row = await transition(tx, platform, before, {
      status: 'cancelled',
      pause_reason: null,
      cancelled_at: isoTime(platform.clock.now()),
    })
    await storeAnswer(tx, await campaignWithRecipients(tx, row))
  })
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
