/** The session has ended, or the password is needed again. */
import { useSyncExternalStore } from 'react'

let ended = false
let renewals = 0
const listeners = new Set<() => void>()

function set(to: boolean): void {
  if (ended === to) return
  ended = to
  for (const listener of listeners) listener()
}

export const sessionEnd = {
  now: (): number => renewals,
  /** Ignored if the person has signed in again since. */
  report: (since: number) => {
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

function notifyWaiting(): void {
  for (const listener of waitingListeners) listener()
}

export const reauthentication = {
  /** Resolves to true once the password was accepted, false if the dialog was closed. */
  request: (): Promise<boolean> =>
    new Promise((resolve) => {
      waiting = [...waiting, resolve]
      notifyWaiting()
    }),
  answer(given: boolean): void {
    const requests = waiting
    waiting = []
    notifyWaiting()
    for (const resolve of requests) resolve(given)
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
