/** The signed-in person and their permissions. */
import { useQuery, type UseQueryResult } from '@tanstack/react-query'
import type { Workspace } from '../app/paths.ts'
import { text } from '../text/en.ts'
import { own, problemIn, unwrap } from './client.ts'
import type { components } from './generated/own.ts'
import { type openToImpersonation, roleGrants } from './generated/tables.ts'
import { queryClient } from './use-api-query.ts'

export type Session = components['schemas']['ConsoleSession']

const key = ['session']

/** null: nobody is signed in. */
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

/** What the installation offers to sign in with. */
export const useSetup = () =>
  useQuery({ queryKey: ['setup.retrieve'], queryFn: () => unwrap(own().GET('/console/api/setup')) })

export const useSession = (): UseQueryResult<Session | null> => useQuery(query)

export function useRequiredSession(): Session {
  const { data } = useSession()
  if (data === undefined || data === null) throw new Error('this screen stands where somebody is signed in')
  return data
}

export function setSession(session: Session | null): void {
  queryClient.clear()
  queryClient.setQueryData(key, session)
}

export const replaceSession = (session: Session): void => void queryClient.setQueryData(key, session)

export const refreshSession = (): Promise<void> => queryClient.invalidateQueries({ queryKey: key })

export type Permission = (typeof roleGrants)['owner']['live'][number]

export function isAllowed({ accounts }: Session, { account, mode }: Workspace, permission: Permission): boolean {
  const role = accounts.find(({ id }) => id === account)?.role as keyof typeof roleGrants | undefined
  return role !== undefined && (roleGrants[role][mode] as readonly string[]).includes(permission)
}

type ImpersonationOperation = (typeof openToImpersonation)[number]

/** undefined: enabled. Pass the `operation` of buttons that work during impersonation. */
export function useDisabledReason(
  workspace: Workspace,
): (permission: Permission, operation?: ImpersonationOperation) => string | undefined {
  const session = useRequiredSession()
  return (permission, operation) => {
    if (!isAllowed(session, workspace, permission)) return text.notAllowed.button
    return session.impersonating === null || operation !== undefined || permission.endsWith(':read')
      ? undefined
      : text.notAllowed.impersonating
  }
}
