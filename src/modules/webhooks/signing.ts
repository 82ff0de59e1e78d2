/** Signs deliveries (behaviour: webhooks 4). */
import { eventHeaders, signingKey, type SigningKey } from '../../lib/event-headers.ts'
import type { Secrets } from '../../platform/secrets/secrets.ts'
import type { EndpointRow } from './endpoint.ts'

/** The secrets are decrypted. */
export interface Target {
  readonly url: string
  readonly secret: SigningKey
  readonly previous_secret: SigningKey | null
  readonly previous_secret_until: number
  readonly verification_token: string | null
}

export const targetOf = (
  secrets: Secrets,
  row: Pick<EndpointRow, 'url' | 'secret' | 'previous_secret' | 'previous_secret_until' | 'verification_token'>,
): Target => ({
  url: row.url,
  secret: signingKey(secrets.open(row.secret)),
  previous_secret: row.previous_secret === null ? null : signingKey(secrets.open(row.previous_secret)),
  previous_secret_until: row.previous_secret_until === null ? 0 : Date.parse(row.previous_secret_until),
  verification_token: row.verification_token === null ? null : secrets.open(row.verification_token),
})

/** Names and values alternate. During an overlap both secrets sign. */
export function deliveryHeaders(
  target: Target,
  event: { readonly id: string; readonly type: string },
  body: Buffer,
  now: number,
): string[] {
  const keys =
    target.previous_secret !== null && now < target.previous_secret_until
      ? [target.secret, target.previous_secret]
      : [target.secret]
  const headers = eventHeaders(keys, event, body, now)
  if (target.verification_token !== null) headers.push('Service-Verification-Token', target.verification_token)
  return headers
}
