/** Rows of campaigns as the API shows them. */
import type {
  Campaign,
  CampaignCounters,
  CampaignRecipient,
  RecipientStatus,
  Schedule,
} from '../../api/resources/campaign.ts'
import type { CampaignRow, RecipientRow, Totals } from './rows.ts'

/** Without the recipients of an ad-hoc audience. */
export function campaignObject(row: CampaignRow, totals: Totals): Campaign {
  return {
    id: row.id,
    object: 'campaign',
    mode: row.mode,
    name: row.name,
    channel_id: row.channel_id,
    channel_type: row.channel_type,
    status: row.status,
    pause_reason: row.pause_reason,
    failure_reason: row.failure_reason,
    audience: row.audience,
    message: row.message,
    merge_fallbacks: row.merge_fallbacks,
    require_opt_in: row.require_opt_in,
    consent_declared: row.consent_declared,
    schedule: scheduleOf(row),
    throttle_per_second: row.throttle_per_second,
    counters: countersOf(totals),
    cost: {
      currency: 'USD',
      estimated_wallet_micros: row.estimated_wallet_micros,
      estimated_credits: row.estimated_credits,
      wallet_micros: totals.wallet_micros,
      package_credits: totals.package_credits,
    },
    created_at: row.created_at,
    launched_at: row.launched_at,
    started_at: row.started_at,
    paused_at: row.paused_at,
    completed_at: row.completed_at,
    cancelled_at: row.cancelled_at,
  }
}

export function scheduleOf({
  send_at,
  timezone,
  window_start: start,
  window_end: end,
  recipient_timezone,
}: CampaignRow): Schedule {
  return { send_at, timezone, send_window: start === null || end === null ? null : { start, end }, recipient_timezone }
}

/** `sent`, `delivered` and `read` are cumulative; `total` is the sum of `queued`, `sent`, `failed`, `skipped` and `cancelled`. All 0 before the snapshot. */
function countersOf({ recipients }: Totals): CampaignCounters {
  const of = (...statuses: RecipientStatus[]): number =>
    recipients.reduce((sum, { status, count }) => (statuses.includes(status) ? sum + count : sum), 0)
  const skipped = recipients.filter(
    ({ status, skip_reason, count }) => status === 'skipped' && skip_reason !== null && count > 0,
  )
  return {
    total: of('pending', 'sent', 'delivered', 'read', 'failed', 'skipped', 'cancelled'),
    queued: of('pending'),
    sent: of('sent', 'delivered', 'read'),
    delivered: of('delivered', 'read'),
    read: of('read'),
    failed: of('failed'),
    skipped: of('skipped'),
    cancelled: of('cancelled'),
    skip_reasons: Object.fromEntries(skipped.map(({ skip_reason, count }) => [skip_reason!, count])),
  }
}

export const recipientObject = (row: RecipientRow): CampaignRecipient => ({
  id: String(row.n),
  object: 'campaign_recipient',
  contact_id: row.contact_id,
  to: row.to,
  name: row.name,
  status: row.status,
  skip_reason: row.skip_reason,
  message_id: row.message_id,
  error: row.error,
  variables: row.variables ?? {},
  sent_at: row.sent_at,
  delivered_at: row.delivered_at,
  read_at: row.read_at,
  failed_at: row.failed_at,
})
