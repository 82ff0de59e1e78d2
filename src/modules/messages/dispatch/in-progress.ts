/** Jobs in this process: waiting in memory, being sent, or being written. */
import { messageLength } from '../message.ts'
import { backlog, type Backlog } from './backlog.ts'
import { type Job, queueOf } from './job.ts'

export interface InProgress {
  readonly waiting: Backlog
  /** Attempts whose messages are still `queued` in the table. */
  readonly unpersisted: UnpersistedSends
  readonly size: number
  /** Approximate characters of the messages, of all accounts or of one. */
  readonly characters: number
  charactersOf(account_id: string): number
  readonly running: number
  runningOf(queue: string): number
  runningByType(): Map<string, number>
  /** Waiting jobs found all places used. */
  setPlacesWanted(wanting: boolean): void
  /** Reported once. */
  takePlacesWanted(): boolean
  has(message_id: string): boolean
  add(job: Job): void
  begin(job: Job): void
  /** Jobs are immutable; earlier versions remain valid as arguments. */
  update(job: Job, written: Partial<Pick<Job, 'row' | 'accepted_ids'>>): Job
  latest(job: Job): Job
  /** Ignored for an ended job. */
  end(job: Job): void
  drop(predicate: (job: Job) => boolean): Job[]
  withdraw(message_ids: readonly string[], elapsed_ms: number): ReadonlySet<string>
}

function runningJobs() {
  // by identity: a job that ended may be claimed again while an old version is in use
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
    /** False if the job had ended. */
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

/** The ids of jobs, with the size of their messages. */
function memoryUse() {
  const jobs = new Map<string, { readonly account_id: string; readonly characters: number }>()
  const accounts = new Map<string, number>()
  let characters = 0
  const change = (account_id: string, by: number): void => {
    characters += by
    const sum = (accounts.get(account_id) ?? 0) + by
    if (sum === 0) accounts.delete(account_id)
    else accounts.set(account_id, sum)
  }
  return {
    get size() {
      return jobs.size
    },
    get characters() {
      return characters
    },
    ofAccount: (account_id: string): number => accounts.get(account_id) ?? 0,
    has: (message_id: string): boolean => jobs.has(message_id),
    add({ row }: Job): void {
      const { id, account_id } = row
      if (jobs.has(id)) return
      const size = messageLength(row)
      jobs.set(id, { account_id, characters: size })
      change(account_id, size)
    },
    delete(message_id: string): void {
      const job = jobs.get(message_id)
      if (job === undefined) return
      jobs.delete(message_id)
      change(job.account_id, -job.characters)
    },
  }
}

export function inProgress(): InProgress {
  const [waiting, unpersisted, running] = [backlog(), unpersistedSends(), runningJobs()]
  const ids = memoryUse()
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
    get characters() {
      return ids.characters
    },
    charactersOf: ids.ofAccount,
    get running() {
      return ids.size - waiting.size
    },
    runningOf: running.ofQueue,
    runningByType: running.byType,
    setPlacesWanted: (found) => void (wanting = found),
    takePlacesWanted() {
      const were = wanting
      wanting = false
      return were
    },
    has: (message_id) => ids.has(message_id),
    add(job) {
      ids.add(job)
      waiting.add(queueOf(job.row), job)
    },
    begin(job) {
      ids.add(job)
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
  end(message_id: string): void
  has(message_id: string): boolean
  /** Oldest first; includes attempts from before the clock was set back. */
  since(at_ms: number, now_ms: number): { readonly job: Job; readonly at_ms: number }[]
  refuse(message_ids: readonly string[], elapsed_ms: number): void
  refuses(message_id: string): boolean
}

export interface Withdrawing {
  /**
   * Removes messages about to be cancelled, refuses them for a while, and returns those being sent. The cancelling
   * transaction deletes their jobs.
   */
  withdraw(message_ids: readonly string[]): ReadonlySet<string>
}

/** Longer than a job takes from the database into this process. */
const refusedForMs = 60_000

function unpersistedSends(): UnpersistedSends {
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
