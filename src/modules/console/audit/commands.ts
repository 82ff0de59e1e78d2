/** Changes that commands make, with their entries in the audit log (behaviour: console-records 1). */
import { isoTime } from '../../../lib/clock.ts'
import { transact, type Transaction } from '../../../platform/database/sql.ts'
import type { Platform } from '../../../platform/platform.ts'
import { maskedChanges } from './masking.ts'
import { insertAudit } from './store.ts'

export interface CommandEntry {
  readonly account_id: string
  readonly object_id: string
  /** What was given. */
  readonly changes: object
}

/** Makes a change and its entry in one transaction; `command` are its words, `entryOf` says what it came to; null: it is of no account. */
export type ByCommand = <T>(
  words: { readonly command: string; readonly action: string },
  change: (tx: Transaction) => Promise<T>,
  entryOf: (made: T) => CommandEntry | null,
) => Promise<T>

export const byCommand =
  ({ pool, ids, clock }: Platform): ByCommand =>
  async ({ command, action }, change, entryOf) =>
    await transact(pool, async (tx) => {
      const made = await change(tx)
      const told = entryOf(made)
      if (told === null) return made
      const { changes, ...entry } = told
      await insertAudit(tx, {
        ...entry,
        id: ids('aud'),
        actor_type: 'command',
        actor_id: command,
        impersonator_id: null,
        action,
        changes: maskedChanges(changes),
        address: null,
        request_id: null,
        created_at: isoTime(clock.now()),
      })
      return made
    })
