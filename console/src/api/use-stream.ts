/** Hears what happens in an account, and has what is on the screen read anew (behaviour: console 8). What has no event is asked for every 15 seconds as before. */
import { useQueryClient, type QueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import type { Place } from '../paths.ts'

/** Several events at once are one reading. */
const soonMs = 200
/** Between two readings, however much happens. */
const restMs = 1_000
/** What follows from an event, such as its deliveries, takes a moment. */
const afterwardsMs = 1_500
/** Where nothing is to be heard it is tried again so much later. */
const againMs = 15_000

export function useStream(place: Place): void {
  const queries = useQueryClient()
  const { account, mode } = place
  useEffect(() => listen({ account, mode }, queries), [account, mode, queries])
}

/** Only in the window that is looked at: a browser has six connections to a service, and each stream holds one. */
function listen(place: Place, queries: QueryClient): () => void {
  const reading = readingAnew(place, queries)
  let source: EventSource | undefined
  let again: ReturnType<typeof setTimeout> | undefined
  let wasOpen = false
  const close = () => {
    clearTimeout(again)
    source?.close()
    source = undefined
  }
  const open = () => {
    close()
    if (document.visibilityState !== 'visible') return
    source = new EventSource(`/console/api/stream?${new URLSearchParams({ account: place.account, mode: place.mode })}`)
    source.addEventListener('message', reading.soon)
    source.addEventListener('open', () => {
      // what happened since it was open last
      if (wasOpen) reading.soon()
      wasOpen = true
    })
    // a browser comes back by itself, but where it was refused
    source.addEventListener('error', () => {
      if (source?.readyState === EventSource.CLOSED) again = setTimeout(open, againMs)
    })
  }
  document.addEventListener('visibilitychange', open)
  open()
  return () => {
    document.removeEventListener('visibilitychange', open)
    close()
    reading.stop()
  }
}

/** Reads anew what is on the screen for a place: soon after something happened, once more when its consequences are there, and never more often than once a second. */
function readingAnew({ account, mode }: Place, queries: QueryClient) {
  let timer: ReturnType<typeof setTimeout> | undefined
  let last: ReturnType<typeof setTimeout> | undefined
  let readAt = -Infinity
  const read = () => {
    timer = undefined
    readAt = performance.now()
    void queries.invalidateQueries({
      predicate: ({ queryKey, options }) =>
        queryKey[0] === account && queryKey[1] === mode && (options as { refetchInterval?: unknown }).refetchInterval !== false,
    })
  }
  return {
    soon: () => {
      timer ??= setTimeout(read, Math.max(soonMs, readAt + restMs - performance.now()))
      clearTimeout(last)
      last = setTimeout(read, afterwardsMs)
    },
    stop: () => {
      clearTimeout(timer)
      clearTimeout(last)
    },
  }
}
