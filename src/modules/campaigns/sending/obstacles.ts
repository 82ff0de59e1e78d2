/** What keeps a campaign from going on, beside its throttle and its window: its channel, its template (behaviour: campaigns 2). */
import type { FailureReason, PauseReason } from '../../../api/resources/campaign.ts'
import { isUp, type ChannelRow } from '../../channels/service.ts'
import type { CampaignDeps } from '../deps.ts'
import type { CampaignRow } from '../rows.ts'

export type Obstacle =
  | { readonly kind: 'fail'; readonly reason: FailureReason }
  | { readonly kind: 'pause'; readonly reason: PauseReason }
  /** It cannot be told just now. */
  | { readonly kind: 'wait' }

/** Null: it goes on. */
export async function obstacleOf(
  { channels }: CampaignDeps,
  row: CampaignRow,
  channel: ChannelRow | null,
): Promise<Obstacle | null> {
  if (channel === null) return { kind: 'fail', reason: 'channel_deleted' }
  if (channel.status === 'suspended') return { kind: 'fail', reason: 'channel_suspended' }
  if (!isUp(channel)) return { kind: 'pause', reason: 'channel_disconnected' }
  if (row.message.type !== 'template') return null
  const { refusal, status } = await channels.templateVerdict(channel, row.message['template'], true)
  if (refusal === null) return null
  if (refusal.code === 'upstream_unavailable') return { kind: 'wait' }
  return status === 'PAUSED'
    ? { kind: 'pause', reason: 'template_paused' }
    : { kind: 'fail', reason: 'template_not_approved' }
}
