/** How what was read is kept: shown at once, asked anew while it is on the screen, tried again only where no answer came. */
import { QueryClient } from '@tanstack/react-query'
import { problemOf } from './problem.ts'

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
