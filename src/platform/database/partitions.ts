/** Partitions of tables that are partitioned by ranges of an id: made ahead by week or month, dropped once everything in them is too old. */
import { idFloor } from '../../lib/ids.ts'
import { transact, type Pool } from './sql.ts'

const weekMs = 7 * 24 * 3600_000
/** 1970-01-05 was a Monday. */
const firstMonday = 4 * 24 * 3600_000
const periodsAhead = 3
/** What only grows looks much the same when there is more of it; after each analysis every session plans its statements anew. */
const analysedWhenDoubled = 'autovacuum_analyze_scale_factor = 1'

export interface PartitionedTable {
  readonly table: string
  /** The id that the table is partitioned by; default: `id`. */
  readonly column?: string
  /** Of the ids that the table is partitioned by. */
  readonly prefix: string
  /** Default: week. */
  readonly every?: 'week' | 'month'
  /** The share of a page that inserts fill, in per cent: the rest is for updates in place. */
  readonly fillfactor?: number
  /** null: kept for ever. */
  readonly retention_ms: number | null
}

/** Makes the partitions of this period and the next three, and drops those past retention as seen at `aged_ms`. Resolves to the number of both. */
export async function keepPartitions(pool: Pool, kept: PartitionedTable, now: number, aged_ms: number): Promise<number> {
  const there = await partitionsOf(pool, kept.table)
  let changed = 0
  let begin = startOf(kept, now)
  for (let period = 0; period <= periodsAhead; period++) {
    if (!there.has(nameOf(kept.table, begin)) && (await makePartition(pool, kept, begin))) changed += 1
    begin = endOf(kept, begin)
  }
  if (kept.retention_ms === null) return changed
  changed += await emptyDefault(pool, kept, aged_ms - kept.retention_ms)
  for (const [name, from] of there) {
    if (from !== null && endOf(kept, from) <= aged_ms - kept.retention_ms) {
      await transact(pool, async (sql) => {
        await sql`set local lock_timeout = '2s'`
        await sql.unsafe(`drop table ${name}`)
      })
      changed += 1
    }
  }
  return changed
}

/** The start of the period that a moment lies in. */
function startOf({ every }: PartitionedTable, at: number): number {
  if (every !== 'month') return at - ((at - firstMonday) % weekMs)
  const day = new Date(at)
  return Date.UTC(day.getUTCFullYear(), day.getUTCMonth(), 1)
}

/** The end of the period that begins then. */
function endOf({ every }: PartitionedTable, begin: number): number {
  if (every !== 'month') return begin + weekMs
  const day = new Date(begin)
  return Date.UTC(day.getUTCFullYear(), day.getUTCMonth() + 1, 1)
}

/** Rows that came before their period's partition stand in the default one; they go in slices. */
async function emptyDefault(pool: Pool, { table, prefix, column = 'id' }: PartitionedTable, before: number): Promise<number> {
  const rows = await pool.unsafe(`delete from ${table}_default where ctid = any(array(select ctid from ${table}_default where ${column} < $1 limit 5000))`, [
    idFloor(prefix, before),
  ])
  return rows.count
}

const nameOf = (table: string, from: number): string => `${table}_${new Date(from).toISOString().slice(0, 10).replaceAll('-', '')}`

/** The partitions of a table by name, with the start of their period; null for those that are of none. */
async function partitionsOf(pool: Pool, table: string): Promise<Map<string, number | null>> {
  const rows = await pool<{ name: string }[]>`
    select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = to_regclass(${table})`
  return new Map(rows.map(({ name }) => [name, beginOf(name)]))
}

function beginOf(name: string): number | null {
  const day = /_(\d{4})(\d\d)(\d\d)$/.exec(name)
  return day === null ? null : Date.UTC(Number(day[1]), Number(day[2]) - 1, Number(day[3]))
}

/** False where rows of that period already stand in the default partition, or another process makes it now: they stay there. */
async function makePartition(pool: Pool, kept: PartitionedTable, from: number): Promise<boolean> {
  const { table, prefix, column = 'id', fillfactor } = kept
  const [low, high] = [idFloor(prefix, from), idFloor(prefix, endOf(kept, from))]
  const [stray] = await pool.unsafe(`select 1 from ${table}_default where ${column} >= $1 and ${column} < $2 limit 1`, [low, high])
  if (stray !== undefined) return false
  const storage = [...(fillfactor === undefined ? [] : [`fillfactor = ${fillfactor}`]), analysedWhenDoubled].join(', ')
  try {
    await transact(pool, async (sql) => {
      await sql`set local lock_timeout = '2s'`
      await sql.unsafe(`create table if not exists ${nameOf(table, from)} partition of ${table} for values from ('${low}') to ('${high}') with (${storage})`)
    })
    return true
  } catch {
    return false // a row came in between, or the table is busy: the next round tries again
  }
}
