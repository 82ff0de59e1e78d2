/** Tells of JSON, by one look at its bytes, that it can be kept exactly as it is written: nothing of it has to be mended or read anew first. */

/** A number of JavaScript keeps every integer of so many digits; one without an exponent that has no more of them in a row is far from infinite. */
const digitsKept = 15

const [quote, backslash, lineFeed] = [0x22, 0x5c, 0x0a] as const
const [letterU, letterD, smallD, letterE, smallE] = [0x75, 0x44, 0x64, 0x45, 0x65] as const
const [zero, nine] = [0x30, 0x39] as const
const [openList, closeList, openObject, closeObject] = [0x5b, 0x5d, 0x7b, 0x7d] as const

/**
 * True for JSON on one line, nested no deeper than `depth_max`, without NUL characters, halves of surrogate pairs, and numbers that lose digits or are infinite; not
 * even in a field that comes twice, of which a parser shows the last alone. False also for some JSON that has none of these, such as an emoji written as two escapes.
 * Whether it is well formed is not looked at.
 */
export function isPlainJson(bytes: Uint8Array, depth_max: number): boolean {
  let depth = 0
  let digits = 0
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]!
    if (byte >= zero && byte <= nine) {
      if (++digits > digitsKept) return false
      continue
    }
    if ((byte === letterE || byte === smallE) && digits > 0) return false
    digits = 0
    if (byte === quote) {
      at = endOfText(bytes, at + 1)
      if (at === -1) return false
    } else if (byte === openObject || byte === openList) {
      if (++depth > depth_max) return false
    } else if (byte === closeObject || byte === closeList) depth -= 1
    else if (byte === lineFeed) return false
  }
  return true
}

/** Where the text ends whose first character is at `from`; -1 where it has no end, or an escape for what a text of PostgreSQL may not hold. */
function endOfText(bytes: Uint8Array, from: number): number {
  for (let at = from; at < bytes.length; at++) {
    const byte = bytes[at]!
    if (byte === quote) return at
    if (byte !== backslash) continue
    at += 1
    if (bytes[at] === letterU && isOutcomeUnknown(bytes, at + 1)) return -1
  }
  return -1
}

/** The four digits at `at` are those of NUL, or begin as those of surrogates do; none of the characters U+D000 to U+D7FF is worth telling apart. */
function isOutcomeUnknown(bytes: Uint8Array, at: number): boolean {
  const first = bytes[at]
  return (
    first === letterD ||
    first === smallD ||
    (first === zero && bytes[at + 1] === zero && bytes[at + 2] === zero && bytes[at + 3] === zero)
  )
}
