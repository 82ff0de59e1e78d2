/** Filters and cursors of lists, which are part of the address. */
import { TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { useLocation, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import type { Query } from '../../app/paths.ts'

/** The filters of a list, which stand in the address under the API's names. */
export interface Filters {
  /** Those that are set, and the cursor. */
  readonly query: Query
  readonly isFiltered: boolean
  readonly set: (name: string, value: string) => void
  readonly clear: () => void
}

/** `names` are the filters that the list knows; what else stands in the address is not asked for. */
export function useFilters(names: readonly string[]): Filters {
  const navigate = useNavigate()
  const search = useLocation().search as Query
  const filters = Object.fromEntries(
    Object.entries(search).filter(([name, value]) => names.includes(name) && value !== ''),
  )
  const cursor = search['starting_after']
  const go = (next: Query, replace: boolean) => void navigate({ to: '.', search: next as never, replace })
  return {
    query: cursor === undefined ? filters : { ...filters, starting_after: cursor },
    isFiltered: Object.keys(filters).length > 0,
    set(name, value) {
      const { [name]: before = '', ...others } = filters
      // a word that is typed on is one step back, and not as many as there were pauses
      const isContinued = before !== '' && value !== '' && (value.startsWith(before) || before.startsWith(value))
      go(value === '' ? others : { ...others, [name]: value }, isContinued)
    },
    clear: () => go({}, false),
  }
}

declare module '@tanstack/react-router' {
  interface HistoryState {
    /** The cursors of the pages before this one, the first page's as '', by the name of the cursor. */
    cursors?: Readonly<Record<string, readonly string[]>>
  }
}

/** Where in a list the person is: the cursor stands in the address, the way back to newer pages in the browser's history. */
interface Cursor {
  /** '' on the first page. */
  readonly here: string
  /** As a list asks for it. */
  readonly query: Query
  readonly isFirst: boolean
  readonly newer: () => void
  readonly older: (cursor: string) => void
}

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

const pauseMs = 400

/** A filter that is typed: applied when the person pauses, presses Enter or leaves the field. */
interface FilterTextProps {
  readonly label: string
  readonly value: string
  readonly onApply: (value: string) => void
  readonly type?: 'text' | 'search'
  /** Applied with Enter or on leaving alone: what is half typed, such as a time, means something else. */
  readonly appliesOnBlur?: boolean
  readonly error?: string | undefined
}

export function FilterText({ label, value, onApply, type = 'text', appliesOnBlur = false, error }: FilterTextProps) {
  const [typed, setTyped] = useState(value)
  const [seen, setSeen] = useState(value)
  // changed from elsewhere, as by `Clear filters`
  if (value !== seen) {
    setSeen(value)
    if (value !== typed.trim()) setTyped(value)
  }
  const later = useDebouncedCallback(onApply, pauseMs)
  const now = () => {
    later.cancel()
    if (typed.trim() !== value) onApply(typed.trim())
  }
  return (
    <TextInput
      label={label}
      type={type}
      error={error}
      value={typed}
      dir="auto"
      onChange={(event) => {
        setTyped(event.currentTarget.value)
        if (!appliesOnBlur) later(event.currentTarget.value.trim())
      }}
      onBlur={now}
      onKeyDown={(event) => event.key === 'Enter' && now()}
    />
  )
}
