/** Text tools: suggestions for misspelled words, safe terminal output, and search in linear time. */

/**
 * A word that contains `given` or is contained in it, else the nearest by edit distance, at most a third of the
 * letters.
 */
export function nearest(given: string, known: readonly string[]): string | undefined {
  const wanted = plain(given)
  const scored = known.map((word) => ({ word, score: scoreOf(wanted, plain(word)) }))
  const best = scored.toSorted((one, other) => one.score - other.score)[0]
  return best !== undefined && best.score <= wanted.length / 3 ? best.word : undefined
}

/** Longer words get no suggestion. */
const wordLengthMax = 80

/** ` Did you mean …?`, or empty. */
export function didYouMean(given: string, known: readonly string[]): string {
  const meant = given.length > wordLengthMax || plain(given) === '' ? undefined : nearest(given, known)
  return meant === undefined ? '' : ` Did you mean \`${meant}\`?`
}

const plain = (text: string): string => text.toLowerCase().replaceAll(/[^a-z0-9]/g, '')

function scoreOf(one: string, other: string): number {
  const held = Math.min(one.length, other.length) >= 4 && (one.includes(other) || other.includes(one))
  return Math.min(held ? 1 : Infinity, editDistance(one, other))
}

/** Optimal string alignment distance: a swap is one edit. */
function editDistance(one: string, other: string): number {
  let before: number[] = []
  let row = Array.from({ length: other.length + 1 }, (_, at) => at)
  for (let i = 1; i <= one.length; i++) {
    const next = [i]
    for (let j = 1; j <= other.length; j++) {
      const swapped =
        i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1] ? before[j - 2]! + 1 : Infinity
      next.push(Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (one[i - 1] === other[j - 1] ? 0 : 1), swapped))
    }
    before = row
    row = next
  }
  return row[other.length]!
}

/** Escapes characters that move a terminal's cursor, end a line, or change the text direction. */
export const printable = (text: string): string =>
  // oxlint-disable-next-line no-control-regex
  text.replaceAll(
    /[\u0000-\u001F\u007F-\u009F\u200E\u200F\u2028-\u202E\u2066-\u2069]/g,
    (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )

// oxlint-disable-next-line no-control-regex
const breaks = /[\u0000-\u001F\u007F-\u009F\u200E\u200F\u2028-\u202E\u2066-\u2069]+/g

/** For a text of somebody else inside a sentence: line breaks, control characters and changes of direction go. */
export const oneLine = (text: string): string => text.replaceAll(breaks, ' ').trim()

/** False for line breaks and control characters. */
// oxlint-disable-next-line no-control-regex
export const isOneLine = (text: string): boolean => !/[\u0000-\u001F\u007F-\u009F\u2028\u2029]/.test(text)

const address = /\p{L}[\p{L}\d+.-]*:\/\/|www\.|mailto:|\S@\S+\.\S/iu
/** `Ph.D` and `St.John` are none: mail programs look for a top-level domain. */
const domain = /[\p{L}\p{N}]\.(?:\p{Ll}{2,}|\p{Lu}{2,})(?!\p{L})/u
const commonDomain = /[\p{L}\p{N}]\.(?:com|net|org|info|biz|io|co|app|dev|shop|site|online|top|xyz)(?!\p{L})/iu

/** Whether mail programs would make a link of a part of it. */
export const hasLink = (text: string): boolean => address.test(text) || domain.test(text) || commonDomain.test(text)

export const printableLines = (text: string): string => text.split('\n').map(printable).join('\n')

/** The escapes of `printable` are valid in JSON. */
export const printableJson = (value: unknown): string => printable(JSON.stringify(value))

/** Up to this length the naive search is as fast. */
const shortMax = 16

/**
 * Substring search in linear time (Knuth–Morris–Pratt): `includes` is quadratic for repetitive texts, which tenants
 * choose.
 */
export function substringFinder(wanted: string): (text: string) => boolean {
  if (wanted.length <= shortMax) return (text) => text.includes(wanted)
  const back = fallbacksOf(wanted)
  return (text) => {
    let matched = 0
    for (let i = 0; i < text.length; i++) {
      const unit = text.charCodeAt(i)
      while (matched > 0 && wanted.charCodeAt(matched) !== unit) matched = back[matched - 1]!
      if (wanted.charCodeAt(matched) === unit) matched += 1
      if (matched === wanted.length) return true
    }
    return false
  }
}

function fallbacksOf(text: string): Uint32Array {
  const back = new Uint32Array(text.length)
  for (let i = 1, matched = 0; i < text.length; i++) {
    while (matched > 0 && text.charCodeAt(matched) !== text.charCodeAt(i)) matched = back[matched - 1]!
    if (text.charCodeAt(matched) === text.charCodeAt(i)) matched += 1
    back[i] = matched
  }
  return back
}
