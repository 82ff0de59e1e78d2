/** Who is signed in: asked once, and put here by whoever signs in or out. */
import { useQuery, type UseQueryResult } from '@tanstack/react-query'
import type { Workspace } from '../app/paths.ts'
import { text } from '../text/en.ts'
import { own, problemIn } from './client.ts'
import type { components } from './generated/own.ts'
import { type openToImpersonation, roleGrants } from './generated/tables.ts'
import { queryClient } from './use-api-query.ts'

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
export function useRequiredSession(): Session {
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
export const replaceSession = (session: Session): void => void queryClient.setQueryData(key, session)

/** Asks for the session anew, where what it holds may have changed. */
export const refreshSession = (): Promise<void> => queryClient.invalidateQueries({ queryKey: key })

/** What the person may do at the place of the screen, from the server's own table of roles. */
export type Permission = (typeof roleGrants)['owner']['live'][number]

/** Whether a member of the place's account may. */
export function isAllowed({ accounts }: Session, { account, mode }: Workspace, permission: Permission): boolean {
  const role = accounts.find(({ id }) => id === account)?.role as keyof typeof roleGrants | undefined
  return role !== undefined && (roleGrants[role][mode] as readonly string[]).includes(permission)
}

/** An operation that an administrator of the platform may do for somebody else. */
type ImpersonationOperation = (typeof openToImpersonation)[number]

/** Why the person may not press a button that takes this; undefined where they may. `operation`: the button does this one, which is open to who acts for the account. */
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
