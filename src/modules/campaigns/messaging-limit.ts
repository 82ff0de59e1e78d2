/**
 * The 24-hour limit: how many different recipients a live whatsapp channel may send templates to (behaviour: campaigns 2). Recipients who got one in
 * the last 24 hours count once. Used by launches, rehearsals and sending.
 */
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

/** For channels whose limit is unknown. */
const limitDefault = 2000
const dayMs = 24 * 3600_000

/** The limit of a channel; null: unlimited. */
function messagingLimitOf(channel: ChannelRow): number | null {
  if (channel.type !== 'whatsapp' || channel.mode === 'test') return null
  const limit = channel.settings['messaging_limit']
  return typeof limit === 'number' ? limit : limitDefault
}

/** The recipients who count at this time, in milliseconds. */
const windowOf = (channel: ChannelRow, at: number): ReachWindow => ({
  ...tenantOf(channel),
  channel_id: channel.id,
  since_ms: at - dayMs,
})

/**
 * Throws 400 `campaign_limit_exceeded` where the recipients of the 24 hours before the start and the new ones of the audience exceed the limit.
 * `size` null: unknown. An audience that takes too long to count passes: sending enforces the limit.
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

/** Recipients of a day ago no longer count, so the number is refreshed this often. */
const countAgainMs = 60_000
/** Other processes are assumed to reach at most so many recipients per second. */
const othersPerSecond = 200
/** With fewer left, recipients are checked one by one. */
const exactBelow = 100

interface Counted {
  /** Monotonic. */
  readonly counted_ms: number
  reached: number
}

/** The limits of the channels on which this process sends. */
export class MessagingLimits {
  readonly #deps: CampaignDeps
  readonly #counted = new Map<string, Counted>()
  #turn: Promise<unknown> = Promise.resolve()

  constructor(deps: CampaignDeps) {
    this.#deps = deps
  }

  /**
   * Sends to as many of the wanted recipients as the limit allows. Resolves to false, without sending, where the limit is used up and none of them
   * counts already. Far from the limit every recipient counts as new; near it one process and campaign at a time checks each.
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
    return await this.#inTurn(channel, async (remaining, window) => {
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

  /** Whether so many more recipients are allowed, all of them new; counts them if so. */
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
   * Runs one task per process, which holds a single connection, and one per channel among all processes. `left` is exact, except for messages from
   * outside campaigns.
   */
  async #inTurn<T>(channel: ChannelRow, work: (remaining: number, window: ReachWindow) => Promise<T>): Promise<T> {
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
