/** Launching: a draft on its way, after its checks (behaviour: campaigns 2). */
import type { Caller } from '../../../contract/caller.ts'
import type { Campaign, CampaignCreation, CampaignLaunch } from '../../../contract/resources/campaign.ts'
import { isoTime } from '../../../lib/clock.ts'
import { transact, type Db } from '../../../platform/database/sql.ts'
import type { CampaignDeps } from '../deps.ts'
import { newCampaign } from '../drafts/drafts.ts'
import { existing, existingLocked, shownWhole } from '../reading.ts'
import type { CampaignRow } from '../rows.ts'
import { requireAction } from '../states.ts'
import { insertCampaign } from '../store.ts'
import { launchFacts, type LaunchFacts } from './checks.ts'
import { move } from './moves.ts'

export async function launchCampaign(deps: CampaignDeps, sql: Db, caller: Caller, id: string, body: CampaignLaunch): Promise<Campaign> {
  const found = await existing(sql, caller, id)
  requireAction(found, 'launch')
  const asked = { ...found, ...wishesOf(body) }
  // a provider may be asked for a template here, so no transaction is open
  const facts = await checkedFacts(deps, sql, caller, asked)
  const shown = await transact(sql, async (tx) => {
    const before = await existingLocked(tx, caller, id)
    requireAction(before, 'launch')
    return await shownWhole(tx, await move(tx, deps.platform, before, { ...wishesOf(body), ...launched(deps, before, facts) }))
  })
  wake(deps)
  return shown
}

/** Creates and launches in one: nothing is kept where the launch is refused. */
export async function createLaunched(deps: CampaignDeps, sql: Db, caller: Caller, body: CampaignCreation): Promise<Campaign> {
  const { row, adhoc } = await newCampaign(deps, sql, caller, body)
  const asked: CampaignRow = { ...row, allow_insufficient_funds: body.allow_insufficient_funds ?? false }
  const facts = await checkedFacts(deps, sql, caller, asked)
  const shown = await transact(sql, async (tx) => {
    await insertCampaign(tx, asked, adhoc)
    return await shownWhole(tx, await move(tx, deps.platform, asked, launched(deps, asked, facts)), adhoc)
  })
  wake(deps)
  return shown
}

const wishesOf = ({ consent_declared, allow_insufficient_funds }: CampaignLaunch) => ({
  ...(consent_declared === undefined ? {} : { consent_declared }),
  allow_insufficient_funds: allow_insufficient_funds ?? false,
})

async function checkedFacts(deps: CampaignDeps, sql: Db, caller: Caller, row: CampaignRow): Promise<LaunchFacts> {
  const facts = await launchFacts(deps, sql, caller, row)
  for (const check of facts.checks) await check.require()
  return facts
}

function launched({ platform: { clock } }: CampaignDeps, { send_at }: CampaignRow, { estimate }: LaunchFacts) {
  const at = isoTime(clock.now())
  return {
    status: send_at !== null && send_at > at ? ('scheduled' as const) : ('queued' as const),
    launched_at: at,
    estimated_credits: estimate?.credits ?? null,
    estimated_wallet_micros: estimate?.wallet_micros ?? null,
  }
}

const wake = ({ platform }: CampaignDeps): void => platform.notify('campaign-snapshots', 'campaigns', 'fan-out')
