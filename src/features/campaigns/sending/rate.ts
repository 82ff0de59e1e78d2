/** The rate of a campaign by itself. */
import type { CampaignDeps } from '../deps.ts'
import type { CampaignRow } from '../rows.ts'

/** Messages a second: its throttle, and no more than its channel's own rate. */
export async function rateOf(
  { channels }: Pick<CampaignDeps, 'channels'>,
  row: Pick<CampaignRow, 'account_id' | 'mode' | 'channel_id' | 'throttle_per_second'>,
): Promise<number> {
  const channel = await channels.find(row, row.channel_id)
  return Math.min(row.throttle_per_second, (channel === null ? null : channels.rateOf(channel)) ?? Infinity)
}
