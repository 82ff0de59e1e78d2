/** The sources that webhooks come for, held for a moment with the keys that they are signed with (behaviour: integrations 4.3). */
import { isId } from '../../../api/ids.ts'
import type { Tenant } from '../../../api/caller.ts'
import { tenantOf } from '../../../api/caller.ts'
import { limits } from '../../../api/limits.ts'
import type { HmacKey } from '../../../lib/hmac.ts'
import { lookupCache } from '../../../lib/lookup-cache.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { AccountService } from '../../accounts/service.ts'
import { findSourceOfWebhook } from '../sources/store.ts'
import { signingKey, type Scheme } from '../../../sources/signatures.ts'

export interface KnownSource extends Tenant {
  readonly id: string
  readonly platform: string
  readonly disabled: boolean
  readonly suspended: boolean
  /** What a webhook of this scheme is signed with. */
  keyOf(scheme: Scheme): HmacKey
}

export interface KnownSources {
  /** null: nobody has this id. */
  find(id: string): Promise<KnownSource | null>
  /** Forgets those held in memory: at a change, and whenever one may have been missed. */
  forget(): void
}

const cachedMax = 10_000

export function knownSources({ pool, clock, secrets }: Platform, accounts: AccountService): KnownSources {
  const cache = lookupCache<KnownSource | null>(clock, { entries_max: cachedMax, age_max_ms: limits.cache_ms })
  const lookUp = async (id: string): Promise<KnownSource | null> => {
    const row = await findSourceOfWebhook(pool, id)
    const account = row === null ? null : await accounts.stateOf(pool, row.account_id)
    if (row === null || account === null) return null
    const secret = secrets.open(row.signing_secret)
    const keys = new Map<Scheme, HmacKey>()
    return {
      ...tenantOf(row),
      id,
      platform: row.platform,
      disabled: row.status === 'disabled',
      suspended: account.suspended,
      keyOf(scheme) {
        const known = keys.get(scheme)
        if (known !== undefined) return known
        const key = signingKey(scheme, secret)
        keys.set(scheme, key)
        return key
      },
    }
  }
  return {
    // an id of the wrong shape is nobody's, and takes no room
    find: async (id) => (isId('src', id) ? await (cache.get(id) ?? cache.read(id, () => lookUp(id))) : null),
    forget: () => cache.forget(),
  }
}
