/** Many who end with one signal, for the price of one listener: a signal looks through all of its listeners for each that is added. */

export interface AbortListeners {
  /** Calls `stop` when the signal aborts; returns what takes that back. */
  add(signal: AbortSignal, stop: () => void): () => void
}

export function abortListeners(): AbortListeners {
  const listening = new WeakMap<AbortSignal, Set<() => void>>()
  return {
    add(signal, stop) {
      let stops = listening.get(signal)
      if (stops === undefined) {
        const made = new Set<() => void>()
        signal.addEventListener('abort', () => {
          for (const each of made) each()
        })
        listening.set(signal, (stops = made))
      }
      stops.add(stop)
      return () => void stops.delete(stop)
    },
  }
}
