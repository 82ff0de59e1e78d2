/** The cookie of a session: 256 random bits, of which the database holds a hash (behaviour: console 2.4). */
import { hash, randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Settings } from '../../../config/settings.ts'

/** How long a session lasts that nobody uses, and at most. */
export const sessionLifetime = { idle_ms: 12 * 3600_000, all_ms: 14 * 24 * 3600_000 } as const

const isSecure = ({ base_url }: Settings): boolean => base_url.startsWith('https:')

/** The prefix has browsers keep others from setting it; it takes https (RFC 6265bis 4.1.3.2). */
const nameOf = (settings: Settings): string => (isSecure(settings) ? '__Host-posthorn' : 'posthorn')

export const newCookieValue = (): string => randomBytes(32).toString('base64url')

export const cookieHash = (value: string): string => hash('sha256', value, 'hex')

const attributes = (settings: Settings): string =>
  `Path=/; HttpOnly; SameSite=Lax${isSecure(settings) ? '; Secure' : ''}`

export const setCookie = (settings: Settings, value: string): string =>
  `${nameOf(settings)}=${value}; ${attributes(settings)}; Max-Age=${sessionLifetime.all_ms / 1000}`

export const clearCookie = (settings: Settings): string => `${nameOf(settings)}=; ${attributes(settings)}; Max-Age=0`

const shape = /^[\w-]{43}$/

/** The session's secret in a request; undefined where it carries none of a possible form. */
export function cookieOf({ headers }: Pick<IncomingMessage, 'headers'>, settings: Settings): string | undefined {
  const wanted = `${nameOf(settings)}=`
  for (const part of (headers.cookie ?? '').split(';')) {
    const pair = part.trim()
    if (pair.startsWith(wanted) && shape.test(pair.slice(wanted.length))) return pair.slice(wanted.length)
  }
  return undefined
}
