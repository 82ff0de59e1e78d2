/** Queries of the API, cached by workspace and operation. */
import { keepPreviousData, QueryClient, useQuery, useQueryClient, type UseQueryResult } from '@tanstack/react-query'
import type { Workspace, Query } from '../app/paths.ts'
import { type ApiResponse, unwrap, problemOf } from './client.ts'

/** `name`: operation and parameters, such as `['contact_lists.list', query]`. */
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

export const useGlobalQuery = <T>(name: readonly unknown[], read: () => Promise<ApiResponse<T>>): UseQueryResult<T> =>
  useQuery({ queryKey: name, queryFn: () => unwrap(read()), placeholderData: keepPreviousData })

const pageRows = 50

/** Sent unchecked: the server validates them. */
export const listQuery = (query: Query): never => ({ limit: pageRows, ...query }) as never

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

export const refetchMs = 15_000
const triesMax = 2

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      // offline, queries fail at once
      networkMode: 'always',
      staleTime: 1_000,
      refetchInterval: refetchMs,
      retry: (failures, error) =>
        failures < triesMax && ['network', 'upstream_unavailable'].includes(problemOf(error).code),
    },
    mutations: { retry: false, networkMode: 'always' },
  },
})
