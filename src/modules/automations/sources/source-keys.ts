/** Finds who calls with a source key (behaviour: integrations 2). */
import type { Id } from '../../../api/ids.ts'
import { tenantOf } from '../../../api/caller.ts'
import type { FindKey, KeyFacts } from '../../../platform/http/auth.ts'
import type { Platform } from '../../../platform/platform.ts'
import { isKeyText, keyCache, keyHash, type AccountService } from '../../accounts/service.ts'
import { findSourceByKeyHash } from './store.ts'

export interface SourceKeys {
  readonly find: FindKey
  /** Forgets those held in memory: at a change, and whenever one may have been missed. */
  forget(): void
}

export const sourceKeys = ({ pool, clock }: Platform, accounts: AccountService): SourceKeys =>
  keyCache(clock, isKeyText, async (text): Promise<KeyFacts | null> => {
    const row = await findSourceByKeyHash(pool, keyHash(text))
    const account = row === null ? null : await accounts.stateOf(pool, row.account_id)
    if (row === null || account === null) return null
    return {
      ...tenantOf(row),
      account_name: account.name,
      key_id: row.id as Id<'src'>,
      key_name: row.name,
      scopes: [],
      expires_at: null,
      revoked: false,
      suspended: account.suspended,
      allowlist: null,
      source_status: row.status,
    }
  })
