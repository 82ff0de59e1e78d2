/** Duplicates a campaign as a draft, with its audience or only its failed recipients (behaviour: campaigns 6). */
import type { Caller } from '../../api/caller.ts'
import { Problem } from '../../api/problem.ts'
import {
  type AudienceRequest,
  type Campaign,
  type CampaignDuplication,
  campaignLimits,
} from '../../api/resources/campaign.ts'
import type { AdhocRecipients, CampaignRow } from './campaign.ts'
import type { CampaignDeps } from './deps.ts'
import { bodyOf, createCampaign } from './drafts.ts'
import { requireCampaign } from './queries.ts'
import { listRecipients } from './recipient-repository.ts'
import { findAdhocRecipients } from './repository.ts'
import type { StoreAnswer } from '../../platform/http/route.ts'
import type { Db } from '../../platform/database/sql.ts'

export async function duplicateCampaign(
  deps: CampaignDeps,
  sql: Db,
  caller: Caller,
  id: string,
  body: CampaignDuplication,
  storeAnswer: StoreAnswer<Campaign>,
): Promise<Campaign> {
  const row = await requireCampaign(sql, caller, id)
  const adhoc = await findAdhocRecipients(sql, caller, id)
  const before = bodyOf(row, adhoc)
  const audience =
    body.recipients === 'failed'
      ? await failedAudience(sql, row, variablesOf(adhoc ?? []), body.starting_after)
      : before.audience
  const schedule = { ...before.schedule, send_at: null }
  const name = body.name ?? nameOf(row.name)
  return await createCampaign(
    deps,
    sql,
    caller,
    { ...before, name, audience, schedule, consent_declared: false },
    storeAnswer,
  )
}

const mark = ' (copy)'

const nameOf = (name: string): string =>
  `${[...name]
    .slice(0, campaignLimits.name_length_max - mark.length)
    .join('')
    .trimEnd()}${mark}`

const variablesOf = (recipients: AdhocRecipients): string[] => [
  ...new Set(recipients.flatMap(({ variables }) => Object.keys(variables ?? {}))),
]

/** `variables`: names that the message may use even if no failed recipient has a value. */
async function failedAudience(
  sql: Db,
  row: CampaignRow,
  variables: readonly string[],
  starting_after: string | undefined,
): Promise<AudienceRequest> {
  const most = campaignLimits.adhoc_recipients_max
  const after = Number(starting_after ?? 0)
  const found =
    row.snapshot_at === null
      ? []
      : await listRecipients(sql, row, { status: 'failed', to: undefined }, { after, limit: most })
  if (found.length > most && starting_after === undefined)
    throw new Problem(
      'campaign_limit_exceeded',
      `It failed to more than ${most} recipients, which is the most that an ad-hoc audience may have. Duplicate it for ${most} of them at a time: with \`starting_after\` "0", then "${found[most - 1]!.n}", then the id of the ${most}th behind that.`,
    )
  const failed = found.slice(0, most)
  const recipients = failed.map((each) => ({
    to: each.to,
    first_name: each.first_name,
    last_name: each.last_name,
    variables: each.variables,
  }))
  const [first, ...others] = recipients
  if (first === undefined)
    throw new Problem(
      'campaign_state_invalid',
      `The campaign ${row.id} has no recipient to whom it failed${after === 0 ? '' : ` behind ${after}`}. Leave \`recipients\` out to duplicate it with its audience.`,
    )
  const known = new Set(variablesOf(recipients as AdhocRecipients))
  const unknown = variables.filter((name) => !known.has(name)).map((name) => [name, null])
  const named =
    unknown.length === 0 ? first : { ...first, variables: { ...first.variables, ...Object.fromEntries(unknown) } }
  return { type: 'adhoc', recipients: [named, ...others] }
}
