/** Messages that wait in memory. */
import { ranks, type Priority } from '../../../api/resources/message.ts'
import type { Job } from './job.ts'

export interface Backlog {
  readonly size: number
  has(message_id: string): boolean
  heads(): Job[]
  count(queue: string, priority: Priority): number
  add(queue: string, job: Job): void
  /**
   * An equal share of each queue, high priority first; unused shares go to other queues. `allowance`: how many of the
   * wanted jobs may run now.
   */
  take(count: number, allowance: (queue: string, job: Job, wanted: number) => number): Job[]
  drop(predicate: (job: Job) => boolean): Job[]
}

const headOf = (lists: readonly Job[][]): Job => lists.find((list) => list.length > 0)![0]!

type Lists = [Job[], Job[], Job[]]

function takeFrom(lists: Lists, count: number): Job[] {
  const taken: Job[] = []
  for (const list of lists) {
    if (taken.length === count) break
    taken.push(...list.splice(0, count - taken.length))
  }
  return taken
}

export function backlog(): Backlog {
  // one list per priority
  const queues = new Map<string, Lists>()
  const ids = new Set<string>()

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
      // a queue with more jobs moves to the end, so the queues of this round are copied first
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
        const kept = lists.map((list) => list.filter((job) => !predicate(job) || (dropped.push(job), false))) as Lists
        if (kept.every((list) => list.length === 0)) queues.delete(queue)
        else queues.set(queue, kept)
      }
      for (const job of dropped) ids.delete(job.row.id)
      return dropped
    },
  }
}
