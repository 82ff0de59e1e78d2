/** What the person may do at the place of the screen, from the server's own table of roles. */
import type { Place } from '../paths.ts'
import { text } from '../text/en.ts'
import { roleGrants, type openToImpersonation } from './generated/tables.ts'
import { useOwnSession, type Session } from './session.ts'

export type Grant = (typeof roleGrants)['owner']['live'][number]

/** Whether a member of the place's account may. */
export function may({ accounts }: Session, { account, mode }: Place, grant: Grant): boolean {
  const role = accounts.find(({ id }) => id === account)?.role as keyof typeof roleGrants | undefined
  return role !== undefined && (roleGrants[role][mode] as readonly string[]).includes(grant)
}

/** An operation that an administrator of the platform may do for somebody else. */
type OpenOperation = (typeof openToImpersonation)[number]

/** Why the person may not press a button that takes this; undefined where they may. `operation`: the button does this one, which is open to who acts for the account. */
export function useBecause(place: Place): (grant: Grant, operation?: OpenOperation) => string | undefined {
  const session = useOwnSession()
  return (grant, operation) => {
    if (!may(session, place, grant)) return text.notAllowed.button
    return session.impersonating === null || operation !== undefined || grant.endsWith(':read')
      ? undefined
      : text.notAllowed.impersonating
  }
}
