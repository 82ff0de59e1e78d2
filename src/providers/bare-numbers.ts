/** Phone numbers of providers that write them without the plus, and what comes in from them. */
import type { Connection, InboundMessage } from './provider.ts'

export const withoutPlus = (number: string): string => number.replace(/^\+/, '')

/** With its plus where it is as long as a number, as it is where it is a name. */
const senderOf = (from: string): string => (/^\d{7,15}$/.test(from) ? `+${from}` : from)

/** Whether a message to this number is for the channel. A sender that is a name gets whatever comes. */
const isForChannel = (to: string, identifier: string): boolean =>
  !/^\+?\d+$/.test(identifier) || withoutPlus(to) === withoutPlus(identifier)

/** What came in from a bare number. */
export interface BareInbound {
  readonly provider_id: string
  readonly from: string
  readonly to: string
  /** null: it is no text, and only that it came is told. */
  readonly text: string | null
  /** What the provider calls it. */
  readonly provider_type: string
}

/** The message that it is; null for one to another number of the account, or from nobody. */
export function inboundText(
  { provider_id, from, to, text, provider_type }: BareInbound,
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
