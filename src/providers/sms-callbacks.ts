/** Callbacks of SMS providers without signatures, verified by `?token=` in the address. */
import { Type } from 'typebox'
import { sameText } from '../lib/hmac.ts'
import type { Callback, Connection, InboundMessage } from './provider.ts'

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

export const callbackUrlWithToken = (connection: Connection): string =>
  `${connection.webhook_url}?token=${encodeURIComponent(tokenOf(connection))}`

export function hasToken({ query }: Pick<Callback, 'query'>, connection: Connection): boolean {
  const token = tokenOf(connection)
  return token !== '' && sameText(token, query['token'] ?? '')
}

export const withoutPlus = (number: string): string => number.replace(/^\+/, '')

const senderOf = (from: string): string => (/^\d{7,15}$/.test(from) ? `+${from}` : from)

/** A channel with an alphanumeric sender receives everything. */
const isForChannel = (to: string, identifier: string): boolean =>
  !/^\+?\d+$/.test(identifier) || withoutPlus(to) === withoutPlus(identifier)

export interface InboundSms {
  readonly provider_id: string
  readonly from: string
  readonly to: string
  /** null if it is not a text; stored as `unsupported`. */
  readonly text: string | null
  readonly provider_type: string
}

/** null if it is for another number of the account or has no sender. */
export function inboundText(
  { provider_id, from, to, text, provider_type }: InboundSms,
  { identifier }: Connection,
): InboundMessage | null {
  if (!isForChannel(to, identifier) || from === '' || from.length > 50) return null
  return {
    kind: 'inbound',
    provider_id,
    from: senderOf(from),
    profile_name: null,
    type: text === null ? 'unsupported' : 'text',
    content: text === null ? { provider_type } : { body: text },
    reply_to: null,
  }
}
