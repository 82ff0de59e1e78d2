/** Declares which rows of each table a backup includes, and which belong to one account. */

/**
 * `hashed`: found by address hashes, which depend on the installation's secret key. `process`: state of running
 * processes.
 */
export type TableScope =
  | { readonly to: 'account'; readonly column?: string; readonly hashed?: true }
  | { readonly to: 'installation' | 'process' }
  | { readonly to: 'parent'; readonly column: string; readonly parent: string; readonly key: string }

export type Tables = Readonly<Record<string, TableScope>>

export const ofAccount = { to: 'account' } as const
export const ofAccountByHash = { to: 'account', hashed: true } as const
export const isAccount = { to: 'account', column: 'id' } as const
export const ofInstallation = { to: 'installation' } as const
export const ofProcess = { to: 'process' } as const
export const ofParent = (column: string, parent: string, key = 'id') => ({ to: 'parent', column, parent, key }) as const

export const foundByHash = (tables: Tables): string[] =>
  Object.entries(tables).flatMap(([table, scope]) => (scope.to === 'account' && scope.hashed === true ? [table] : []))

/** Unknown tables come from an earlier version and are included. */
export const isBackedUp = (tables: Tables, table: string): boolean => tables[table]?.to !== 'process'

export function accountColumn(tables: Tables, table: string): string {
  const scope = tables[table]
  return (scope?.to === 'account' ? scope.column : undefined) ?? 'account_id'
}

/** Undefined for a table of no account. Throws for a malformed id, because it becomes SQL. */
export function ownedBy(tables: Tables, table: string, account_id: string): string | undefined {
  const scope = tables[table]
  if (scope === undefined) throw new Error(`no module declares the table ${table}`)
  if (!/^acc_[a-z0-9]+$/.test(account_id)) throw new Error('not an account id')
  if (scope.to === 'account') return `${accountColumn(tables, table)} = '${account_id}'`
  if (scope.to === 'parent')
    return `${scope.column} in (select ${scope.key} from ${scope.parent} where ${accountColumn(tables, scope.parent)} = '${account_id}')`
  return undefined
}
