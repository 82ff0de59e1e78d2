/** Finds the word that somebody probably meant. */

/**
 * Of `known` the word nearest to `given`, or undefined where none is near: one that holds the other's letters in a row, else the one with the fewest
 * letters to change, at most a third of them; two that changed places are one. Case and everything but letters and digits do not count.
 */
export function nearest(given: string, known: readonly string[]): string | undefined {
  const wanted = plain(given)
  const scored = known.map((word) => ({ word, score: scoreOf(wanted, plain(word)) }))
  const best = scored.toSorted((one, other) => one.score - other.score)[0]
  return best !== undefined && best.score <= wanted.length / 3 ? best.word : undefined
}

/** Longer words are compared with nothing. */
const wordLengthMax = 80

/** The question whether a known word was meant, to end the sentences of a refusal with, or nothing where no known word is near. */
export function didYouMean(given: string, known: readonly string[]): string {
  const meant = given.length > wordLengthMax || plain(given) === '' ? undefined : nearest(given, known)
  return meant === undefined ? '' : ` Did you mean \`${meant}\`?`
}

const plain = (text: string): string => text.toLowerCase().replaceAll(/[^a-z0-9]/g, '')

function scoreOf(one: string, other: string): number {
  const held = Math.min(one.length, other.length) >= 4 && (one.includes(other) || other.includes(one))
  return Math.min(held ? 1 : Infinity, changes(one, other))
}

/** Letters to insert, remove or replace, and neighbours to swap, until one text is the other (Damerau and Levenshtein, no letter changed twice). */
function changes(one: string, other: string): number {
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
