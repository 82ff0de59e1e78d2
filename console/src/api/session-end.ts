/** Whether the session has ended under the person's hands: told by any request, shown by one dialog. */
import { useSyncExternalStore } from 'react'

let ended = false
const listeners = new Set<() => void>()

function set(to: boolean): void {
  if (ended === to) return
  ended = to
  for (const listener of listeners) listener()
}

export const sessionEnd = { tell: () => set(true), over: () => set(false) }

export const useSessionEnd = (): boolean =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => ended,
  )
