/** Says to whom the rows of each table belong: what a backup includes, and what belongs to one account. */

/**
 * `account`: its `column` (default `account_id`) names the owner; rows of a `hashed` table are found by address hashes, which are keyed with the
 * secret key of the installation. `parent`: its row belongs to a row of another table. `installation`: it belongs to no account.
 * `process`: state of running processes, which means nothing in another installation.
 */
export type TableScope =
  | { readonly to: 'account'; readonly column?: string; readonly hashed?: true }
  | { readonly to: 'installation' | 'process' }
  | { readonly to: 'parent'; readonly column: string; readonly parent: string; readonly key: string }

/** Scopes by table name. */
export type Tables = Readonly<Record<string, TableScope>>

export const ofAccount = { to: 'account' } as const
export const ofAccountByHash = { to: 'account', hashed: true } as const
/** The table whose rows are what all others belong to. */
export const isAccount = { to: 'account', column: 'id' } as const
export const ofInstallation = { to: 'installation' } as const
export const ofProcess = { to: 'process' } as const
export const ofParent = (column: string, parent: string, key = 'id') => ({ to: 'parent', column, parent, key }) as const

/** The tables whose rows are found by address hashes. */
export const foundByHash = (tables: Tables): string[] =>
  Object.entries(tables).flatMap(([table, scope]) => (scope.to === 'account' && scope.hashed === true ? [table] : []))

/** Whether a full backup includes the table. A table unknown to this version comes from an earlier version and is included. */
export const isBackedUp = (tables: Tables, table: string): boolean => tables[table]?.to !== 'process'

/** The column that names the account of a row. */
function accountColumn(tables: Tables, table: string): string {
  const scope = tables[table]
  return (scope?.to === 'account' ? scope.column : undefined) ?? 'account_id'
}

/** The SQL condition for the rows of an account; undefined for a table that belongs to no account. Throws for a malformed id, because it becomes SQL. */
export function ownedBy(tables: Tables, table: string, account_id: string): string | undefined {
  const scope = tables[table]
  if (scope === undefined) throw new Error(`no module declares the table ${table}`)
  if (!/^acc_[a-z0-9]+$/.test(account_id)) throw new Error('not an account id')
  if (scope.to === 'account') return `${accountColumn(tables, table)} = '${account_id}'`
  if (scope.to === 'parent')
    return `${scope.column} in (select ${scope.key} from ${scope.parent} where ${accountColumn(tables, scope.parent)} = '${account_id}')`
  return undefined
}
