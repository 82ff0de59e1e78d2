/** Re-encrypts secrets after a key rotation, so that the previous key can be removed. */
import type { Db } from '../database/sql.ts'
import type { Platform } from '../platform.ts'
import type { Secrets } from './secrets.ts'

const pageRows = 500

type SealedRow = Readonly<Record<string, string | null>> & { readonly id: string }

interface SealedTable<Row extends SealedRow> {
  readonly what: string
  list(sql: Db, after: string, rows_max: number): Promise<readonly Row[]>
  reseal(sql: Db, old: Row, row: Row): Promise<void>
}

/** Logs and skips rows that cannot be decrypted. Resolves to the number of changed rows. */
export async function resealAll<Row extends SealedRow>(
  { pool, secrets, log }: Platform,
  table: SealedTable<Row>,
): Promise<number> {
  let changed = 0
  for (let after = ''; ;) {
    const rows = await table.list(pool, after, pageRows)
    for (const row of rows) {
      try {
        const again = resealed(secrets, row)
        if (again === null) continue
        await table.reseal(pool, row, again)
        changed += 1
      } catch (error) {
        log.error({ err: error, id: row.id }, `the secrets of a ${table.what} could not be sealed anew`)
      }
    }
    if (rows.length < pageRows) return changed
    after = rows.at(-1)!.id
  }
}

function resealed<Row extends SealedRow>(secrets: Secrets, row: Row): Row | null {
  const old = Object.entries(row).filter(([name, text]) => name !== 'id' && text !== null && !secrets.isCurrent(text))
  return old.length === 0
    ? null
    : { ...row, ...Object.fromEntries(old.map(([name, text]) => [name, secrets.seal(secrets.open(text!))])) }
}
