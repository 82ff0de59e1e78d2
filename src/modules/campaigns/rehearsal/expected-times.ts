/** When a campaign's messages would go out: its pace and its windows, played through without a message (behaviour: campaigns 7). */
import { Turns } from '../../../lib/turns.ts'
import { type SendWindow, WindowTable } from '../sending/send-windows.ts'

export interface Pace {
  /** From when on messages may go out, in milliseconds. */
  readonly from: number
  readonly per_second: number
  /** null: all day. */
  readonly window: SendWindow | null
  /** The campaign's own. */
  readonly timezone: string
}

/** Recipients of one time zone ('': the campaign's own). */
export interface ZoneCount {
  readonly timezone: string
  readonly count: number
}

/** In milliseconds. `ends_at` is null where the end lies beyond what is looked at. */
export interface ExpectedTimes {
  readonly starts_at: number | null
  readonly ends_at: number | null
}

/** Openings and closings of windows looked at, of all time zones together. A year of one zone has 730. */
const changesMax = 4000
/** Messages looked at between two turns of other work. */
const takenAtOnce = 100

interface Queue {
  readonly timezone: string
  readonly count: number
  /** Places in the order of the audience; without them its recipients are taken for evenly spread. */
  readonly places: readonly number[] | null
  sent: number
  open: boolean
  /** Until when it stays as it is, in milliseconds. */
  until: number
}

/**
 * The first and the last message to the recipients of these zones. `order` has the index of each recipient's zone, in the order of the audience: who is first gets the first message
 * that its window lets through.
 */
export async function expectedTimes(
  pace: Pace,
  zones: readonly ZoneCount[],
  order: readonly number[] | null,
  turns = new Turns(),
): Promise<ExpectedTimes> {
  const stepMs = 1000 / pace.per_second
  const windows = new WindowTable()
  const queues = queuesOf(zones, order)
  let waiting = queues
  let looked = 0
  let now = pace.from
  /** When the next message is due. */
  let next = pace.from
  let starts_at: number | null = null
  let last: number | null = null
  for (;;) {
    waiting = waiting.filter(({ count, sent }) => sent < count)
    if (waiting.length === 0) return { starts_at, ends_at: last }
    for (const queue of waiting) {
      if (queue.until > now) continue
      if (looked++ >= changesMax) return { starts_at, ends_at: null }
      await turns.next()
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
    const room = next >= change ? 0 : change === Infinity ? Infinity : Math.ceil((change - next) / stepMs)
    const sent = await take(open, room, turns)
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

/** Takes up to `room` recipients of these queues, the first in the order of the audience first; resolves to how many. */
async function take(open: readonly Queue[], room: number, turns: Turns): Promise<number> {
  const left = open.reduce((sum, { count, sent }) => sum + count - sent, 0)
  if (left <= room) {
    for (const queue of open) queue.sent = queue.count
    return left
  }
  for (let taken = 0; taken < room; taken++) {
    let first: Queue | undefined
    for (const queue of open)
      if (queue.sent < queue.count && (first === undefined || placeOf(queue) < placeOf(first))) first = queue
    first!.sent++
    if (taken % takenAtOnce === 0) await turns.next()
  }
  return room
}

const placeOf = ({ places, sent, count }: Queue): number => places?.[sent] ?? sent / count
