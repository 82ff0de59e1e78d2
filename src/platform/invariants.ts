/** Makes truths that `posthorn doctor` proves out of what finds their breaches. */
import type { Db } from './database/sql.ts'
import type { Invariant } from './platform.ts'

/** Breaches of one truth that are looked for: whoever has so many knows enough. */
export const breachesMax = 20

/** `find` resolves to what breaks it, at most `breachesMax` rows; `sentence` says it of a row. */
export const invariant = <Row>(
  name: string,
  find: (sql: Db) => Promise<readonly Row[]>,
  sentence: (row: Row) => string,
): Invariant => ({
  name,
  breaches: async (sql) => (await find(sql)).map(sentence),
})
