/** What this process has in hand: jobs that wait in its memory, and jobs that are being handed over or written. */
import { backlog, type Backlog } from './backlog.ts'
import { queueOf, type Job } from './job.ts'
import { unpersistedSends, type UnpersistedSends } from './unpersisted-sends.ts'

export interface InHand {
  readonly waiting: Backlog
  /** Those being handed over whose status does not say so. */
  readonly unpersisted: UnpersistedSends
  /** How many jobs there are, waiting or not. */
  readonly size: number
  /** How many do not wait. */
  readonly running: number
  runningOf(queue: string): number
  /** How many are being handed over, by channel type. */
  runningByType(): Map<string, number>
  /** Some that wait could go, and found no place among those under way: set by the scheduler, and by who gives places back. */
  short: boolean
  has(message_id: string): boolean
  /** Takes a job into memory, where it waits. */
  add(job: Job): void
  /** It does not wait: it is handed over, or ended. */
  begin(job: Job): void
  /** It is written, or given back; of a job that has ended already, nothing changes. */
  end(job: Job): void
  /** Takes out of memory what waits there and the predicate names. */
  drop(predicate: (job: Job) => boolean): Job[]
  /** As `Withdrawing` says, at this time. */
  withdraw(message_ids: readonly string[], now_ms: number): ReadonlySet<string>
}

export function inHand(): InHand {
  const waiting = backlog()
  const unpersisted = unpersistedSends()
  const ids = new Set<string>()
  // the jobs themselves: one that ended may be claimed anew while someone still holds the old one
  const running = new Set<Job>()
  const runningByQueue = new Map<string, number>()
  const drop = (predicate: (job: Job) => boolean): Job[] => {
    const dropped = waiting.drop(predicate)
    for (const job of dropped) ids.delete(job.row.id)
    return dropped
  }
  return {
    waiting,
    unpersisted,
    get size() {
      return ids.size
    },
    get running() {
      return ids.size - waiting.size
    },
    runningOf: (queue) => runningByQueue.get(queue) ?? 0,
    runningByType() {
      const counts = new Map<string, number>()
      for (const { row } of running) counts.set(row.channel_type, (counts.get(row.channel_type) ?? 0) + 1)
      return counts
    },
    short: false,
    has: (message_id) => ids.has(message_id),
    add(job) {
      ids.add(job.row.id)
      waiting.add(queueOf(job.row), job)
    },
    begin(job) {
      const queue = queueOf(job.row)
      ids.add(job.row.id)
      running.add(job)
      runningByQueue.set(queue, (runningByQueue.get(queue) ?? 0) + 1)
    },
    end(job) {
      if (!running.delete(job)) return
      const queue = queueOf(job.row)
      ids.delete(job.row.id)
      unpersisted.end(job.row.id)
      const left = (runningByQueue.get(queue) ?? 1) - 1
      if (left <= 0) runningByQueue.delete(queue)
      else runningByQueue.set(queue, left)
    },
    drop,
    withdraw(message_ids, now_ms) {
      const wanted = new Set(message_ids)
      unpersisted.refuse(message_ids, now_ms)
      if (message_ids.some((id) => waiting.has(id))) drop(({ row }) => row.status === 'queued' && wanted.has(row.id))
      return new Set(message_ids.filter((id) => unpersisted.has(id)))
    },
  }
}
