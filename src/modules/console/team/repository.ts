/** SQL of members and invitations. */
import type { Db, Fragment } from '../../../platform/database/sql.ts'
import type { Role } from '../roles.ts'

export interface MemberRow {
  readonly id: `usr_${string}`
  readonly name: string
  readonly email: string
  readonly role: Role
  readonly two_factor: boolean
  readonly created_at: string
}

export async function listMembers(sql: Db, account_id: string): Promise<MemberRow[]> {
  return await sql<MemberRow[]>`
    select u.id, u.name, u.email, m.role, u.second_factor_at is not null as two_factor, m.created_at
    from memberships m
    join users u on u.id = m.user_id
    where m.account_id = ${account_id}
    order by m.created_at, u.id`
}

/** All owners and these users, so that an owner always remains. */
export async function lockRoles(
  tx: Db,
  account_id: string,
  user_ids: readonly string[],
): Promise<{ user_id: string; role: Role }[]> {
  return await tx<{ user_id: string; role: Role }[]>`
    select user_id, role from memberships
    where account_id = ${account_id} and (role = 'owner' or user_id = any (${user_ids as string[]}))
    order by user_id
    for update`
}

export async function updateRole(tx: Db, account_id: string, user_id: string, role: Role): Promise<void> {
  await tx`update memberships set role = ${role} where account_id = ${account_id} and user_id = ${user_id}`
}

export async function deleteMember(tx: Db, account_id: string, user_id: string): Promise<void> {
  await tx`delete from memberships where account_id = ${account_id} and user_id = ${user_id}`
  await tx`delete from invitations where account_id = ${account_id} and invited_by = ${user_id}`
}

export async function deleteInvitationsBy(
  tx: Db,
  account_id: string,
  user_id: string,
  as: readonly Role[],
): Promise<void> {
  await tx`
    delete from invitations
    where account_id = ${account_id} and invited_by = ${user_id} and role = any (${as as Role[]})`
}

export async function isMember(sql: Db, account_id: string, email: string): Promise<boolean> {
  const [row] = await sql`
      select
      from memberships m
      join users u on u.id = m.user_id
      where m.account_id = ${account_id} and u.email = ${email}`
  return row !== undefined
}

export interface InvitationRow {
  readonly account_id: `acc_${string}`
  readonly id: `inv_${string}`
  readonly email: string
  readonly role: Role
  readonly token_hash: string
  readonly invited_by: string
  readonly email_id: number | null
  readonly expires_at: string
  readonly created_at: string
}

export async function replaceInvitation(tx: Db, row: InvitationRow): Promise<void> {
  await tx`delete from invitations where account_id = ${row.account_id} and email = ${row.email}`
  await tx`
    insert into invitations (account_id, id, email, role, token_hash, invited_by, email_id, expires_at,
      created_at)
    values (${row.account_id}, ${row.id}, ${row.email}, ${row.role}, ${row.token_hash}, ${row.invited_by},
      ${row.email_id}, ${row.expires_at}, ${row.created_at})`
}

const columns = (sql: Db): Fragment =>
  sql`account_id, id, email, role, token_hash, invited_by, email_id, expires_at, created_at`

export async function listInvitations(sql: Db, account_id: string, at: string): Promise<InvitationRow[]> {
  return await sql<InvitationRow[]>`
    select ${columns(sql)}
    from invitations
    where account_id = ${account_id} and expires_at > ${at} order by id desc`
}

export async function lockInvitation(tx: Db, account_id: string, id: string): Promise<InvitationRow | null> {
  const [row] = await tx<InvitationRow[]>`
    select ${columns(tx)}
    from invitations
    where account_id = ${account_id} and id = ${id} for update`
  return row ?? null
}

/** The one for this address, until the transaction ends. */
export async function lockInvitationOf(tx: Db, account_id: string, email: string): Promise<InvitationRow | null> {
  const [row] = await tx<InvitationRow[]>`
    select ${columns(tx)}
    from invitations
    where account_id = ${account_id} and email = ${email} for update`
  return row ?? null
}

export async function deleteInvitation(tx: Db, account_id: string, id: string): Promise<void> {
  await tx`delete from invitations where account_id = ${account_id} and id = ${id}`
}

export async function findInvitation(sql: Db, token_hash: string, at: string): Promise<InvitationRow | null> {
  const [row] = await sql<InvitationRow[]>`
    select ${columns(sql)}
    from invitations
    where token_hash = ${token_hash} and expires_at > ${at}`
  return row ?? null
}

export async function useInvitation(
  tx: Db,
  { account_id, id, token_hash }: InvitationRow,
): Promise<InvitationRow | null> {
  const [row] = await tx<InvitationRow[]>`
    delete from invitations where account_id = ${account_id} and id = ${id} and token_hash = ${token_hash}
    returning ${columns(tx)}`
  return row ?? null
}

export async function forgetInvitations(sql: Db, before: string): Promise<number> {
  return (await sql`delete from invitations where expires_at <= ${before}`).count
}
