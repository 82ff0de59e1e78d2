/** Where in a list the person is: the cursor stands in the address, the way back to newer pages in the browser's history. */
import { useLocation, useNavigate } from '@tanstack/react-router'
import type { Query } from '../query.ts'

declare module '@tanstack/react-router' {
  interface HistoryState {
    /** The cursors of the pages before this one, the first page's as '', by the name of the cursor. */
    cursors?: Readonly<Record<string, readonly string[]>>
  }
}

export interface Cursor {
  /** '' on the first page. */
  readonly here: string
  /** As a list asks for it. */
  readonly query: Query
  readonly isFirst: boolean
  readonly newer: () => void
  readonly older: (cursor: string) => void
}

export const useCursor = (): Cursor => useCursorOf('starting_after')

/** Of one of several lists of a screen, under a name of its own in the address. */
export function useCursorOf(name: string): Cursor {
  const navigate = useNavigate()
  const location = useLocation()
  const search = location.search as Query
  const here = search[name] ?? ''
  const before = location.state.cursors?.[name] ?? []
  const go = (cursor: string, cursors: readonly string[]) => {
    const { [name]: _left, ...filters } = search
    const state = { cursors: { ...location.state.cursors, [name]: cursors } }
    void navigate({ to: '.', search: (cursor === '' ? filters : { ...filters, [name]: cursor }) as never, state })
  }
  return {
    here,
    query: here === '' ? {} : { starting_after: here },
    isFirst: here === '',
    // an address that somebody was sent has no way back: the newest page then
    newer: () => go(before.at(-1) ?? '', before.slice(0, -1)),
    older: (cursor) => go(cursor, [...before, here]),
  }
}
