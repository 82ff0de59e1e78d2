/** SQL of identities: with which people sign in at the OIDC provider. */
import type { Db } from '../../../platform/database/sql.ts'

/** Whether a user can sign in with an identity of this issuer, other than `but`. */
export async function hasIdentity(sql: Db, user_id: string, issuer: string, but = ''): Promise<boolean> {
  const [row] = await sql`select from identities where user_id = ${user_id} and issuer = ${issuer} and id <> ${but} limit 1`
  return row !== undefined
}
