/** Which messages may not reach their recipients any more: consent is looked at again before a message that has waited is handed over. */
import type { Tenant } from '../../../contract/caller.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { ChannelService } from '../../channels/service.ts'
import { addressKeyOf, marketingType, suppressionHash } from '../../contacts/service.ts'
import { listBlocked } from './store.ts'
import type { Job } from './completer.ts'

/** A message that was handed on in memory so long ago had time to lose its recipient's consent, as had every one from the table. */
const recheckAfterMs = 2000
/** What was being accepted while somebody opted out knows nothing of it, and is handed over within moments. */
const doubtForMs = 5000
const doubtsMax = 10_000

export interface ConsentLooks {
  /** Somebody has just opted out of messages of this account: for a while none of them goes out unasked. */
  doubt(account_id: string): void
  /** The ids of those messages whose recipients have opted out or are blocked; what answers an inbound message passes. */
  blockedAmong(jobs: readonly Job[]): Promise<Set<string>>
}

export function consentLooks(platform: Platform, channels: ChannelService): ConsentLooks {
  const doubts = new Map<string, number>()
  const isDoubtful = ({ row, claimed }: Job, now: number): boolean =>
    row.origin_type !== 'inbound' && (claimed || now - Date.parse(row.created_at) > recheckAfterMs || (doubts.get(row.account_id) ?? 0) > now)
  return {
    doubt(account_id) {
      if (doubts.size >= doubtsMax) doubts.clear()
      doubts.set(account_id, platform.clock.now() + doubtForMs)
    },
    async blockedAmong(jobs) {
      const now = platform.clock.now()
      const asked = await Promise.all(jobs.filter((job) => isDoubtful(job, now)).map(({ row }) => standingsOf(platform, channels, row)))
      return await listBlocked(platform.pool, asked.flat())
    },
  }
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
