/** The query of an address as plain texts: nothing in it is taken for a number or for JSON, so that `to=+15005550006` stays what it is. */

export type Query = Readonly<Record<string, string>>

export const parseQuery = (search: string): Query => Object.fromEntries(new URLSearchParams(search))

/** With its question mark, or nothing. What is empty is left out. */
export function queryText(query: Readonly<Record<string, unknown>>): string {
  const kept = Object.entries(query).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string' && entry[1] !== '',
  )
  const written = new URLSearchParams(kept).toString()
  return written === '' ? '' : `?${written}`
}
