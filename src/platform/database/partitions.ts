/** Weekly partitions of tables that are partitioned by ranges of the id: made ahead, dropped once everything in them is too old. */
import { idFloor } from '../../lib/ids.ts'
import { transact, type Pool } from './sql.ts'

const weekMs = 7 * 24 * 3600_000
/** 1970-01-05 was a Monday. */
const firstMonday = 4 * 24 * 3600_000
const weeksAhead = 3

export interface PartitionedTable {
  readonly table: string
  /** Of the ids that the table is partitioned by. */
  readonly prefix: string
  /** null: kept for ever. */
  readonly retention_ms: number | null
}

/** Makes the partitions of this week and the next three, and drops those past retention. Resolves to the number of both. */
export async function keepPartitions(pool: Pool, kept: PartitionedTable, now: number): Promise<number> {
  const there = await partitionsOf(pool, kept.table)
  let changed = 0
  const thisWeek = now - ((now - firstMonday) % weekMs)
  for (let week = 0; week <= weeksAhead; week++) {
    const from = thisWeek + week * weekMs
    if (!there.has(nameOf(kept.table, from)) && (await makePartition(pool, kept, from))) changed += 1
  }
  if (kept.retention_ms === null) return changed
  changed += await emptyDefault(pool, kept, now - kept.retention_ms)
  for (const [name, from] of there) {
    if (from !== null && from + weekMs <= now - kept.retention_ms) {
      await transact(pool, async (sql) => {
        await sql`set local lock_timeout = '2s'`
        await sql.unsafe(`drop table ${name}`)
      })
      changed += 1
    }
  }
  return changed
}

/** Rows that came before their week's partition stand in the default one; they go in slices. */
async function emptyDefault(pool: Pool, { table, prefix }: PartitionedTable, before: number): Promise<number> {
  const rows = await pool.unsafe(`delete from ${table}_default where ctid = any(array(select ctid from ${table}_default where id < $1 limit 5000))`, [
    idFloor(prefix, before),
  ])
  return rows.count
}

const nameOf = (table: string, from: number): string => `${table}_${new Date(from).toISOString().slice(0, 10).replaceAll('-', '')}`

/** The partitions of a table by name, with the start of their week; null for those that are of no week. */
async function partitionsOf(pool: Pool, table: string): Promise<Map<string, number | null>> {
  const rows = await pool<{ name: string }[]>`
    select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = to_regclass(${table})`
  return new Map(rows.map(({ name }) => [name, weekOf(name)]))
}

function weekOf(name: string): number | null {
  const day = /_(\d{4})(\d\d)(\d\d)$/.exec(name)
  return day === null ? null : Date.UTC(Number(day[1]), Number(day[2]) - 1, Number(day[3]))
}

/** False where rows of that week already stand in the default partition, or another process makes it now: they stay there. */
async function makePartition(pool: Pool, { table, prefix }: PartitionedTable, from: number): Promise<boolean> {
  const [low, high] = [idFloor(prefix, from), idFloor(prefix, from + weekMs)]
  const [stray] = await pool.unsafe(`select 1 from ${table}_default where id >= $1 and id < $2 limit 1`, [low, high])
  if (stray !== undefined) return false
  try {
    await transact(pool, async (sql) => {
      await sql`set local lock_timeout = '2s'`
      await sql.unsafe(`create table if not exists ${nameOf(table, from)} partition of ${table} for values from ('${low}') to ('${high}')`)
    })
    return true
  } catch {
    return false // a row came in between, or the table is busy: the next round tries again
  }
}
