/** Limits, orders and shares asynchronous work within this process. */
import { pause } from './clock.ts'

/** In the given order. */
export function limitConcurrency(max: number): <T>(work: () => Promise<T>) => Promise<T> {
  let running = 0
  const waiting: (() => void)[] = []
  return async (work) => {
    if (running >= max) await new Promise<void>((resolve) => waiting.push(resolve))
    else running += 1
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      if (next === undefined) running -= 1
      else next()
    }
  }
}

/**
 * At most `max` at once; keys take turns, so that one with many waiting does not delay the others. `refuse` makes the
 * error for work beyond `per_key` of a key, or beyond `all`, running or waiting.
 */
export function fairTurns(
  { max, per_key, all }: { readonly max: number; readonly per_key: number; readonly all: number },
  refuse: () => Error,
): <T>(key: string, work: () => Promise<T>) => Promise<T> {
  const counts = new Map<string, number>()
  const waiting = new Map<string, (() => void)[]>()
  let [running, total] = [0, 0]
  const wait = async (key: string) =>
    await new Promise<void>((resolve) => {
      const queue = waiting.get(key)
      if (queue === undefined) waiting.set(key, [resolve])
      else queue.push(resolve)
    })
  const wakeNext = () => {
    const [first] = waiting
    if (first === undefined) {
      running -= 1
      return
    }
    const [key, queue] = first
    waiting.delete(key)
    const next = queue.shift()!
    if (queue.length > 0) waiting.set(key, queue)
    next()
  }
  return async (key, work) => {
    const own = counts.get(key) ?? 0
    if (own >= per_key || total >= all) throw refuse()
    counts.set(key, own + 1)
    total += 1
    if (running >= max) await wait(key)
    else running += 1
    try {
      return await work()
    } finally {
      const left = counts.get(key)! - 1
      if (left === 0) counts.delete(key)
      else counts.set(key, left)
      total -= 1
      wakeNext()
    }
  }
}

export class InOrder {
  readonly #last = new Map<string, Promise<unknown>>()

  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(key) ?? Promise.resolve()
    const mine = before.then(work, work)
    this.#last.set(key, mine)
    try {
      return await mine
    } finally {
      if (this.#last.get(key) === mine) this.#last.delete(key)
    }
  }
}

/** Real time, because the thread is shared. */
const sliceMs = 5

/** Divides long computations into slices of a few milliseconds with equal breaks. */
export class TimeSlices {
  readonly #ended: AbortSignal | undefined
  #beganMs = performance.now()

  constructor(ended?: AbortSignal) {
    this.#ended = ended
  }

  /** Await this between steps of less than a millisecond. Rejects with the reason of `ended`. */
  async next(): Promise<void> {
    if (performance.now() - this.#beganMs < sliceMs) return
    await pause(sliceMs)
    this.#ended?.throwIfAborted()
    this.#beganMs = performance.now()
  }
}

/** About `most` items. A key with many items only takes the capacity that others leave. */
export function roundRobin<Item>(items: readonly Item[], keyOf: (item: Item) => string, most = Infinity): Item[] {
  const ordered: Item[] = []
  let queues = [...Map.groupBy(items, keyOf).values()]
  for (let turn = 0; queues.length > 0 && ordered.length < most; turn++) {
    for (const own of queues) ordered.push(own[turn]!)
    queues = queues.filter(({ length }) => length > turn + 1)
  }
  return ordered
}

/**
 * Resolves when the batch has `full` items, `due` (milliseconds of `performance.now()`) has passed, or nothing was
 * added for a millisecond (docs/decisions/group-commit.md).
 */
export async function batchFilled(waiting: () => number, full: number, due: number): Promise<void> {
  let before = -1
  for (let now = waiting(); now < full && now > before && performance.now() < due; now = waiting()) {
    before = now
    await pause(1)
  }
}

/** A failed call is repeated at the next request. */
export function once<T>(make: () => Promise<T>): () => Promise<T> {
  const made = onceEach<T>()
  return () => made('', make)
}

export function onceEach<T>(): (name: string, make: () => Promise<T>) => Promise<T> {
  const made = new Map<string, Promise<T>>()
  return (name, make) => {
    const known = made.get(name)
    if (known !== undefined) return known
    const making = make()
    made.set(name, making)
    making.catch(() => made.delete(name))
    return making
  }
}
