/** What a caller may do to a campaign on its way: pause, resume, cancel (behaviour: campaigns 2). */
import type { Tenant } from '../../../api/caller.ts'
import { Problem } from '../../../api/problem.ts'
import type { Campaign } from '../../../api/resources/campaign.ts'
import { isoTime } from '../../../lib/clock.ts'
import { transact, type Db } from '../../../platform/database/sql.ts'
import type { CampaignDeps } from '../deps.ts'
import { covers } from '../drafts/estimates.ts'
import { kept, type Keep } from '../keeping-answers.ts'
import { existing, existingLocked, withRecipients } from '../reading.ts'
import { requireAction } from '../states.ts'
import { cancelRest } from './cancelling.ts'
import { move, pausedRow } from './moves.ts'

/** So long a request waits until the recipients are cancelled. */
const cancellingMs = 5000

/** Here as below the campaign is locked before anything else: what a transaction writes stands in the feed by when it wrote first. */
export async function pauseCampaign(
  { platform }: CampaignDeps,
  sql: Db,
  tenant: Tenant,
  id: string,
  keep: Keep,
): Promise<Campaign> {
  const shown = await transact(sql, async (tx) => {
    const before = await existingLocked(tx, tenant, id)
    requireAction(before, 'pause')
    return await kept(
      tx,
      keep,
      await withRecipients(tx, await move(tx, platform, before, pausedRow('user', isoTime(platform.clock.now())))),
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
  keep: Keep,
): Promise<Campaign> {
  const shown = await transact(sql, async (tx) => {
    const before = await existingLocked(tx, tenant, id)
    // one that is suspended from now on fails its campaigns, this one among them, once it is not locked any more
    if ((await accounts.stateOf(tx, tenant.account_id))?.suspended === true) throw new Problem('account_suspended')
    requireAction(before, 'resume')
    if (!covers(1, await billing.fundsOf(tx, tenant, before.channel_type)))
      throw new Problem(
        'insufficient_balance',
        'No package credit applies and the wallet is below the price of one message. Top up, then resume.',
      )
    return await kept(
      tx,
      keep,
      await withRecipients(
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
  keep: Keep,
): Promise<Campaign> {
  const { platform } = deps
  await transact(sql, async (tx) => {
    const before = await existingLocked(tx, tenant, id)
    requireAction(before, 'cancel')
    const row = await move(tx, platform, before, {
      status: 'cancelled',
      pause_reason: null,
      cancelled_at: isoTime(platform.clock.now()),
    })
    await keep(tx, await withRecipients(tx, row))
  })
  // it is cancelled, whatever comes now: the worker goes on with what is left
  const done = await cancelRest(deps, tenant, id, cancellingMs).catch((error: unknown) => {
    platform.log.error(
      { err: error, campaign_id: id },
      'recipients of a cancelled campaign could not be cancelled at once; they are soon',
    )
    return false
  })
  if (!done) platform.notify('campaigns')
  return await withRecipients(sql, await existing(sql, tenant, id))
}
