/** The projection of messages to campaigns: advances recipients and counts costs (docs/decisions/transitions.md). */
import type { Tenant } from '../../api/caller.ts'
import type { RecipientStatus } from '../../api/resources/campaign.ts'
import type { MessageError } from '../../api/resources/message.ts'
import { addDeltas, type CounterDelta, projectionName } from './counter-repository.ts'
import { recipientOf } from './producer.ts'
import { advanceRecipients, type RecipientChange } from './recipient-repository.ts'
import {
  type Charged,
  findMessages,
  type Projection,
  rankOf,
  stamps,
  sumCharged,
  type TransitionRow,
} from '../messages/service.ts'
import type { Db } from '../../platform/database/sql.ts'

export const campaignProjection: Projection = {
  name: projectionName,
  origins: ['campaign'],
  async apply(tx, rows) {
    const byTenant = Map.groupBy(rows, ({ account_id, mode }) => `${account_id} ${mode}`)
    for (const key of [...byTenant.keys()].toSorted()) {
      const some = byTenant.get(key)!
      await applyForTenant(tx, { account_id: some[0]!.account_id, mode: some[0]!.mode }, some)
    }
  },
}

async function applyForTenant(tx: Db, tenant: Tenant, rows: readonly TransitionRow[]): Promise<void> {
  const failed = idsOf(rows.filter(({ status }) => status === 'failed'))
  const messages = new Map((await findMessages(tx, tenant, failed)).map((message) => [message.id, message]))
  const errorOf = (id: string): MessageError | null => {
    const error = messages.get(id)?.error
    return error === null || error === undefined ? null : { ...error, provider_code: error.provider_code ?? '' }
  }
  await advanceRecipients(tx, tenant, changesOf(rows, errorOf))
  await addDeltas(tx, tenant, [
    ...countsOf(rows),
    ...(tenant.mode === 'live' ? await costsOf(tx, tenant, rows, failed) : []),
  ])
}

const idsOf = (rows: readonly TransitionRow[]): string[] => [...new Set(rows.flatMap(({ message_ids }) => message_ids))]

function changesOf(
  rows: readonly TransitionRow[],
  errorOf: (message_id: string) => MessageError | null,
): RecipientChange[] {
  const changes = new Map<string, { -readonly [K in keyof RecipientChange]: RecipientChange[K] }>()
  const nothing = { sent_at: null, delivered_at: null, read_at: null, failed_at: null, error: null }
  for (const { status, submission_keys, message_ids, times } of rows) {
    if (status === 'queued' || status === 'sending') continue
    for (const [i, key] of submission_keys.entries()) {
      const recipient = recipientOf(key)
      if (recipient === null) continue
      const change = changes.get(key!) ?? { ...recipient, status, ...nothing }
      changes.set(key!, change)
      if (rankOf[status] > rankOf[change.status as typeof status]) change.status = status
      for (const stamp of stamps[status])
        if (stamp !== 'sending_at' && (change[stamp] === null || times[i]! < change[stamp])) change[stamp] = times[i]!
      if (status === 'failed') change.error = errorOf(message_ids[i]!)
    }
  }
  return [...changes.values()].toSorted((a, b) =>
    a.campaign_id === b.campaign_id ? a.n - b.n : a.campaign_id < b.campaign_id ? -1 : 1,
  )
}

function countsOf(rows: readonly TransitionRow[]): CounterDelta[] {
  const counts = new Map<
    string,
    { campaign_id: string; status: RecipientStatus; recipients: number; wallet_micros: 0; package_credits: 0 }
  >()
  const add = (campaign_id: string, status: RecipientStatus, recipients: number) => {
    const key = `${campaign_id} ${status}`
    const count = counts.get(key) ?? { campaign_id, status, recipients: 0, wallet_micros: 0, package_credits: 0 }
    counts.set(key, { ...count, recipients: count.recipients + recipients })
  }
  for (const { from_status, status, origin_id, message_ids } of rows) {
    if (origin_id === null) continue
    add(origin_id, recipientStatus(from_status), -message_ids.length)
    add(origin_id, recipientStatus(status), message_ids.length)
  }
  return [...counts.values()].filter(({ recipients }) => recipients !== 0)
}

/** Recipients are pending until their message is sent. */
const recipientStatus = (status: TransitionRow['from_status']): RecipientStatus =>
  status === null || status === 'queued' || status === 'sending' ? 'pending' : status

async function costsOf(
  tx: Db,
  tenant: Tenant,
  rows: readonly TransitionRow[],
  failed: readonly string[],
): Promise<CounterDelta[]> {
  const charged = await sumCharged(tx, tenant, idsOf(rows.filter(({ from_status }) => from_status === null)))
  const returned = await sumCharged(tx, tenant, failed)
  const deltas = (sign: 1 | -1, sums: readonly Charged[]): CounterDelta[] =>
    sums.flatMap(({ origin_id, wallet_micros, package_credits }) =>
      origin_id === null || (wallet_micros === 0 && package_credits === 0)
        ? []
        : [
            {
              campaign_id: origin_id,
              status: null,
              recipients: 0,
              wallet_micros: sign * wallet_micros,
              package_credits: sign * package_credits,
            },
          ],
    )
  return [...deltas(1, charged), ...deltas(-1, returned)]
}
