/** What any request can bring about for the whole page: the session has ended, or the password is needed once more. */
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

/** Whether the session has ended under the person's hands: told by any request, shown by one dialog. */
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

let waiting: ((given: boolean) => void)[] = []
const waitingListeners = new Set<() => void>()

function uploadNotice(): void {
  for (const listener of waitingListeners) listener()
}

/** What matters most takes the password once more: asked by whatever needs it, answered by one dialog. */
export const reauthentication = {
  /** Resolves once the person has given the password, or to false when they have gone away from it. */
  ask: (): Promise<boolean> =>
    new Promise((resolve) => {
      waiting = [...waiting, resolve]
      uploadNotice()
    }),
  answer(given: boolean): void {
    const asked = waiting
    waiting = []
    uploadNotice()
    for (const resolve of asked) resolve(given)
  },
}

export const useReauthentication = (): boolean =>
  useSyncExternalStore(
    (listener) => {
      waitingListeners.add(listener)
      return () => waitingListeners.delete(listener)
    },
    () => waiting.length > 0,
  )
