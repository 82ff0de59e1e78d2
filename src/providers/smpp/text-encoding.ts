/** Encodes and decodes texts, with their `data_coding` and parts. */
import { gsmBytes, gsmText, splitSms } from '../../lib/gsm.ts'

export type Alphabet = 'gsm7' | 'latin1' | 'ascii'

export const ucs2Coding = 8

export interface Encoded {
  readonly data_coding: number
  readonly parts: readonly Buffer[]
}

/** Uses `data_coding` 0 if both alphabets have all characters, otherwise UCS-2. `whole`: not split. */
export function encodeText(body: string, alphabet: Alphabet, whole: boolean): Encoded {
  const { encoding, parts } = splitSms(body)
  const encoded = encoding === 'gsm7' ? (whole ? [body] : parts).map((part) => bytesIn(alphabet, part)) : null
  if (encoded !== null && encoded.every((part) => part !== null)) return { data_coding: 0, parts: encoded }
  return {
    data_coding: ucs2Coding,
    parts: (whole ? [body] : encoding === 'ucs2' ? parts : splitUcs2(body)).map(ucs2Bytes),
  }
}

const ascii = /^[\x20-\x7e\n\r\f]*$/
const latin1 = /^[\x20-\x7e\xa0-\xff\n\r\f]*$/

function bytesIn(alphabet: Alphabet, text: string): Buffer | null {
  if (alphabet === 'gsm7') return Buffer.from(gsmBytes(text))
  return (alphabet === 'ascii' ? ascii : latin1).test(text) ? Buffer.from(text, 'latin1') : null
}

const ucs2Bytes = (text: string): Buffer => Buffer.from(text, 'utf16le').swap16()

const ucs2Capacity = { single: 70, part: 67 } as const

function splitUcs2(body: string): string[] {
  if (body.length <= ucs2Capacity.single) return [body]
  return Array.from({ length: Math.ceil(body.length / ucs2Capacity.part) }, (_, n) =>
    body.slice(n * ucs2Capacity.part, (n + 1) * ucs2Capacity.part),
  )
}

export function decodeText(bytes: Buffer, data_coding: number, alphabet: Alphabet): string | null {
  const coding = codingOf(data_coding)
  if (coding === 'binary') return null
  if (coding === 'ucs2')
    return Buffer.from(bytes.subarray(0, bytes.length - (bytes.length % 2)))
      .swap16()
      .toString('utf16le')
  if (coding === 'latin1') return bytes.toString('latin1')
  if (coding === 'ascii' || (coding === 'default' && alphabet === 'ascii'))
    return Buffer.from(bytes.map((byte) => byte & 0x7f)).toString('latin1')
  return coding === 'default' && alphabet === 'latin1' ? bytes.toString('latin1') : gsmText(bytes)
}

/** SMPP 3.4, section 5.2.19, and 3GPP TS 23.038. */
function codingOf(data_coding: number): 'default' | 'gsm7' | 'ascii' | 'latin1' | 'ucs2' | 'binary' {
  if (data_coding === 0) return 'default'
  if (data_coding === 1) return 'ascii'
  if (data_coding === 3) return 'latin1'
  if (data_coding === ucs2Coding) return 'ucs2'
  if (data_coding === 2 || data_coding === 4) return 'binary'
  if ((data_coding & 0xf0) === 0xf0) return (data_coding & 0x04) === 0 ? 'gsm7' : 'binary'
  if ((data_coding & 0xf0) === 0xe0) return 'ucs2'
  return data_coding >= 0xc0 ? 'gsm7' : 'binary'
}

export interface PartPosition {
  readonly reference: number
  readonly total: number
  readonly number: number
}

/** One byte of reference: two would leave less text per part than `segments` assumes. */
export const joiningHeader = ({ reference, total, number }: PartPosition): Buffer =>
  Buffer.from([5, 0, 3, reference & 0xff, total, number])

/** References have one or two bytes; an invalid header is ignored. */
export function readHeader(bytes: Buffer): { position: PartPosition | null; rest: Buffer } {
  const length = bytes[0] ?? 0
  if (length + 1 > bytes.length) return { position: null, rest: bytes }
  let position: PartPosition | null = null
  for (let at = 1; at + 1 < length + 1;) {
    const [element, size] = [bytes[at]!, bytes[at + 1]!]
    const value = bytes.subarray(at + 2, Math.min(at + 2 + size, length + 1))
    if (element === 0x00 && value.length === 3) position = { reference: value[0]!, total: value[1]!, number: value[2]! }
    if (element === 0x08 && value.length === 4)
      position = { reference: value.readUInt16BE(0), total: value[2]!, number: value[3]! }
    at += 2 + size
  }
  return { position, rest: bytes.subarray(length + 1) }
}
