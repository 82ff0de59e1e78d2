/** Accounts, users and e-mails as administrators of the platform see them. */
import type { AccountService } from '../../accounts/service.ts'
import type { ShownEmail } from '../../mail/service.ts'
import type { MembershipRow, UserRow } from '../people/store.ts'

type AccountRow = Awaited<ReturnType<AccountService['create']>>

export const accountObject = ({ id, name, owner_email, suspended_at, created_at }: AccountRow) => ({
  object: 'admin_account' as const,
  id,
  name,
  owner_email,
  suspended_at,
  created_at,
})

export const userObject = (
  row: UserRow,
  memberships: readonly MembershipRow[],
  names: ReadonlyMap<string, string>,
) => ({
  object: 'admin_user' as const,
  id: row.id,
  name: row.name,
  email: row.email,
  admin: row.admin,
  two_factor: row.two_factor,
  accounts: memberships.map(({ account_id, role }) => ({ id: account_id, name: names.get(account_id) ?? '', role })),
  created_at: row.created_at,
})

export const emailObject = ({
  id,
  account_id,
  recipient,
  subject,
  status,
  attempts,
  error,
  sent_at,
  created_at,
}: ShownEmail) => ({
  object: 'email' as const,
  id: String(id),
  account_id,
  recipient,
  subject,
  status,
  attempts,
  error,
  sent_at,
  created_at,
})
