/** `posthorn backup` and `posthorn restore`: all data in one file (behaviour: backup 1). */
import type { Command } from 'commander'
import posthorn from '../../package.json' with { type: 'json' }
import { systemClock } from '../lib/clock.ts'
import type { Progress } from '../platform/backup/backup.ts'
import type { Manifest } from '../platform/backup/format.ts'
import { isBackedUp } from '../platform/database/table-scope.ts'
import { OperatorError } from '../lib/operator-error.ts'
import { bytesText, progressTeller } from './terminal.ts'
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
  const teller = progressTeller(cli.terminal)
  const report = await withDatabase(cli.terminal.env, async (pool) =>
    writeBackup(
      {
        pool,
        clock: systemClock(),
        version: posthorn.version,
        account_id: null,
        rowsOf: async () => (table) => (isBackedUp(tables, table.name) ? rowsText(table) : undefined),
        told: (progress) => teller.tell(lineOf(progress)),
      },
      file,
    ),
  ).finally(() => teller.end())
  cli.print(command, {
    json: { object: 'backup', ...report },
    text: [
      `${report.file}: ${report.rows.toLocaleString('en')} rows, ${bytesText(report.bytes)}.`,
      'It does not hold the secret key: keep POSTHORN_SECRET_KEY, or the secret.key of the data folder, beside it. Without the key nothing in it opens.',
      'Files that came in (the media folder, or the bucket) are not in it either.',
    ].join('\n'),
  })
}

async function restore(cli: Cli, command: Command, file: string): Promise<void> {
  const { withDatabase } = await import('./connection.ts')
  const { readConfig, secretKeysThere } = await import('../config/config.ts')
  const { restoreBackup } = await import('../platform/backup/restore.ts')
  const { tables } = await import('../app.ts')
  const keys = await secretKeysThere(readConfig(cli.terminal.env))
  const teller = progressTeller(cli.terminal)
  const accepts = ({ account_id }: Manifest) => {
    if (account_id !== null)
      throw new OperatorError(
        `${file} holds the account ${account_id} alone: bring it in with \`posthorn accounts import ${file}\`.`,
      )
  }
  const checking = (bytes: number, of: number) => teller.tell(`checking  ${bytesText(bytes)} of ${bytesText(of)}`)
  const report = await withDatabase(cli.terminal.env, async (pool) =>
    restoreBackup(
      {
        pool,
        clock: systemClock(),
        keys,
        isCarried: (table) => isBackedUp(tables, table),
        accepts,
        checking,
        told: (progress) => teller.tell(lineOf(progress)),
      },
      file,
    ),
  ).finally(() => teller.end())
  // every unsent message has a job
  const waiting = report.tables['dispatch_jobs'] ?? 0
  cli.print(command, {
    json: { object: 'restore', ...report, waiting },
    text: [
      `${report.rows.toLocaleString('en')} rows of ${report.created_at} (version ${report.program}) are back.`,
      ...(report.applied.length === 0
        ? []
        : [`Brought to the schema of this version by ${report.applied.join(', ')}.`]),
      ...(waiting === 0
        ? []
        : [
            `${waiting.toLocaleString('en')} messages waited to be sent when it was made, and go out when the service starts. Where the old service went on after that, it has sent them: cancel them first.`,
          ]),
      'Run `posthorn doctor`, then start the service.',
    ].join('\n'),
  })
}

export const lineOf = ({ table, rows, bytes }: Progress): string =>
  `${table}  ${rows.toLocaleString('en')} rows  ${bytesText(bytes)} in all`
