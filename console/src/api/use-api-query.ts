/** Reads what a screen shows: kept by place and name, shown while it is asked for anew. */
import { keepPreviousData, QueryClient, useQuery, useQueryClient, type UseQueryResult } from '@tanstack/react-query'
import type { Workspace, Query } from '../app/paths.ts'
import { type ApiResponse, unwrap, problemOf } from './client.ts'

/** `name` is the operation and what it is asked for: `['contact_lists.list', query]`. Whoever changes something makes the names stale that it may stand in (`useInvalidate`). Nothing is read until it `isAsked`. */
export const useApiQuery = <T>(
  workspace: Workspace,
  name: readonly unknown[],
  read: () => Promise<ApiResponse<T>>,
  isAsked = true,
): UseQueryResult<T> =>
  useQuery({
    queryKey: [workspace.account, workspace.mode, ...name],
    queryFn: () => unwrap(read()),
    placeholderData: keepPreviousData,
    enabled: isAsked,
  })

/** The same of what belongs to no account. */
export const useGlobalQuery = <T>(name: readonly unknown[], read: () => Promise<ApiResponse<T>>): UseQueryResult<T> =>
  useQuery({ queryKey: name, queryFn: () => unwrap(read()), placeholderData: keepPreviousData })

/** How many rows a list shows at once. */
const pageRows = 50

/** The filters of an address as the query of a list. They are sent as they stand: it is the server that knows which there are. */
export const listQuery = (query: Query): never => ({ limit: pageRows, ...query }) as never

/** `operations` are the beginnings of names: `contact_lists.`. */
export function useInvalidate(workspace: Workspace): (...operations: readonly string[]) => Promise<void> {
  const queries = useQueryClient()
  return (...operations) =>
    queries.invalidateQueries({
      predicate: ({ queryKey: [account, mode, operation] }) =>
        account === workspace.account &&
        mode === workspace.mode &&
        typeof operation === 'string' &&
        operations.some((begin) => operation.startsWith(begin)),
    })
}

/** How often what is on the screen is asked for again. */
export const refetchMs = 15_000
const triesMax = 2

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      // without a network what is asked fails, and says so, rather than waiting and being done later
      networkMode: 'always',
      staleTime: 1_000,
      refetchInterval: refetchMs,
      retry: (failures, error) =>
        failures < triesMax && ['network', 'upstream_unavailable'].includes(problemOf(error).code),
    },
    mutations: { retry: false, networkMode: 'always' },
  },
})
