/** Reads tables from the system catalogue: columns, dependency order, partitions. */
import type { Db } from '../database/sql.ts'
import type { PartitionDefinition } from './format.ts'

export interface TableColumns {
  readonly name: string
  readonly columns: readonly string[]
}

/** After the tables that they reference. */
export async function tablesOf(sql: Db): Promise<TableColumns[]> {
  const tables = await sql<{ name: string; columns: string[]; refers: string[] }[]>`
    select c.relname as name,
      array(
        select a.attname::text
        from pg_attribute a
        where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
        order by a.attnum
      ) as columns,
      array(
        select r.relname::text
        from pg_constraint k
        join pg_class r on r.oid = k.confrelid
        where k.conrelid = c.oid and k.contype = 'f' and r.oid <> c.oid
      ) as refers
    from pg_class c
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
    order by c.relname collate "C"`
  const ordered: TableColumns[] = []
  const placed = new Set<string>()
  while (ordered.length < tables.length) {
    const next = tables.filter(({ name, refers }) => !placed.has(name) && refers.every((other) => placed.has(other)))
    if (next.length === 0) throw new Error('the tables reference each other in a cycle')
    for (const { name, columns } of next) {
      ordered.push({ name, columns })
      placed.add(name)
    }
  }
  return ordered
}

export async function partitionsOf(sql: Db): Promise<PartitionDefinition[]> {
  return await sql<PartitionDefinition[]>`
    select c.relname as name, p.relname as of, pg_get_expr(c.relpartbound, c.oid) as bounds,
      coalesce(c.reloptions, '{}') as options
    from pg_class c
    join pg_inherits i on i.inhrelid = c.oid
    join pg_class p on p.oid = i.inhparent
    where c.relispartition and c.relkind = 'r' and c.relnamespace = 'public'::regnamespace
      and pg_get_expr(c.relpartbound, c.oid) <> 'DEFAULT'
    order by c.relname collate "C"`
}

export async function identitiesOf(sql: Db): Promise<{ table: string; column: string }[]> {
  return await sql<{ table: string; column: string }[]>`
    select c.relname as table, a.attname as column
    from pg_attribute a
    join pg_class c on c.oid = a.attrelid
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
      and a.attidentity <> '' and not a.attisdropped`
}

export async function isBlank(sql: Db): Promise<boolean> {
  const [row] = await sql<{ blank: boolean }[]>`
    select not exists (
      select from pg_class c
      where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p', 'v', 'm', 'S')
    ) as blank`
  return row!.blank
}
