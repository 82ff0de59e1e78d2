/** Whether the session has ended under the person's hands: told by any request, shown by one dialog. */
import { useSyncExternalStore } from 'react'

let ended = false
/** How often somebody has signed in again. */
let renewals = 0
const listeners = new Set<() => void>()

function set(to: boolean): void {
  if (ended === to) return
  ended = to
  for (const listener of listeners) listener()
}

export const sessionEnd = {
  /** What a request began under, for `tell`. */
  now: (): number => renewals,
  /** A request that began under `since` was answered that there is no session: of one that has been renewed since, that says nothing. */
  tell: (since: number) => {
    if (since === renewals) set(true)
  },
  over: () => {
    renewals += 1
    set(false)
  },
}

export const useSessionEnd = (): boolean =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => ended,
  )
