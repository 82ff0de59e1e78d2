/** Conditions that any request can raise for the whole page: the session has ended, or the password is needed again. */
import { useSyncExternalStore } from 'react'

let ended = false
/** Counts sign-ins, to recognise a 401 that belongs to an earlier session. */
let renewals = 0
const listeners = new Set<() => void>()

function set(to: boolean): void {
  if (ended === to) return
  ended = to
  for (const listener of listeners) listener()
}

/** Whether the session has ended while the page was open. Any request reports it; one dialog shows it. */
export const sessionEnd = {
  /** The sign-in that a request starts under; pass it to `tell`. */
  now: (): number => renewals,
  /** Reports that a request got 401. Ignored if the person has signed in again since the request started. */
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

/** Asks for the password before a sensitive change. Any request may ask; one dialog answers. */
export const reauthentication = {
  /** Resolves to true once the password was accepted, to false if the person closed the dialog. */
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
