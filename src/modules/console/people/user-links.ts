/** Links of one use for a user: a new password, or the confirmation of an e-mail address. */
import { Problem } from '../../../api/problem.ts'
import { isoTime } from '../../../lib/clock.ts'
import type { Db } from '../../../platform/database/sql.ts'
import type { Platform } from '../../../platform/platform.ts'
import { insertToken, lockUser, newLink, type UserRow, userOfToken, useToken } from './repository.ts'

export interface UserLink {
  readonly kind: 'reset' | 'email'
  readonly page: 'reset' | 'confirm-email'
  readonly valid_ms: number
}

/** Earlier links of the kind stay valid. Resolves to the URL. */
export async function createUserLink(
  { settings, clock }: Platform,
  tx: Db,
  user_id: string,
  { kind, page, valid_ms }: UserLink,
): Promise<string> {
  const { token_hash, url } = newLink(settings.base_url, page)
  const at = clock.now()
  await insertToken(tx, { token_hash, kind, user_id, expires_at: isoTime(at + valid_ms), created_at: isoTime(at) })
  return url
}

/** Uses up the link and locks its user: first the user, as where links are created. Problems: `token_invalid`. */
export async function useUserLink(tx: Db, kind: UserLink['kind'], token_hash: string, at: string): Promise<UserRow> {
  const user_id = await userOfToken(tx, kind, token_hash, at)
  const user = user_id === null ? null : await lockUser(tx, user_id)
  if (user === null || (await useToken(tx, kind, token_hash, at)) === null) throw new Problem('token_invalid')
  return user
}
