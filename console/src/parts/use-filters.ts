/** The filters of a list, which stand in the address under the API's names. */
import { useLocation, useNavigate } from '@tanstack/react-router'
import type { Query } from '../query.ts'

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
  const filters = Object.fromEntries(Object.entries(search).filter(([name, value]) => names.includes(name) && value !== ''))
  const cursor = search['starting_after']
  const go = (next: Query) => void navigate({ to: '.', search: next as never, replace: true })
  return {
    query: cursor === undefined ? filters : { ...filters, starting_after: cursor },
    isFiltered: Object.keys(filters).length > 0,
    set(name, value) {
      const { [name]: _left, ...others } = filters
      go(value === '' ? others : { ...others, [name]: value })
    },
    clear: () => go({}),
  }
}
