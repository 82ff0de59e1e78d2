/** Previews the message of the first recipient, with audience size and cost (behaviour: console 7.3). */
import type { Caller } from '../../../api/caller.ts'
import type { CampaignMessage } from '../../../api/resources/campaign.ts'
import type { MessagePreview, MessagePreviewRequest } from '../../../api/resources/message-preview.ts'
import { TimeSlices } from '../../../lib/concurrency.ts'
import { isMarketing } from '../audience/audience.ts'
import { type CampaignRow, estimateOf } from '../campaign.ts'
import type { CampaignDeps } from '../deps.ts'
import { newCampaign } from '../drafts.ts'
import { rehearsedAudience, type RehearsedAudience } from './audience.ts'
import { outcomePredictor } from './outcomes.ts'
import { renderedFor, valuesOf } from '../sending/rendering.ts'
import type { Transaction } from '../../../platform/database/sql.ts'

const narrow = 'Preview a smaller audience.'
const nobody = { to: '', first_name: null, last_name: null, variables: null }

export async function previewMessage(
  deps: CampaignDeps,
  caller: Caller,
  body: MessagePreviewRequest,
  gone: AbortSignal,
): Promise<MessagePreview> {
  const { platform, billing } = deps
  // validation requires an audience: without one use any recipient
  const audience = body.audience ?? { type: 'adhoc', recipients: [{ to: '+1' }] }
  const { row, adhoc } = await newCampaign(deps, platform.pool, caller, { ...body, audience, name: 'Preview' }, true)
  const funds = await billing.fundsOf(platform.pool, caller, row.channel_type)
  const shown = (message: CampaignMessage, recipients_count: number, would_send: number): MessagePreview => {
    const { credits, wallet_micros } = estimateOf(would_send, funds)
    return {
      object: 'message_preview',
      message: { ...message },
      recipients_count,
      cost: { package_credits: credits, wallet_micros },
    }
  }
  if (body.audience === undefined) return shown(renderedFor(row, valuesOf(nobody, undefined)), 1, 1)
  const rehearsed = (await rehearsedAudience(
    deps,
    platform.pool,
    row,
    await isMarketing(deps.channels, row),
    adhoc ?? undefined,
  ))!
  const { message, recipients, would_send } = await platform.reads.run(
    { account_id: caller.account_id, gone, narrow },
    (sql, ended) => renderFirst(deps, sql, row, rehearsed, new TimeSlices(ended)),
  )
  return shown(message, recipients, would_send)
}

async function renderFirst(
  deps: CampaignDeps,
  sql: Transaction,
  row: CampaignRow,
  audience: RehearsedAudience,
  slices: TimeSlices,
) {
  let [recipients, would_send] = [0, 0]
  for (const { skip_reason, count } of await audience.count(sql, slices)) {
    recipients += count
    if (skip_reason === null) would_send += count
  }
  const predictor = outcomePredictor(deps, row, await deps.channels.find(row, row.channel_id))
  const { rows } = await audience.chunk(sql, '', slices)
  const outcomes = await predictor.outcomes(sql, rows, slices)
  const sent = outcomes.find(({ message }) => message !== null)?.message
  return { message: sent ?? renderedFor(row, valuesOf(rows[0] ?? nobody, undefined)), recipients, would_send }
}
