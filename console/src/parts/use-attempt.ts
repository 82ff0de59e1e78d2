/** An attempt that is the same after a reload and in a copy of the tab, until it succeeds or is refused for good: for what costs money or reaches people. */
import { useEffect, useMemo, useRef } from 'react'
import { keyOf, randomId, type Attempt } from '../api/attempt.ts'
import { useOwnSession } from '../api/session.ts'
import type { Place } from '../paths.ts'
import { draftKey, forgetKept, keep, keptText } from './kept.ts'

/** `name` tells it from others of the account and mode. */
export function useAttempt(place: Place, name: string): Attempt {
  const { user } = useOwnSession()
  const key = draftKey(user.id, place, `attempt ${name}`)
  useEffect(() => {
    if (keptText(key) === undefined) keep(key, randomId())
  }, [key])
  // where the browser keeps nothing it is the same until it is over or the page is left
  const own = useRef<string>(undefined)
  return useMemo(
    () => ({
      keyOf: (input) => keyOf(keptText(key) ?? (own.current ??= randomId()), input),
      over() {
        own.current = undefined
        forgetKept(key)
        keep(key, randomId())
      },
    }),
    [key],
  )
}
