/** Caches look-ups, bounded in number and age, one at a time per key. */
import { ageOf, mark, type Mark, type SteadyClock } from './clock.ts'

export interface LookupCache<T> {
  /** A promise while the look-up is in progress. */
  get(key: string): T | Promise<T> | undefined
  /** A failed look-up is not cached. */
  read(key: string, lookUp: () => Promise<T>): Promise<T>
  /** Without a key: all. The result of a look-up in progress is not cached either. */
  forget(key?: string): void
}

export interface LookupCacheOptions {
  readonly entries_max: number
  /** Milliseconds since the look-up began, by wall clock or elapsed time. */
  readonly age_max_ms: number
}

/** T is never undefined. */
export function lookupCache<T>(
  clock: Pick<SteadyClock, 'now' | 'elapsed'>,
  { entries_max, age_max_ms }: LookupCacheOptions,
): LookupCache<T> {
  const entries = new Map<string, { readonly value: T; readonly read: Mark }>()
  const underWay = new Map<string, Promise<T>>()

  function keep(key: string, value: T, read: Mark): void {
    entries.delete(key)
    if (entries.size >= entries_max) entries.delete(entries.keys().next().value!)
    entries.set(key, { value, read })
  }

  return {
    get(key) {
      const entry = entries.get(key)
      if (entry !== undefined && ageOf(clock, entry.read) < age_max_ms) return entry.value
      return underWay.get(key)
    },
    read(key, lookUp) {
      const read = mark(clock)
      const isCurrent = () => underWay.get(key) === answer
      const answer = lookUp()
        .then((value) => {
          if (isCurrent()) keep(key, value, read)
          return value
        })
        .finally(() => {
          if (isCurrent()) underWay.delete(key)
        })
      underWay.set(key, answer)
      return answer
    },
    forget(key) {
      if (key === undefined) {
        entries.clear()
        underWay.clear()
      } else {
        entries.delete(key)
        underWay.delete(key)
      }
    },
  }
}
