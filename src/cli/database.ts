/** `posthorn migrate` and `posthorn doctor`. */
import type { Command } from 'commander'
import { OperatorError } from '../lib/operator-error.ts'
import { transact } from '../platform/database/sql.ts'
import type { App } from '../app.ts'
import { wordsOf, type Cli, type Register } from './program.ts'

export const registerDatabase: Register = (program, cli) => {
  program
    .command('migrate')
    .description('migrate the database to the schema of this version')
    .action(async (_options: unknown, command: Command) => {
      const { migrateConfigured } = await import('./connection.ts')
      const report = await migrateConfigured(cli.terminal.env)
      cli.print(command, {
        json: report,
        text:
          report.applied.length === 0
            ? `The database is up to date at version ${report.version}.`
            : `Applied ${report.applied.join(', ')}.`,
      })
    })

  program
    .command('doctor')
    .description('check configuration, database, clock, ledger and counters')
    .option('--accept-clock', 'accept a clock that jumped ahead as correct, so that data expires by it again')
    .action(async ({ acceptClock }: { acceptClock?: true }, command: Command) => {
      if (acceptClock === true) await cli.withApp((app) => app.platform.retention_clock.accept())
      const findings = await checks(cli).catch((error: unknown) => {
        // an error of the check is a finding too
        const [name, ...breaches] =
          error instanceof OperatorError ? [error.subject, ...reasonsOf(error)] : ['database', wordsOf(error)]
        if (command.optsWithGlobals()['json'] === true)
          cli.print(command, { json: { ok: false, checks: [{ name, breaches }] }, text: '' })
        throw error
      })
      const ok = findings.every((finding) => finding.breaches.length === 0)
      const text = [
        ...findings.map(({ name, breaches }) =>
          [
            `${breaches.length === 0 ? 'ok    ' : 'BROKEN'}  ${name}`,
            ...breaches.map((breach) => `          ${breach}`),
          ].join('\n'),
        ),
        ok ? 'All checks passed.' : 'Some checks failed.',
      ].join('\n')
      cli.print(command, { json: { ok, checks: findings }, text })
      if (!ok) cli.exit(1)
    })
}

async function checks(cli: Cli): Promise<Finding[]> {
  return await cli.examine(examine, (missing) => [
    { name: 'database', breaches: missing.map((name) => `${name} has not been applied. Run \`posthorn migrate\`.`) },
  ])
}

function reasonsOf(error: OperatorError): string[] {
  const [first, ...rest] = error.message.split('\n').map((line) => line.trim())
  return rest.length === 0 ? [first!] : rest
}

interface Finding {
  readonly name: string
  readonly breaches: readonly string[]
}

/** One snapshot: concurrent changes must not look like violations. */
async function examine(app: App): Promise<Finding[]> {
  const findings: Finding[] = [
    // an invalid configuration would have prevented the app
    { name: 'configuration', breaches: [] },
    { name: 'database', breaches: [] },
  ]
  await transact(app.platform.pool, async (sql) => {
    await sql`set transaction isolation level repeatable read read only`
    await sql`set local statement_timeout = 0`
    await sql`set local idle_in_transaction_session_timeout = 0`
    findings.push({ name: 'clock', breaches: await app.platform.retention_clock.warnings(sql) })
    for (const invariant of app.invariants)
      findings.push({ name: invariant.name, breaches: await invariant.breaches(sql) })
  })
  return findings
}
