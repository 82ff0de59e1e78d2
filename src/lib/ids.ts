/** Time-ordered ids: UUIDv7 (RFC 9562 5.7) as TypeID text. Made in the process, monotonic within it. */
import { randomFillSync } from 'node:crypto'
import type { Clock } from './clock.ts'

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'
const poolBytes = 10 * 400

/** Makes ids of one process. Two ids of one maker never compare in the wrong order, also within a millisecond. */
export interface IdMaker {
  <P extends string>(prefix: P): `${P}_${string}`
}

/** `fill` overwrites its argument with random bytes; tests pass a seeded one. */
export function idMaker(clock: Clock, fill: (bytes: Uint8Array) => unknown = randomFillSync): IdMaker {
  const pool = new Uint8Array(poolBytes)
  let used = poolBytes
  let lastMs = 0
  let sequence = 0
  return (prefix) => {
    if (used + 10 > poolBytes) {
      fill(pool)
      used = 0
    }
    const now = clock.now()
    if (now > lastMs) {
      lastMs = now
      sequence = ((pool[used]! << 8) | pool[used + 1]!) & 0x7ff
    } else if (++sequence > 0xfff) {
      lastMs += 1
      sequence = 0
    }
    const text = typeIdText(lastMs, sequence, pool, used + 2)
    used += 10
    return `${prefix}_${text}`
  }
}

/** 48 bits of milliseconds, version 7, 12 bits of sequence, variant 2, 62 random bits, as 26 base32 characters. */
function typeIdText(ms: number, sequence: number, random: Uint8Array, at: number): string {
  const bytes = new Uint8Array(16)
  const high = Math.floor(ms / 65536)
  bytes[0] = (high >>> 24) & 255
  bytes[1] = (high >>> 16) & 255
  bytes[2] = (high >>> 8) & 255
  bytes[3] = high & 255
  bytes[4] = (ms >>> 8) & 255
  bytes[5] = ms & 255
  bytes[6] = 0x70 | (sequence >>> 8)
  bytes[7] = sequence & 255
  for (let i = 0; i < 8; i++) bytes[8 + i] = random[at + i]!
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  return encode(bytes)
}

function encode(bytes: Uint8Array): string {
  let text = alphabet[bytes[0]! >>> 5]! + alphabet[bytes[0]! & 31]!
  for (let i = 1; i < 16; i += 5) {
    const [a, b, c, d, e] = [bytes[i]!, bytes[i + 1]!, bytes[i + 2]!, bytes[i + 3]!, bytes[i + 4]!]
    text +=
      alphabet[a >>> 3]! +
      alphabet[((a & 7) << 2) | (b >>> 6)]! +
      alphabet[(b >>> 1) & 31]! +
      alphabet[((b & 1) << 4) | (c >>> 4)]! +
      alphabet[((c & 15) << 1) | (d >>> 7)]! +
      alphabet[(d >>> 2) & 31]! +
      alphabet[((d & 3) << 3) | (e >>> 5)]! +
      alphabet[e & 31]!
  }
  return text
}

/** The first possible id of a moment: a bound for ranges of ids and for partitions. */
export function idFloor(prefix: string, ms: number): string {
  const bytes = new Uint8Array(16)
  let rest = ms
  for (let i = 5; i >= 0; i--) {
    bytes[i] = rest % 256
    rest = Math.floor(rest / 256)
  }
  return `${prefix}_${encode(bytes)}`
}

/** The milliseconds since 1970 at which an id was made. */
export function idTime(id: string): number {
  const text = id.slice(id.lastIndexOf('_') + 1)
  let ms = 0
  for (let i = 0; i < 10; i++) ms = ms * 32 + alphabet.indexOf(text[i]!)
  return ms
}
