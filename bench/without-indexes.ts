/** Bulk loading: indexes are made after the rows, which takes a fifth of the time. */
import type { Service } from './service.ts'

interface Index {
  readonly name: string
  readonly definition: string
  readonly constraint: string | null
}

/** Recreates the indexes afterwards. Nothing else may use the table meanwhile. */
export async function withoutIndexes(pool: Service['pool'], table: string, load: () => Promise<void>): Promise<void> {
  const indexes = await pool<Index[]>`
    select c.relname as name, pg_get_indexdef(c.oid) as definition, pg_get_constraintdef(k.oid) as constraint
    from pg_index i
    join pg_class c on c.oid = i.indexrelid
    left join pg_constraint k on k.conindid = i.indexrelid and k.contype in ('p', 'u')
    where i.indrelid = ${table}::regclass order by c.oid`
  for (const { name, constraint } of indexes)
    await pool.unsafe(constraint === null ? `drop index ${name}` : `alter table ${table} drop constraint ${name}`)
  await load()
  const connection = await pool.reserve()
  try {
    await connection`set maintenance_work_mem = '512MB'`
    await connection`set statement_timeout = 0`
    for (const { name, definition, constraint } of indexes)
      await connection.unsafe(
        constraint === null
          ? definition.replace(' ON ONLY ', ' ON ')
          : `alter table ${table} add constraint ${name} ${constraint}`,
      )
  } finally {
    connection.release()
  }
}
