/** Finds the messages of receipts. A session may receive those of all channels of a provider account. */
import { isOtherRecipient } from '../../../lib/phone.ts'
import type { Db } from '../../../platform/database/sql.ts'
import type { DeliveryReceipt } from '../../../providers/provider.ts'
import type { ChannelRow, ChannelService } from '../../channels/service.ts'
import { findReferences, referenceKey, type Reference } from '../references-repository.ts'
import { findRecipients, type CallbackItemRow } from './repository.ts'

interface FindingDeps {
  readonly channels: Pick<ChannelService, 'findIn' | 'listOfProviderAccount'>
}

/** Most likely first. `sibling`: the receipt's address names another channel of the account. */
interface Names {
  readonly row: CallbackItemRow
  readonly sibling: boolean
  readonly candidates: readonly Pick<CallbackItemRow, 'channel_id' | 'provider_id'>[]
}

/**
 * Look-ups, about a minute, after which a receipt that names another number is accepted for the message with its id.
 */
const oddNumberAttempts = 9

export const isOfAnother = ({ addresses }: Pick<DeliveryReceipt, 'addresses'>, recipient: string): boolean =>
  addresses !== undefined && isOtherRecipient(addresses, recipient)

export async function referencesOf(
  deps: FindingDeps,
  tx: Db,
  rows: readonly CallbackItemRow[],
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
  const addressed = names.filter(({ row }) => (row.item as DeliveryReceipt).addresses !== undefined)
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
  const receipt = row.item as DeliveryReceipt
  const fitting = found.find(({ message_id }) => !isOfAnother(receipt, recipients.get(message_id) ?? ''))
  if (fitting !== undefined || sibling || row.attempts < oddNumberAttempts) return fitting
  return found.find((one) => referenceKey(one) === referenceKey(row))
}

async function channelsOf(
  { channels }: FindingDeps,
  tx: Db,
  rows: readonly CallbackItemRow[],
): Promise<Map<string, readonly ChannelRow[]>> {
  const addressedRows = new Map(
    rows.flatMap((row) =>
      (row.item as DeliveryReceipt).addresses === undefined ? [] : [[row.channel_id, row] as const],
    ),
  )
  const found = new Map<string, readonly ChannelRow[]>()
  for (const [channel_id, { account_id, mode }] of addressedRows) {
    const channel = await channels.findIn(tx, { account_id, mode }, channel_id)
    if (channel !== null) found.set(channel_id, await channels.listOfProviderAccount(tx, channel))
  }
  return found
}

/** The first look-up uses the likeliest candidate only: our own record may be about to be written. */
function namesOf(row: CallbackItemRow, channels: readonly ChannelRow[]): Names {
  const { channel_id, provider_id, item, attempts } = row
  const { addresses, also_known_as } = item as DeliveryReceipt
  const named = channels
    .filter(({ identifier }) => addresses !== undefined && bare(identifier) === bare(addresses.to))
    .map(({ id }) => id)
  const sibling = named.length > 0 && !named.includes(channel_id)
  const [likeliest, ...others] = [provider_id, ...(also_known_as ?? [])]
  const on = (channel_ids: readonly string[], ids: readonly (string | null)[]) =>
    ids.flatMap((id) => channel_ids.map((one) => ({ channel_id: one, provider_id: id })))
  const rest = [...new Set([channel_id, ...channels.map(({ id }) => id)])].filter((id) => !named.includes(id))
  // an id in another notation may belong to another message: it counts only on a named channel
  const all = [...on(named, [likeliest!, ...others]), ...on(rest, [likeliest!, ...(named.length > 0 ? [] : others)])]
  return { row, sibling, candidates: attempts === 0 ? all.slice(0, 1) : all }
}

const bare = (sender: string): string => sender.replace(/^(\+|00)/, '').toLowerCase()
