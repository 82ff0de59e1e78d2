/** The 24-hour limit of distinct template recipients per live whatsapp channel (behaviour: campaigns 2). */
import { tenantOf } from '../../api/caller.ts'
import { Problem } from '../../api/problem.ts'
import { countNewRecipients } from './audience/size.ts'
import type { AdhocRecipients, CampaignRow } from './campaign.ts'
import type { CampaignDeps } from './deps.ts'
import type { WantedRecipients } from './recipient-repository.ts'
import { lockMessagingLimit } from './repository.ts'
import type { NextRecipient, RecipientLoader } from './sending/recipient-loader.ts'
import type { ChannelRow } from '../channels/service.ts'
import { countReached, reachedAmong, reachedRecipients, type ReachWindow } from '../messages/service.ts'
import { type Db, transact } from '../../platform/database/sql.ts'

const limitDefault = 2000
const dayMs = 24 * 3600_000

/** null: unlimited. */
function messagingLimitOf(channel: ChannelRow): number | null {
  if (channel.type !== 'whatsapp' || channel.mode === 'test') return null
  const limit = channel.settings['messaging_limit']
  return typeof limit === 'number' ? limit : limitDefault
}

const windowOf = (channel: ChannelRow, at: number): ReachWindow => ({
  ...tenantOf(channel),
  channel_id: channel.id,
  since_ms: at - dayMs,
})

/**
 * Throws 400 `campaign_limit_exceeded`. An audience that takes too long to count (`size` null) passes: sending enforces
 * the limit.
 */
export async function requireWithinLimit(
  deps: CampaignDeps,
  sql: Db,
  row: CampaignRow,
  channel: ChannelRow,
  { size, adhoc }: { readonly size: number | null; readonly adhoc?: AdhocRecipients | null | undefined },
): Promise<void> {
  const limit = messagingLimitOf(channel)
  if (limit === null) return
  const now = deps.platform.clock.now()
  const window = windowOf(channel, row.send_at === null ? now : Math.max(now, Date.parse(row.send_at)))
  const reached = await countReached(sql, window)
  if (size !== null && reached + size <= limit) return
  const added = await countNewRecipients(
    deps,
    sql,
    row,
    window,
    deps.platform.settings.campaign_recipient_limit + 1,
    adhoc,
  )
  if (added === null || added === 0 || reached + added <= limit) return
  const before =
    reached === 0 ? '' : ` whom it has not written to in the last 24 hours, where it has written to ${reached}`
  throw new Problem(
    'campaign_limit_exceeded',
    `The campaign would go to ${added} recipients${before}, and the channel ${channel.id} may write to ${limit} in 24 hours. Split it over several days.`,
  )
}

/** Recipients of a day ago no longer count. */
const countAgainMs = 60_000
/** Assumed maximum of the other processes. */
const othersPerSecond = 200
/** With fewer left, recipients are checked one by one. */
const exactBelow = 100

interface Counted {
  /** Monotonic. */
  readonly counted_ms: number
  reached: number
}

export class MessagingLimits {
  readonly #deps: CampaignDeps
  readonly #counted = new Map<string, Counted>()
  #turn: Promise<unknown> = Promise.resolve()

  constructor(deps: CampaignDeps) {
    this.#deps = deps
  }

  /**
   * False, without sending, if the limit is used up and none of them counts already. Far from the limit every recipient
   * counts as new; near it one process and campaign at a time checks each.
   */
  async sendWithin(
    channel: ChannelRow,
    recipients: RecipientLoader,
    row: CampaignRow,
    wanted: WantedRecipients,
    send: (recipients: readonly NextRecipient[]) => Promise<void>,
  ): Promise<boolean> {
    const { pool } = this.#deps.platform
    if (await this.#isFar(channel, wanted.limit)) {
      await send(await recipients.next(row, wanted))
      return true
    }
    return await this.#serialized(channel, async (remaining, window) => {
      const listed =
        remaining > 0
          ? await recipients.next(row, wanted)
          : await recipients.loadAmong(row, wanted, reachedRecipients(pool, window))
      const reached = await reachedAmong(
        pool,
        window,
        listed.map(({ recipient }) => recipient.to),
      )
      let capacity = remaining
      const going = listed.filter(({ recipient }) => reached.has(recipient.to) || capacity-- > 0)
      if (going.length === 0 && remaining <= 0) return false
      await send(going)
      return true
    })
  }

  async #isFar(channel: ChannelRow, count: number): Promise<boolean> {
    const limit = messagingLimitOf(channel)
    if (limit === null) return true
    const elapsed = this.#deps.platform.clock.elapsed()
    let known = this.#counted.get(channel.id)
    if (known === undefined || elapsed - known.counted_ms > countMaxAgeMs(limit - known.reached))
      known = await this.#count(this.#deps.platform.pool, windowOf(channel, this.#deps.platform.clock.now()))
    if (limit - known.reached - count < exactBelow) return false
    known.reached += count
    return true
  }

  async #count(sql: Db, window: ReachWindow): Promise<Counted> {
    const counted = { counted_ms: this.#deps.platform.clock.elapsed(), reached: await countReached(sql, window) }
    this.#counted.set(window.channel_id, counted)
    return counted
  }

  /**
   * One task per process, which uses a single connection, and one per channel among all processes. `remaining` is
   * exact, except for messages from outside campaigns.
   */
  async #serialized<T>(channel: ChannelRow, work: (remaining: number, window: ReachWindow) => Promise<T>): Promise<T> {
    const turn = this.#turn.then(
      async () =>
        await transact(this.#deps.platform.pool, async (tx) => {
          await lockMessagingLimit(tx, channel.id)
          const window = windowOf(channel, this.#deps.platform.clock.now())
          const { reached } = await this.#count(tx, window)
          return await work(messagingLimitOf(channel)! - reached, window)
        }),
    )
    this.#turn = turn.catch(() => undefined)
    return await turn
  }
}

const countMaxAgeMs = (remaining: number): number =>
  Math.min(countAgainMs, (Math.max(0, remaining) / othersPerSecond) * 1000)
