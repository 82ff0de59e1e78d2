/** Time-ordered ids: UUIDv7 (RFC 9562 5.7) as TypeID text. */
import { randomFillSync } from 'node:crypto'
import type { Clock } from './clock.ts'

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'
const digits = Buffer.from(alphabet, 'latin1')
const poolBytes = 10 * 400

/** Well below the second by which lists bound ids around `created_at`. */
const setBackMaxMs = 500

/**
 * Ids of one process sort in the order of their creation, unless the clock was set back by more than `setBackMaxMs`.
 */
export interface IdMaker {
  <P extends string>(prefix: P): `${P}_${string}`
}

/** Overwrites its argument with random bytes. */
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
    if (now > lastMs || now < lastMs - setBackMaxMs) {
      lastMs = now
      sequence = ((pool[used]! << 8) | pool[used + 1]!) & 0x7ff
    } else if (++sequence > 0xfff) {
      lastMs += 1
      sequence = 0
    }
    const text = typeId(prefix, lastMs, sequence, pool, used + 2)
    used += 10
    return text as `${typeof prefix}_${string}`
  }
}

/** 48 bits of milliseconds, version 7, 12 bits of sequence, variant 2, 62 random bits, as 26 base32 characters. */
function typeId(prefix: string, ms: number, sequence: number, random: Uint8Array, at: number): string {
  writeMs(ms)
  uuid[6] = 0x70 | (sequence >>> 8)
  uuid[7] = sequence & 255
  for (let i = 0; i < 8; i++) uuid[8 + i] = random[at + i]!
  uuid[8] = (uuid[8]! & 0x3f) | 0x80
  return encoded(prefix)
}

// shared buffers, because allocating for each id costs more than the rest
const uuid = new Uint8Array(16)
const text = Buffer.alloc(64)

function writeMs(ms: number): void {
  const high = Math.floor(ms / 65536)
  uuid[0] = high >>> 24
  uuid[1] = high >>> 16
  uuid[2] = high >>> 8
  uuid[3] = high
  uuid[4] = ms >>> 8
  uuid[5] = ms
}

function encoded(prefix: string): string {
  let at = 0
  for (; at < prefix.length; at++) text[at] = prefix.charCodeAt(at)
  text[at++] = 0x5f
  text[at++] = digits[uuid[0]! >>> 5]!
  text[at++] = digits[uuid[0]! & 31]!
  for (let i = 1; i < 16; i += 5) {
    const a = uuid[i]!
    const b = uuid[i + 1]!
    const c = uuid[i + 2]!
    const d = uuid[i + 3]!
    const e = uuid[i + 4]!
    text[at++] = digits[a >>> 3]!
    text[at++] = digits[((a & 7) << 2) | (b >>> 6)]!
    text[at++] = digits[(b >>> 1) & 31]!
    text[at++] = digits[((b & 1) << 4) | (c >>> 4)]!
    text[at++] = digits[((c & 15) << 1) | (d >>> 7)]!
    text[at++] = digits[(d >>> 2) & 31]!
    text[at++] = digits[((d & 3) << 3) | (e >>> 5)]!
    text[at++] = digits[e & 31]!
  }
  return text.toString('latin1', 0, at)
}

export function idFloor(prefix: string, ms: number): string {
  uuid.fill(0)
  writeMs(ms)
  return encoded(prefix)
}

export function idTime(id: string): number {
  const text = id.slice(id.lastIndexOf('_') + 1)
  let ms = 0
  for (let i = 0; i < 10; i++) ms = ms * 32 + alphabet.indexOf(text[i]!)
  return ms
}
