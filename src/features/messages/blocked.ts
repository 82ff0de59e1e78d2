/** Which messages may not reach their recipients any more: consent is looked at again before a message that has waited is handed over. */
import type { Tenant } from '../../contract/caller.ts'
import type { Platform } from '../../platform/platform.ts'
import type { ChannelService } from '../channels/service.ts'
import { addressKeyOf, marketingType, suppressionHash } from '../contacts/service.ts'
import { listBlocked } from './dispatch-store.ts'
import type { Job } from './settle.ts'

/** The ids of those messages whose recipients have opted out or are blocked; what answers an inbound message passes. */
export async function blockedAmong(platform: Platform, channels: ChannelService, jobs: readonly Job[]): Promise<Set<string>> {
  const asked = await Promise.all(jobs.filter(({ row }) => row.origin_type !== 'inbound').map(({ row }) => standingsOf(platform, channels, row)))
  return await listBlocked(platform.pool, asked.flat())
}

/** What would keep a message from its recipient: an opt-out of its channel type, and of marketing where it is that. */
async function standingsOf({ secrets }: Platform, channels: ChannelService, row: Job['row']) {
  const tenant = { account_id: row.account_id as Tenant['account_id'], mode: row.mode }
  const key = addressKeyOf(row.channel_type, row.to)
  const channel = row.type === 'template' ? await channels.find(tenant, row.channel_id) : null
  const isMarketing = channel !== null && channels.isMarketing(channel, row.type, row.content)
  return [row.channel_type, ...(isMarketing ? [marketingType(row.channel_type)] : [])].map((channel_type) => ({
    ...tenant,
    message_id: row.id,
    channel_type,
    ...key,
    suppression: suppressionHash(secrets, tenant, channel_type, key.address),
  }))
}
