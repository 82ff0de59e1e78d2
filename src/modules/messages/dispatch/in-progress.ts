/** What this process has in hand: jobs that wait in its memory, and jobs that are being handed over or written. */
import { backlog, type Backlog } from './backlog.ts'
import { type Job, queueOf } from './job.ts'

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
  /** Whether some that wait could go and found no place among those under way, as the scheduler found it. */
  findPlaces(wanting: boolean): void
  /** Whether somebody waits for the places that were given back; told once. */
  placesWanted(): boolean
  has(message_id: string): boolean
  /** Takes a job into memory, where it waits. */
  add(job: Job): void
  /** It does not wait: it is handed over, or ended. */
  begin(job: Job): void
  /** What was written of a job that is running: its row, or what was taken of it. Yields the job as it is now; jobs do not change themselves, and an earlier one stands for it wherever one is asked for. */
  update(job: Job, written: Partial<Pick<Job, 'row' | 'accepted_ids'>>): Job
  /** The job as it was last written. */
  latest(job: Job): Job
  /** It is written, or given back; of a job that has ended already, nothing changes. */
  end(job: Job): void
  /** Takes out of memory what waits there and the predicate names. */
  drop(predicate: (job: Job) => boolean): Job[]
  /** As `Withdrawing` says, at this time. */
  withdraw(message_ids: readonly string[], elapsed_ms: number): ReadonlySet<string>
}

/** The jobs that do not wait, each as it was last written. */
function runningJobs() {
  // the jobs themselves: one that ended may be claimed anew while someone still holds the old one
  const running = new Set<Job>()
  const byQueue = new Map<string, number>()
  const successors = new WeakMap<Job, Job>()
  const latest = (job: Job): Job => {
    let known = job
    for (let next = successors.get(known); next !== undefined; next = successors.get(known)) known = next
    return known
  }
  return {
    latest,
    update(job: Job, written: Partial<Pick<Job, 'row' | 'accepted_ids'>>): Job {
      const before = latest(job)
      const after = { ...before, ...written }
      successors.set(before, after)
      if (running.delete(before)) running.add(after)
      return after
    },
    begin(job: Job): void {
      const queue = queueOf(job.row)
      running.add(job)
      byQueue.set(queue, (byQueue.get(queue) ?? 0) + 1)
    },
    /** false: it has ended before. */
    end(job: Job): boolean {
      if (!running.delete(latest(job))) return false
      const queue = queueOf(job.row)
      const left = (byQueue.get(queue) ?? 1) - 1
      if (left <= 0) byQueue.delete(queue)
      else byQueue.set(queue, left)
      return true
    },
    ofQueue: (queue: string): number => byQueue.get(queue) ?? 0,
    byType(): Map<string, number> {
      const counts = new Map<string, number>()
      for (const { row } of running) counts.set(row.channel_type, (counts.get(row.channel_type) ?? 0) + 1)
      return counts
    },
  }
}

export function inHand(): InHand {
  const [waiting, unpersisted, running] = [backlog(), unpersistedSends(), runningJobs()]
  const ids = new Set<string>()
  let wanting = false
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
    runningOf: running.ofQueue,
    runningByType: running.byType,
    findPlaces: (found) => void (wanting = found),
    placesWanted() {
      const were = wanting
      wanting = false
      return were
    },
    has: (message_id) => ids.has(message_id),
    add(job) {
      ids.add(job.row.id)
      waiting.add(queueOf(job.row), job)
    },
    begin(job) {
      ids.add(job.row.id)
      running.begin(job)
    },
    update: running.update,
    latest: running.latest,
    end(job) {
      if (!running.end(job)) return
      ids.delete(job.row.id)
      unpersisted.end(job.row.id)
    },
    drop,
    withdraw(message_ids, elapsed_ms) {
      const wanted = new Set(message_ids)
      unpersisted.refuse(message_ids, elapsed_ms)
      if (message_ids.some((id) => waiting.has(id))) drop(({ row }) => row.status === 'queued' && wanted.has(row.id))
      return new Set(message_ids.filter((id) => unpersisted.has(id)))
    },
  }
}

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

function unpersistedSends(): UnpersistedSends {
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
