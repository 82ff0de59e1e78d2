/** Links of one use: their secret stands in the fragment, which browsers send to nobody, and the database holds its hash (behaviour: console 3.10). */
import { hash, randomBytes } from 'node:crypto'

export interface Link {
  readonly token_hash: string
  readonly url: string
}

export const tokenHash = (token: string): string => hash('sha256', token, 'hex')

/** A new one to this page of the console. */
export function newLink(base_url: string, page: 'setup' | 'reset' | 'invitation'): Link {
  const token = randomBytes(32).toString('base64url')
  return { token_hash: tokenHash(token), url: `${base_url}/console/${page}#${token}` }
}
