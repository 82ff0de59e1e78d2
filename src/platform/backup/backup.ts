/** Writes a database to a file over one connection, while the service runs (behaviour: backup 1). */
import { createHash, type Hash } from 'node:crypto'
import { createWriteStream, existsSync } from 'node:fs'
import { open, rename, rm, stat } from 'node:fs/promises'
import { Readable, Transform, type TransformCallback } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { constants, createZstdCompress } from 'node:zlib'
import type { Db, Pool } from '../database/sql.ts'
import { appliedMigrations, readSchemaFiles } from '../database/migrate.ts'
import { needsUpgrade } from '../database/upgrade.ts'
import { OperatorError } from '../../lib/operator-error.ts'
import { isoTime, type Clock } from '../../lib/clock.ts'
import { partitionsOf, tablesOf, type TableColumns } from './catalogue.ts'
import { headText, tableEnd, tableText, trailerText, type Manifest } from './format.ts'

const compressionLevel = 3
const newline = 10

export interface BackupParts {
  readonly pool: Pool
  readonly clock: Clock
  readonly version: string
  readonly account_id: string | null
  readonly rowsOf: (sql: Db) => Promise<RowsOf>
  readonly onProgress: (progress: Progress) => void
}

export type RowsOf = (table: TableColumns) => string | undefined

export interface Progress {
  readonly table: string
  readonly rows: number
  readonly bytes: number
}

export interface BackupReport {
  readonly file: string
  readonly bytes: number
  readonly rows: number
  readonly tables: Readonly<Record<string, number>>
}

/** Throws `OperatorError` if the file exists or the database cannot be read. */
export async function writeBackup(parts: BackupParts, path: string): Promise<BackupReport> {
  if (existsSync(path)) throw new OperatorError(`${path} is there already. Name another file, or remove it.`)
  const partial = `${path}.partial`
  try {
    const tables = (await parts.pool.begin('isolation level repeatable read read only', async (tx) => {
      await tx`set local statement_timeout = 0`
      await tx`set local idle_in_transaction_session_timeout = 0`
      return await writeTables(parts, tx, partial)
    })) as Record<string, number>
    await rename(partial, path)
    const rows = Object.values(tables).reduce((sum, count) => sum + count, 0)
    return { file: path, bytes: (await stat(path)).size, rows, tables }
  } catch (error) {
    await rm(partial, { force: true })
    const { code } = error as NodeJS.ErrnoException
    if (typeof code === 'string' && ['ENOENT', 'EACCES', 'ENOSPC', 'EROFS', 'EISDIR', 'ENOTDIR'].includes(code))
      throw new OperatorError(`${path} cannot be written: ${(error as Error).message}.`)
    throw error
  }
}

async function writeTables(parts: BackupParts, sql: Db, path: string): Promise<Record<string, number>> {
  const manifest = await manifestOf(parts, sql)
  const file = await open(path, 'w', 0o600)
  try {
    const hash = createHash('sha256')
    const head = headText(manifest)
    hash.update(head)
    await file.write(head)
    const counts: Record<string, number> = {}
    await pipeline(
      Readable.from(texts(parts, sql, counts), { objectMode: false, highWaterMark: 1024 * 1024 }),
      createZstdCompress({ params: { [constants.ZSTD_c_compressionLevel]: compressionLevel } }),
      hashing(hash),
      createWriteStream(path, { fd: file.fd, autoClose: false, start: Buffer.byteLength(head) }),
    )
    const { size } = await file.stat()
    await file.write(trailerText(hash.digest('hex')), size)
    await file.sync()
    return counts
  } finally {
    await file.close()
  }
}

async function manifestOf({ clock, version, account_id }: BackupParts, sql: Db): Promise<Manifest> {
  const migrations = await appliedMigrations(sql)
  if (migrations.length === 0 || needsUpgrade(migrations, (await readSchemaFiles()).migrations))
    throw new OperatorError(
      'The database has no schema that can be backed up. Run `posthorn migrate` first.',
      'database',
    )
  const [row] = await sql<
    { key_check: string | null; address_hash_key: string | null }[]
  >`select key_check, address_hash_key from installation`
  if (row === undefined || row.key_check === null || row.address_hash_key === null)
    throw new OperatorError('The database was never used: there is nothing to back up.', 'database')
  return {
    program: version,
    account_id,
    created_at: isoTime(clock.now()),
    migrations: migrations.map(({ number, name, checksum }) => ({ number, name, checksum })),
    key_check: row.key_check,
    address_hash_key: row.address_hash_key,
    partitions: await partitionsOf(sql),
  }
}

async function* texts(
  { onProgress, rowsOf }: BackupParts,
  sql: Db,
  counts: Record<string, number>,
): AsyncGenerator<Buffer> {
  let bytes = 0
  const rowsRead = await rowsOf(sql)
  for (const table of await tablesOf(sql)) {
    const wanted = rowsRead(table)
    if (wanted === undefined) continue
    yield Buffer.from(tableText({ table: table.name, columns: table.columns }))
    let rows = 0
    const reading = await sql.unsafe(`copy (${wanted}) to stdout`).readable()
    for await (const chunk of reading as AsyncIterable<Buffer>) {
      rows += linesIn(chunk)
      bytes += chunk.length
      onProgress({ table: table.name, rows, bytes })
      yield chunk
    }
    counts[table.name] = rows
    yield Buffer.from(tableEnd)
  }
}

interface Narrowed {
  readonly columns?: Readonly<Record<string, string>>
  readonly where?: string
}

export const rowsText = ({ name, columns }: TableColumns, { columns: replaced = {}, where }: Narrowed = {}): string =>
  `select ${columns.map((column) => `${replaced[column] ?? quoted(column)} as ${quoted(column)}`).join(', ')} from ${quoted(name)}${where === undefined ? '' : ` where ${where}`}`

export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`

function linesIn(chunk: Buffer): number {
  let count = 0
  for (let at = chunk.indexOf(newline); at !== -1; at = chunk.indexOf(newline, at + 1)) count += 1
  return count
}

const hashing = (hash: Hash): Transform =>
  new Transform({
    transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback) {
      hash.update(chunk)
      done(null, chunk)
    },
  })
