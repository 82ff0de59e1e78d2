/** Callbacks of SMS providers that sign nothing (they are verified by `?token=` in the address) and write phone numbers without a plus. */
import { Type } from 'typebox'
import { sameText } from '../lib/hmac.ts'
import type { Callback, Connection, InboundMessage } from './provider.ts'

/** The credential `verify_token`. If it is left out, one is generated and shown once. */
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

/** The callback address with the token. */
export const callbackUrlWithToken = (connection: Connection): string =>
  `${connection.webhook_url}?token=${encodeURIComponent(tokenOf(connection))}`

export function hasToken({ query }: Pick<Callback, 'query'>, connection: Connection): boolean {
  const token = tokenOf(connection)
  return token !== '' && sameText(token, query['token'] ?? '')
}

export const withoutPlus = (number: string): string => number.replace(/^\+/, '')

/** Adds the plus to anything as long as a phone number. */
const senderOf = (from: string): string => (/^\d{7,15}$/.test(from) ? `+${from}` : from)

/** Whether a message to this number is for the channel. A channel with an alphanumeric sender receives everything. */
const isForChannel = (to: string, identifier: string): boolean =>
  !/^\+?\d+$/.test(identifier) || withoutPlus(to) === withoutPlus(identifier)

/** An inbound message as the provider reports it. */
export interface InboundSms {
  readonly provider_id: string
  readonly from: string
  readonly to: string
  /** null for anything but a text; it is stored as `unsupported`. */
  readonly text: string | null
  /** The provider's name for the type. */
  readonly provider_type: string
}

/** The inbound message; null if it is for another number of the account or has no sender. */
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
