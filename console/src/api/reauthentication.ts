/** What matters most takes the password once more: asked by whatever needs it, answered by one dialog. */
import { useSyncExternalStore } from 'react'

let waiting: ((given: boolean) => void)[] = []
const listeners = new Set<() => void>()

function told(): void {
  for (const listener of listeners) listener()
}

export const reauthentication = {
  /** Resolves once the person has given the password, or to false when they have gone away from it. */
  ask: (): Promise<boolean> =>
    new Promise((resolve) => {
      waiting = [...waiting, resolve]
      told()
    }),
  answer(given: boolean): void {
    const asked = waiting
    waiting = []
    told()
    for (const resolve of asked) resolve(given)
  },
}

export const useReauthentication = (): boolean =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => waiting.length > 0,
  )
