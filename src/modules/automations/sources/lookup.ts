/** Finds integration sources by key and by ID, cached for a moment (behaviour: integrations 2, 4.3). */
import { tenantOf, type Tenant } from '../../../api/caller.ts'
import { isId, type Id } from '../../../api/ids.ts'
import { limits } from '../../../api/limits.ts'
import { lookupCache } from '../../../lib/lookup-cache.ts'
import type { FindKey, KeyFacts } from '../../../platform/http/auth.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { SignatureCheck, Source } from '../../../sources/source.ts'
import { isKeyText, keyCache, keyHash, type AccountService } from '../../accounts/service.ts'
import { findSourceByKeyHash, findSourceOfWebhook } from './repository.ts'

export interface SourceKeys {
  readonly find: FindKey
  /** At a change, and whenever a notification may have been missed. */
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

export interface WebhookSender extends Tenant {
  readonly id: string
  readonly platform: string
  readonly disabled: boolean
  readonly suspended: boolean
  checkOf(source: Source): SignatureCheck
}

export interface WebhookSenders {
  find(id: string): Promise<WebhookSender | null>
  forget(): void
}

const cachedMax = 10_000

export function webhookSenders({ pool, clock, secrets }: Platform, accounts: AccountService): WebhookSenders {
  const cache = lookupCache<WebhookSender | null>(clock, { entries_max: cachedMax, age_max_ms: limits.cache_ms })
  const lookUp = async (id: string): Promise<WebhookSender | null> => {
    const row = await findSourceOfWebhook(pool, id)
    const account = row === null ? null : await accounts.stateOf(pool, row.account_id)
    if (row === null || account === null) return null
    const secret = secrets.open(row.signing_secret)
    const checks = new Map<Source, SignatureCheck>()
    return {
      ...tenantOf(row),
      id,
      platform: row.platform,
      disabled: row.status === 'disabled',
      suspended: account.suspended,
      checkOf(source) {
        let check = checks.get(source)
        if (check === undefined) checks.set(source, (check = source.signatureCheck(secret)))
        return check
      },
    }
  }
  return {
    find: async (id) => (isId('src', id) ? await (cache.get(id) ?? cache.read(id, () => lookUp(id))) : null),
    forget: () => cache.forget(),
  }
}
