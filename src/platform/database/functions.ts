/**
 * SQL functions: one file each in a folder `sql/`, applied when its text changes
 * (docs/decisions/database-functions.md).
 */
import { readdir, readFile } from 'node:fs/promises'
import { createHash } from 'node:crypto'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import posthorn from '../../../package.json' with { type: 'json' }
import { isoTime, type Clock } from '../../lib/clock.ts'
import { OperatorError } from '../../lib/operator-error.ts'
import type { Db } from './sql.ts'

const sourceFolder = fileURLToPath(new URL('../../', import.meta.url))

export interface SqlFunction {
  readonly name: string
  /** `modules/<feature>/sql/<name>.sql`. */
  readonly file: string
  readonly text: string
  readonly checksum: string
}

export interface SqlFunctions {
  /** `major.minor.patch`. */
  readonly version: string
  readonly functions: readonly SqlFunction[]
}

interface Changes {
  readonly apply: readonly SqlFunction[]
  readonly drop: readonly string[]
  readonly keep: readonly string[]
}

interface Recorded {
  name: string
  /** Null if dropped. */
  checksum: string | null
  version: string
  exists: boolean
}

/** Those of the platform come first, because modules may use them. Throws for repeated names. */
export async function readFunctions(folder = sourceFolder): Promise<SqlFunctions> {
  const folders = await Promise.all(['platform', 'modules'].map((name) => sqlFolders(join(folder, name))))
  const functions = (await Promise.all(folders.flat().map(filesOf))).flat()
  const names = functions.map(({ name }) => name)
  const twice = functions.find(({ name }, at) => names.indexOf(name) !== at)
  if (twice !== undefined) throw new Error(`${twice.file} has the name of another function`)
  return { version: posthorn.version, functions }
}

/**
 * Requires the migration lock. Functions of a newer version stay. Throws `OperatorError` if a newer version dropped one
 * that this one needs.
 */
export async function applyFunctions(sql: Db, clock: Clock, wanted: SqlFunctions): Promise<string[]> {
  await sql`
    create table if not exists schema_functions (
      name text primary key, checksum text, version text not null, applied_at timestamptz not null
    )`
  const { apply, drop, keep } = changes(wanted, await recordedFunctions(sql))
  const now = isoTime(clock.now())
  for (const { name, file, text, checksum } of apply) {
    await sql.unsafe(text).catch((error: unknown) => {
      throw new Error(`${file} failed: ${String(error)}`, { cause: error })
    })
    await sql`
      insert into schema_functions (name, checksum, version, applied_at)
      values (${name}, ${checksum}, ${wanted.version}, ${now})
      on conflict (name) do update
        set checksum = excluded.checksum, version = excluded.version, applied_at = excluded.applied_at`
  }
  for (const name of drop) {
    await dropFunction(sql, name)
    await sql`
      update schema_functions
      set checksum = null, version = ${wanted.version}, applied_at = ${now}
      where name = ${name}`
  }
  if (keep.length > 0)
    await sql`
      update schema_functions set version = ${wanted.version}
      where name = any(${[...keep]})`
  return described({ apply, drop })
}

export async function missingFunctions(sql: Db, wanted: SqlFunctions): Promise<string[]> {
  const [table] = await sql<{ there: boolean }[]>`select to_regclass('schema_functions') is not null as there`
  return described(changes(wanted, table!.there ? await recordedFunctions(sql) : []))
}

function changes({ version, functions }: SqlFunctions, recorded: readonly Recorded[]): Changes {
  const byName = new Map(recorded.map((row) => [row.name, row]))
  const names = new Set(functions.map(({ name }) => name))
  const newer = (row: Recorded) => compareVersions(row.version, version) > 0
  const gone = functions.find(
    ({ name }) => byName.has(name) && newer(byName.get(name)!) && byName.get(name)!.checksum === null,
  )
  if (gone !== undefined)
    throw new OperatorError(
      `The database is newer than this program: version ${byName.get(gone.name)!.version} dropped ${gone.name}. Start the newer version.`,
      'database',
    )
  const isApplied = ({ name, checksum }: SqlFunction) => {
    const row = byName.get(name)
    return row !== undefined && row.exists && (newer(row) || row.checksum === checksum)
  }
  return {
    apply: functions.filter((wanted) => !isApplied(wanted)),
    drop: recorded
      .filter((row) => !names.has(row.name) && row.checksum !== null && !newer(row))
      .map(({ name }) => name),
    keep: functions
      .filter((wanted) => isApplied(wanted) && compareVersions(byName.get(wanted.name)!.version, version) < 0)
      .map(({ name }) => name),
  }
}

const described = ({ apply, drop }: Pick<Changes, 'apply' | 'drop'>): string[] => [
  ...apply.map(({ file }) => file),
  ...drop.map((name) => `drop of ${name}`),
]

async function recordedFunctions(sql: Db): Promise<Recorded[]> {
  return await sql<Recorded[]>`
    select name, checksum, version,
      exists (select from pg_proc p where p.proname = name and p.pronamespace = current_schema()::regnamespace) as exists
    from schema_functions
    order by name`
}

async function dropFunction(sql: Db, name: string): Promise<void> {
  const shapes = await sql<{ shape: string }[]>`
    select oid::regprocedure::text as shape
    from pg_proc
    where proname = ${name} and pronamespace = current_schema()::regnamespace`
  for (const { shape } of shapes) await sql.unsafe(`drop function ${shape}`)
}

/** Negative if `a` is older. */
function compareVersions(a: string, b: string): number {
  const [ours, theirs] = [a, b].map((version) => version.split(/[.+-]/, 3).map(Number))
  const at = ours!.findIndex((number, index) => number !== theirs![index])
  return at === -1 ? 0 : ours![at]! - theirs![at]!
}

async function sqlFolders(root: string): Promise<string[]> {
  const parts = await readdir(root, { withFileTypes: true })
  const folders = parts.filter((part) => part.isDirectory()).map((part) => join(root, part.name, 'sql'))
  return folders.toSorted()
}

async function filesOf(folder: string): Promise<SqlFunction[]> {
  const files = (await readdir(folder).catch(noFolder)).filter((file) => file.endsWith('.sql')).toSorted()
  return await Promise.all(
    files.map(async (file) => {
      const text = await readFile(join(folder, file), 'utf8')
      const path = join(folder, file).split(/[\\/]/).slice(-4).join('/')
      return {
        name: basename(file, '.sql'),
        file: path,
        text,
        checksum: createHash('sha256').update(text).digest('hex'),
      }
    }),
  )
}

function noFolder(error: NodeJS.ErrnoException): string[] {
  if (error.code === 'ENOENT') return []
  throw error
}
