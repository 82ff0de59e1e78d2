/** A job: one outbound message on its way to its provider, in the hands of this process. */
import { limits } from '../../../api/limits.ts'
import type { MessageRow } from '../message.ts'
import type { OriginType } from '../../../api/resources/message.ts'
import type { Session } from '../../../providers/provider.ts'

export interface Job {
  /** As this process last wrote it when the job was read (`latest` of what is in hand). */
  readonly row: MessageRow
  /** Hand-overs so far. */
  readonly attempts: number
  /** How many of them had no answer; absent: none. */
  readonly unknowns?: number
  /** Taken from the table, not handed on in memory. */
  readonly claimed: boolean
  /** Perhaps handed over already: nobody knows what came of it that time. */
  readonly outcome_unknown: boolean
  /** The provider's ids of what it took of the message, at earlier hand-overs and at the one that is under way; absent: nothing. */
  readonly accepted_ids?: readonly string[]
  /** When it was to go, in milliseconds since 1970. */
  readonly due_ms: number
  /** When the claim ends: nothing is handed over that could still be under way then. With the message it names the claim. */
  readonly lease_until_ms: number
  /** Chosen to go first while its channel's circuit is open. */
  readonly probe?: true
}

/** How long a hand-over may take. */
export const sendTimeoutMs = 30_000

/** Messages of one account and channel wait in one queue. */
export const queueOf = (row: { readonly account_id: string; readonly channel_id: string }): string =>
  `${row.account_id}:${row.channel_id}`

/** Until when a message may be handed over, in milliseconds. */
export const validUntil = ({ row }: Job): number => {
  if (row.expires_at !== null) return Date.parse(row.expires_at)
  // a time in the past means at once
  return (
    Math.max(Date.parse(row.created_at), row.send_at === null ? 0 : Date.parse(row.send_at)) +
    limits.message_validity_ms
  )
}

/** The times of the messages of one origin kind. */
export interface SendTimes {
  readonly origin: OriginType
  /** Of these messages those that may not go now, by their ids, each with the time in milliseconds at which it may. */
  notBefore(rows: readonly MessageRow[]): Promise<ReadonlyMap<string, number>>
}

/** Of these jobs those that may not go now, each with the time in milliseconds at which it may. */
export async function jobsNotBefore(
  times: readonly SendTimes[],
  jobs: readonly Job[],
): Promise<ReadonlyMap<Job, number>> {
  const later = new Map<Job, number>()
  for (const { origin, notBefore } of times) {
    const asked = jobs.filter(({ row }) => row.origin_type === origin)
    if (asked.length === 0) continue
    const found = await notBefore(asked.map(({ row }) => row))
    for (const job of asked) if (found.has(job.row.id)) later.set(job, found.get(job.row.id)!)
  }
  return later
}

export interface Sessions {
  /** Whether messages of the channel go through a session that is open in this process. */
  sends(channel_id: string): boolean
  find(channel_id: string): Session | undefined
}

export const sessionsOf = (find: Sessions['find']): Sessions => ({
  find,
  sends: (channel_id) => find(channel_id)?.send !== undefined,
})
