/** Messages in the memory of this process, waiting to be handed over: fair across queues, priority first, within each channel's rate. */
import { ranks, type Priority } from '../../../api/resources/message.ts'
import type { Job } from './job.ts'

export interface Backlog {
  /** The number of jobs waiting. */
  readonly size: number
  has(message_id: string): boolean
  /** One job of every queue that has any: the next that would go. */
  heads(): Job[]
  /** How many of a queue wait with this priority. */
  count(queue: string, priority: Priority): number
  add(queue: string, job: Job): void
  /**
   * Takes up to `count` jobs, an equal share of every queue, priority first; what some may not use goes to the others.
   * `allowance` tells how many more jobs of a queue may go now; who is granted less than it wants is not asked again.
   */
  take(count: number, allowance: (queue: string, job: Job, wanted: number) => number): Job[]
  /** Removes jobs that the predicate names. */
  drop(predicate: (job: Job) => boolean): Job[]
}

/** Of a queue that is not empty. */
const headOf = (lists: readonly Job[][]): Job => lists.find((list) => list.length > 0)![0]!

export function backlog(): Backlog {
  // per queue one list for each priority; they go round in the order of insertion
  const queues = new Map<string, [Job[], Job[], Job[]]>()
  const ids = new Set<string>()

  const takeFrom = (lists: [Job[], Job[], Job[]], count: number): Job[] => {
    const taken: Job[] = []
    for (const list of lists) {
      if (taken.length === count) break
      taken.push(...list.splice(0, count - taken.length))
    }
    return taken
  }

  return {
    get size() {
      return ids.size
    },
    has: (message_id) => ids.has(message_id),
    heads: () => [...queues.values()].map(headOf),
    count: (queue, priority) => queues.get(queue)?.[ranks[priority]].length ?? 0,
    add(queue, job) {
      if (ids.has(job.row.id)) return
      ids.add(job.row.id)
      const lists = queues.get(queue) ?? [[], [], []]
      lists[ranks[job.row.priority]].push(job)
      queues.set(queue, lists)
    },
    take(count, allowance) {
      const taken: Job[] = []
      // a queue that still has jobs goes to the end, so what comes in this round is fixed first
      for (let round = [...queues]; round.length > 0 && taken.length < count;) {
        const share = Math.ceil((count - taken.length) / round.length)
        const unsated: typeof round = []
        for (const [queue, lists] of round) {
          if (taken.length >= count) break
          const waiting = lists[0].length + lists[1].length + lists[2].length
          const wanted = Math.min(waiting, share, count - taken.length)
          const allowed = allowance(queue, headOf(lists), wanted)
          taken.push(...takeFrom(lists, allowed))
          queues.delete(queue)
          if (allowed < waiting) queues.set(queue, lists)
          if (allowed === wanted && allowed < waiting) unsated.push([queue, lists])
        }
        round = unsated
      }
      for (const job of taken) ids.delete(job.row.id)
      return taken
    },
    drop(predicate) {
      const dropped: Job[] = []
      for (const [queue, lists] of queues) {
        const kept = lists.map((list) => list.filter((job) => !predicate(job) || (dropped.push(job), false))) as [
          Job[],
          Job[],
          Job[],
        ]
        if (kept.every((list) => list.length === 0)) queues.delete(queue)
        else queues.set(queue, kept)
      }
      for (const job of dropped) ids.delete(job.row.id)
      return dropped
    },
  }
}
