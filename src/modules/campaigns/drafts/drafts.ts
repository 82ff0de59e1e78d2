/** Drafts: created, changed, deleted. */
import { isDeepStrictEqual } from 'node:util'
import type { Caller, Tenant } from '../../../api/caller.ts'
import { Problem } from '../../../api/problem.ts'
import type { Campaign, CampaignCreation, CampaignUpdate } from '../../../api/resources/campaign.ts'
import { isoTime } from '../../../lib/clock.ts'
import { transact, type Db, type Transaction } from '../../../platform/database/sql.ts'
import type { CampaignDeps } from '../deps.ts'
import { kept, type Keep } from '../keeping-answers.ts'
import { existing, existingLocked, withRecipients } from '../reading.ts'
import type { AdhocRecipients, CampaignRow } from '../rows.ts'
import { bodyOf, checkDraft, type Draft } from './saving.ts'
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

export async function createCampaign(
  deps: CampaignDeps,
  sql: Db,
  caller: Caller,
  body: CampaignCreation,
  keep: Keep,
): Promise<Campaign> {
  const { row, adhoc } = await newCampaign(deps, sql, caller, body)
  return await transact(sql, async (tx) => {
    await store.insertCampaign(tx, row, adhoc)
    return await kept(tx, keep, await withRecipients(tx, row, adhoc))
  })
}

/** A draft as it is to be written. Throws the Problem that refuses the body. `launches` as for `checkDraft`. */
export async function newCampaign(
  deps: CampaignDeps,
  sql: Db,
  caller: Caller,
  body: CampaignCreation,
  launches = false,
): Promise<{ row: CampaignRow } & Pick<Draft, 'adhoc' | 'size'>> {
  const { ids, clock } = deps.platform
  const { fields, adhoc, size } = await checkDraft(deps, sql, caller, body, launches)
  const at = isoTime(clock.now())
  return {
    row: {
      account_id: caller.account_id,
      mode: caller.mode,
      id: ids('cmp'),
      ...begun,
      ...fields,
      created_at: at,
      updated_at: at,
    },
    adhoc,
    size,
  }
}

/** How often a change is worked out anew because another process, or a launch, was quicker with the same draft. */
const updateAttemptsMax = 5

/** Fields that the body leaves out stay as they are when it is written: of two changes at once neither undoes the other. The whole draft is checked. */
export async function updateDraft(
  deps: CampaignDeps,
  sql: Db,
  tenant: Tenant,
  id: string,
  body: CampaignUpdate,
): Promise<Campaign> {
  for (let attempt = 1; ; attempt++) {
    const found = await existing(sql, tenant, id)
    requireAction(found, 'update')
    const kept = await store.findAdhocRecipients(sql, tenant, id)
    // a provider may be asked for a template here, so no transaction is open
    const draft = await checkDraft(deps, sql, tenant, { ...bodyOf(found, kept), ...body })
    const shown = await transact(sql, (tx) => writeUnchanged(deps, tx, found, kept, draft))
    if (shown !== null) return shown
    if (attempt === updateAttemptsMax) throw changesTooFast(id)
  }
}

/** 503: again and again another change was written while this one was checked. */
export const changesTooFast = (id: string): Problem =>
  new Problem(
    'upstream_unavailable',
    `The campaign ${id} is being changed by others faster than it can be checked. Nothing was changed: try again.`,
  )

/** Writes a draft where it still is as it was when it was checked; null where it has changed since. */
async function writeUnchanged(
  { platform }: CampaignDeps,
  tx: Transaction,
  found: CampaignRow,
  kept: AdhocRecipients | null,
  draft: Draft,
) {
  const before = await existingLocked(tx, found, found.id)
  requireAction(before, 'update')
  const unchanged =
    isDeepStrictEqual(before, found) && isDeepStrictEqual(await store.findAdhocRecipients(tx, found, found.id), kept)
  if (!unchanged) return null
  const row: CampaignRow = { ...before, ...draft.fields, updated_at: isoTime(platform.clock.now()) }
  await store.updateDraft(tx, row, draft.adhoc)
  return await withRecipients(tx, row, draft.adhoc)
}

export async function removeDraft(
  { platform: { clock } }: CampaignDeps,
  sql: Db,
  tenant: Tenant,
  id: string,
): Promise<void> {
  await transact(sql, async (tx) => {
    requireAction(await existingLocked(tx, tenant, id), 'delete')
    await store.deleteCampaign(tx, tenant, id, isoTime(clock.now()))
  })
}
