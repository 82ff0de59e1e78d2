/** SQL of messages that are several at their provider: what is told of each part. */
import type { Tenant } from '../../../api/caller.ts'
import { jsonRows, type Db } from '../../../platform/database/sql.ts'
import type { DeliveryReceipt } from '../../../providers/provider.ts'
import type { Reference } from '../references-repository.ts'

/** What is told of the parts of a message, from the least. */
export const partSteps = ['accept', 'deliver', 'open'] as const
export type PartStep = (typeof partSteps)[number]

/**
 * Notes what a receipt says of one part of a message, where that is more than was told; resolves to what is told of each part, null where nothing is, and for those that
 * are not handed over yet. Of a part that went out more than once the furthest counts.
 */
export async function raisePart(
  tx: Db,
  { channel_id, provider_id, message_id }: Reference,
  reported: Exclude<DeliveryReceipt['transition'], 'fail'>,
): Promise<(PartStep | null)[]> {
  const steps = [...partSteps]
  await tx`
    update provider_references set status = ${reported} where channel_id = ${channel_id} and provider_id = ${provider_id}
      and (status is null or array_position(${steps}::text[], status) < array_position(${steps}::text[], ${reported}::text))`
  // while the message has a job, the rest of it is still to be handed over
  const parts = await tx<{ place: number | null }[]>`
    select max(array_position(${steps}::text[], status)) as place from provider_references where message_id = ${message_id} and parts > 1 group by part
    union all select null from dispatch_jobs where message_id = ${message_id}`
  return parts.map(({ place }) => (place === null ? null : partSteps[place - 1]!))
}

/** Notes that one part of a message failed, unless it has arrived; resolves to whether it has, or went out once more and that has not failed. */
export async function failPart(tx: Db, { channel_id, provider_id, message_id, part }: Reference): Promise<boolean> {
  await tx`
    update provider_references set status = 'fail' where channel_id = ${channel_id} and provider_id = ${provider_id} and (status is null or status = 'accept')`
  const rows = await tx`
    select from provider_references where channel_id = ${channel_id} and provider_id = ${provider_id} and status in ('deliver', 'open')
    union all
    select from provider_references where message_id = ${message_id} and part = ${part} and parts > 1 and provider_id <> ${provider_id} and status is distinct from 'fail'
    union all
    select from dispatch_jobs j where j.message_id = ${message_id} and j.accepted_ids[${part + 1}::int] <> ${provider_id}
      and not exists (select from provider_references r where r.channel_id = j.channel_id and r.provider_id = j.accepted_ids[${part + 1}::int])
    limit 1`
  return rows.length > 0
}

/** Locks messages in the order of their ids, as whoever changes several does. */
export async function lockMessages(
  tx: Db,
  messages: readonly (Tenant & { readonly message_id: string })[],
): Promise<void> {
  const keys = messages.map(({ account_id, mode, message_id }) => ({ account_id, mode, message_id }))
  await tx`
    select from messages m join json_to_recordset(${jsonRows(keys)}::text::json) as t(account_id text, mode text, message_id text)
      on m.account_id = t.account_id and m.mode = t.mode and m.id = t.message_id
    order by m.id for no key update of m`
}
