/** Imports the rows of one account into a running installation, in one transaction (behaviour: backup 3). */
import { appliedMigrations } from '../database/migrate.ts'
import { sqlState, transact, violatedConstraint, type Db, type Pool } from '../database/sql.ts'
import { OperatorError } from '../../lib/operator-error.ts'
import { haveSameHashKey, requireMatchingKey } from '../secrets/secrets.ts'
import { checkFile, type Manifest, type PartitionDefinition } from './format.ts'
import { copyInto, copyWithoutTriggers, loadTables, partitionText, type RestoreParts } from './restore.ts'

export interface ImportParts extends Pick<RestoreParts, 'keys' | 'onChecked' | 'onProgress'> {
  readonly pool: Pool
  readonly isOwned: (table: string, account_id: string) => boolean
  readonly hashed: readonly string[]
  readonly isThere: (sql: Db, account_id: string) => Promise<boolean>
}

export interface ImportReport {
  readonly file: string
  readonly account_id: string
  readonly created_at: string
  readonly rows: number
  readonly tables: Readonly<Record<string, number>>
}

const uniqueViolation = '23505'
const notAllowed = '42501'

/** Throws `OperatorError` for a damaged file, a wrong key or schema, or an existing account. */
export async function importRows(parts: ImportParts, path: string): Promise<ImportReport> {
  const file = await checkFile(path, parts.onChecked)
  const { account_id, created_at } = file.manifest
  if (account_id === null)
    throw new OperatorError(`${path} holds a whole installation: bring it back with \`posthorn restore ${path}\`.`)
  if (!/^acc_[a-z0-9]+$/.test(account_id)) throw new OperatorError(`${path} names no account.`)
  requireMatchingKey(parts.keys, file.manifest)
  const isIncluded = (table: string) => parts.isOwned(table, account_id)
  const tables = (await parts.pool
    .begin(async (tx) => {
      await tx`set local statement_timeout = 0`
      await tx`set local idle_in_transaction_session_timeout = 0`
      await requireSameSchema(tx, file.manifest)
      if (await parts.isThere(tx, account_id))
        throw new OperatorError(`The account ${account_id} is here already. Nothing was written.`)
      for (const partition of file.manifest.partitions) await makePartition(tx, partition)
      const counts = await loadTables(
        { isIncluded, onProgress: parts.onProgress },
        tx,
        path,
        file,
        (await withoutTriggers(tx)) ? copyInto : copyWithoutTriggers,
      )
      await requireFindable(parts, tx, file.manifest, counts)
      // events that were not fanned out are the newest here
      await tx`
        update events set position = feed_position()
        where account_id = ${account_id} and mode = any(array['live', 'test']) and position >= 0`
      return counts
    })
    .catch((error: unknown) => {
      if (sqlState(error) !== uniqueViolation) throw error
      throw new OperatorError(
        `Something of the account is here already (${violatedConstraint(error) ?? 'a unique value'}): a channel with the same identifier, for example. Nothing was written.`,
      )
    })) as Record<string, number>
  return {
    file: path,
    account_id,
    created_at,
    rows: Object.values(tables).reduce((sum, count) => sum + count, 0),
    tables,
  }
}

/** Each installation hashes addresses with its own key: opt-outs under another key would not be found. */
async function requireFindable(
  { keys, hashed }: ImportParts,
  sql: Db,
  manifest: Manifest,
  counts: Readonly<Record<string, number>>,
): Promise<void> {
  const rows = hashed.reduce((sum, table) => sum + (counts[table] ?? 0), 0)
  const [here] = await sql<
    { key_check: string; address_hash_key: string }[]
  >`select key_check, address_hash_key from installation`
  if (rows === 0 || haveSameHashKey(keys, here!, manifest)) return
  throw new OperatorError(
    `The account has ${rows} opt-outs, which can be found again only where the installation began as a backup of the one that it comes from. Nothing was written. ` +
      'Bring it into such an installation, or the whole installation by `posthorn backup` and `posthorn restore`.',
  )
}

async function requireSameSchema(sql: Db, { migrations, program }: Manifest): Promise<void> {
  const here = await appliedMigrations(sql)
  const isSame =
    here.length === migrations.length &&
    here.every(({ number, checksum }, at) => migrations[at]?.number === number && migrations[at]?.checksum === checksum)
  if (!isSame)
    throw new OperatorError(
      `The file was written by version ${program}, whose schema is another. Bring both installations to the same version, then export again.`,
    )
}

async function makePartition(sql: Db, partition: PartitionDefinition): Promise<void> {
  await transact(sql, async (tx) => void (await tx.unsafe(partitionText(partition)))).catch((error: unknown) => {
    if (sqlState(error) === undefined) throw error
  })
}

async function withoutTriggers(sql: Db): Promise<boolean> {
  return await transact(sql, async (tx) => await tx`set local session_replication_role = replica`).then(
    () => true,
    (error: unknown) => {
      if (sqlState(error) === notAllowed) return false
      throw error
    },
  )
}
