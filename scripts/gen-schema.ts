/** The text of schema.sql, from a database that has just been migrated. */
import { openPool } from '../src/platform/database/pool.ts'
import { schemaText } from '../src/platform/database/schema.ts'
import { testDatabase } from '../test/support/database.ts'

export async function generatedSchema(): Promise<string> {
  const database = await testDatabase()
  const pool = openPool(database.url, { max: 1 })
  try {
    return await schemaText(pool)
  } finally {
    await pool.end()
    await database.drop()
  }
}
