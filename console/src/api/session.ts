/** Who is signed in: asked once, and put here by whoever signs in or out. */
import { useQuery, type UseQueryResult } from '@tanstack/react-query'
import type { components } from './generated/own.ts'
import { own } from './client.ts'
import { problemIn } from './problem.ts'
import { queryClient } from './query-client.ts'

export type Session = components['schemas']['ConsoleSession']

const key = ['session']

/** Null while nobody is signed in. */
async function findSession(): Promise<Session | null> {
  const { data, error, response } = await own().GET('/console/api/session')
  if (data !== undefined) return data
  const problem = problemIn(response.status, error)
  if (problem.code === 'session_required') return null
  throw problem
}

const query = {
  queryKey: key,
  queryFn: findSession,
  staleTime: Number.POSITIVE_INFINITY,
  refetchInterval: false,
} as const

export const useSession = (): UseQueryResult<Session | null> => useQuery(query)

/** The session of a screen that only stands where somebody is signed in. */
export function useOwnSession(): Session {
  const { data } = useSession()
  if (data === undefined || data === null) throw new Error('this screen stands where somebody is signed in')
  return data
}

/** Everything that was read belongs to who was signed in before. */
export function setSession(session: Session | null): void {
  queryClient.clear()
  queryClient.setQueryData(key, session)
}

/** The same person again, or changed: what was read stays. */
export const renewSession = (session: Session): void => void queryClient.setQueryData(key, session)

/** Asks for the session anew, where what it holds may have changed. */
export const refreshSession = (): Promise<void> => queryClient.invalidateQueries({ queryKey: key })
