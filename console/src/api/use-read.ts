/** Reads what a screen shows: kept by place and name, shown while it is asked for anew. */
import { keepPreviousData, useQuery, type UseQueryResult } from '@tanstack/react-query'
import type { Place } from '../paths.ts'
import type { Query } from '../query.ts'
import { answered, type Answer } from './client.ts'

/** `name` is the operation and what it is asked for: `['contact_lists.list', query]`. Whoever changes something makes the names stale that it may stand in (`useStale`). Nothing is read until it `isAsked`. */
export const useRead = <T>(
  place: Place,
  name: readonly unknown[],
  read: () => Promise<Answer<T>>,
  isAsked = true,
): UseQueryResult<T> =>
  useQuery({
    queryKey: [place.account, place.mode, ...name],
    queryFn: () => answered(read()),
    placeholderData: keepPreviousData,
    enabled: isAsked,
  })

/** The same of what belongs to no account. */
export const useReadAlone = <T>(name: readonly unknown[], read: () => Promise<Answer<T>>): UseQueryResult<T> =>
  useQuery({ queryKey: name, queryFn: () => answered(read()), placeholderData: keepPreviousData })

/** How many rows a list shows at once. */
const pageRows = 50

/** The filters of an address as the query of a list. They are sent as they stand: it is the server that knows which there are. */
export const listQuery = (query: Query): never => ({ limit: pageRows, ...query }) as never
