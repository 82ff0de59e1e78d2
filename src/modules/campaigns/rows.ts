/** The rows of campaigns as every part of the feature reads them. */
import type { Tenant } from '../../api/caller.ts'
import type {
  AdhocRecipient,
  Audience,
  CampaignMessage,
  CampaignStatus,
  FailureReason,
  PauseReason,
  RecipientStatus,
  SkipReason,
} from '../../api/resources/campaign.ts'
import type { MessageError } from '../../api/resources/message.ts'

/** A row of `campaigns`, without the recipients of an ad-hoc audience. */
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
  /** HH:MM; null where it may be sent all day. */
  window_start: string | null
  window_end: string | null
  recipient_timezone: boolean
  throttle_per_second: number
  estimated_credits: number | null
  estimated_wallet_micros: number | null
  /** When the snapshot was begun: what is asked of time in a segment's rules is asked as of then. */
  snapshot_began_at: string | null
  /** How far the snapshot has come: a contact's id, or the number of an ad-hoc recipient. */
  snapshot_after: string
  snapshot_rows: number
  /** When the snapshot was complete. */
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

/** A row of `campaign_recipients`. */
export interface RecipientRow extends Tenant {
  campaign_id: string
  /** Counted from 1 in the order of the snapshot. */
  n: number
  contact_id: string | null
  to: string
  address: string
  name: string | null
  first_name: string | null
  last_name: string | null
  variables: Record<string, unknown> | null
  /** '': the campaign's. */
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

/** What a campaign's recipients have come to, and what their messages cost: folded and unfolded together, of one moment. */
export interface Totals {
  /** `null` of `skip_reason` unless skipped. */
  readonly recipients: readonly {
    readonly status: RecipientStatus
    readonly skip_reason: SkipReason | null
    readonly count: number
  }[]
  readonly wallet_micros: number
  readonly package_credits: number
}
