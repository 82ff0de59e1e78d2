/** `posthorn backup` and `restore`: all data in one file (behaviour: backup 1). */
import type { Command } from 'commander'
import posthorn from '../../package.json' with { type: 'json' }
import { systemClock } from '../lib/clock.ts'
import type { Progress } from '../platform/backup/backup.ts'
import type { Manifest } from '../platform/backup/format.ts'
import { isBackedUp } from '../platform/database/table-scope.ts'
import { OperatorError } from '../lib/operator-error.ts'
import { bytesText, progressReporter } from './terminal.ts'
import type { Cli, Register } from './program.ts'

export const registerBackup: Register = (program, cli) => {
  program
    .command('backup')
    .description('write everything to a file, also while the service runs')
    .argument('<file>', 'path of the new file')
    .action(async (file: string, _options: unknown, command: Command) => await backup(cli, command, file))

  program
    .command('restore')
    .description('restore a backup into an empty database')
    .argument('<file>', 'the backup')
    .action(async (file: string, _options: unknown, command: Command) => await restore(cli, command, file))
}

async function backup(cli: Cli, command: Command, file: string): Promise<void> {
  const { withDatabase } = await import('./connection.ts')
  const { writeBackup, rowsText } = await import('../platform/backup/backup.ts')
  const { tables } = await import('../app.ts')
  const reporter = progressReporter(cli.terminal)
  const report = await withDatabase(cli.terminal.env, async (pool) =>
    writeBackup(
      {
        pool,
        clock: systemClock(),
        version: posthorn.version,
        account_id: null,
        rowsOf: async () => (table) => (isBackedUp(tables, table.name) ? rowsText(table) : undefined),
        onProgress: (progress) => reporter.report(lineOf(progress)),
      },
      file,
    ),
  ).finally(() => reporter.end())
  cli.print(command, {
    json: { object: 'backup', ...report },
    text: [
      `${report.file}: ${report.rows.toLocaleString('en')} rows, ${bytesText(report.bytes)}.`,
      'Store the secret key too (POSTHORN_SECRET_KEY, or secret.key in the data folder): without it the backup cannot be restored.',
      'Media files (the media folder, or the bucket) are not included.',
    ].join('\n'),
  })
}

async function restore(cli: Cli, command: Command, file: string): Promise<void> {
  const { withDatabase } = await import('./connection.ts')
  const { readConfig, existingSecretKeys } = await import('../config/config.ts')
  const { restoreBackup } = await import('../platform/backup/restore.ts')
  const { tables } = await import('../app.ts')
  const keys = await existingSecretKeys(readConfig(cli.terminal.env))
  const reporter = progressReporter(cli.terminal)
  const accepts = ({ account_id }: Manifest) => {
    if (account_id !== null)
      throw new OperatorError(
        `${file} contains only the account ${account_id}. Import it with \`posthorn accounts import ${file}\`.`,
      )
  }
  const onChecked = (bytes: number, of: number) => reporter.report(`checking  ${bytesText(bytes)} of ${bytesText(of)}`)
  const report = await withDatabase(cli.terminal.env, async (pool) =>
    restoreBackup(
      {
        pool,
        clock: systemClock(),
        keys,
        isIncluded: (table) => isBackedUp(tables, table),
        accepts,
        onChecked,
        onProgress: (progress) => reporter.report(lineOf(progress)),
      },
      file,
    ),
  ).finally(() => reporter.end())
  // every unsent message has a job
  const waiting = report.tables['dispatch_jobs'] ?? 0
  cli.print(command, {
    json: { object: 'restore', ...report, waiting },
    text: [
      `${report.rows.toLocaleString('en')} rows of ${report.created_at} (version ${report.program}) were restored.`,
      ...(report.applied.length === 0 ? [] : [`The schema was migrated by ${report.applied.join(', ')}.`]),
      ...(waiting === 0
        ? []
        : [
            `Messages that were queued at the time of the backup, and are sent when the service starts: ${waiting.toLocaleString('en')}. If the old service continued to run, it has sent them: cancel them first.`,
          ]),
      'Run `posthorn doctor`, then start the service.',
    ].join('\n'),
  })
}

export const lineOf = ({ table, rows, bytes }: Progress): string =>
  `${table}  ${rows.toLocaleString('en')} rows  ${bytesText(bytes)} so far, uncompressed`
