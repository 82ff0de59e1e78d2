/** Applies inbound messages and consent changes, in order for each recipient (behaviour: consent 4.5). */
import { isoTime } from '../../../lib/clock.ts'
import type { Db } from '../../../platform/database/sql.ts'
import type { InboundMessage, MarketingPreference } from '../../../providers/provider.ts'
import type { ChannelRow, ChannelService } from '../../channels/service.ts'
import type { ProviderConsent } from '../../contacts/service.ts'
import {
  type InboundDeps,
  type NewInbound,
  type StoredInbound,
  storeInbound,
  withTappedButton,
} from '../inbound/inbound.ts'
import { joinParts, type ReceivedInbound } from '../inbound/parts.ts'
import { findMessageId } from '../references-repository.ts'
import type { CallbackItemRow } from './repository.ts'

export interface InboundItemDeps extends InboundDeps {
  readonly channels: ChannelService
}

export async function applyInboundItems(
  deps: InboundItemDeps,
  tx: Db,
  rows: readonly CallbackItemRow[],
): Promise<Pick<StoredInbound, 'replies' | 'files'>> {
  const channelOf = eachChannelOnce(deps, tx)
  const replies: StoredInbound['replies'][number][] = []
  let files = 0
  for (const run of runsOf(rows)) {
    if (run[0]!.item.kind === 'preference') {
      await applyPreferences(deps, tx, run, channelOf)
      continue
    }
    const stored = await applyInbound(deps, tx, run, channelOf)
    replies.push(...stored.replies)
    files += stored.files
  }
  return { replies, files }
}

type ChannelOf = (row: CallbackItemRow) => Promise<ChannelRow | null>

function eachChannelOnce({ channels }: InboundItemDeps, tx: Db): ChannelOf {
  const found = new Map<string, ChannelRow | null>()
  return async ({ account_id, mode, channel_id }) => {
    let channel = found.get(channel_id)
    if (channel === undefined)
      found.set(channel_id, (channel = await channels.findIn(tx, { account_id, mode }, channel_id)))
    return channel
  }
}

/**
 * The fewest runs of one kind that keep each recipient's order: inbound messages at even positions, preferences at odd
 * ones.
 */
function runsOf(rows: readonly CallbackItemRow[]): readonly (readonly CallbackItemRow[])[] {
  const runs: CallbackItemRow[][] = []
  const reached = new Map<string, number>()
  for (const row of rows) {
    const { kind, from } = row.item as InboundMessage | MarketingPreference
    const recipient = JSON.stringify([row.account_id, row.mode, from])
    const last = reached.get(recipient) ?? 0
    const place = last % 2 === (kind === 'preference' ? 1 : 0) ? last : last + 1
    reached.set(recipient, place)
    const run = (runs[place] ??= [])
    run.push(row)
  }
  return runs.filter((run) => run.length > 0)
}

async function applyInbound(
  deps: InboundItemDeps,
  tx: Db,
  rows: readonly CallbackItemRow[],
  channelOf: ChannelOf,
): Promise<StoredInbound> {
  const received: ReceivedInbound[] = []
  for (const row of rows) {
    const { account_id, mode, channel_id, item } = row
    const channel = await findAddressee(deps, tx, row, await channelOf(row))
    const message = item as InboundMessage
    const { from, profile_name, type, provider_id, media, part } = message
    if (channel === null) continue
    const reply_to = message.reply_to === null ? null : await findMessageId(tx, row, channel_id, message.reply_to)
    const inbound: NewInbound = {
      account_id,
      mode,
      channel,
      from,
      profile_name,
      type,
      // a reaction names its message in the content
      content:
        type === 'reaction'
          ? { ...(message.content as object), message_id: reply_to }
          : await withTappedButton(tx, { account_id, mode }, message, reply_to),
      provider_id,
      reply_to,
      media,
    }
    received.push({ inbound, part })
  }
  return await storeInbound(deps, tx, await joinParts(tx, received, deps.platform.clock.now()))
}

/** Null if the channel was deleted, or the recipient is a sender without a channel. */
async function findAddressee(
  { channels, platform }: InboundItemDeps,
  tx: Db,
  { channel_id, item }: CallbackItemRow,
  channel: ChannelRow | null,
): Promise<ChannelRow | null> {
  const { to } = item as InboundMessage
  if (channel === null || to === undefined) return channel
  const sibling = await channels.findSibling(tx, channel, to.identifiers)
  if (sibling !== null || to.otherwise === 'ours') return sibling ?? channel
  platform.log.info(
    { channel_id, provider: channel.provider },
    'an inbound message was ignored, because it is for a sender that is no channel of the account',
  )
  return null
}

async function applyPreferences(
  { contacts, platform }: InboundItemDeps,
  tx: Db,
  rows: readonly CallbackItemRow[],
  channelOf: ChannelOf,
): Promise<void> {
  // read after earlier items were applied, not at the start of the run
  const now = isoTime(platform.clock.now())
  const latest = new Map<string, ProviderConsent>()
  for (const row of rows) {
    const { account_id, mode, channel_id, item } = row
    const channel = await channelOf(row)
    if (channel === null) continue
    const { from, marketing, everything, occurred_at: reported_at } = item as MarketingPreference
    const status = marketing === 'stop' ? 'opted_out' : 'opted_in'
    const alone = everything !== true
    // a time in the future would make all items until then too late
    const occurred_at = reported_at === undefined || reported_at > now ? now : reported_at
    const key = `${channel_id}|${alone}|${from}`
    if ((latest.get(key)?.occurred_at ?? '') > occurred_at) continue
    latest.set(key, {
      account_id,
      mode,
      channel_type: channel.type,
      address: from,
      status,
      marketing: alone,
      occurred_at,
    })
  }
  if (latest.size > 0) await contacts.receiveProviderConsent(tx, [...latest.values()])
}
