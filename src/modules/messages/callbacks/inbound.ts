/** Applies inbound messages and consent reports, in the order in which each recipient's items were reported. */
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
import { joinParts, type ToldInbound } from '../inbound/parts.ts'
import { findMessageId } from '../references-repository.ts'
import type { ReportRow } from './repository.ts'

export interface SaidDeps extends InboundDeps {
  readonly channels: ChannelService
}

/** Applies items of recipients in their order (behaviour: consent 4.5). */
export async function applySaid(
  deps: SaidDeps,
  tx: Db,
  rows: readonly ReportRow[],
): Promise<Pick<StoredInbound, 'replies' | 'files'>> {
  const channelOf = eachChannelOnce(deps, tx)
  const replies: StoredInbound['replies'][number][] = []
  let files = 0
  for (const run of runsOf(rows)) {
    if (run[0]!.report.kind === 'preference') {
      await applyPreferences(deps, tx, run, channelOf)
      continue
    }
    const stored = await applyInbound(deps, tx, run, channelOf)
    replies.push(...stored.replies)
    files += stored.files
  }
  return { replies, files }
}

type ChannelOf = (row: ReportRow) => Promise<ChannelRow | null>

/** The channel of an item, read once per run; null where it was deleted. */
function eachChannelOnce({ channels }: SaidDeps, tx: Db): ChannelOf {
  const found = new Map<string, ChannelRow | null>()
  return async ({ account_id, mode, channel_id }) => {
    let channel = found.get(channel_id)
    if (channel === undefined)
      found.set(channel_id, (channel = await channels.findIn(tx, { account_id, mode }, channel_id)))
    return channel
  }
}

/** The fewest runs of one kind that keep the order of each recipient: inbound messages at even positions, preferences at odd ones. */
function runsOf(rows: readonly ReportRow[]): readonly (readonly ReportRow[])[] {
  const runs: ReportRow[][] = []
  const reached = new Map<string, number>()
  for (const row of rows) {
    const { kind, from } = row.report as InboundMessage | MarketingPreference
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
  deps: SaidDeps,
  tx: Db,
  rows: readonly ReportRow[],
  channelOf: ChannelOf,
): Promise<StoredInbound> {
  const told: ToldInbound[] = []
  for (const row of rows) {
    const { account_id, mode, channel_id, report } = row
    const channel = await findAddressee(deps, tx, row, await channelOf(row))
    const said = report as InboundMessage
    const { from, profile_name, type, provider_id, media, part } = said
    if (channel === null) continue
    const reply_to = said.reply_to === null ? null : await findMessageId(tx, row, channel_id, said.reply_to)
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
          ? { ...(said.content as object), message_id: reply_to }
          : await withTappedButton(tx, { account_id, mode }, said, reply_to),
      provider_id,
      reply_to,
      media,
    }
    told.push({ inbound, part })
  }
  return await storeInbound(deps, tx, await joinParts(tx, told, deps.platform.clock.now()))
}

/** The channel that an inbound message is for. Null where the channel was deleted or the message is for a sender that is no channel. */
async function findAddressee(
  { channels, platform }: SaidDeps,
  tx: Db,
  { channel_id, report }: ReportRow,
  channel: ChannelRow | null,
): Promise<ChannelRow | null> {
  const { to } = report as InboundMessage
  if (channel === null || to === undefined) return channel
  const sibling = await channels.findSibling(tx, channel, to.identifiers)
  if (sibling !== null || to.otherwise === 'ours') return sibling ?? channel
  platform.log.info(
    { channel_id, provider: channel.provider },
    'a message to another sender, which is no channel of the account, is left out',
  )
  return null
}

/** Marketing preferences: the latest of each recipient counts, in whatever order they are reported. */
async function applyPreferences(
  { contacts, platform }: SaidDeps,
  tx: Db,
  rows: readonly ReportRow[],
  channelOf: ChannelOf,
): Promise<void> {
  // read now and not at the start of the run, after earlier items were applied
  const now = isoTime(platform.clock.now())
  const latest = new Map<string, ProviderConsent>()
  for (const row of rows) {
    const { account_id, mode, channel_id, report } = row
    const channel = await channelOf(row)
    if (channel === null) continue
    const { from, marketing, everything, occurred_at: told_at } = report as MarketingPreference
    const status = marketing === 'stop' ? 'opted_out' : 'opted_in'
    const alone = everything !== true
    // a time in the future would make all reports until then too late
    const occurred_at = told_at === undefined || told_at > now ? now : told_at
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
