/** `posthorn accounts export` and `import`: moves one account between installations (behaviour: backup 3). */
import type { Command } from 'commander'
import posthorn from '../../package.json' with { type: 'json' }
import { tables, type App } from '../app.ts'
import { secretKeys, readConfig } from '../config/config.ts'
import { systemClock } from '../lib/clock.ts'
import { printable } from '../lib/text.ts'
import { rowsText, writeBackup, type RowsOf } from '../platform/backup/backup.ts'
import { importRows } from '../platform/backup/import.ts'
import { foundByHash, ownedBy } from '../platform/database/table-scope.ts'
import { accountOf } from './arguments.ts'
import { lineOf } from './backup.ts'
import { bytesText, progressReporter } from './terminal.ts'
import type { Cli } from './program.ts'

export async function exportAccount(cli: Cli, command: Command, given: string, file: string): Promise<void> {
  const reporter = progressReporter(cli.terminal)
  const { report, isActive } = await cli
    .withApp(async (app) => {
      const account_id = await accountOf(app, given)
      const { pool } = app.platform
      const onProgress = (progress: Parameters<typeof lineOf>[0]) => reporter.report(lineOf(progress))
      const state = await app.services.accounts.stateOf(pool, account_id)
      const written = await writeBackup(
        {
          pool,
          clock: systemClock(),
          version: posthorn.version,
          account_id,
          rowsOf: async (sql) => rowsOfAccount(app, sql, account_id),
          onProgress,
        },
        file,
      )
      return { report: written, isActive: state?.suspended === false }
    })
    .finally(() => reporter.end())
  if (isActive)
    cli.terminal.err(
      'The account is still active here. Suspend one of the two before the other starts; otherwise both send the queued messages.\n',
    )
  cli.print(command, {
    json: { object: 'account_export', ...report },
    text: `${report.file}: ${report.rows.toLocaleString('en')} rows, ${bytesText(report.bytes)}. Import it with \`posthorn accounts import\` into an installation with the same secret key.`,
  })
}

async function rowsOfAccount(
  app: App,
  sql: Parameters<App['services']['webhooks']['movedColumns']>[0],
  account_id: string,
): Promise<RowsOf> {
  const moved = await app.services.webhooks.movedColumns(sql)
  return (table) => {
    const where = ownedBy(tables, table.name, account_id)
    if (where === undefined) return undefined
    return rowsText(table, { columns: moved[table.name] ?? {}, where })
  }
}

export async function importAccount(cli: Cli, command: Command, file: string): Promise<void> {
  const reporter = progressReporter(cli.terminal)
  const report = await cli
    .withApp(async (app) => {
      const { pool } = app.platform
      return await importRows(
        {
          pool,
          keys: await secretKeys(readConfig(cli.terminal.env)),
          hashed: foundByHash(tables),
          isOwned: (table, account_id) => ownedBy(tables, table, account_id) !== undefined,
          isThere: async (sql, account_id) => (await app.services.accounts.stateOf(sql, account_id)) !== null,
          onChecked: (bytes, of) => reporter.report(`checking  ${bytesText(bytes)} of ${bytesText(of)}`),
          onProgress: (progress) => reporter.report(lineOf(progress)),
        },
        file,
      )
    })
    .finally(() => reporter.end())
  cli.print(command, {
    json: { object: 'account_import', ...report },
    text: [
      `${report.account_id} was imported with ${report.rows.toLocaleString('en')} rows of ${printable(report.created_at)}.`,
      'Its API keys work as before. Users are not included: create its first owner with `posthorn users create --account … --role owner`.',
      'Run `posthorn doctor`.',
    ].join('\n'),
  })
}
