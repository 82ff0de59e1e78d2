/** Finds the messages that receipts mean. Any session of an account at a provider may get the receipts of all its channels, so that they are looked for on each of them. */
import { areOfAnother } from '../../../lib/same-number.ts'
import type { Db } from '../../../platform/database/sql.ts'
import type { DeliveryReceipt } from '../../../providers/provider.ts'
import type { ChannelRow, ChannelService } from '../../channels/service.ts'
import { findReferences, referenceKey, type Reference } from '../references-repository.ts'
import { findRecipients, type ReportRow } from './repository.ts'

interface FindingDeps {
  readonly channels: Pick<ChannelService, 'findIn' | 'listOfProviderAccount'>
}

/** By which names a receipt may mean its message, the likeliest first; `sibling`: its address names another channel of the account than the one that was told. */
interface Names {
  readonly row: ReportRow
  readonly sibling: boolean
  readonly candidates: readonly Pick<ReportRow, 'channel_id' | 'provider_id'>[]
}

/** After so many looks, about a minute, the one message that the id names on the channel that was told is taken although the receipt names another number. */
const oddNumberAttempts = 9

/** Whether a receipt tells of another recipient than this. */
export const isOfAnother = ({ addresses }: Pick<DeliveryReceipt, 'addresses'>, recipient: string): boolean =>
  addresses !== undefined && areOfAnother(addresses, recipient)

/** The references that receipts mean, by the ids of their reports; those that mean none that is known are left out. */
export async function referencesOf(
  deps: FindingDeps,
  tx: Db,
  rows: readonly ReportRow[],
): Promise<Map<string, Reference>> {
  const channels = await channelsOf(deps, tx, rows)
  const names = rows.map((row) => namesOf(row, channels.get(row.channel_id) ?? []))
  const references = new Map(
    (
      await findReferences(
        tx,
        names.flatMap(({ candidates }) => candidates),
      )
    ).map((one) => [referenceKey(one), one]),
  )
  const addressed = names.filter(({ row }) => (row.report as DeliveryReceipt).addresses !== undefined)
  const recipients = await findRecipients(
    tx,
    addressed.flatMap(({ candidates }) => candidates.flatMap((one) => references.get(referenceKey(one)) ?? [])),
  )
  return new Map(
    names.flatMap((one) => {
      const found = one.candidates.flatMap((candidate) => references.get(referenceKey(candidate)) ?? [])
      const meant = chosen(one, found, recipients)
      return meant === undefined ? [] : [[one.row.id, meant] as const]
    }),
  )
}

function chosen(
  { row, sibling }: Names,
  found: readonly Reference[],
  recipients: ReadonlyMap<string, string>,
): Reference | undefined {
  const receipt = row.report as DeliveryReceipt
  const fitting = found.find(({ message_id }) => !isOfAnother(receipt, recipients.get(message_id) ?? ''))
  if (fitting !== undefined || sibling || row.attempts < oddNumberAttempts) return fitting
  return found.find((one) => referenceKey(one) === referenceKey(row))
}

/** The channels of the accounts at providers whose sessions told receipts that may be of any of them, by the channel that was told. */
async function channelsOf(
  { channels }: FindingDeps,
  tx: Db,
  rows: readonly ReportRow[],
): Promise<Map<string, readonly ChannelRow[]>> {
  const told = new Map(
    rows.flatMap((row) =>
      (row.report as DeliveryReceipt).addresses === undefined ? [] : [[row.channel_id, row] as const],
    ),
  )
  const found = new Map<string, readonly ChannelRow[]>()
  for (const [channel_id, { account_id, mode }] of told) {
    const channel = await channels.findIn(tx, { account_id, mode }, channel_id)
    if (channel !== null) found.set(channel_id, await channels.listOfProviderAccount(tx, channel))
  }
  return found
}

/** At first by the likeliest alone: our own record may be on its way, and another message must not be taken for it. */
function namesOf(row: ReportRow, channels: readonly ChannelRow[]): Names {
  const { channel_id, provider_id, report, attempts } = row
  const { addresses, also_known_as } = report as DeliveryReceipt
  const named = channels
    .filter(({ identifier }) => addresses !== undefined && bare(identifier) === bare(addresses.to))
    .map(({ id }) => id)
  const sibling = named.length > 0 && !named.includes(channel_id)
  const [likeliest, ...others] = [provider_id, ...(also_known_as ?? [])]
  const on = (channel_ids: readonly string[], ids: readonly (string | null)[]) =>
    ids.flatMap((id) => channel_ids.map((one) => ({ channel_id: one, provider_id: id })))
  const rest = [...new Set([channel_id, ...channels.map(({ id }) => id)])].filter((id) => !named.includes(id))
  // an id that is written in another way may be another message's: it counts on the channel that is named, where one is
  const all = [...on(named, [likeliest!, ...others]), ...on(rest, [likeliest!, ...(named.length > 0 ? [] : others)])]
  return { row, sibling, candidates: attempts === 0 ? all.slice(0, 1) : all }
}

/** A sender without what is written before a number, or in small letters. */
const bare = (sender: string): string => sender.replace(/^(\+|00)/, '').toLowerCase()
