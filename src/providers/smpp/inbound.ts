/** Messages from recipients, read from a packet. */
import { createHash } from 'node:crypto'
import type { InboundMessage } from '../provider.ts'
import { otherAddressee } from './addressees.ts'
import type { Options } from './options.ts'
import { bytesOf, numberOf, textOf, type Pdu } from './pdu.ts'
import { decodeText, readHeader, type PartPlace } from './texts.ts'

const udhIndicator = 0x40

/** What a packet carries, the optional payload or the short message, as a message to `identifier`; or why that is nothing. */
export function readInbound(
  pdu: Pdu,
  { alphabet, identifier }: Pick<Options, 'alphabet' | 'identifier'>,
  provider_id: string,
): { readonly reports: readonly InboundMessage[]; readonly ignored?: string } {
  const from = senderOf(textOf(pdu, 'source_addr'), numberOf(pdu, 'source_addr_ton'))
  if (from === '') return { reports: [], ignored: 'a message from nobody' }
  const header = contentOf(pdu)
  const text = decodeText(header.rest, numberOf(pdu, 'data_coding'), alphabet)
  const destination = textOf(pdu, 'destination_addr')
  const to = otherAddressee(destination, numberOf(pdu, 'dest_addr_ton'), identifier)
  const message = {
    kind: 'inbound',
    provider_id,
    from,
    profile_name: null,
    reply_to: null,
    ...(to === undefined ? {} : { to }),
  } as const
  if (text === null) return { reports: [{ ...message, type: 'unsupported', content: { provider_type: 'binary' } }] }
  const place = validPlace(header.place ?? sarPlace(pdu))
  // a part may be empty: the text waits for it
  if (text === '' && place === null) return { reports: [], ignored: 'a message without a text' }
  // a sender may have texts to several numbers under way
  const part = place === null ? {} : { part: { ...place, reference: `${destination} ${place.reference}` } }
  return { reports: [{ ...message, type: 'text', content: { body: text }, ...part }] }
}

/** The optional payload or the short message, without the header before it, and what that says. */
export function contentOf(pdu: Pdu): ReturnType<typeof readHeader> {
  const payload = bytesOf(pdu, 'message_payload')
  const bytes = payload.length > 0 ? payload : bytesOf(pdu, 'short_message')
  return (numberOf(pdu, 'esm_class') & udhIndicator) === 0 ? { place: null, rest: bytes } : readHeader(bytes)
}

function sarPlace(pdu: Pdu): PartPlace | null {
  if (pdu['sar_total_segments'] === undefined) return null
  return {
    reference: numberOf(pdu, 'sar_msg_ref_num'),
    total: numberOf(pdu, 'sar_total_segments'),
    number: numberOf(pdu, 'sar_segment_seqnum'),
  }
}

const validPlace = (place: PartPlace | null): PartPlace | null =>
  place !== null && place.total > 1 && place.number >= 1 && place.number <= place.total ? place : null

const international = 1
const unknownType = 0

/** With its plus where the number is an international one: said to be, or of a length that no other has. */
function senderOf(address: string, ton: number): string {
  const digits = address.replace(/^00(?=[1-9]\d{6,14}$)/, '+')
  if (!/^[1-9]\d{6,14}$/.test(digits)) return digits
  return ton === international || (ton === unknownType && digits.length >= 10) ? `+${digits}` : digits
}

/** An id for what came in this packet: SMPP has none. */
export const idOf = (bytes: Buffer, nonce: string): string =>
  createHash('sha256').update(nonce).update(bytes).digest('hex').slice(0, 32)
