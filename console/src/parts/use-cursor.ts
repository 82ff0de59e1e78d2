/** Where in a list the person is: the cursor stands in the address, the way back to newer pages in the browser's history. */
import { useLocation, useNavigate } from '@tanstack/react-router'
import type { Query } from '../query.ts'

declare module '@tanstack/react-router' {
  interface HistoryState {
    /** The cursors of the pages before this one, the first page's as ''. */
    cursors?: readonly string[]
  }
}

export interface Cursor {
  readonly isFirst: boolean
  readonly newer: () => void
  readonly older: (cursor: string) => void
}

export function useCursor(): Cursor {
  const navigate = useNavigate()
  const location = useLocation()
  const search = location.search as Query
  const here = search['starting_after'] ?? ''
  const before = location.state.cursors ?? []
  const go = (cursor: string, cursors: readonly string[]) => {
    const { starting_after: _left, ...filters } = search
    void navigate({ to: '.', search: (cursor === '' ? filters : { ...filters, starting_after: cursor }) as never, state: { cursors } })
  }
  return {
    isFirst: here === '',
    // an address that somebody was sent has no way back: the newest page then
    newer: () => go(before.at(-1) ?? '', before.slice(0, -1)),
    older: (cursor) => go(cursor, [...before, here]),
  }
}
