/** The search for messages that expire while their queue waits: of channels that are not up or fail, and of slow ones. Long queues are looked through piece by piece, beside everything else. */
import { priorities, ranks } from '../../../api/resources/message.ts'
import { isoTime } from '../../../lib/clock.ts'
import type { Platform } from '../../../platform/platform.ts'
import { claimFound, findExpired, searchStart, type SearchPosition } from './queues-repository.ts'
import type { ClaimedRow, DueQueue } from './repository.ts'

export interface ExpiredSearch {
  /** Claims what has expired in these queues, at most `rows_max`; each is looked through at most once a second. Never rejects: a search that fails is repeated later, and keeps nothing waiting. */
  claim(queues: readonly DueQueue[], lease_until: string, rows_max: number): Promise<ClaimedRow[]>
}

const lookEveryMs = 1000
/** Looking through long queues takes at most this part of the time. */
const share = 20
/** So many jobs one look takes in, for which PostgreSQL takes some twenty milliseconds. */
export const lookedMax = 4000
/** Of so many queues and priorities, those first that wait longest for it. */
const partsMax = 200
const rememberedMax = 30_000

/** The jobs of one priority in a queue. */
interface Part {
  /** When they are looked at next, by the elapsed time. */
  readonly again_ms: number
  readonly from: SearchPosition
}

const keyOf = ({ queue, rank }: SearchPosition): string => `${queue} ${rank}`

export function expiredSearch({
  pool,
  clock,
  retention_clock,
  process_id,
  log,
}: Pick<Platform, 'pool' | 'clock' | 'retention_clock' | 'process_id' | 'log'>): ExpiredSearch {
  const parts = new Map<string, Part>()

  /** The parts whose turn it is. */
  function nextOf(queues: readonly DueQueue[], now: number): SearchPosition[] {
    const all = queues.flatMap(({ queue }) => priorities.map((priority) => searchStart(queue, ranks[priority])))
    const known = all.map((from) => parts.get(keyOf(from)) ?? { again_ms: -Infinity, from })
    const turn = known.filter(({ again_ms }) => again_ms <= now).toSorted((a, b) => a.again_ms - b.again_ms)
    return turn.slice(0, partsMax).map(({ from }) => from)
  }

  /** Where and when the parts are looked at next; where a look did not come to the end of one, it goes on there. */
  function note(looked: readonly SearchPosition[], reached: readonly SearchPosition[], began_ms: number): void {
    if (parts.size > rememberedMax) parts.clear()
    const now = clock.elapsed()
    const rest_ms = (now - began_ms) * share
    for (const { queue, rank } of looked) {
      const from = searchStart(queue, rank)
      parts.set(keyOf(from), { again_ms: now + Math.max(lookEveryMs, rest_ms), from })
    }
    for (const from of reached) parts.set(keyOf(from), { again_ms: now + rest_ms, from })
  }

  return {
    async claim(queues, lease_until, rows_max) {
      const began_ms = clock.elapsed()
      const from = nextOf(queues, began_ms)
      if (from.length === 0 || rows_max <= 0) return []
      try {
        const looked_max = Math.floor(lookedMax / from.length)
        const times = { at: isoTime(clock.now()), aged: isoTime(retention_clock.now()) }
        const { message_ids, reached } = await findExpired(pool, { ...times, from, looked_max, found_max: rows_max })
        // where there are more, they are looked for at once
        if (message_ids.length < rows_max) note(from, reached, began_ms)
        return await claimFound(pool, { message_ids, lease_until, process_id })
      } catch (error) {
        log.warn({ err: error }, 'a search for expired messages failed; it is repeated')
        note(from, [], began_ms)
        return []
      }
    },
  }
}
