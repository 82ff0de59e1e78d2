/** Bounds the memory and the time that request bodies take: while they arrive, and while they are parsed and handled. */
import { getHeapStatistics } from 'node:v8'
import { Problem, retrySoon } from '../../api/problem.ts'
import { pause } from '../../lib/clock.ts'

export interface BudgetBounds {
  readonly sender_bytes_max: number
  readonly bytes_max: number
}

export interface BodyReservation {
  /** May evict this body or an older one. */
  grow(bytes: number): void
  release(): void
}

export interface BodyBudget {
  /** For a body that arrives or waits. `evict` is called at most once; the reservation is then released. */
  reserve(sender: string, evict: (problem: Problem) => void): BodyReservation
  /** For a complete body: at once if it is small and fits, otherwise when it is its turn. */
  enter(sender: string, bytes: number): Admission | Promise<Admission>
}

export interface Admission {
  /** The body needs no more time of the thread: the next heavy one of the sender may begin. */
  checked(): void
  /** Must be called when the request has been handled. */
  done(): void
}

/** Approximate heap bytes for each byte of a body, with its parsed value and the copies that validation makes. */
const heapPerByte = 8
/** A larger body takes more than a millisecond or two to parse and check. */
const heavyBytes = 32 * 1024

export const isHeavy = (bytes: number): boolean => bytes >= heavyBytes

const megabyte = 1024 * 1024
const usualBounds: BudgetBounds = { sender_bytes_max: 64 * megabyte, bytes_max: 256 * megabyte }
/** Part of the heap for bodies that are handled, and part of that for one sender. */
const [heapShare, senderShare] = [4, 4]

interface Entry {
  readonly sender: Sender
  readonly evict: (problem: Problem) => void
  bytes: number
}

interface Sender {
  readonly entries: Set<Entry>
  bytes: number
}

/** Over a limit the oldest incomplete body is evicted: 429 over the limit of its sender, 503 over the total. */
export function bodyBudget(
  bounds: BudgetBounds = usualBounds,
  handling_max: number = getHeapStatistics().heap_size_limit / heapShare,
): BodyBudget {
  const queue = new HandlingQueue(handling_max)
  const senders = new Map<string, Sender>()
  const entries = new Set<Entry>()
  let bytes = 0

  function release(name: string, entry: Entry): void {
    if (!entries.delete(entry)) return
    const { sender } = entry
    sender.entries.delete(entry)
    sender.bytes -= entry.bytes
    bytes -= entry.bytes
    if (sender.entries.size === 0) senders.delete(name)
  }

  return {
    reserve(name, evict) {
      let sender = senders.get(name)
      if (sender === undefined) senders.set(name, (sender = { entries: new Set(), bytes: 0 }))
      const entry: Entry = { sender, bytes: 0, evict: (problem) => (release(name, entry), evict(problem)) }
      entries.add(entry)
      sender.entries.add(entry)
      return {
        grow(more) {
          if (!entries.has(entry)) return
          entry.bytes += more
          sender.bytes += more
          bytes += more
          while (sender.bytes > bounds.sender_bytes_max) first(sender.entries).evict(tooMuchOfOne(bounds))
          while (bytes > bounds.bytes_max) first(entries).evict(tooMuch())
        },
        release: () => release(name, entry),
      }
    },
    enter: (sender, length) => queue.enter(sender, length * heapPerByte, isHeavy(length)),
  }
}

/** Breaks shorter than this are not worth a timer. */
const breakMinMs = 2

interface Waiting {
  readonly cost: number
  readonly heavy: boolean
  readonly begin: (admission: Admission) => void
}

interface Handling {
  readonly waiting: Waiting[]
  cost: number
  /** A heavy body is being parsed and checked. */
  heavy: boolean
}

/**
 * Admits bodies up to a total cost. Of one sender a heavy one is checked at a time. Those of different senders are
 * admitted in turn, with breaks as long as the work before, because parsing blocks the thread.
 */
class HandlingQueue {
  readonly #max: number
  readonly #senders = new Map<string, Handling>()
  #cost = 0
  #waiting = 0
  #running = false

  constructor(max: number) {
    this.#max = max
  }

  enter(sender: string, cost: number, heavy: boolean): Admission | Promise<Admission> {
    let own = this.#senders.get(sender)
    if (own === undefined) this.#senders.set(sender, (own = { waiting: [], cost: 0, heavy: false }))
    if (!heavy && this.#fits(own, cost)) return this.#begin(sender, own, { cost, heavy })
    const { promise, resolve } = Promise.withResolvers<Admission>()
    own.waiting.push({ cost, heavy, begin: resolve })
    this.#waiting++
    this.#wake()
    return promise
  }

  /** A single body is admitted whatever its cost. */
  #fits(own: Handling, cost: number): boolean {
    return (
      (this.#cost === 0 || this.#cost + cost <= this.#max) &&
      (own.cost === 0 || own.cost + cost <= this.#max / senderShare)
    )
  }

  #begin(sender: string, own: Handling, { cost, heavy }: Pick<Waiting, 'cost' | 'heavy'>): Admission {
    own.cost += cost
    own.heavy ||= heavy
    this.#cost += cost
    let isChecked = !heavy
    const checked = () => {
      if (isChecked) return
      isChecked = true
      own.heavy = false
      this.#wake()
    }
    return {
      checked,
      done: () => {
        own.cost -= cost
        this.#cost -= cost
        if (own.cost === 0 && own.waiting.length === 0) this.#senders.delete(sender)
        checked()
        this.#wake()
      },
    }
  }

  #wake(): void {
    if (this.#running || this.#waiting === 0) return
    this.#running = true
    void this.#run()
  }

  async #run(): Promise<void> {
    while (this.#admitNext()) {
      const beganMs = performance.now()
      // the body is parsed and checked before the next turn of the event loop
      await new Promise((resolve) => setImmediate(resolve))
      const tookMs = performance.now() - beganMs
      if (tookMs > breakMinMs) await pause(tookMs)
    }
    this.#running = false
  }

  #admitNext(): boolean {
    for (const [sender, own] of this.#senders) {
      const [next] = own.waiting
      if (next === undefined || (next.heavy && own.heavy) || !this.#fits(own, next.cost)) continue
      own.waiting.shift()
      this.#waiting--
      // behind the others
      this.#senders.delete(sender)
      this.#senders.set(sender, own)
      next.begin(this.#begin(sender, own, next))
      return true
    }
    return false
  }
}

const first = (entries: ReadonlySet<Entry>): Entry => entries.values().next().value!

const tooMuchOfOne = ({ sender_bytes_max }: BudgetBounds): Problem =>
  new Problem(
    'rate_limit_exceeded',
    `More than ${sender_bytes_max / megabyte} MB of request bodies were arriving at once, and this one had taken longest. Send fewer at a time, or faster.`,
    { headers: { ...retrySoon, connection: 'close' } },
  )

const tooMuch = (): Problem =>
  new Problem(
    'upstream_unavailable',
    'Too many request bodies are arriving at once, and this one had taken longest. Repeat later with backoff.',
    {
      headers: { ...retrySoon, connection: 'close' },
    },
  )
