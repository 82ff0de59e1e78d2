/** API keys and source keys (behaviour: authentication 1.3): a prefix, 32 random base62 characters, and a checksum. */
import { hash, randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'
import type { Mode } from '../../api/caller.ts'
import { limits } from '../../api/limits.ts'
import type { SteadyClock } from '../../lib/clock.ts'
import { lookupCache } from '../../lib/lookup-cache.ts'
import type { FindKey, KeyFacts } from '../../platform/http/auth.ts'

/** The mode of an API key, or `src` for the key of an integration source. */
export type KeyPrefix = Mode | 'src'

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const entropyLength = 32
const checksumLength = 6
const shape = /^svc_(live|test|src)_[0-9A-Za-z]{38}$/

/** Tests pass a seeded `fill`. */
export function newKey(prefix: KeyPrefix, fill: (size: number) => Uint8Array = randomBytes): string {
  let text = `svc_${prefix}_`
  const end = text.length + entropyLength
  while (text.length < end) {
    // 248 = 4 × 62: larger bytes are discarded, so that all characters are equally likely
    for (const byte of fill(entropyLength)) if (byte < 248 && text.length < end) text += alphabet[byte % 62]!
  }
  return text + checksum(text)
}

/** CRC32 in six base62 characters. */
function checksum(text: string): string {
  let rest = crc32(text)
  let digits = ''
  for (let i = 0; i < checksumLength; i++) {
    digits = alphabet[rest % 62]! + digits
    rest = Math.floor(rest / 62)
  }
  return digits
}

/** Well-formed, whether it exists or not. */
export const isKeyText = (text: string): boolean =>
  shape.test(text) && checksum(text.slice(0, -checksumLength)) === text.slice(-checksumLength)

export const isSourceKeyText = (text: string): boolean => text.startsWith('svc_src_')

export const keyHash = (text: string): string => hash('sha256', text, 'hex')

const cachedKeysMax = 20_000

export interface KeyCache {
  readonly find: FindKey
  /** After a change, and whenever one may have been missed. */
  forget(): void
}

/** `lookUp` reads a key from the database. */
export function keyCache(
  clock: Pick<SteadyClock, 'now' | 'elapsed'>,
  isKeyText: (text: string) => boolean,
  lookUp: (text: string) => Promise<KeyFacts | null>,
): KeyCache {
  const cache = lookupCache<KeyFacts | null>(clock, { entries_max: cachedKeysMax, age_max_ms: limits.cache_ms })
  return {
    find(text) {
      const known = cache.get(text)
      if (known !== undefined) return known
      return isKeyText(text) ? cache.read(text, () => lookUp(text)) : null
    },
    forget: () => cache.forget(),
  }
}
