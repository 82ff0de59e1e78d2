/** API keys cached for authentication, for at most `limits.cache_ms`. */
import { limits } from '../../api/limits.ts'
import type { SteadyClock } from '../../lib/clock.ts'
import { lookupCache } from '../../lib/lookup-cache.ts'
import type { FindKey, KeyFacts } from '../../platform/http/auth.ts'

const cachedKeysMax = 20_000

export interface KeyCache {
  readonly find: FindKey
  /** Clears the cache: after a change, and whenever one may have been missed. */
  forget(): void
}

/** `isKeyText` rejects text that cannot be a key; `lookUp` reads a key from the database. */
export function keyCache(
  clock: Pick<SteadyClock, 'now' | 'elapsed'>,
  isKeyText: (text: string) => boolean,
  lookUp: (text: string) => Promise<KeyFacts | null>,
): KeyCache {
  const cache = lookupCache<KeyFacts | null>(clock, { entries_max: cachedKeysMax, age_max_ms: limits.cache_ms })
  return {
    find(text) {
      const known = cache.get(text)
      if (known !== undefined) return known
      return isKeyText(text) ? cache.read(text, () => lookUp(text)) : null
    },
    forget: () => cache.forget(),
  }
}
