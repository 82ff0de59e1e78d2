/**
 * Follows the event stream of an account and refetches what is on the screen (behaviour: console 8). Polling
 * continues for changes without an event.
 */
import { type InvalidateQueryFilters, type QueryClient, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import type { Workspace } from '../app/paths.ts'

/** Events within this time cause one refetch. */
const coalesceMs = 200
/** Minimum time between two refetches. */
const refreshIntervalMs = 1_000
/** Consequences of an event, such as its deliveries, appear a little later. */
const consequencesMs = 1_500
const reconnectMs = 15_000

export function useStream(workspace: Workspace): void {
  const queries = useQueryClient()
  const { account, mode } = workspace
  useEffect(() => openStream({ account, mode }, queries), [account, mode, queries])
}

/** Connects only while the tab is visible: browsers allow six connections per host, and each stream takes one. */
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
    // covers events missed before the stream was open
    source.addEventListener('open', refresher.refreshLater)
    // browsers reconnect by themselves, except after an error response
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
 * Refetches the visible queries of a workspace: shortly after an event, and once more for its consequences, at most
 * once a second. A refetch in progress is repeated instead of cancelled, so that slow connections still show data.
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
