/** E-mails to whoever owns an account. */
import type { Db } from '../../../platform/database/sql.ts'
import type { Platform } from '../../../platform/platform.ts'
import { writeEmail, type NewEmail } from '../../mail/service.ts'
import { ownersOf } from '../people/store.ts'

/** To each of the account's owners. An account of programs alone has the address that its operator gave it. */
export async function mailOwners(
  tx: Db,
  platform: Platform,
  email: NewEmail & { readonly account_id: string },
): Promise<void> {
  const owners = await ownersOf(tx, email.account_id)
  if (owners.length === 0) await writeEmail(tx, platform, email)
  for (const recipient of owners) await writeEmail(tx, platform, { ...email, recipient })
}
