/** Signed URLs: anyone with the URL may read the file until it expires (behaviour: channels 8). */
import type { Tenant } from '../../api/caller.ts'
import { isId } from '../../api/ids.ts'
import { sameText } from '../../lib/hmac.ts'
import type { Secrets } from '../../platform/secrets/secrets.ts'

export interface SignedUrls {
  of(tenant: Tenant, id: string, expires_ms: number): string
  /** null if it is valid at `now_ms`. */
  refusal(id: string, query: Readonly<Record<string, unknown>>, now_ms: number): 'unsigned' | 'expired' | null
  /** null for anything but a URL of a file of this tenant that was made here. */
  renewed(tenant: Tenant, url: string, expires_ms: number): string | null
}

/** 132 bits that sign the URL, and as many that bind the file to its tenant. */
const halfLength = 22

export function signedUrls(base_url: string, secrets: Pick<Secrets, 'keyedHash'>): SignedUrls {
  const proof = (id: string, expires: string) => secrets.keyedHash(`media|${id}|${expires}`)
  const binding = ({ account_id, mode }: Tenant, id: string) =>
    secrets.keyedHash(`media owner|${account_id}|${mode}|${id}`)
  const of: SignedUrls['of'] = (tenant, id, expires_ms) => {
    const expires = String(Math.floor(expires_ms / 1000))
    return `${base_url}/media/${id}?expires=${expires}&signature=${proof(id, expires)}${binding(tenant, id)}`
  }
  return {
    of,
    refusal(id, { expires, signature }, now_ms) {
      if (
        !isId('med', id) ||
        typeof expires !== 'string' ||
        typeof signature !== 'string' ||
        signature.length !== 2 * halfLength
      )
        return 'unsigned'
      if (!sameText(proof(id, expires), signature.slice(0, halfLength))) return 'unsigned'
      return Number(expires) * 1000 > now_ms ? null : 'expired'
    },
    renewed(tenant, url, expires_ms) {
      const [, id, expires, signed, bound] =
        /\/media\/(med_\w{26})\?expires=(\d{1,12})&signature=([\w-]{22})([\w-]{22})$/.exec(url) ?? []
      if (id === undefined || !sameText(proof(id, expires!), signed!) || !sameText(binding(tenant, id), bound!))
        return null
      return of(tenant, id, expires_ms)
    },
  }
}
