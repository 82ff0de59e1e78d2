/** Queues whose channel is not up, disabled or without its link: their messages wait within their validity (decisions 7), and only what expires meanwhile is looked for. */
import type { Tenant } from '../../contract/caller.ts'
import type { ChannelDeletedFact } from '../../contract/facts.ts'
import { limits } from '../../contract/limits.ts'
import { isoTime } from '../../lib/clock.ts'
import type { Db } from '../../platform/database/sql.ts'
import type { Platform } from '../../platform/platform.ts'
import { isUp, type ChannelService } from '../channels/service.ts'
import { claimExpired, hastenJobs, type ClaimedRow, type DueQueue } from './dispatch-store.ts'
import type { Settlement } from './settle.ts'

export interface HeldQueues {
  /** Of these queues, those whose messages may go out or will never. */
  open(due: readonly DueQueue[]): Promise<DueQueue[]>
  /** Claims what has expired in the queues that `open` left out last. */
  expired(lease_until: string, rows_max: number): Promise<ClaimedRow[]>
}

const lookEvery_ms = 1000
/** Looking through long queues takes at most this part of the time. */
const share = 20
const rememberedMax = 10_000

export function heldQueues({ pool, clock, process_id }: Platform, channels: ChannelService): HeldQueues {
  let held: string[] = []
  const lookAgain_ms = new Map<string, number>()
  return {
    async open(due) {
      const states = await Promise.all(
        due.map(({ account_id, mode, channel_id }) => channels.find({ account_id: account_id as Tenant['account_id'], mode }, channel_id)),
      )
      const mayGo = due.filter((_, index) => {
        const channel = states[index]!
        // of a deleted channel they fail
        return channel === null || isUp(channel)
      })
      const going = new Set(mayGo)
      held = due.filter((queue) => !going.has(queue)).map(({ queue }) => queue)
      return mayGo
    },
    async expired(lease_until, rows_max) {
      const now = clock.now()
      const queues = held.filter((queue) => (lookAgain_ms.get(queue) ?? 0) <= now)
      if (queues.length === 0 || rows_max <= 0) return []
      const created_until = isoTime(now - limits.message_validity_ms)
      const rows = await claimExpired(pool, { queues, at: isoTime(now), created_until, lease_until, process_id, rows_max })
      if (lookAgain_ms.size > rememberedMax) lookAgain_ms.clear()
      const next_ms = clock.now() + Math.max(lookEvery_ms, (clock.now() - now) * share)
      // where there are more, they are looked for at once
      if (rows.length < rows_max) for (const queue of queues) lookAgain_ms.set(queue, next_ms)
      return rows
    },
  }
}

/** Tells channels whose link the provider says is gone. */
export async function loseChannels({ pool, log }: Platform, channels: ChannelService, settlements: readonly Settlement[]): Promise<void> {
  const lost = new Map(
    settlements.flatMap(({ job: { row }, outcome }) => (outcome.kind === 'refused' && outcome.channel_lost === true ? [[row.channel_id, row] as const] : [])),
  )
  for (const row of lost.values()) {
    try {
      const channel = await channels.find({ account_id: row.account_id as Tenant['account_id'], mode: row.mode }, row.channel_id)
      if (channel !== null) await channels.setConnection(pool, channel, 'disconnected')
    } catch (error) {
      log.error({ err: error, channel_id: row.channel_id }, 'a lost link could not be written; the next refusal tells of it again')
    }
  }
}

/** The reaction to a deleted channel: what still waits on it, scheduled or not, is due now, and fails with its refund. */
export const failWaiting =
  (platform: Pick<Platform, 'clock'>) =>
  async (sql: Db, facts: readonly ChannelDeletedFact[]): Promise<void> =>
    await hastenJobs(
      sql,
      facts.map(({ account_id, channel_id }) => `${account_id}:${channel_id}`),
      isoTime(platform.clock.now()),
    )
