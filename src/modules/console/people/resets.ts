/** Password resets, requested by e-mail or printed by a command (behaviour: console 3.11). */
import { Problem } from '../../../api/problem.ts'
import { isoTime } from '../../../lib/clock.ts'
import { normalizedEmail } from '../../../lib/email-address.ts'
import { oneLine } from '../../../lib/text.ts'
import { type Db, transact } from '../../../platform/database/sql.ts'
import { networkOf } from '../../../platform/http/headers.ts'
import type { Platform } from '../../../platform/platform.ts'
import { enqueueEmail } from '../../mail/service.ts'
import { auditUser } from '../audit/recording.ts'
import { deleteIdentities } from '../sign-in/repository.ts'
import type { Sessions } from '../sign-in/sessions.ts'
import { unlock } from '../sign-in/sign-in.ts'
import { resetAllowance, takeAllowance } from './allowances.ts'
import { hashingTurn, hashPassword, requirePassword } from './passwords.ts'
import { tokenHash } from './repository.ts'
import * as repository from './repository.ts'
import { createUserLink, useUserLink } from './user-links.ts'

const validForMs = 3600_000

export interface Resets {
  /** Mails a link if a user has this address. Runs after the response, whose time does not reveal whether one has. */
  ask(email: string): void
  /**
   * Ends the user's sessions, other links and linked identities, and unlocks signing in. Throws `token_invalid`.
   */
  confirm(
    token: string,
    password: string,
    from: { readonly address: string; readonly request_id: string },
  ): Promise<void>
  flush(): Promise<void>
}

export function passwordResets(platform: Platform, sessions: Sessions): Resets {
  const { pool, clock, log } = platform
  const running = new Set<Promise<void>>()
  return {
    ask(email) {
      const work = mailLink(platform, normalizedEmail(email))
        .catch((error: unknown) => log.error({ err: error }, 'a link for a new password could not be written'))
        .finally(() => running.delete(work))
      running.add(work)
    },
    async confirm(token, password, from) {
      requirePassword('password', password)
      const [hash, at] = [tokenHash(token), isoTime(clock.now())]
      if ((await repository.userOfToken(pool, 'reset', hash, at)) === null) throw new Problem('token_invalid')
      const password_hash = await hashingTurn(networkOf(from.address), () => hashPassword(password))
      await transact(pool, async (tx) => {
        const user = await useUserLink(tx, 'reset', hash, at)
        await repository.deleteTokens(tx, ['reset', 'email'], user.id)
        await repository.updateUser(tx, { ...user, password_hash, pending_email: null })
        // somebody else may have linked theirs while they had this user
        await deleteIdentities(tx, user.id)
        await sessions.endAll(tx, user.id)
        await unlock(tx, user.email)
        const { id } = user
        await auditUser(tx, platform, id, {
          actor_type: 'user',
          actor_id: id,
          action: 'password_resets.confirm',
          object_id: id,
          changes: {},
          ...from,
        })
      })
    },
    async flush() {
      await Promise.all(running)
    },
  }
}

/** Valid for an hour, beside earlier ones, until one of them is used. */
export const resetLink = async (platform: Platform, tx: Db, user_id: string): Promise<string> =>
  await createUserLink(platform, tx, user_id, { kind: 'reset', page: 'reset', valid_ms: validForMs })

async function mailLink(platform: Platform, email: string): Promise<void> {
  await transact(platform.pool, async (tx) => {
    const user = await repository.lockUserByEmail(tx, email)
    if (user === null || (await takeAllowance(tx, platform.clock, resetAllowance, user.id)) !== null) return
    const body = [
      `Hello ${oneLine(user.name)},`,
      '',
      'somebody, most likely you, asked for a new password for the console of Posthorn. Choose one here, within an hour:',
      '',
      '{link}',
      '',
      'If it was not you, do nothing: your password stays as it is.',
      '',
    ].join('\n')
    const link = await resetLink(platform, tx, user.id)
    await enqueueEmail(tx, platform, {
      account_id: null,
      recipient: user.email,
      subject: 'Choose a new password',
      body,
      link,
      retry_for_ms: validForMs,
    })
  })
}
