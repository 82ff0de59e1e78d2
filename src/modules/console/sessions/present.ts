/** Sessions and users as the console shows them. */
import type { ConsoleSession, SessionSummary } from '../../../api/resources/console-session.ts'
import type { Session } from './sessions.ts'
import type { SessionRow } from './store.ts'

export const sessionObject = (session: Session): ConsoleSession => ({
  object: 'session',
  id: session.id,
  user: userObject(session),
  accounts: session.accounts.map(({ id, name, role }) => ({ id, name, role })),
  impersonating: impersonatingOf(session),
})

function impersonatingOf({ impersonation }: Session): ConsoleSession['impersonating'] {
  return impersonation === null
    ? null
    : { account_id: impersonation.account_id, reason: impersonation.reason, expires_at: impersonation.expires_at }
}

export const userObject = ({
  user_id,
  name,
  email,
  admin,
  two_factor,
}: Pick<Session, 'user_id' | 'name' | 'email' | 'admin' | 'two_factor'>): ConsoleSession['user'] => ({
  id: user_id,
  name,
  email,
  admin,
  two_factor,
})

export const summaryObject = (row: SessionRow, current_id: string): SessionSummary => ({
  object: 'session_summary',
  id: row.id,
  current: row.id === current_id,
  address: row.address,
  user_agent: row.user_agent === '' ? null : row.user_agent,
  seen_at: row.seen_at,
  created_at: row.created_at,
})
