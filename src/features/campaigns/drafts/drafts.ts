/** Drafts: created, changed, deleted. */
import type { Caller, Tenant } from '../../../contract/caller.ts'
import type { Campaign, CampaignCreation, CampaignUpdate } from '../../../contract/resources/campaign.ts'
import { isoTime } from '../../../lib/clock.ts'
import { transact, type Db } from '../../../platform/database/sql.ts'
import type { CampaignDeps } from '../deps.ts'
import { existing, existingLocked, shownWhole } from '../reading.ts'
import type { AdhocRecipients, CampaignRow } from '../rows.ts'
import { bodyOf, checkDraft } from './saving.ts'
import { requireAction } from '../states.ts'
import * as store from '../store.ts'

/** What every campaign begins with. */
const begun = {
  status: 'draft',
  pause_reason: null,
  failure_reason: null,
  allow_insufficient_funds: false,
  snapshot_began_at: null,
  snapshot_after: '',
  snapshot_rows: 0,
  snapshot_at: null,
  launched_at: null,
  started_at: null,
  paused_at: null,
  completed_at: null,
  cancelled_at: null,
} as const

export async function createCampaign(deps: CampaignDeps, sql: Db, caller: Caller, body: CampaignCreation): Promise<Campaign> {
  const { row, adhoc } = await newCampaign(deps, sql, caller, body)
  await store.insertCampaign(sql, row, adhoc)
  return await shownWhole(sql, row, adhoc)
}

/** A draft as it is to be written. Throws the Problem that refuses the body. */
export async function newCampaign(
  deps: CampaignDeps,
  sql: Db,
  caller: Caller,
  body: CampaignCreation,
): Promise<{ row: CampaignRow; adhoc: AdhocRecipients | null }> {
  const { ids, clock } = deps.platform
  const { fields, adhoc } = await checkDraft(deps, sql, caller, body)
  const at = isoTime(clock.now())
  return { row: { account_id: caller.account_id, mode: caller.mode, id: ids('cmp'), ...begun, ...fields, created_at: at, updated_at: at }, adhoc }
}

export async function updateDraft(deps: CampaignDeps, sql: Db, tenant: Tenant, id: string, body: CampaignUpdate): Promise<Campaign> {
  const found = await existing(sql, tenant, id)
  requireAction(found, 'update')
  // a provider may be asked for a template here, so no transaction is open
  const kept = await store.findAdhocRecipients(sql, tenant, id)
  const { fields, adhoc } = await checkDraft(deps, sql, tenant, { ...bodyOf(found, kept), ...body })
  return await transact(sql, async (tx) => {
    const before = await existingLocked(tx, tenant, id)
    requireAction(before, 'update')
    const row: CampaignRow = { ...before, ...fields, updated_at: isoTime(deps.platform.clock.now()) }
    await store.updateDraft(tx, row, adhoc)
    return await shownWhole(tx, row, adhoc)
  })
}

export async function removeDraft({ platform: { clock } }: CampaignDeps, sql: Db, tenant: Tenant, id: string): Promise<void> {
  await transact(sql, async (tx) => {
    requireAction(await existingLocked(tx, tenant, id), 'delete')
    await store.deleteCampaign(tx, tenant, id, isoTime(clock.now()))
  })
}
