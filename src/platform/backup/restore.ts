/** Fills an empty database from a file, which is verified first, in one transaction (behaviour: backup 2). */
import { createReadStream } from 'node:fs'
import { once } from 'node:events'
import { pipeline, type Writable } from 'node:stream'
import { createZstdDecompress } from 'node:zlib'
import {
  applyMigrations,
  lockMigrations,
  createSchema,
  missing,
  readSchemaFiles,
  type Migration,
  type SchemaFiles,
} from '../database/migrate.ts'
import type { Db, Pool } from '../database/sql.ts'
import { OperatorError } from '../../lib/operator-error.ts'
import { requireMatchingKey, type SecretKeys } from '../secrets/secrets.ts'
import type { Clock } from '../../lib/clock.ts'
import { quoted, type Progress } from './backup.ts'
import { identitiesOf, isBlank, tablesOf } from './catalogue.ts'
import {
  checkFile,
  readTables,
  type CheckedFile,
  type Manifest,
  type PartitionDefinition,
  type TableHead,
  type TableSink,
} from './format.ts'

export interface RestoreParts {
  readonly pool: Pool
  readonly clock: Clock
  readonly keys: SecretKeys
  readonly accepts: (manifest: Manifest) => void
  readonly isIncluded: (table: string) => boolean
  readonly onChecked: (bytes: number, of: number) => void
  readonly onProgress: (progress: Progress) => void
}

export interface RestoreReport {
  readonly file: string
  readonly created_at: string
  readonly program: string
  readonly rows: number
  readonly tables: Readonly<Record<string, number>>
  readonly applied: readonly string[]
}

/** Throws `OperatorError` for a damaged or newer file, a wrong key, or a database that is not empty. */
export async function restoreBackup(parts: RestoreParts, path: string): Promise<RestoreReport> {
  const { pool, clock } = parts
  const file = await checkFile(path, parts.onChecked)
  const { manifest } = file
  parts.accepts(manifest)
  requireMatchingKey(parts.keys, manifest)
  const known = await readSchemaFiles()
  const then = schemaOfBackup(manifest, known)
  const done = (await pool.begin(async (tx) => {
    await prepare(tx)
    await createSchema(tx, clock, then)
    await makePartitions(tx, manifest.partitions)
    const tables = await load(parts, tx, path, file)
    const applied = (await applyMigrations(tx, clock, known)).applied.filter((name) =>
      known.migrations.some((migration) => migration.name === name),
    )
    return { tables, applied }
  })) as { tables: Record<string, number>; applied: string[] }
  await pool`analyze`
  const rows = Object.values(done.tables).reduce((sum, count) => sum + count, 0)
  return { file: path, created_at: manifest.created_at, program: manifest.program, rows, ...done }
}

function schemaOfBackup({ migrations, program }: Manifest, known: SchemaFiles): readonly Migration[] {
  try {
    const later = new Set(missing(known.migrations, [...migrations]).map(({ number }) => number))
    return known.migrations.filter(({ number }) => !later.has(number))
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error
    throw new OperatorError(
      `The backup was made by version ${program}, whose schema this one does not know. Start that version or a newer one.`,
    )
  }
}

async function prepare(sql: Db): Promise<void> {
  await sql`set local statement_timeout = 0`
  await sql`set local idle_in_transaction_session_timeout = 0`
  if (!(await lockMigrations(sql)))
    throw new OperatorError('Another process is making the schema of this database. Stop it, then repeat.', 'database')
  if (!(await isBlank(sql)))
    throw new OperatorError(
      'The database is not empty: restore into one that has just been made, or into another data folder. Nothing was written.',
      'database',
    )
  const [encoding] = await sql<{ name: string }[]>`select current_setting('server_encoding') as name`
  if (encoding!.name !== 'UTF8')
    throw new OperatorError(`The database is encoded in ${encoding!.name}: make one in UTF8.`, 'database')
}

const nameForm = /^[a-z_][a-z0-9_]{0,62}$/
const boundsForm = /^FOR VALUES FROM \('[a-z0-9_]+'\) TO \('[a-z0-9_]+'\)$/
const optionForm = /^[a-z_]+=[a-z0-9._]+$/

async function makePartitions(sql: Db, partitions: readonly PartitionDefinition[]): Promise<void> {
  for (const partition of partitions) await sql.unsafe(partitionText(partition))
}

/** Throws `OperatorError` for anything that this program would not create. */
export function partitionText({ name, of, bounds, options }: PartitionDefinition): string {
  if (
    ![name, of].every((one) => nameForm.test(one)) ||
    !boundsForm.test(bounds) ||
    !options.every((option) => optionForm.test(option))
  )
    throw new OperatorError(`The file names a partition that this program would not make: ${JSON.stringify(name)}.`)
  return `create table if not exists ${name} partition of ${of} ${bounds}${options.length === 0 ? '' : ` with (${options.join(', ')})`}`
}

async function load(parts: RestoreParts, sql: Db, path: string, file: CheckedFile): Promise<Record<string, number>> {
  for (const { name } of (await tablesOf(sql)).toReversed())
    if (parts.isIncluded(name)) await sql.unsafe(`delete from ${quoted(name)}`)
  const counts = await loadTables(parts, sql, path, file, copyWithoutTriggers)
  for (const { table, column } of await identitiesOf(sql))
    await sql.unsafe(
      `select setval(pg_get_serial_sequence('${table}', '${column}'), greatest(coalesce((select max(${quoted(column)}) from ${quoted(table)}), 0), 1))`,
    )
  return counts
}

export async function loadTables(
  { isIncluded, onProgress }: Pick<RestoreParts, 'isIncluded' | 'onProgress'>,
  sql: Db,
  path: string,
  file: CheckedFile,
  into: (sql: Db, head: TableHead) => Promise<RowsSink>,
): Promise<Record<string, number>> {
  const columnsOf = new Map((await tablesOf(sql)).map(({ name, columns }) => [name, columns]))
  const counts: Record<string, number> = {}
  let bytes = 0
  const begin = async ({ table, columns }: TableHead): Promise<TableSink> => {
    const there = columnsOf.get(table)
    if (there === undefined || !isIncluded(table) || !columns.every((column) => there.includes(column)))
      throw new OperatorError(`The backup holds ${JSON.stringify(table)} in a form that its schema does not have.`)
    const sink = await into(sql, { table, columns })
    counts[table] = 0
    return {
      async write(rows) {
        bytes += rows.length
        onProgress({ table, rows: counts[table]!, bytes })
        await sink.write(rows)
      },
      async end() {
        counts[table] = await sink.end()
      },
    }
  }
  await readTables(unpacked(path, file), begin)
  return counts
}

const unpacked = (path: string, { from, to }: CheckedFile): AsyncIterable<Buffer> =>
  // an error on the way ends the reading
  pipeline(
    createReadStream(path, { start: from, end: to - 1, highWaterMark: 1024 * 1024 }),
    createZstdDecompress(),
    () => undefined,
  )

export interface RowsSink {
  write(rows: Buffer): Promise<void>
  end(): Promise<number>
}

export async function copyWithoutTriggers(sql: Db, head: TableHead): Promise<RowsSink> {
  await sql.unsafe(`alter table ${quoted(head.table)} disable trigger user`)
  const sink = await copyInto(sql, head)
  return {
    write: (rows) => sink.write(rows),
    async end() {
      const rows = await sink.end()
      await sql.unsafe(`alter table ${quoted(head.table)} enable trigger user`)
      return rows
    },
  }
}

export async function copyInto(sql: Db, { table, columns }: TableHead): Promise<RowsSink> {
  const stream: Writable = await sql
    .unsafe(`copy ${quoted(table)} (${columns.map(quoted).join(', ')}) from stdin`)
    .writable()
  let failed: Error | undefined
  stream.on('error', (error) => (failed = error))
  let rows = 0
  return {
    async write(chunk) {
      if (failed !== undefined) throw failed
      for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, at + 1)) rows += 1
      if (!stream.write(chunk)) await once(stream, 'drain')
    },
    async end() {
      stream.end()
      if (!stream.writableFinished) await once(stream, 'finish')
      return rows
    },
  }
}
