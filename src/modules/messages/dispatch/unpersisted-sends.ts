/**
 * Messages in their providers' hands whose status still says `queued`. A process that is alone may hand over without writing `sending` first:
 * a provider that answers soon saves the write, and whoever would cancel asks here. See docs/decisions/sending-unwritten.md.
 */
import type { Job } from './job.ts'

export interface UnpersistedSends {
  begin(job: Job, at_ms: number): void
  /** Its status says so from here on, or the job has ended. */
  end(message_id: string): void
  has(message_id: string): boolean
  /** Those handed over at or before this time, oldest first, and those at a time that the clock, which was set back, has yet to reach. */
  since(at_ms: number, now_ms: number): { readonly job: Job; readonly at_ms: number }[]
  /** Of messages that are about to be cancelled: keeps those from coming in that are not here yet. `elapsed_ms`: the elapsed time. */
  refuse(message_ids: readonly string[], elapsed_ms: number): void
  refuses(message_id: string): boolean
}

/** What whoever cancels messages needs. */
export interface Withdrawing {
  /**
   * Takes messages that are about to be cancelled out of the memory of this process, and lets none of them in for a while; tells those that it cannot take
   * back, since they are being handed over. Their jobs stay claimed in the table until the cancelling transaction removes them.
   */
  withdraw(message_ids: readonly string[]): ReadonlySet<string>
}

/** Longer than any way from the database into this process takes. */
const refusedForMs = 60_000

export function unpersistedSends(): UnpersistedSends {
  // oldest first
  const begun = new Map<string, { job: Job; at_ms: number }>()
  const refused = new Map<string, number>()
  return {
    begin: (job, at_ms) => void begun.set(job.row.id, { job, at_ms }),
    end: (message_id) => void begun.delete(message_id),
    has: (message_id) => begun.has(message_id),
    since: (at_ms, now_ms) => [...begun.values()].filter((one) => one.at_ms <= at_ms || one.at_ms > now_ms),
    refuse(message_ids, elapsed_ms) {
      for (const [id, at_ms] of refused) {
        if (elapsed_ms - at_ms < refusedForMs) break
        refused.delete(id)
      }
      for (const id of message_ids) {
        refused.delete(id)
        refused.set(id, elapsed_ms)
      }
    },
    refuses: (message_id) => refused.has(message_id),
  }
}
