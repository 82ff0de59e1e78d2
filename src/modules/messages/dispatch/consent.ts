/** Which messages may not reach their recipients any more: consent is looked at again before a message that has waited is handed over. */
import { tenantOf } from '../../../api/caller.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { ChannelService } from '../../channels/service.ts'
import { addressKeyOf, findEligibility, marketingType, suppressionHash } from '../../contacts/service.ts'
import { isoTime, mark, type Mark } from '../../../lib/clock.ts'
import { type Job } from './job.ts'

/** A message that was handed on in memory so long ago had time to lose its recipient's consent, as had every one from the table. */
const recheckAfterMs = 2000
/** What was being accepted while somebody opted out knows nothing of it, and is handed over within moments. */
const recheckForMs = 5000
const recheckedMax = 10_000

export interface ConsentRecheck {
  /** Somebody has just opted out of messages of this account: for a while none of them goes out unasked. */
  recheck(account_id: string): void
  /** The ids of those messages whose recipients have opted out or are blocked; what answers an inbound message passes. */
  blockedAmong(jobs: readonly Job[]): Promise<Set<string>>
}

export function consentRecheck(platform: Platform, channels: ChannelService): ConsentRecheck {
  const recheckedUntil_ms = new Map<string, number>()
  // what has a producer may have waited for its commit since it was checked, and what seems to come from the future was made before the clock was set back
  const isToBeChecked = ({ row, claimed }: Job, { now_ms, elapsed_ms }: Mark): boolean =>
    row.origin_type !== 'inbound' &&
    (claimed ||
      row.submission_key !== null ||
      Math.abs(now_ms - Date.parse(row.created_at)) > recheckAfterMs ||
      (recheckedUntil_ms.get(row.account_id) ?? 0) > elapsed_ms)
  return {
    recheck(account_id) {
      if (recheckedUntil_ms.size >= recheckedMax) recheckedUntil_ms.clear()
      recheckedUntil_ms.set(account_id, platform.clock.elapsed() + recheckForMs)
    },
    async blockedAmong(jobs) {
      const at = mark(platform.clock)
      const asked = (
        await Promise.all(
          jobs.filter((job) => isToBeChecked(job, at)).map(({ row }) => suppressionsOf(platform, channels, row)),
        )
      ).flat()
      const found = await findEligibility(platform.pool, asked, isoTime(at.now_ms))
      return new Set(asked.flatMap(({ message_id }, index) => (found[index]!.verdict === null ? [] : [message_id])))
    },
  }
}

/** What would keep a message from its recipient: an opt-out of its channel type, and of marketing where it is that. */
async function suppressionsOf({ secrets }: Platform, channels: ChannelService, row: Job['row']) {
  const tenant = tenantOf(row)
  const key = addressKeyOf(row.channel_type, row.to)
  const channel = row.type === 'template' ? await channels.find(tenant, row.channel_id) : null
  const isMarketing = channel !== null && (await channels.isMarketing(channel, row.type, row.content))
  return [row.channel_type, ...(isMarketing ? [marketingType(row.channel_type)] : [])].map((channel_type) => ({
    ...tenant,
    message_id: row.id,
    channel_id: row.channel_id,
    channel_type,
    ...key,
    suppression: suppressionHash(secrets, tenant, channel_type, key.address),
    windowed: false,
  }))
}
