/** Many deadlines with one timer per duration: those of the same duration expire in the order of their creation. */
import type { SteadyClock } from './clock.ts'

export interface Deadline {
  readonly over: boolean
  cancel(): void
}

export interface Deadlines {
  add(ms: number, expire: () => void): Deadline
}

interface Entry extends Deadline {
  over: boolean
  /** Elapsed time of the clock. */
  readonly at: number
  expire: (() => void) | undefined
  next: Entry | undefined
}

interface Queue {
  first: Entry | undefined
  last: Entry
}

export function deadlines(clock: Pick<SteadyClock, 'elapsed' | 'sleep'>, signal: AbortSignal): Deadlines {
  const queues = new Map<number, Queue>()
  return {
    add(ms, expire) {
      const entry: Entry = {
        at: clock.elapsed() + ms,
        expire,
        over: false,
        next: undefined,
        cancel() {
          entry.expire = undefined
        },
      }
      const queue = queues.get(ms)
      if (queue === undefined) {
        const made = { first: entry, last: entry }
        queues.set(ms, made)
        void watch(ms, made)
      } else if (queue.first === undefined) {
        // `expire` of the last entry adds another one
        queue.first = queue.last = entry
      } else {
        queue.last.next = entry
        queue.last = entry
      }
      return entry
    },
  }

  async function watch(ms: number, queue: Queue): Promise<void> {
    while (queue.first !== undefined && !signal.aborted) {
      const entry = queue.first
      const wait = entry.at - clock.elapsed()
      if (wait > 0 && entry.expire !== undefined) {
        await clock.sleep(wait, signal)
        continue
      }
      queue.first = entry.next
      if (entry.expire === undefined) continue
      entry.over = true
      entry.expire()
    }
    queues.delete(ms)
  }
}
