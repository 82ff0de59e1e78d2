/** Checks consent again before a message that has waited is sent. */
import { tenantOf } from '../../../api/caller.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { ChannelService } from '../../channels/service.ts'
import { addressKeyOf, findEligibility, marketingType, suppressionHash } from '../../contacts/service.ts'
import { isoTime, mark, type Mark } from '../../../lib/clock.ts'
import { type Job } from './job.ts'

/** Jobs from the table are always checked again. */
const recheckAfterMs = 2000
/** A message that was being accepted during the opt-out is sent within this time. */
const recheckForMs = 5000
const recheckedMax = 10_000

export interface ConsentRecheck {
  recheck(account_id: string): void
  /** Automatic replies pass. */
  blockedAmong(jobs: readonly Job[]): Promise<Set<string>>
}

export function consentRecheck(platform: Platform, channels: ChannelService): ConsentRecheck {
  const recheckedUntil_ms = new Map<string, number>()
  // messages of producers may have waited for their commit; a time in the future is from before the clock was set back
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
      const checks = (
        await Promise.all(
          jobs.filter((job) => isToBeChecked(job, at)).map(({ row }) => suppressionsOf(platform, channels, row)),
        )
      ).flat()
      const found = await findEligibility(platform.pool, checks, isoTime(at.now_ms))
      return new Set(checks.flatMap(({ message_id }, index) => (found[index]!.verdict === null ? [] : [message_id])))
    },
  }
}

/** Of the channel type, and of marketing if the message is marketing. */
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
