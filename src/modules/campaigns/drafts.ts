/** Drafts: validation, creation, changes and deletion (behaviour: campaigns 3). */
import { isDeepStrictEqual } from 'node:util'
import type { Caller, Tenant } from '../../api/caller.ts'
import type { Detail } from '../../api/errors.ts'
import { Problem, throwFailures } from '../../api/problem.ts'
import {
  type Campaign,
  type CampaignCreation,
  campaignLimits,
  type CampaignUpdate,
  type ScheduleRequest,
} from '../../api/resources/campaign.ts'
import { parseStrictDateTime } from '../../api/times.ts'
import { isoTime } from '../../lib/clock.ts'
import { audienceFailures, audienceSize, storedAudience, requireAudience } from './audience/audience.ts'
import { type AdhocRecipients, type CampaignRow, estimateOf, requireAction, scheduleOf } from './campaign.ts'
import type { CampaignDeps } from './deps.ts'
import { requireCampaign, lockCampaignOrThrow, campaignWithRecipients } from './queries.ts'
import * as repository from './repository.ts'
import type { StoreAnswer } from '../../platform/http/route.ts'
import { storeAndReturn } from './transitions.ts'
import { isVariableTag, typeAndContent, messageFailures, requireTemplate, tooLarge } from '../messages/service.ts'
import { type Db, transact, type Transaction } from '../../platform/database/sql.ts'

export type DraftFields = Pick<
  CampaignRow,
  | 'name'
  | 'channel_id'
  | 'channel_type'
  | 'audience'
  | 'message'
  | 'merge_fallbacks'
  | 'require_opt_in'
  | 'consent_declared'
  | 'send_at'
  | 'timezone'
  | 'window_start'
  | 'window_end'
  | 'recipient_timezone'
  | 'throttle_per_second'
  | 'estimated_credits'
  | 'estimated_wallet_micros'
>

export interface Draft {
  readonly fields: DraftFields
  readonly adhoc: AdhocRecipients | null
  readonly size: number | null
}

export const campaignFailures = (body: CampaignUpdate): Detail[] => [
  ...(typeof body.name === 'string' && body.name.trim() === ''
    ? [{ param: 'name', code: 'too_short' as const, message: '`name` must not be empty.' }]
    : []),
  ...audienceFailures(body.audience),
]

export const bodyOf = (row: CampaignRow, adhoc: AdhocRecipients | null): CampaignCreation => ({
  name: row.name,
  channel: row.channel_id,
  audience: { ...row.audience, ...(adhoc === null ? {} : { recipients: [...adhoc] }) },
  message: row.message,
  merge_fallbacks: row.merge_fallbacks,
  require_opt_in: row.require_opt_in,
  consent_declared: row.consent_declared,
  schedule: scheduleOf(row),
  throttle_per_second: row.throttle_per_second,
})

/** Throws the Problem. `launches`: the launch checks the template, in its own order. */
async function checkDraft(
  deps: CampaignDeps,
  sql: Db,
  tenant: Tenant,
  body: CampaignCreation,
  launches = false,
): Promise<Draft> {
  const failures = campaignFailures(body)
  throwFailures(failures)
  const channel = await deps.channels.find(tenant, body.channel)
  if (channel === null) throw await deps.channels.missing(sql, tenant, body.channel, 'channel')
  const message = typeAndContent(body.message)
  throwFailures(tooLarge(message, body.merge_fallbacks ?? {}))
  const { audience, adhoc } = storedAudience(body.audience)
  const merge_fallbacks = { ...body.merge_fallbacks }
  const variables = new Set((adhoc ?? []).flatMap((recipient) => Object.keys(recipient.variables ?? {})))
  const isOwnTag = (name: string): boolean => isVariableTag(name, variables)
  throwFailures(
    await messageFailures(deps, sql, tenant, { channel, message, merge_fallbacks, isOwnTag, sender: 'campaign' }),
  )
  await requireAudience(deps, sql, tenant, audience)
  if (!launches) await requireTemplate(deps, channel, message)
  const size = await audienceSize(deps, sql, tenant, audience, deps.platform.settings.campaign_recipient_limit + 1)
  const fields: DraftFields = {
    name: body.name.trim(),
    channel_id: channel.id,
    channel_type: channel.type,
    audience,
    message,
    merge_fallbacks,
    require_opt_in: body.require_opt_in ?? false,
    consent_declared: body.consent_declared ?? false,
    ...(await scheduleFields(deps, sql, tenant, body.schedule ?? {})),
    throttle_per_second: body.throttle_per_second ?? campaignLimits.throttle_default,
    ...(await estimateFields(deps, sql, tenant, channel.type, size)),
  }
  return { fields, adhoc, size }
}

async function estimateFields(
  { billing }: CampaignDeps,
  sql: Db,
  tenant: Tenant,
  channel_type: string,
  size: number | null,
) {
  const estimate = size === null ? null : estimateOf(size, await billing.fundsOf(sql, tenant, channel_type))
  return { estimated_credits: estimate?.credits ?? null, estimated_wallet_micros: estimate?.wallet_micros ?? null }
}

async function scheduleFields(
  { accounts }: CampaignDeps,
  sql: Db,
  tenant: Tenant,
  { send_at, timezone, send_window, recipient_timezone }: ScheduleRequest,
) {
  return {
    send_at: typeof send_at === 'string' ? parseStrictDateTime(send_at) : null,
    timezone: timezone ?? (await accounts.timezoneOf(sql, tenant.account_id)),
    window_start: send_window?.start ?? null,
    window_end: send_window?.end ?? null,
    recipient_timezone: recipient_timezone ?? false,
  }
}

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
  storeAnswer: StoreAnswer<Campaign>,
): Promise<Campaign> {
  const { row, adhoc } = await newCampaign(deps, sql, caller, body)
  return await transact(sql, async (tx) => {
    await repository.insertCampaign(tx, row, adhoc)
    return await storeAndReturn(tx, storeAnswer, await campaignWithRecipients(tx, row, adhoc))
  })
}

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

const updateAttemptsMax = 5

/** Absent fields keep their value at the time of writing, so that concurrent changes of other fields apply. */
export async function updateDraft(
  deps: CampaignDeps,
  sql: Db,
  tenant: Tenant,
  id: string,
  body: CampaignUpdate,
): Promise<Campaign> {
  for (let attempt = 1; ; attempt++) {
    const found = await requireCampaign(sql, tenant, id)
    requireAction(found, 'update')
    const storeAndReturn = await repository.findAdhocRecipients(sql, tenant, id)
    // no transaction is open: the provider may be asked for a template
    const draft = await checkDraft(deps, sql, tenant, { ...bodyOf(found, storeAndReturn), ...body })
    const shown = await transact(sql, (tx) => writeUnchanged(deps, tx, found, storeAndReturn, draft))
    if (shown !== null) return shown
    if (attempt === updateAttemptsMax) throw changesTooFast(id)
  }
}

export const changesTooFast = (id: string): Problem =>
  new Problem(
    'upstream_unavailable',
    `The campaign ${id} is being changed by others faster than it can be checked. Nothing was changed: try again.`,
  )

async function writeUnchanged(
  { platform }: CampaignDeps,
  tx: Transaction,
  found: CampaignRow,
  storeAndReturn: AdhocRecipients | null,
  draft: Draft,
) {
  const before = await lockCampaignOrThrow(tx, found, found.id)
  requireAction(before, 'update')
  const unchanged =
    isDeepStrictEqual(before, found) &&
    isDeepStrictEqual(await repository.findAdhocRecipients(tx, found, found.id), storeAndReturn)
  if (!unchanged) return null
  const row: CampaignRow = { ...before, ...draft.fields, updated_at: isoTime(platform.clock.now()) }
  await repository.updateDraft(tx, row, draft.adhoc)
  return await campaignWithRecipients(tx, row, draft.adhoc)
}

export async function removeDraft(
  { platform: { clock } }: CampaignDeps,
  sql: Db,
  tenant: Tenant,
  id: string,
): Promise<void> {
  await transact(sql, async (tx) => {
    requireAction(await lockCampaignOrThrow(tx, tenant, id), 'delete')
    await repository.deleteCampaign(tx, tenant, id, isoTime(clock.now()))
  })
}
