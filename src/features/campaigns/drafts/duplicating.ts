/** A campaign once more, as a draft: with its audience, or with those alone to whom it failed (behaviour: campaigns 6). */
import type { Caller } from '../../../contract/caller.ts'
import { Problem } from '../../../contract/problem.ts'
import { campaignLimits, type AudienceRequest, type Campaign, type CampaignDuplication } from '../../../contract/resources/campaign.ts'
import type { Db } from '../../../platform/database/sql.ts'
import type { CampaignDeps } from '../deps.ts'
import type { Keep } from '../keeping.ts'
import { existing } from '../reading.ts'
import { listRecipients } from '../recipient-store.ts'
import type { CampaignRow } from '../rows.ts'
import { findAdhocRecipients } from '../store.ts'
import { createCampaign } from './drafts.ts'
import { bodyOf } from './saving.ts'

export async function duplicateCampaign(deps: CampaignDeps, sql: Db, caller: Caller, id: string, body: CampaignDuplication, keep: Keep): Promise<Campaign> {
  const row = await existing(sql, caller, id)
  const before = bodyOf(row, await findAdhocRecipients(sql, caller, id))
  const audience = body.recipients === 'failed' ? await failedAudience(sql, row) : before.audience
  const schedule = { ...before.schedule, send_at: null }
  return await createCampaign(deps, sql, caller, { ...before, name: body.name ?? nameOf(row.name), audience, schedule, consent_declared: false }, keep)
}

/** The name with its mark, cut where it would be too long. */
const nameOf = (name: string): string => `${[...name].slice(0, campaignLimits.name_length_max - ' (copy)'.length).join('')} (copy)`

async function failedAudience(sql: Db, row: CampaignRow): Promise<AudienceRequest> {
  const most = campaignLimits.adhoc_recipients_max
  const failed = row.snapshot_at === null ? [] : await listRecipients(sql, row, { status: 'failed', to: undefined }, undefined, { after: 0, limit: most })
  if (failed.length === 0)
    throw new Problem(
      'campaign_state_invalid',
      `The campaign ${row.id} has no recipient to whom it failed. Leave \`recipients\` out to duplicate it with its audience.`,
    )
  if (failed.length > most)
    throw new Problem(
      'campaign_limit_exceeded',
      `It failed to more than ${most} recipients, which is the most that an ad-hoc audience may have. Duplicate it with its audience.`,
    )
  return {
    type: 'adhoc',
    recipients: failed.map(({ to, first_name, last_name, variables }) => ({ to, first_name, last_name, variables })),
  }
}
