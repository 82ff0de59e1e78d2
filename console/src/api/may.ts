/** What the person may do at the place of the screen, from the server's own table of roles. */
import type { Place } from '../paths.ts'
import { text } from '../text/en.ts'
import { roleGrants } from './generated/tables.ts'
import { useOwnSession, type Session } from './session.ts'

export type Grant = (typeof roleGrants)['owner']['live'][number]

/** Whether a member of the place's account may. */
export function may({ accounts }: Session, { account, mode }: Place, grant: Grant): boolean {
  const role = accounts.find(({ id }) => id === account)?.role as keyof typeof roleGrants | undefined
  return role !== undefined && (roleGrants[role][mode] as readonly string[]).includes(grant)
}

/** Why the person may not press a button that takes this; undefined where they may. */
export function useBecause(place: Place): (grant: Grant) => string | undefined {
  const session = useOwnSession()
  return (grant) => (may(session, place, grant) ? undefined : text.notAllowed.button)
}
