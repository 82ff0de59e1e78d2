/** The cookie of one OAuth flow: sealed, for ten minutes, of the browser that began it. */
import type { IncomingMessage } from 'node:http'
import type { Platform } from '../../../platform/platform.ts'
import type { OAuthFlow } from './provider.ts'

const validForMs = 10 * 60_000

export interface BegunFlow extends OAuthFlow {
  /** Where to go then: a path of ours. */
  readonly next: string
  /** The session that links an identity; null: somebody signs in. */
  readonly link: string | null
}

const isSecure = ({ settings }: Platform): boolean => settings.base_url.startsWith('https:')
const nameOf = (platform: Platform): string => (isSecure(platform) ? '__Secure-posthorn_oauth' : 'posthorn_oauth')
const attributes = (platform: Platform): string =>
  `Path=/console/api/oauth; HttpOnly; SameSite=Lax${isSecure(platform) ? '; Secure' : ''}`

export function oauthCookie(platform: Platform, flow: BegunFlow): string {
  const sealed = platform.secrets.seal(JSON.stringify({ ...flow, until: platform.clock.now() + validForMs }))
  return `${nameOf(platform)}=${encodeURIComponent(sealed)}; ${attributes(platform)}; Max-Age=${validForMs / 1000}`
}

export const noOAuthCookie = (platform: Platform): string => `${nameOf(platform)}=; ${attributes(platform)}; Max-Age=0`

/** The flow that a browser is on; null where it is on none, or has taken too long. */
export function flowOf(platform: Platform, { headers }: Pick<IncomingMessage, 'headers'>): BegunFlow | null {
  const begins = `${nameOf(platform)}=`
  const pair = (headers.cookie ?? '').split(';').find((part) => part.trim().startsWith(begins))
  if (pair === undefined) return null
  try {
    const flow = JSON.parse(
      platform.secrets.open(decodeURIComponent(pair.trim().slice(begins.length))),
    ) as BegunFlow & { readonly until: number }
    return flow.until > platform.clock.now() ? flow : null
  } catch {
    return null
  }
}
