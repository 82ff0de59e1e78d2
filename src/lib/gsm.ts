/** Encodes SMS texts: GSM 7-bit (3GPP TS 23.038) if possible, otherwise UCS-2, split into parts (3GPP TS 23.040). */

export type SmsEncoding = 'gsm7' | 'ucs2'

export interface SmsShape {
  readonly encoding: SmsEncoding
  readonly segments: number
}

/** One septet each. */
const basic =
  '@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !"#¤%&\'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà'
/** Two septets each: an escape and one. */
const extension = '\f^{}\\[~]|€'

/** Septets or UTF-16 units; parts need a header. */
const capacity = { gsm7: { single: 160, part: 153 }, ucs2: { single: 70, part: 67 } } as const

/** One septet each. */
const plain = /^[ -Z_a-z\n\r]*$/

/** By UTF-16 unit, 0 outside of the alphabet, whose highest character is U+20AC. */
const septets = new Uint8Array(0x20ad)
for (const character of basic) septets[character.charCodeAt(0)] = 1
for (const character of extension) septets[character.charCodeAt(0)] = 2

/** An extension character counts two. Like a surrogate pair, it is never split. */
export function smsEncoding(body: string): SmsShape {
  if (plain.test(body))
    return {
      encoding: 'gsm7',
      segments: body.length <= capacity.gsm7.single ? 1 : Math.ceil(body.length / capacity.gsm7.part),
    }
  const total = septetsOf(body)
  if (total === null) return { encoding: 'ucs2', segments: body.length <= capacity.ucs2.single ? 1 : ucs2Parts(body) }
  return { encoding: 'gsm7', segments: total <= capacity.gsm7.single ? 1 : gsmParts(body) }
}

/** null if the alphabet lacks a character. */
function septetsOf(body: string): number | null {
  let total = 0
  for (let i = 0; i < body.length; i++) {
    const cost = septets[body.charCodeAt(i)] ?? 0
    if (cost === 0) return null
    total += cost
  }
  return total
}

function gsmParts(body: string): number {
  let parts = 1
  let used = 0
  for (let i = 0; i < body.length; i++) {
    const cost = septets[body.charCodeAt(i)]!
    if (used + cost > capacity.gsm7.part) {
      parts += 1
      used = 0
    }
    used += cost
  }
  return parts
}

function ucs2Parts(body: string): number {
  let parts = 0
  for (let start = 0; start < body.length; parts++) start = ucs2PartEnd(body, start)
  return parts
}

function ucs2PartEnd(body: string, start: number): number {
  const end = Math.min(start + capacity.ucs2.part, body.length)
  return end < body.length && isPair(body, end - 1) ? end - 1 : end
}

const isPair = (text: string, at: number): boolean =>
  (text.charCodeAt(at) & 0xfc00) === 0xd800 && (text.charCodeAt(at + 1) & 0xfc00) === 0xdc00

export function splitSms(body: string): { readonly encoding: SmsEncoding; readonly parts: readonly string[] } {
  const { encoding, segments } = smsEncoding(body)
  if (segments === 1) return { encoding, parts: [body] }
  const parts: string[] = []
  for (let start = 0; start < body.length;) {
    const end = encoding === 'gsm7' ? gsmPartEnd(body, start) : ucs2PartEnd(body, start)
    parts.push(body.slice(start, end))
    start = end
  }
  return { encoding, parts }
}

function gsmPartEnd(body: string, start: number): number {
  let end = start
  for (let used = 0; end < body.length; end++) {
    used += septets[body.charCodeAt(end)]!
    if (used > capacity.gsm7.part) break
  }
  return end
}

const escape = 0x1b
const basicBytes = new Map(Array.from(basic, (character, at) => [character, at < escape ? at : at + 1]))
const extensionBytes: Readonly<Record<string, number>> = {
  '\f': 0x0a,
  '^': 0x14,
  '{': 0x28,
  '}': 0x29,
  '\\': 0x2f,
  '[': 0x3c,
  '~': 0x3d,
  ']': 0x3e,
  '|': 0x40,
  '€': 0x65,
}
const basicByByte = new Map([...basicBytes].map(([character, byte]) => [byte, character]))
const extensionByByte = new Map(Object.entries(extensionBytes).map(([character, byte]) => [byte, character]))

/** One septet per byte; other characters become question marks. */
export function gsmBytes(text: string): Uint8Array {
  const bytes: number[] = []
  for (const character of text) {
    const extended = extensionBytes[character]
    if (extended === undefined) bytes.push(basicBytes.get(character) ?? 0x3f)
    else bytes.push(escape, extended)
  }
  return Uint8Array.from(bytes)
}

export function gsmText(bytes: Uint8Array): string {
  let text = ''
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i]! & 0x7f
    if (byte !== escape) {
      text += basicByByte.get(byte)!
      continue
    }
    const next = bytes[++i]
    if (next !== undefined) text += extensionByByte.get(next & 0x7f) ?? basicByByte.get(next & 0x7f) ?? ' '
  }
  return text
}
