/** Finds the word that somebody probably meant. */

/**
 * Of `known` the word nearest to `given`, or undefined where none is near: one that holds the other's letters in a row, else the one with the fewest
 * letters to change, at most a third of them. Case and everything but letters and digits do not count.
 */
export function nearest(given: string, known: readonly string[]): string | undefined {
  const wanted = plain(given)
  const scored = known.map((word) => ({ word, score: scoreOf(wanted, plain(word)) }))
  const best = scored.toSorted((one, other) => one.score - other.score)[0]
  return best !== undefined && best.score <= wanted.length / 3 ? best.word : undefined
}

const plain = (text: string): string => text.toLowerCase().replaceAll(/[^a-z0-9]/g, '')

function scoreOf(one: string, other: string): number {
  const held = Math.min(one.length, other.length) >= 4 && (one.includes(other) || other.includes(one))
  return Math.min(held ? 1 : Infinity, changes(one, other))
}

/** Letters to insert, remove or replace until one text is the other (Levenshtein). */
function changes(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, at) => at)
  for (let i = 1; i <= one.length; i++) {
    const next = [i]
    for (let j = 1; j <= other.length; j++) next.push(Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (one[i - 1] === other[j - 1] ? 0 : 1)))
    row = next
  }
  return row[other.length]!
}
