/** Messages from recipients: read from a packet, and joined where they came in parts. */
import { createHash } from 'node:crypto'
import type { InboundMessage } from '../../adapter.ts'
import type { Clock } from '../../../../lib/clock.ts'
import { bytesOf, numberOf, textOf, type Pdu } from './pdu.ts'
import { decodeText, readHeader, type Alphabet, type PartPlace } from './texts.ts'

/** One part as it came. */
export interface InboundPart {
  readonly from: string
  readonly to: string
  /** null: it is no text. */
  readonly text: string | null
  readonly place: PartPlace | null
  readonly provider_id: string
}

const udhIndicator = 0x40

/** What a packet carries: the optional payload, or the short message. */
export function readInbound(pdu: Pdu, alphabet: Alphabet, provider_id: string): InboundPart {
  const payload = bytesOf(pdu, 'message_payload')
  const bytes = payload.length > 0 ? payload : bytesOf(pdu, 'short_message')
  const header = (numberOf(pdu, 'esm_class') & udhIndicator) === 0 ? { place: null, rest: bytes } : readHeader(bytes)
  return {
    from: senderOf(textOf(pdu, 'source_addr'), numberOf(pdu, 'source_addr_ton')),
    to: textOf(pdu, 'destination_addr'),
    text: decodeText(header.rest, numberOf(pdu, 'data_coding'), alphabet),
    place: validPlace(header.place ?? sarPlace(pdu)),
    provider_id,
  }
}

function sarPlace(pdu: Pdu): PartPlace | null {
  if (pdu['sar_total_segments'] === undefined) return null
  return { reference: numberOf(pdu, 'sar_msg_ref_num'), total: numberOf(pdu, 'sar_total_segments'), number: numberOf(pdu, 'sar_segment_seqnum') }
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

export const inboundOf = ({ provider_id, from, text }: InboundPart): InboundMessage => ({
  kind: 'inbound',
  provider_id,
  from,
  profile_name: null,
  reply_to: null,
  ...(text === null ? { type: 'unsupported', content: { provider_type: 'binary' } } : { type: 'text', content: { body: text } }),
})

/** An id for what came in this packet: SMPP has none. */
export const idOf = (bytes: Buffer, nonce: string): string => createHash('sha256').update(nonce).update(bytes).digest('hex').slice(0, 32)

/** Joins parts of messages, bounded in number and time. */
export interface Joining {
  /** The whole message, where this part completes it or is one by itself; and what had to make room for it. */
  add(part: InboundPart): InboundPart[]
  /** Messages whose missing parts are not waited for any longer, with what came of them; all of them where `all`. */
  overdue(all?: boolean): InboundPart[]
}

const waitMs = 5 * 60_000
const joinedMax = 1000

interface Parts {
  readonly first: InboundPart
  readonly texts: Map<number, string>
  readonly total: number
  readonly since_ms: number
}

export function joining(clock: Pick<Clock, 'now'>): Joining {
  const open = new Map<string, Parts>()
  const close = (key: string, { first, texts, total }: Parts): InboundPart => {
    open.delete(key)
    const numbers = Array.from({ length: total }, (_, n) => n + 1)
    return { ...first, place: null, text: numbers.map((number) => texts.get(number) ?? '…').join('') }
  }
  return {
    add(part) {
      const { place, text } = part
      if (place === null || text === null) return [part]
      const key = JSON.stringify([part.from, part.to, place.reference, place.total])
      const parts = open.get(key) ?? { first: part, texts: new Map<number, string>(), total: place.total, since_ms: clock.now() }
      parts.texts.set(place.number, text)
      open.set(key, parts)
      if (parts.texts.size === parts.total) return [close(key, parts)]
      const oldest = open.size > joinedMax ? [...open][0]! : undefined
      return oldest === undefined ? [] : [close(...oldest)]
    },
    overdue: (all = false) => [...open].filter(([, { since_ms }]) => all || clock.now() - since_ms >= waitMs).map(([key, parts]) => close(key, parts)),
  }
}
