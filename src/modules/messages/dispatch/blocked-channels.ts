/**
 * Blocked channels: disabled, disconnected, failing, or connected through a session of another process (behaviour:
 * messages 7.6).
 */
import { tenantOf } from '../../../api/caller.ts'
import type { ChannelDeletedEvent } from '../../../api/domain-events.ts'
import { isoTime } from '../../../lib/clock.ts'
import type { Db } from '../../../platform/database/sql.ts'
import type { Platform } from '../../../platform/platform.ts'
import { type ChannelRow, type ChannelService, isUp } from '../../channels/service.ts'
import type { CircuitBreakers } from './circuit-breakers.ts'
import { type DueQueue, makeJobsDue } from './repository.ts'
import type { Completion } from './completion.ts'
import { queueOf, type Sessions } from './job.ts'

export interface BlockedChannels {
  /** Messages of `open` may be sent or failed now. */
  split(due: readonly DueQueue[]): Promise<{ open: DueQueue[]; blocked: DueQueue[] }>
}

export interface BlockedChannelsDeps {
  readonly platform: Platform
  readonly channels: ChannelService
  readonly sessions: Sessions
  readonly circuitBreakers: CircuitBreakers
}

export function blockedChannels({
  platform: { clock },
  channels,
  sessions,
  circuitBreakers,
}: BlockedChannelsDeps): BlockedChannels {
  return {
    async split(due) {
      const states = await Promise.all(due.map((queue) => channels.find(tenantOf(queue), queue.channel_id)))
      const open: DueQueue[] = []
      const blocked: DueQueue[] = []
      for (const [index, queue] of due.entries()) {
        const channel = states[index]!
        // messages of a deleted channel fail without its provider
        if (channel === null) circuitBreakers.forget(queue.channel_id)
        else if (channel.connection_tested_at !== null)
          circuitBreakers.connectionTested(channel.id, Date.parse(channel.connection_tested_at), clock.now())
        const broken = circuitBreakers.waits(queue.channel_id, clock.now())
        if (channel === null || (!broken && maySend(channels, sessions, channel))) open.push(queue)
        else blocked.push(queue)
      }
      return { open, blocked }
    },
  }
}

export const maySend = (
  channels: Pick<ChannelService, 'sendsThroughSession'>,
  sessions: Sessions,
  channel: ChannelRow,
): boolean => isUp(channel) && (!channels.sendsThroughSession(channel) || sessions.sends(channel.id))

/** The provider reported it in a refusal. */
export async function disconnectLostChannels(
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
        'a lost connection could not be stored; the next refusal repeats it',
      )
    }
  }
}

/** The provider contradicts our copy. */
export async function refreshRefusedTemplates(
  { pool, log }: Platform,
  channels: ChannelService,
  completions: readonly Completion[],
): Promise<void> {
  const refused = new Map(
    completions.flatMap(({ job: { row }, outcome }) =>
      outcome.kind === 'refused' && outcome.template_refused === true ? [[row.channel_id, row] as const] : [],
    ),
  )
  for (const row of refused.values()) {
    try {
      const channel = await channels.find(tenantOf(row), row.channel_id)
      if (channel !== null) await channels.templateRefused(pool, channel)
    } catch (error) {
      log.error(
        { err: error, channel_id: row.channel_id },
        'templates could not be refreshed; the next refusal repeats it',
      )
    }
  }
}

/** Messages of a deleted channel become due, and so are failed and refunded. */
export const failWaiting =
  (platform: Pick<Platform, 'clock'>) =>
  async (sql: Db, events: readonly ChannelDeletedEvent[]): Promise<void> => {
    await makeJobsDue(sql, events.map(queueOf), isoTime(platform.clock.now()))
  }

/** There may be no worker for hours. */
const deletedAgoMs = 24 * 3600_000

/** For messages that another process accepted during the deletion. */
export async function failAcceptedAfterDeletion(
  { pool, clock }: Pick<Platform, 'pool' | 'clock'>,
  channels: Pick<ChannelService, 'deletedSince'>,
): Promise<number> {
  const deleted = await channels.deletedSince(pool, isoTime(clock.now() - deletedAgoMs))
  return deleted.length === 0 ? 0 : await makeJobsDue(pool, deleted.map(queueOf), isoTime(clock.now()))
}
