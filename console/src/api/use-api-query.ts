/** Queries of the API, cached by workspace and operation. */
import { keepPreviousData, QueryClient, useQuery, useQueryClient, type UseQueryResult } from '@tanstack/react-query'
import type { Workspace, Query } from '../app/paths.ts'
import { type ApiResponse, unwrap, problemOf } from './client.ts'

/**
 * `name` is the operation and its parameters, such as `['contact_lists.list', query]`. After a change, invalidate the
 * operations whose responses it affects (`useInvalidate`).
 */
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

/** A query that belongs to no account. */
export const useGlobalQuery = <T>(name: readonly unknown[], read: () => Promise<ApiResponse<T>>): UseQueryResult<T> =>
  useQuery({ queryKey: name, queryFn: () => unwrap(read()), placeholderData: keepPreviousData })

const pageRows = 50

/** The filters in the URL as query parameters of a list. They are sent unchecked: the server validates them. */
export const listQuery = (query: Query): never => ({ limit: pageRows, ...query }) as never

/** `operations` are prefixes, such as `contact_lists.`. */
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

/** Polling interval of visible queries. */
export const refetchMs = 15_000
const triesMax = 2

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      // offline, queries fail at once instead of waiting for the network
      networkMode: 'always',
      staleTime: 1_000,
      refetchInterval: refetchMs,
      retry: (failures, error) =>
        failures < triesMax && ['network', 'upstream_unavailable'].includes(problemOf(error).code),
    },
    mutations: { retry: false, networkMode: 'always' },
  },
})
