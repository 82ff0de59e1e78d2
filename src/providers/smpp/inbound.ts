/** Inbound messages: text, parts, and destination. */
import { createHash } from 'node:crypto'
import type { InboundMessage } from '../provider.ts'
import type { Options } from './options.ts'
import { bytesOf, numberOf, textOf, type Pdu } from './pdu.ts'
import { decodeText, readHeader, type PartPosition } from './text-encoding.ts'

const udhIndicator = 0x40

export function readInbound(
  pdu: Pdu,
  { alphabet, identifier }: Pick<Options, 'alphabet' | 'identifier'>,
  provider_id: string,
): { readonly items: readonly InboundMessage[]; readonly ignored?: string } {
  const from = senderOf(textOf(pdu, 'source_addr'), numberOf(pdu, 'source_addr_ton'))
  if (from === '') return { items: [], ignored: 'a message without a sender' }
  const header = contentOf(pdu)
  const text = decodeText(header.rest, numberOf(pdu, 'data_coding'), alphabet)
  const destination = textOf(pdu, 'destination_addr')
  const to = otherDestination(destination, numberOf(pdu, 'dest_addr_ton'), identifier)
  const message = {
    kind: 'inbound',
    provider_id,
    from,
    profile_name: null,
    reply_to: null,
    ...(to === undefined ? {} : { to }),
  } as const
  if (text === null) return { items: [{ ...message, type: 'unsupported', content: { provider_type: 'binary' } }] }
  const position = validPosition(header.position ?? sarPosition(pdu))
  if (text === '' && position === null) return { items: [], ignored: 'a message without a text' }
  const part = position === null ? {} : { part: { ...position, reference: `${destination} ${position.reference}` } }
  return { items: [{ ...message, type: 'text', content: { body: text }, ...part }] }
}

export function contentOf(pdu: Pdu): ReturnType<typeof readHeader> {
  const payload = bytesOf(pdu, 'message_payload')
  const bytes = payload.length > 0 ? payload : bytesOf(pdu, 'short_message')
  return (numberOf(pdu, 'esm_class') & udhIndicator) === 0 ? { position: null, rest: bytes } : readHeader(bytes)
}

function sarPosition(pdu: Pdu): PartPosition | null {
  if (pdu['sar_total_segments'] === undefined) return null
  return {
    reference: numberOf(pdu, 'sar_msg_ref_num'),
    total: numberOf(pdu, 'sar_total_segments'),
    number: numberOf(pdu, 'sar_segment_seqnum'),
  }
}

const validPosition = (position: PartPosition | null): PartPosition | null =>
  position !== null && position.total > 1 && position.number >= 1 && position.number <= position.total ? position : null

const international = 1
const unknownType = 0

/** Adds the plus to international numbers, by type of number or length. */
function senderOf(address: string, ton: number): string {
  const digits = address.replace(/^00(?=[1-9]\d{6,14}$)/, '+')
  if (!/^[1-9]\d{6,14}$/.test(digits)) return digits
  return ton === international || (ton === unknownType && digits.length >= 10) ? `+${digits}` : digits
}

export const idOf = (bytes: Buffer, nonce: string): string =>
  createHash('sha256').update(nonce).update(bytes).digest('hex').slice(0, 32)

const internationalType = 1
/** The longest short code (behaviour: channels 2.3). */
const shortCodeDigits = 8
const lastDigits = 7

/** Certainly another number (`ignored`) only if both are of the same kind and their last digits differ. */
export function otherDestination(
  destination: string,
  type_of_number: number,
  identifier: string,
): InboundMessage['to'] {
  const [digits, own] = [destination.replace(/^(\+|00)/, ''), identifier.replace(/^\+/, '')]
  if (!/^\d+$/.test(digits) || digits === own) return undefined
  const isInternational = type_of_number === internationalType || digits !== destination
  return {
    identifiers: [`+${digits}`, digits],
    otherwise: isOtherNumber(digits, own, identifier.startsWith('+'), isInternational) ? 'ignored' : 'ours',
  }
}

function isOtherNumber(digits: string, own: string, isNumber: boolean, isInternational: boolean): boolean {
  if (!/^\d+$/.test(own) || own.endsWith(digits.replace(/^0+/, '')) || digits.endsWith(own)) return false
  if (!isNumber) return digits.length <= shortCodeDigits
  if (digits.length < lastDigits) return false
  return digits.slice(-lastDigits) !== own.slice(-lastDigits) || (isInternational && digits.length === own.length)
}
