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
      const isTypedOn = before !== '' && value !== '' && (value.startsWith(before) || before.startsWith(value))
      go(value === '' ? others : { ...others, [name]: value }, isTypedOn)
    },
    clear: () => go({}, false),
  }
}
