/** Predicts when a campaign's messages would be sent (behaviour: campaigns 7). */
import { TimeSlices } from '../../../lib/concurrency.ts'
import { type SendWindow, WindowTable } from '../sending/send-windows.ts'

export interface Pace {
  /** Milliseconds, as all times here. */
  readonly from: number
  readonly per_second: number
  /** null: all day. */
  readonly window: SendWindow | null
  readonly timezone: string
}

/** '': the campaign's time zone. */
export interface ZoneCount {
  readonly timezone: string
  readonly count: number
}

/** `ends_at` is null beyond the simulated time. */
export interface ExpectedTimes {
  readonly starts_at: number | null
  readonly ends_at: number | null
}

const changesMax = 4000
const yieldEvery = 100

interface Queue {
  readonly timezone: string
  readonly count: number
  /** Positions in the audience; null: assume an even spread. */
  readonly places: readonly number[] | null
  sent: number
  open: boolean
  until: number
}

/** Of the first and last message. `order`: the index of each recipient's zone, in audience order. */
export async function expectedTimes(
  pace: Pace,
  zones: readonly ZoneCount[],
  order: readonly number[] | null,
  slices = new TimeSlices(),
): Promise<ExpectedTimes> {
  const stepMs = 1000 / pace.per_second
  const windows = new WindowTable()
  const queues = queuesOf(zones, order)
  let waiting = queues
  let examined = 0
  let now = pace.from
  let next = pace.from
  let starts_at: number | null = null
  let last: number | null = null
  for (;;) {
    waiting = waiting.filter(({ count, sent }) => sent < count)
    if (waiting.length === 0) return { starts_at, ends_at: last }
    for (const queue of waiting) {
      if (queue.until > now) continue
      if (examined++ >= changesMax) return { starts_at, ends_at: null }
      await slices.next()
      const state = windows.stateOf(
        pace.window,
        queue.timezone === '' ? pace.timezone : queue.timezone,
        pace.timezone,
        now,
      )
      queue.open = state.open
      queue.until = state.until
    }
    const open = waiting.filter((queue) => queue.open)
    const change = Math.min(...waiting.map(({ until }) => until))
    next = Math.max(next, now)
    const capacity = next >= change ? 0 : change === Infinity ? Infinity : Math.ceil((change - next) / stepMs)
    const sent = await take(open, capacity, slices)
    if (sent > 0) {
      starts_at ??= next
      last = next + (sent - 1) * stepMs
      next += sent * stepMs
    }
    now = change
  }
}

function queuesOf(zones: readonly ZoneCount[], order: readonly number[] | null): Queue[] {
  const places: number[][] | null = order === null ? null : zones.map(() => [])
  order?.forEach((zone, place) => places![zone]!.push(place))
  return zones.map(({ timezone, count }, i) => ({
    timezone,
    count,
    places: places?.[i] ?? null,
    sent: 0,
    open: false,
    until: -Infinity,
  }))
}

async function take(open: readonly Queue[], capacity: number, slices: TimeSlices): Promise<number> {
  const remaining = open.reduce((sum, { count, sent }) => sum + count - sent, 0)
  if (remaining <= capacity) {
    for (const queue of open) queue.sent = queue.count
    return remaining
  }
  for (let used = 0; used < capacity; used++) {
    let first: Queue | undefined
    for (const queue of open)
      if (queue.sent < queue.count && (first === undefined || placeOf(queue) < placeOf(first))) first = queue
    first!.sent++
    if (used % yieldEvery === 0) await slices.next()
  }
  return capacity
}

const placeOf = ({ places, sent, count }: Queue): number => places?.[sent] ?? sent / count
