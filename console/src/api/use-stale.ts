/** After a change: what was read by these operations is asked for anew. */
import { useQueryClient } from '@tanstack/react-query'
import type { Place } from '../paths.ts'

/** `operations` are the beginnings of names: `contact_lists.`. */
export function useStale(place: Place): (...operations: readonly string[]) => Promise<void> {
  const queries = useQueryClient()
  return (...operations) =>
    queries.invalidateQueries({
      predicate: ({ queryKey: [account, mode, operation] }) =>
        account === place.account &&
        mode === place.mode &&
        typeof operation === 'string' &&
        operations.some((begin) => operation.startsWith(begin)),
    })
}
