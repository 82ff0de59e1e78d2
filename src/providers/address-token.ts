/** Callbacks that nobody signs are known by a word in their address: the channel's `verify_token`, as `?token=`. */
import { Type } from 'typebox'
import { sameText } from '../lib/hmac.ts'
import type { Callback, Connection } from './provider.ts'

/** The credential. Left out, one is made and shown once. */
export const verifyToken = (description: string) =>
  Type.Optional(
    Type.String({
      title: 'Verify token',
      format: 'password',
      minLength: 8,
      maxLength: 100,
      pattern: '^[A-Za-z0-9_-]+$',
      description,
    }),
  )

const tokenOf = ({ credentials }: Connection): string =>
  typeof credentials['verify_token'] === 'string' ? credentials['verify_token'] : ''

/** Where the provider calls back. */
export const addressWithToken = (connection: Connection): string =>
  `${connection.webhook_url}?token=${encodeURIComponent(tokenOf(connection))}`

export function hasToken({ query }: Pick<Callback, 'query'>, connection: Connection): boolean {
  const token = tokenOf(connection)
  return token !== '' && sameText(token, query['token'] ?? '')
}
