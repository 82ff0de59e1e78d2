/** Keys as authentication last saw them: at most `limits.cache_ms` old, bounded, one look-up at a time for each key. */
import { limits } from '../../contract/limits.ts'
import type { Clock } from '../../lib/clock.ts'
import type { FindKey, KeyFacts } from '../../platform/http/auth.ts'

const entriesMax = 20_000

interface Entry {
  readonly key: KeyFacts | null
  readonly read_at: number
}

export interface KeyCache {
  readonly find: FindKey
  /** Forgets everything, look-ups under way included. */
  forget(): void
}

/** `isKeyText` tells what can be a key at all; `lookUp` reads one from the database. */
export function keyCache(clock: Clock, isKeyText: (text: string) => boolean, lookUp: (text: string) => Promise<KeyFacts | null>): KeyCache {
  let entries = new Map<string, Entry>()
  let waiting = new Map<string, Promise<KeyFacts | null>>()
  const read = async (text: string, read_at: number): Promise<KeyFacts | null> => {
    const [seen, mine] = [entries, waiting]
    try {
      const key = await lookUp(text)
      // after `forget` this answer may be older than the change: it is used once and not kept
      if (seen.size >= entriesMax) seen.delete(seen.keys().next().value!)
      seen.set(text, { key, read_at })
      return key
    } finally {
      mine.delete(text)
    }
  }
  return {
    find(text) {
      const entry = entries.get(text)
      const now = clock.now()
      if (entry !== undefined && now - entry.read_at < limits.cache_ms && now >= entry.read_at) return entry.key
      let answer = waiting.get(text)
      if (entry === undefined && answer === undefined && !isKeyText(text)) return null
      if (answer === undefined) waiting.set(text, (answer = read(text, now)))
      return answer
    },
    forget() {
      entries = new Map()
      waiting = new Map()
    },
  }
}
