/** Finds expired messages in blocked or slow queues, in steps. */
import { priorities, ranks } from '../../../api/resources/message.ts'
import { isoTime } from '../../../lib/clock.ts'
import type { Platform } from '../../../platform/platform.ts'
import { claimFound, findExpired, searchStart, type SearchPosition } from './queues-repository.ts'
import type { DueQueue } from './repository.ts'
import { claimReadable, type ReadableClaim } from './unreadable.ts'

export interface ExpiredSearch {
  /** At most `rows_max`; each queue once a second. Never rejects. */
  claim(queues: readonly DueQueue[], lease_until: string, rows_max: number): Promise<ReadableClaim>
}

const searchEveryMs = 1000
/** Inverse share of the time spent searching. */
const share = 20
/** Jobs per search; they take PostgreSQL about 20 ms. */
export const scannedMax = 4000
const partsMax = 200
const rememberedMax = 30_000

const none: ReadableClaim = { rows: [], setAside: [] }

interface Part {
  /** By the monotonic clock. */
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

  function nextOf(queues: readonly DueQueue[], now: number): SearchPosition[] {
    const all = queues.flatMap(({ queue }) => priorities.map((priority) => searchStart(queue, ranks[priority])))
    const known = all.map((from) => parts.get(keyOf(from)) ?? { again_ms: -Infinity, from })
    const turn = known.filter(({ again_ms }) => again_ms <= now).toSorted((a, b) => a.again_ms - b.again_ms)
    return turn.slice(0, partsMax).map(({ from }) => from)
  }

  function note(searched: readonly SearchPosition[], reached: readonly SearchPosition[], began_ms: number): void {
    if (parts.size > rememberedMax) parts.clear()
    const now = clock.elapsed()
    const rest_ms = (now - began_ms) * share
    for (const { queue, rank } of searched) {
      const from = searchStart(queue, rank)
      parts.set(keyOf(from), { again_ms: now + Math.max(searchEveryMs, rest_ms), from })
    }
    for (const from of reached) parts.set(keyOf(from), { again_ms: now + rest_ms, from })
  }

  return {
    async claim(queues, lease_until, rows_max) {
      const began_ms = clock.elapsed()
      const from = nextOf(queues, began_ms)
      if (from.length === 0 || rows_max <= 0) return none
      try {
        const scanned_max = Math.floor(scannedMax / from.length)
        const times = { at: isoTime(clock.now()), aged: isoTime(retention_clock.now()) }
        const { message_ids, reached } = await findExpired(pool, { ...times, from, scanned_max, found_max: rows_max })
        if (message_ids.length < rows_max) note(from, reached, began_ms)
        const claim = { message_ids, lease_until, process_id }
        return await claimReadable({ pool, process_id, clock, log }, (part) => claimFound(pool, claim, part))
      } catch (error) {
        log.warn({ err: error }, 'a search for expired messages failed; it is repeated')
        note(from, [], began_ms)
        return none
      }
    },
  }
}
