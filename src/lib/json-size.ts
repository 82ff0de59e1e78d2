/** Measures JSON text before it is parsed: members of objects, elements of arrays, and different names. */
import { randomInt } from 'node:crypto'

/** Blanks and control characters. */
const blank = 32
const [quote, backslash, comma, colon, openList, closeList, openObject, closeObject] = [
  34, 92, 44, 58, 91, 93, 123, 125,
]

export interface JsonBounds {
  /** Members of objects and elements of arrays, at all depths together. */
  readonly members_max: number
  /** A new name costs the parser many times as much as a member with a known name. */
  readonly names_max: number
}

/** Which bound JSON text exceeds. Invalid JSON is counted as far as it makes sense. */
export function boundExceeded(bytes: Uint8Array, { members_max, names_max }: JsonBounds): 'members' | 'names' | null {
  // each member takes a byte at least: most bodies need no count
  if (bytes.length <= members_max && bytes.length <= names_max) return null
  const members = countMembers(bytes, members_max)
  if (members > members_max) return 'members'
  return members > names_max && hasMoreNames(bytes, names_max) ? 'names' : null
}

/**
 * Counts until `max` is exceeded: a member for each comma, and one for each end of an object or array that is not empty.
 */
export function countMembers(bytes: Uint8Array, max = Infinity): number {
  const { length } = bytes
  let members = 0
  let last = 0
  for (let at = 0; at < length && members <= max; at++) {
    const byte = bytes[at]!
    if (byte <= blank) continue
    if (byte === quote) at = endOfText(bytes, at)
    else if (byte === comma) members++
    else if ((byte === closeObject || byte === closeList) && last !== openObject && last !== openList) members++
    last = byte
  }
  return members
}

/** Different for each process, so that nobody can choose names with equal hashes. */
const seed = randomInt(2 ** 31)

/** Names with equal hashes count once. */
function hasMoreNames(bytes: Uint8Array, max: number): boolean {
  const names = new Set<number>()
  for (let at = 0; at < bytes.length && names.size <= max; at++) {
    if (bytes[at] !== quote) continue
    const begin = at + 1
    at = endOfText(bytes, at)
    if (bytes[afterBlanks(bytes, at + 1)] !== colon) continue
    let hash = seed
    for (let of = begin; of < at; of++) hash = Math.imul(hash ^ bytes[of]!, 16_777_619)
    names.add(hash)
  }
  return names.size > max
}

/** The position of the closing quote of the text that begins at `at`. */
function endOfText(bytes: Uint8Array, at: number): number {
  let end = at + 1
  while (end < bytes.length && bytes[end] !== quote) end += bytes[end] === backslash ? 2 : 1
  return end
}

function afterBlanks(bytes: Uint8Array, at: number): number {
  let next = at
  while (next < bytes.length && bytes[next]! <= blank) next++
  return next
}

/** A value of JSON text that is parsed already. */
export interface ValueBounds {
  /** Of its JSON in UTF-8. */
  readonly bytes_max: number
  /** As `JsonBounds`, the value itself not counted. */
  readonly members_max: number
}

/** Characters become at most six bytes of JSON (`\u001f`). */
const bytesOfCharacter = 6
const bytesOfOther = 32

/** Which bound a value exceeds. Writes JSON only for values that may be too long. */
export function exceededBy(value: unknown, { bytes_max, members_max }: ValueBounds): 'bytes' | 'members' | null {
  let [members, bytes] = [0, 0]
  const count = (one: unknown): void => {
    if (members > members_max) return
    if (typeof one === 'string') bytes += one.length * bytesOfCharacter + 2
    else if (typeof one !== 'object' || one === null) bytes += bytesOfOther
    else if (Array.isArray(one)) {
      members += one.length
      bytes += one.length + 2
      for (const item of one) count(item)
    } else {
      bytes += 2
      for (const name in one) {
        members++
        bytes += name.length * bytesOfCharacter + 4
        count((one as Record<string, unknown>)[name])
      }
    }
  }
  count(value)
  if (members > members_max) return 'members'
  return bytes > bytes_max && Buffer.byteLength(JSON.stringify(value) ?? '') > bytes_max ? 'bytes' : null
}

const charactersOfOther = 8

/** The length of its JSON, to bound memory: without escapes, and the same for every number. */
export function approximateLength(value: unknown): number {
  if (typeof value === 'string') return value.length
  if (typeof value !== 'object' || value === null) return charactersOfOther
  let sum = charactersOfOther
  if (Array.isArray(value)) for (const item of value) sum += approximateLength(item)
  else for (const key in value) sum += key.length + approximateLength((value as Record<string, unknown>)[key])
  return sum
}
