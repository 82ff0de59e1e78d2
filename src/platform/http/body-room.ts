/** How much of unfinished bodies is held in memory: whoever sends slowly has what was sent kept for as long as a request may take. */
import { Problem, retrySoon } from '../../api/problem.ts'

/** Of one sender, and of all together. */
export interface RoomBounds {
  readonly sender_bytes_max: number
  readonly bytes_max: number
}

/** One unfinished body. */
export interface BodyPlace {
  /** So many bytes more are held; may give up this body or an older one. */
  grow(bytes: number): void
  /** Nothing of it is held any more, or it is complete. */
  leave(): void
}

export interface BodyRoom {
  /** A body of this sender begins. `giveUp` is told at most once, with the refusal, where others need its room; then it has left. */
  enter(sender: string, giveUp: (problem: Problem) => void): BodyPlace
}

const megabyte = 1024 * 1024
const usualBounds: RoomBounds = { sender_bytes_max: 64 * megabyte, bytes_max: 256 * megabyte }

interface Entry {
  readonly sender: Sender
  readonly giveUp: (problem: Problem) => void
  bytes: number
}

interface Sender {
  /** Oldest first, as those of all. */
  readonly entries: Set<Entry>
  bytes: number
}

/**
 * Past a bound the body that began first is given up, for it is the slowest: a client in earnest is done within moments, so that those who are not make room for it.
 * Its sender is told 429 where the room was its own, and 503 where it was everybody's.
 */
export function bodyRoom(bounds: RoomBounds = usualBounds): BodyRoom {
  const senders = new Map<string, Sender>()
  const entries = new Set<Entry>()
  let bytes = 0

  function leave(name: string, entry: Entry): void {
    if (!entries.delete(entry)) return
    const { sender } = entry
    sender.entries.delete(entry)
    sender.bytes -= entry.bytes
    bytes -= entry.bytes
    if (sender.entries.size === 0) senders.delete(name)
  }

  return {
    enter(name, giveUp) {
      let sender = senders.get(name)
      if (sender === undefined) senders.set(name, (sender = { entries: new Set(), bytes: 0 }))
      const entry: Entry = { sender, bytes: 0, giveUp: (problem) => (leave(name, entry), giveUp(problem)) }
      entries.add(entry)
      sender.entries.add(entry)
      return {
        grow(more) {
          if (!entries.has(entry)) return
          entry.bytes += more
          sender.bytes += more
          bytes += more
          while (sender.bytes > bounds.sender_bytes_max) first(sender.entries).giveUp(tooMuchOfOne(bounds))
          while (bytes > bounds.bytes_max) first(entries).giveUp(tooMuch())
        },
        leave: () => leave(name, entry),
      }
    },
  }
}

const first = (entries: ReadonlySet<Entry>): Entry => entries.values().next().value!

const tooMuchOfOne = ({ sender_bytes_max }: RoomBounds): Problem =>
  new Problem(
    'rate_limit_exceeded',
    `More than ${sender_bytes_max / megabyte} MB of bodies were on their way at once, and this one had taken longest. Send fewer at a time, or faster.`,
    { headers: { ...retrySoon, connection: 'close' } },
  )

const tooMuch = (): Problem =>
  new Problem(
    'upstream_unavailable',
    'More bodies are on their way than there is room for, and this one had taken longest. Repeat later with backoff.',
    {
      headers: { ...retrySoon, connection: 'close' },
    },
  )
