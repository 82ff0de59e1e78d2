/** Hears what happens in an account, and has what is on the screen read anew (behaviour: console 8). What nobody tells of is asked for every 15 seconds as before. */
import { type InvalidateQueryFilters, type QueryClient, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import type { Workspace } from '../app/paths.ts'

/** Several events at once are one reading. */
const coalesceMs = 200
/** Between two readings, however much happens. */
const refreshIntervalMs = 1_000
/** What follows from an event, such as its deliveries, takes a moment. */
const consequencesMs = 1_500
/** Where nothing is to be heard it is tried again so much later. */
const reconnectMs = 15_000

export function useStream(workspace: Workspace): void {
  const queries = useQueryClient()
  const { account, mode } = workspace
  useEffect(() => openStream({ account, mode }, queries), [account, mode, queries])
}

/** Only in the window that is looked at: a browser has six connections to a service, and each stream holds one. */
function openStream(workspace: Workspace, queries: QueryClient): () => void {
  const refresher = createRefresher(workspace, queries)
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
    source = new EventSource(
      `/console/api/stream?${new URLSearchParams({ account: workspace.account, mode: workspace.mode })}`,
    )
    source.addEventListener('message', refresher.refreshSoon)
    // what happened since the screen was read, or since it was open last
    source.addEventListener('open', refresher.refreshLater)
    // a browser comes back by itself, but where it was refused
    source.addEventListener('error', () => {
      if (source?.readyState === EventSource.CLOSED) again = setTimeout(open, reconnectMs)
    })
  }
  document.addEventListener('visibilitychange', open)
  open()
  return () => {
    document.removeEventListener('visibilitychange', open)
    close()
    refresher.stop()
  }
}

/**
 * Reads anew what is on the screen for a place: soon after something happened, once more when its consequences are there, and never more often than once a second. What is being
 * read already is not given up but read once more, so that a slow line shows something however much happens.
 */
function createRefresher({ account, mode }: Workspace, queries: QueryClient) {
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
  const refreshSoon = () => {
    timer ??= setTimeout(() => void read(), Math.max(coalesceMs, readAt + refreshIntervalMs - performance.now()))
  }
  const refreshLater = () => {
    clearTimeout(last)
    last = setTimeout(refreshSoon, consequencesMs - coalesceMs)
  }
  return {
    refreshSoon() {
      refreshSoon()
      refreshLater()
    },
    refreshLater,
    stop() {
      clearTimeout(timer)
      clearTimeout(last)
    },
  }
}
