/** Hears what happens in an account, and has what is on the screen read anew (behaviour: console 8). What nobody tells of is asked for every 15 seconds as before. */
import { type InvalidateQueryFilters, type QueryClient, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import type { Place } from '../app/paths.ts'

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
    // what happened since the screen was read, or since it was open last
    source.addEventListener('open', reading.afterwards)
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

/**
 * Reads anew what is on the screen for a place: soon after something happened, once more when its consequences are there, and never more often than once a second. What is being
 * read already is not given up but read once more, so that a slow line shows something however much happens.
 */
function readingAnew({ account, mode }: Place, queries: QueryClient) {
  let timer: ReturnType<typeof setTimeout> | undefined
  let last: ReturnType<typeof setTimeout> | undefined
  let readAt = -Infinity
  const shown: InvalidateQueryFilters = {
    predicate: ({ queryKey, options }) =>
      queryKey[0] === account &&
      queryKey[1] === mode &&
      (options as { refetchInterval?: unknown }).refetchInterval !== false,
  }
  const read = async () => {
    timer = undefined
    readAt = performance.now()
    const wasReading = queries.isFetching(shown) > 0
    await queries.invalidateQueries(shown, { cancelRefetch: false })
    if (wasReading) await queries.invalidateQueries(shown, { cancelRefetch: false })
  }
  const soon = () => {
    timer ??= setTimeout(() => void read(), Math.max(soonMs, readAt + restMs - performance.now()))
  }
  const afterwards = () => {
    clearTimeout(last)
    last = setTimeout(soon, afterwardsMs - soonMs)
  }
  return {
    soon() {
      soon()
      afterwards()
    },
    afterwards,
    stop() {
      clearTimeout(timer)
      clearTimeout(last)
    },
  }
}
