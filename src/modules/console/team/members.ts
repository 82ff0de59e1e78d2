/**
 * Members: nobody grants more than they have, changes their own role, or removes the last owner
 * (behaviour: console 3.12).
 */
import { missing, Problem } from '../../../api/problem.ts'
import { type Db, transact } from '../../../platform/database/sql.ts'
import { mayIn, type Role, roles } from '../roles.ts'
import * as repository from './repository.ts'

export interface Acting {
  readonly account_id: string
  readonly user_id: string
}

const isTeam = (role: Role): boolean => mayIn(role, 'live', 'team')
const mayGrant = (mine: Role, role: Role): boolean => isTeam(mine) && (role !== 'owner' || mine === 'owner')

/** Throws `role_not_allowed`. */
export function requireGrant(mine: Role, role: Role): void {
  if (mayGrant(mine, role)) return
  // the role may have changed since the guard checked it
  if (!isTeam(mine))
    throw new Problem(
      'role_not_allowed',
      `The role ${mine} does not allow this. Ask an owner or administrator of the account.`,
    )
  throw new Problem('role_not_allowed', 'Only an owner makes owners, changes and removes them. Ask one of them.')
}

async function lockBoth(tx: Db, { account_id, user_id }: Acting, other_id: string) {
  const rows = await repository.lockRoles(tx, account_id, [user_id, other_id])
  const roleOf = (id: string) => rows.find((row) => row.user_id === id)?.role
  const [mine, theirs] = [roleOf(user_id), roleOf(other_id)]
  if (mine === undefined) throw new Problem('account_required')
  if (theirs === undefined) throw missing('member', other_id)
  return { mine, theirs, owners: rows.filter(({ role }) => role === 'owner').length }
}

export async function changeRole(sql: Db, acting: Acting, other_id: string, role: Role): Promise<repository.MemberRow> {
  return await transact(sql, async (tx) => {
    const { mine, theirs } = await lockBoth(tx, acting, other_id)
    if (other_id === acting.user_id)
      throw new Problem('role_not_allowed', 'Nobody changes their own role. Ask an owner of the account.')
    requireGrant(mine, theirs)
    requireGrant(mine, role)
    await repository.updateRole(tx, acting.account_id, other_id, role)
    const beyond = roles.filter((each) => !mayGrant(role, each))
    await repository.deleteInvitationsBy(tx, acting.account_id, other_id, beyond)
    return (await repository.listMembers(tx, acting.account_id)).find(({ id }) => id === other_id)!
  })
}

export async function removeMember(sql: Db, acting: Acting, other_id: string): Promise<void> {
  await transact(sql, async (tx) => {
    const { mine, theirs, owners } = await lockBoth(tx, acting, other_id)
    requireGrant(mine, theirs)
    if (theirs === 'owner' && owners === 1)
      throw new Problem('role_not_allowed', 'This is the last owner of the account. Make somebody else an owner first.')
    await repository.deleteMember(tx, acting.account_id, other_id)
  })
}
