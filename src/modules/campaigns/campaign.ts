/** A campaign and its recipients: rows, states, cost estimate and JSON (behaviour: campaigns 1, 2). */
import type { Tenant } from '../../api/caller.ts'
import { Problem } from '../../api/problem.ts'
import type {
  AdhocRecipient,
  Audience,
  Campaign,
  CampaignCounters,
  CampaignMessage,
  CampaignRecipient,
  CampaignStatus,
  FailureReason,
  PauseReason,
  RecipientStatus,
  Schedule,
  SkipReason,
} from '../../api/resources/campaign.ts'
import type { MessageError } from '../../api/resources/message.ts'
import type { Funds } from '../billing/service.ts'

export interface CampaignRow extends Tenant {
  id: string
  name: string
  channel_id: string
  channel_type: string
  status: CampaignStatus
  pause_reason: PauseReason | null
  failure_reason: FailureReason | null
  audience: Audience
  message: CampaignMessage
  merge_fallbacks: Record<string, string>
  require_opt_in: boolean
  consent_declared: boolean
  allow_insufficient_funds: boolean
  send_at: string | null
  timezone: string
  /** HH:MM; null: all day. */
  window_start: string | null
  window_end: string | null
  recipient_timezone: boolean
  throttle_per_second: number
  estimated_credits: number | null
  estimated_wallet_micros: number | null
  /** Time conditions of a segment are evaluated as of this moment. */
  snapshot_began_at: string | null
  snapshot_after: string
  snapshot_rows: number
  snapshot_at: string | null
  created_at: string
  updated_at: string
  launched_at: string | null
  started_at: string | null
  paused_at: string | null
  completed_at: string | null
  cancelled_at: string | null
}

export type AdhocRecipients = readonly AdhocRecipient[]

export interface RecipientRow extends Tenant {
  campaign_id: string
  /** From 1, in snapshot order. */
  n: number
  contact_id: string | null
  to: string
  address: string
  name: string | null
  first_name: string | null
  last_name: string | null
  variables: Record<string, unknown> | null
  /** '': the campaign's time zone. */
  timezone: string
  status: RecipientStatus
  skip_reason: SkipReason | null
  message_id: string | null
  error: MessageError | null
  sent_at: string | null
  delivered_at: string | null
  read_at: string | null
  failed_at: string | null
}

export interface Totals {
  readonly recipients: readonly {
    readonly status: RecipientStatus
    readonly skip_reason: SkipReason | null
    readonly count: number
  }[]
  readonly wallet_micros: number
  readonly package_credits: number
}

export type CampaignAction = 'update' | 'delete' | 'launch' | 'pause' | 'resume' | 'cancel' | 'rehearse'

const allowedFrom: Readonly<Record<CampaignAction, readonly CampaignStatus[]>> = {
  update: ['draft'],
  delete: ['draft'],
  launch: ['draft'],
  pause: ['scheduled', 'queued', 'sending'],
  resume: ['paused'],
  cancel: ['draft', 'scheduled', 'queued', 'sending', 'paused'],
  rehearse: ['draft', 'scheduled', 'queued', 'sending', 'paused'],
}

export const automaticTransitions: Readonly<Partial<Record<CampaignStatus, readonly CampaignStatus[]>>> = {
  queued: ['scheduled'],
  sending: ['queued'],
  paused: ['scheduled', 'queued', 'sending'],
  completed: ['sending'],
  failed: ['scheduled', 'queued', 'sending', 'paused'],
}

const participles: Readonly<Record<CampaignAction, string>> = {
  update: 'changed',
  delete: 'deleted',
  launch: 'launched',
  pause: 'paused',
  resume: 'resumed',
  cancel: 'cancelled',
  rehearse: 'rehearsed',
}

/** Throws 409 `campaign_state_invalid`. */
export function requireAction(
  { id, status }: { readonly id: string; readonly status: CampaignStatus },
  action: CampaignAction,
): void {
  if (allowedFrom[action].includes(status)) return
  const allowed = allowedFrom[action]
  const only =
    allowed.length === 1
      ? `one that is ${allowed[0]}`
      : `one that is ${allowed.slice(0, -1).join(', ')} or ${allowed.at(-1)}`
  const instead =
    action === 'update' || action === 'launch'
      ? ` To send it again, make a draft of it with POST /v1/campaigns/${id}/duplicate.`
      : ''
  throw new Problem(
    'campaign_state_invalid',
    `The campaign ${id} is ${status}; only ${only} can be ${participles[action]}.${instead}`,
  )
}

export interface Estimate {
  readonly credits: number
  readonly wallet_micros: number
}

/** Credits first, the rest from the wallet, whether or not the funds suffice (behaviour: campaigns 1). */
export function estimateOf(recipients: number, { credits, price_micros }: Funds): Estimate {
  if (price_micros === 0) return { credits: 0, wallet_micros: 0 }
  const paid = Math.min(credits, recipients)
  return { credits: paid, wallet_micros: (recipients - paid) * price_micros }
}

export const covers = (recipients: number, funds: Funds): boolean =>
  estimateOf(recipients, funds).wallet_micros <= Math.max(0, funds.wallet_micros)

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

/** `sent`, `delivered` and `read` are cumulative. All are 0 before the snapshot. */
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

type Names = Pick<AdhocRecipient, 'first_name' | 'last_name'>

export const trimmedNames = ({ first_name, last_name }: Names) => ({
  first_name: trimmed(first_name),
  last_name: trimmed(last_name),
})

function trimmed(name: string | null | undefined): string | null {
  const text = name?.trim() ?? ''
  return text === '' ? null : text
}
