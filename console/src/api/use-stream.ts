/** Refetches what is on the screen when events arrive (behaviour: console 8). */
import { type InvalidateQueryFilters, type QueryClient, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import type { Workspace } from '../app/paths.ts'

const coalesceMs = 200
const refreshIntervalMs = 1_000
const consequencesMs = 1_500
const reconnectMs = 15_000

export function useStream(workspace: Workspace): void {
  const queries = useQueryClient()
  const { account, mode } = workspace
  useEffect(() => openStream({ account, mode }, queries), [account, mode, queries])
}

/** Only while the tab is visible: browsers allow six connections per host. */
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
    source.addEventListener('open', refresher.refreshLater)
    // browsers do not reconnect after an error response
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
