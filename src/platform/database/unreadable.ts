/** Isolates rows that cannot be read: their content is damaged, or takes too long to read or to parse. */
import { connectionLost, isUnreachable, refusesWrites, wasCancelled } from './failures.ts'

export interface Readable<Key, Row> {
  readonly rows: readonly Row[]
  readonly unreadable: readonly Key[]
}

/** Whether a statement failed because of the rows that it read, or because it read too many. */
export const failedToRead = (error: unknown): boolean =>
  !(connectionLost(error) || isUnreachable(error) || refusesWrites(error))

/** Reads all rows in one statement; after a failure in halves, until the keys that fail are known. */
export async function readApart<Key, Row>(
  keys: readonly Key[],
  read: (some: readonly Key[]) => Promise<readonly Row[]>,
): Promise<Readable<Key, Row>> {
  if (keys.length === 0) return { rows: [], unreadable: [] }
  try {
    return { rows: await read(keys), unreadable: [] }
  } catch (error) {
    // a single row is read in no time: the database is busy
    if (!failedToRead(error) || (keys.length === 1 && wasCancelled(error))) throw error
    if (keys.length === 1) return { rows: [], unreadable: keys }
  }
  const half = Math.ceil(keys.length / 2)
  const first = await readApart(keys.slice(0, half), read)
  const second = await readApart(keys.slice(half), read)
  return { rows: [...first.rows, ...second.rows], unreadable: [...first.unreadable, ...second.unreadable] }
}
