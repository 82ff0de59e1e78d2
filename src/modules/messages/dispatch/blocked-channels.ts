/** Queues that are paused: of channels that are not up, disabled or without their link (behaviour: messages 7.6), whose session another process holds, or whose provider fails again and again. */
import { tenantOf } from '../../../api/caller.ts'
import type { ChannelDeletedEvent } from '../../../api/domain-events.ts'
import { isoTime } from '../../../lib/clock.ts'
import type { Db } from '../../../platform/database/sql.ts'
import type { Platform } from '../../../platform/platform.ts'
import { type ChannelRow, type ChannelService, isUp } from '../../channels/service.ts'
import type { Circuits } from './circuit-breakers.ts'
import { type DueQueue, hastenJobs } from './repository.ts'
import type { Completion } from './completion.ts'
import { queueOf, type Sessions } from './job.ts'

export interface PausedQueues {
  /** Parts queues into those whose messages may go out from here, or will never, and those whose channels are not up or not this process's. */
  part(due: readonly DueQueue[]): Promise<{ open: DueQueue[]; paused: DueQueue[] }>
}

export interface PausedQueuesDeps {
  readonly platform: Platform
  readonly channels: ChannelService
  readonly sessions: Sessions
  readonly circuits: Circuits
}

export function pausedQueues({ platform: { clock }, channels, sessions, circuits }: PausedQueuesDeps): PausedQueues {
  return {
    async part(due) {
      const states = await Promise.all(due.map((queue) => channels.find(tenantOf(queue), queue.channel_id)))
      const open: DueQueue[] = []
      const paused: DueQueue[] = []
      for (const [index, queue] of due.entries()) {
        const channel = states[index]!
        // on a deleted channel messages fail, whatever its provider does
        if (channel === null) circuits.forget(queue.channel_id)
        else if (channel.connection_tested_at !== null)
          circuits.linkTried(channel.id, Date.parse(channel.connection_tested_at), clock.now())
        const broken = circuits.waits(queue.channel_id, clock.now())
        if (channel === null || (!broken && mayGo(channels, sessions, channel))) open.push(queue)
        else paused.push(queue)
      }
      return { open, paused }
    },
  }
}

/** Whether this process may hand over on the channel: it is up, and its session, where messages go through one, is open here. */
export const mayGo = (
  channels: Pick<ChannelService, 'sendsThroughSession'>,
  sessions: Sessions,
  channel: ChannelRow,
): boolean => isUp(channel) && (!channels.sendsThroughSession(channel) || sessions.sends(channel.id))

/** Tells channels whose link the provider says is gone. */
export async function loseChannels(
  { pool, log }: Platform,
  channels: ChannelService,
  completions: readonly Completion[],
): Promise<void> {
  const lost = new Map(
    completions.flatMap(({ job: { row }, outcome }) =>
      outcome.kind === 'refused' && outcome.channel_lost === true ? [[row.channel_id, row] as const] : [],
    ),
  )
  for (const row of lost.values()) {
    try {
      const channel = await channels.find(tenantOf(row), row.channel_id)
      if (channel !== null) await channels.setConnection(pool, channel, 'disconnected')
    } catch (error) {
      log.error(
        { err: error, channel_id: row.channel_id },
        'a lost link could not be written; the next refusal tells of it again',
      )
    }
  }
}

/** Has the templates of channels read anew whose provider has refused one that our copy has as fit. */
export async function doubtTemplates(
  { pool, log }: Platform,
  channels: ChannelService,
  completions: readonly Completion[],
): Promise<void> {
  const doubted = new Map(
    completions.flatMap(({ job: { row }, outcome }) =>
      outcome.kind === 'refused' && outcome.template_refused === true ? [[row.channel_id, row] as const] : [],
    ),
  )
  for (const row of doubted.values()) {
    try {
      const channel = await channels.find(tenantOf(row), row.channel_id)
      if (channel !== null) await channels.templateRefused(pool, channel)
    } catch (error) {
      log.error(
        { err: error, channel_id: row.channel_id },
        'templates could not be asked for anew; the next refusal asks again',
      )
    }
  }
}

/** Handles a deleted channel: what still waits on it, scheduled or not, is due now, and fails with its refund. */
export const failWaiting =
  (platform: Pick<Platform, 'clock'>) =>
  async (sql: Db, events: readonly ChannelDeletedEvent[]): Promise<void> => {
    await hastenJobs(sql, events.map(queueOf), isoTime(platform.clock.now()))
  }

/** How long a deletion is looked back at: there may be no worker for hours. */
const deletedAgoMs = 24 * 3600_000

/** The same for what was accepted beside the deletion, by a process that had the channel in memory. */
export async function failAcceptedLate(
  { pool, clock }: Pick<Platform, 'pool' | 'clock'>,
  channels: Pick<ChannelService, 'deletedSince'>,
): Promise<number> {
  const deleted = await channels.deletedSince(pool, isoTime(clock.now() - deletedAgoMs))
  return deleted.length === 0 ? 0 : await hastenJobs(pool, deleted.map(queueOf), isoTime(clock.now()))
}
