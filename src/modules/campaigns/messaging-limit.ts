/**
 * The limit of 24 hours: to how many different recipients a live whatsapp channel may write (behaviour: campaigns 2). Whom a template went to in the last 24 hours counts, and writing to
 * the same again adds nobody. Launches, rehearsals and sending look at it here.
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

/** Where the channel's own limit is not known. */
const limitDefault = 2000
const dayMs = 24 * 3600_000

/** How many different recipients a channel may write to in 24 hours; null: any number. */
function messagingLimitOf(channel: ChannelRow): number | null {
  if (channel.type !== 'whatsapp' || channel.mode === 'test') return null
  const limit = channel.settings['messaging_limit']
  return typeof limit === 'number' ? limit : limitDefault
}

/** Who counts at this time, in milliseconds. */
const windowOf = (channel: ChannelRow, at: number): ReachWindow => ({
  ...tenantOf(channel),
  channel_id: channel.id,
  since_ms: at - dayMs,
})

/**
 * Refuses a launch that would exceed the limit with 400 `campaign_limit_exceeded`: whom the channel has reached in the 24 hours before the campaign begins, and who of its audience would
 * be new. `size`: of the audience, null where it is not known. An audience that takes too long to be looked at passes: sending keeps the limit.
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

/** Counted anew so often at least, since recipients of a day ago count no more. */
const countAgainMs = 60_000
/** No more than so many recipients a second are taken to be written to by others meanwhile. */
const othersPerSecond = 200
/** With fewer left each is looked at. */
const exactBelow = 100

interface Counted {
  /** By the elapsed time. */
  readonly counted_ms: number
  reached: number
}

/** The limits of the channels that this process sends on. */
export class MessagingLimits {
  readonly #deps: CampaignDeps
  readonly #counted = new Map<string, Counted>()
  #turn: Promise<unknown> = Promise.resolve()

  constructor(deps: CampaignDeps) {
    this.#deps = deps
  }

  /**
   * Sends to the wanted recipients, as many as the limit lets go. Resolves to false, without sending, where the limit is used up, and nobody of them was written to in the last 24 hours.
   * While it is far each recipient is taken for a new one; once it is near, one process and campaign at a time looks who they are.
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
    return await this.#inTurn(channel, async (left, window) => {
      const listed =
        left > 0
          ? await recipients.next(row, wanted)
          : await recipients.loadAmong(row, wanted, reachedRecipients(pool, window))
      const reached = await reachedAmong(
        pool,
        window,
        listed.map(({ recipient }) => recipient.to),
      )
      let room = left
      const going = listed.filter(({ recipient }) => reached.has(recipient.to) || room-- > 0)
      if (going.length === 0 && left <= 0) return false
      await send(going)
      return true
    })
  }

  /** Whether so many more can be written to, whoever they are; they are counted then. */
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

  /** One at a time: of this process, so that it holds one connection for it, and of all processes for each channel. `left` is exact then, as far as campaigns go. */
  async #inTurn<T>(channel: ChannelRow, work: (left: number, window: ReachWindow) => Promise<T>): Promise<T> {
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

const countMaxAgeMs = (left: number): number => Math.min(countAgainMs, (Math.max(0, left) / othersPerSecond) * 1000)
