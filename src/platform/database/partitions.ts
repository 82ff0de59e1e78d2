/** Partitions tables by ranges of an id: creates partitions ahead of time, and drops those that are too old. */
import { idFloor } from '../../lib/ids.ts'
import { sqlState, transact, type Pool, type Transaction } from './sql.ts'

const dayMs = 24 * 3600_000
const weekMs = 7 * dayMs
/** 1970-01-05 was a Monday. */
const firstMonday = 4 * dayMs
const periodsAhead = 3
const rowsAtOnce = 5000
const slicesMax = 20
/** Everyone who uses the table waits behind a change of its partitions. */
const lockTimeout = '500ms'
const lockNotAvailable = '55P03'
/** Growing tables keep their statistics, and each analysis makes every session plan again. */
const analysedWhenDoubled = 'autovacuum_analyze_scale_factor = 1'

export interface PartitionedTable {
  readonly table: string
  /** Default: `id`. */
  readonly column?: string
  readonly prefix: string
  /** Default: week. */
  readonly every?: 'day' | 'week' | 'month'
  /** In per cent; the rest of a page is for updates in place. */
  readonly fillfactor?: number
}

/**
 * Creates the partitions of this period and the next three, and drops those older than `before_ms` (null: none). Ends at the first table that stays locked,
 * for example by a backup: the next run goes on.
 */
export async function maintainPartitions(
  pool: Pool,
  partitioned: PartitionedTable,
  now: number,
  before_ms: number | null,
): Promise<number> {
  const existing = await partitionsOf(pool, partitioned.table)
  let changed = 0
  let begin = startOf(partitioned, now)
  for (let period = 0; period <= periodsAhead; period++) {
    if (!existing.has(nameOf(partitioned.table, begin))) {
      const made = await makePartition(pool, partitioned, begin)
      if (made === null) return changed
      if (made) changed += 1
    }
    begin = endOf(partitioned, begin)
  }
  if (before_ms === null) return changed
  changed += await emptyDefault(pool, partitioned, before_ms)
  for (const [name, from] of existing) {
    if (from === null || endOf(partitioned, from) > before_ms) continue
    if ((await unlessLocked(pool, (sql) => sql.unsafe(`drop table ${name}`))) === null) return changed
    changed += 1
  }
  return changed
}

/** Null if the table stays locked. */
async function unlessLocked<T>(pool: Pool, work: (sql: Transaction) => Promise<T>): Promise<T | null> {
  try {
    return await transact(pool, async (sql) => {
      await sql`select set_config('lock_timeout', ${lockTimeout}, true)`
      return await work(sql)
    })
  } catch (error) {
    if (sqlState(error) === lockNotAvailable) return null
    throw error
  }
}

export function startOf({ every }: PartitionedTable, at: number): number {
  if (every === 'day') return at - (at % dayMs)
  if (every !== 'month') return at - ((at - firstMonday) % weekMs)
  const day = new Date(at)
  return Date.UTC(day.getUTCFullYear(), day.getUTCMonth(), 1)
}

function endOf({ every }: PartitionedTable, begin: number): number {
  if (every === 'day') return begin + dayMs
  if (every !== 'month') return begin + weekMs
  const day = new Date(begin)
  return Date.UTC(day.getUTCFullYear(), day.getUTCMonth() + 1, 1)
}

async function emptyDefault(
  pool: Pool,
  { table, prefix, column = 'id' }: PartitionedTable,
  before: number,
): Promise<number> {
  let sum = 0
  for (let slice = 0; slice < slicesMax; slice++) {
    const deleted = await unlessLocked(pool, (sql) =>
      sql.unsafe(
        `delete from ${table}_default
        where ctid = any(array(
          select ctid from ${table}_default where ${column} < $1 limit ${rowsAtOnce}
        ))`,
        [idFloor(prefix, before)],
      ),
    )
    if (deleted === null) break
    sum += deleted.count
    if (deleted.count < rowsAtOnce) break
  }
  return sum
}

const nameOf = (table: string, from: number): string =>
  `${table}_${new Date(from).toISOString().slice(0, 10).replaceAll('-', '')}`

/** By name, with the start of the period; null for partitions without one. */
async function partitionsOf(pool: Pool, table: string): Promise<Map<string, number | null>> {
  const rows = await pool<{ name: string }[]>`
    select c.relname as name
    from pg_inherits i
    join pg_class c on c.oid = i.inhrelid
    where i.inhparent = to_regclass(${table})`
  return new Map(rows.map(({ name }) => [name, beginOf(name)]))
}

function beginOf(name: string): number | null {
  const day = /_(\d{4})(\d\d)(\d\d)$/.exec(name)
  return day === null ? null : Date.UTC(Number(day[1]), Number(day[2]) - 1, Number(day[3]))
}

/** Earlier rows stay in the default partition, and the new one begins after them. Null if the table stays locked. */
async function makePartition(pool: Pool, partitioned: PartitionedTable, from: number): Promise<boolean | null> {
  const { table, prefix, column = 'id', fillfactor } = partitioned
  const [low, high] = [idFloor(prefix, from), idFloor(prefix, endOf(partitioned, from))]
  const storage = [...(fillfactor === undefined ? [] : [`fillfactor = ${fillfactor}`]), analysedWhenDoubled].join(', ')
  try {
    const made = await unlessLocked(pool, async (sql) => {
      const [early] = await sql.unsafe<{ last: string | null }[]>(
        `select max(${column}) as last
        from ${table}_default
        where ${column} >= $1 and ${column} < $2`,
        [low, high],
      )
      // no id sorts between an id and the same id with one more character
      const start = early!.last === null ? low : `${early!.last}0`
      return await sql.unsafe(
        `create table if not exists ${nameOf(table, from)} partition of ${table}
        for values from ('${start}') to ('${high}')
        with (${storage})`,
      )
    })
    return made === null ? null : true
  } catch (error) {
    // a row of the period arrived in the default partition meanwhile
    if (sqlState(error) === '23514') return false
    throw error
  }
}
