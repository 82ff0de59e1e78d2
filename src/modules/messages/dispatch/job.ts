/** A job: an outbound message that this process is about to send. */
import { limits } from '../../../api/limits.ts'
import type { MessageRow } from '../message.ts'
import type { OriginType } from '../../../api/resources/message.ts'
import type { Session } from '../../../providers/provider.ts'

export interface Job {
  /** As this process last wrote it. */
  readonly row: MessageRow
  readonly attempts: number
  readonly unknowns?: number
  /** From the table, not from memory. */
  readonly claimed: boolean
  /** An earlier attempt may have reached the provider. */
  readonly outcome_unknown: boolean
  /** Parts that the provider has accepted. */
  readonly accepted_ids?: readonly string[]
  readonly due_ms: number
  /** Bounds the attempt, and with the message identifies the claim. */
  readonly lease_until_ms: number
  readonly probe?: true
}

export const sendTimeoutMs = 30_000

export const queueOf = (row: { readonly account_id: string; readonly channel_id: string }): string =>
  `${row.account_id}:${row.channel_id}`

/** Milliseconds since 1970. */
export const validUntil = ({ row }: Job): number => {
  if (row.expires_at !== null) return Date.parse(row.expires_at)
  // a past `send_at` means at once
  return (
    Math.max(Date.parse(row.created_at), row.send_at === null ? 0 : Date.parse(row.send_at)) +
    limits.message_validity_ms
  )
}

export interface SendTimes {
  readonly origin: OriginType
  /** In milliseconds since 1970, for messages that must wait. */
  notBefore(rows: readonly MessageRow[]): Promise<ReadonlyMap<string, number>>
}

export async function jobsNotBefore(
  times: readonly SendTimes[],
  jobs: readonly Job[],
): Promise<ReadonlyMap<Job, number>> {
  const later = new Map<Job, number>()
  for (const { origin, notBefore } of times) {
    const candidates = jobs.filter(({ row }) => row.origin_type === origin)
    if (candidates.length === 0) continue
    const found = await notBefore(candidates.map(({ row }) => row))
    for (const job of candidates) if (found.has(job.row.id)) later.set(job, found.get(job.row.id)!)
  }
  return later
}

export interface Sessions {
  sends(channel_id: string): boolean
  find(channel_id: string): Session | undefined
}

export const sessionsOf = (find: Sessions['find']): Sessions => ({
  find,
  sends: (channel_id) => find(channel_id)?.send !== undefined,
})
