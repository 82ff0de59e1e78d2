/** Filters and cursors of lists, in the URL. */
import { TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { useLocation, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import type { Query } from '../../app/paths.ts'

export interface Filters {
  readonly query: Query
  readonly isFiltered: boolean
  readonly set: (name: string, value: string) => void
  readonly clear: () => void
}

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
      // continued typing replaces the history entry
      const isContinued = before !== '' && value !== '' && (value.startsWith(before) || before.startsWith(value))
      go(value === '' ? others : { ...others, [name]: value }, isContinued)
    },
    clear: () => go({}, false),
  }
}

declare module '@tanstack/react-router' {
  interface HistoryState {
    /** By cursor name; the first page is ''. */
    cursors?: Readonly<Record<string, readonly string[]>>
  }
}

/** Its cursor is in the URL, the way back in the history state. */
interface Cursor {
  readonly here: string
  readonly query: Query
  readonly isFirst: boolean
  readonly newer: () => void
  readonly older: (cursor: string) => void
}

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
    // a shared URL has no way back
    newer: () => go(before.at(-1) ?? '', before.slice(0, -1)),
    older: (cursor) => go(cursor, [...before, here]),
  }
}

const pauseMs = 400

interface FilterTextProps {
  readonly label: string
  readonly value: string
  readonly onApply: (value: string) => void
  readonly type?: 'text' | 'search'
  /** Half a date is another filter. */
  readonly appliesOnBlur?: boolean
  readonly error?: string | undefined
}

export function FilterText({ label, value, onApply, type = 'text', appliesOnBlur = false, error }: FilterTextProps) {
  const [typed, setTyped] = useState(value)
  const [seen, setSeen] = useState(value)
  // changed from outside ("Clear filters")
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
