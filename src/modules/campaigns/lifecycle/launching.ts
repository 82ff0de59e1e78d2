/** Launching: a draft on its way, after its checks (behaviour: campaigns 2). */
import { isDeepStrictEqual } from 'node:util'
import type { Caller } from '../../../api/caller.ts'
import type { Campaign, CampaignCreation, CampaignLaunch } from '../../../api/resources/campaign.ts'
import { isoTime } from '../../../lib/clock.ts'
import { transact, type Db } from '../../../platform/database/sql.ts'
import type { CampaignDeps } from '../deps.ts'
import { changesTooFast, newCampaign } from '../drafts/drafts.ts'
import type { Estimate } from '../drafts/estimates.ts'
import { kept, type Keep } from '../keeping-answers.ts'
import { existing, existingLocked, withRecipients } from '../reading.ts'
import type { CampaignRow } from '../rows.ts'
import { requireAction } from '../states.ts'
import { insertCampaign } from '../store.ts'
import { launchFacts, type Known } from './checks.ts'
import { move } from './moves.ts'

/** How often the checks are made anew because the draft was changed meanwhile. */
const launchAttemptsMax = 5

export async function launchCampaign(
  deps: CampaignDeps,
  sql: Db,
  caller: Caller,
  id: string,
  body: CampaignLaunch,
  keep: Keep,
): Promise<Campaign> {
  for (let attempt = 1; ; attempt++) {
    const found = await existing(sql, caller, id)
    requireAction(found, 'launch')
    const asked = { ...found, ...wishesOf(body) }
    // a provider may be asked for a template here, so no transaction is open
    const estimate = await checkedEstimate(deps, sql, caller, asked)
    const shown = await transact(sql, async (tx) => {
      await deps.accounts.requireUnsuspended(tx, caller.account_id)
      const before = await existingLocked(tx, caller, id)
      requireAction(before, 'launch')
      // what was checked is what is launched
      if (!isDeepStrictEqual(before, found)) return null
      return await kept(
        tx,
        keep,
        await withRecipients(
          tx,
          await move(tx, deps.platform, before, { ...wishesOf(body), ...launched(deps, before, estimate) }),
        ),
      )
    })
    if (shown === null && attempt === launchAttemptsMax) throw changesTooFast(id)
    if (shown === null) continue
    wake(deps)
    return shown
  }
}

/** Creates and launches in one: nothing is kept where the launch is refused. */
export async function createLaunched(
  deps: CampaignDeps,
  sql: Db,
  caller: Caller,
  body: CampaignCreation,
  keep: Keep,
): Promise<Campaign> {
  const { row, adhoc, size } = await newCampaign(deps, sql, caller, body, true)
  const asked: CampaignRow = { ...row, allow_insufficient_funds: body.allow_insufficient_funds ?? false }
  const estimate = await checkedEstimate(deps, sql, caller, asked, { adhoc, size })
  const shown = await transact(sql, async (tx) => {
    await deps.accounts.requireUnsuspended(tx, caller.account_id)
    await insertCampaign(tx, asked, adhoc)
    return await kept(
      tx,
      keep,
      await withRecipients(tx, await move(tx, deps.platform, asked, launched(deps, asked, estimate)), adhoc),
    )
  })
  wake(deps)
  return shown
}

const wishesOf = ({ consent_declared, allow_insufficient_funds }: CampaignLaunch) => ({
  ...(consent_declared === undefined ? {} : { consent_declared }),
  allow_insufficient_funds: allow_insufficient_funds ?? false,
})

/** What it would cost, once every check has passed; throws the Problem of the first one that has not. */
async function checkedEstimate(
  deps: CampaignDeps,
  sql: Db,
  caller: Caller,
  row: CampaignRow,
  known: Known = {},
): Promise<Estimate | null> {
  const { checks, estimate } = await launchFacts(deps, sql, caller, row, known)
  for (const check of checks) await check.require()
  return await estimate()
}

function launched({ platform: { clock } }: CampaignDeps, { send_at }: CampaignRow, estimate: Estimate | null) {
  const at = isoTime(clock.now())
  return {
    status: send_at !== null && send_at > at ? ('scheduled' as const) : ('queued' as const),
    launched_at: at,
    estimated_credits: estimate?.credits ?? null,
    estimated_wallet_micros: estimate?.wallet_micros ?? null,
  }
}

const wake = ({ platform }: CampaignDeps): void => platform.notify('campaign-snapshots', 'campaigns', 'fan-out')
