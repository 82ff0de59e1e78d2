/** The command line (behaviour: command-line 1): what every command shares. One file per command group; each registers itself here. */
import { Command, CommanderError, Option } from 'commander'
import posthorn from '../../package.json' with { type: 'json' }
import type { App } from '../app.ts'
import { Problem } from '../api/problem.ts'
import { printableJson, printableLines } from '../lib/text.ts'
import { isUnreachable, refusesWrites } from '../platform/database/failures.ts'
import { OperatorError, UsageError } from '../lib/operator-error.ts'
import { ReaderGone, type Terminal } from './terminal.ts'

/** What a command prints: one JSON value with `--json`, else text for people. */
export interface Printed {
  readonly json: unknown
  readonly text: string
}

export interface Cli {
  readonly terminal: Terminal
  /** Prints what a command found; exactly one JSON value with `--json`. */
  print(command: Command, printed: Printed): void
  /** Opens the service beside a running one or without one, runs `work`, and closes it again. No server, no workers. */
  withApp<T>(work: (app: App) => Promise<T>): Promise<T>
  /** As `withApp`, but changes nothing: where the database lacks migrations, `behind` is told which instead. */
  examine<T>(work: (app: App) => Promise<T>, behind: (missing: readonly string[]) => T): Promise<T>
  /** The exit code with which a command ends although it printed its result. */
  exit(code: number): void
}

/** Adds the commands of one group to the program. */
export type Register = (program: Command, cli: Cli) => void

const exitCodes = { done: 0, refused: 1, usage: 2 } as const

/** Runs one command line; resolves to the exit code. Never rejects. */
export async function runCli(
  argv: readonly string[],
  terminal: Terminal,
  groups: readonly Register[],
): Promise<number> {
  let code: number = exitCodes.done
  const cli: Cli = {
    terminal,
    print(command, { json, text }) {
      terminal.out(
        command.optsWithGlobals()['json'] === true ? `${printableJson(json)}\n` : `${printableLines(text)}\n`,
      )
    },
    withApp: async (work) => await (await import('./connection.ts')).withApp(terminal.env, work),
    examine: async (work, behind) => await (await import('./connection.ts')).withApp(terminal.env, work, behind),
    exit: (wanted) => {
      code = wanted
    },
  }
  // what commander itself writes there: the version and help
  const tell = (text: string) =>
    terminal.out(
      text === `${posthorn.version}\n`
        ? `${JSON.stringify({ version: posthorn.version })}\n`
        : `${JSON.stringify({ help: text })}\n`,
    )
  const output = { writeOut: argv.includes('--json') ? tell : terminal.out, writeErr: terminal.err }
  const program = new Command('posthorn')
    .description('A multi-channel messaging platform: one REST API for WhatsApp, SMS and more.')
    .exitOverride()
    .configureOutput(output)
    .version(posthorn.version, '--version', 'print the version')
    .option('--json', 'print exactly one JSON value')
    .showHelpAfterError('(add --help for usage)')
  for (const register of groups) register(program, cli)
  everywhere(program, (command) => command.exitOverride().configureOutput(output).allowExcessArguments(false))
  try {
    await program.parseAsync([...argv], { from: 'user' })
    return code
  } catch (error) {
    return failure(error, terminal)
  }
}

function everywhere(command: Command, change: (command: Command) => unknown): void {
  for (const child of command.commands) {
    change(child)
    if (child.commands.length === 0 && !child.options.some((option) => option.long === '--json'))
      child.addOption(new Option('--json', 'print exactly one JSON value'))
    everywhere(child, change)
  }
}

function failure(error: unknown, terminal: Terminal): number {
  if (error instanceof ReaderGone) return exitCodes.done
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.done : exitCodes.usage
  terminal.err(`${printableLines(wordsOf(error))}\n`)
  return error instanceof UsageError ? exitCodes.usage : exitCodes.refused
}

/** What a command says of what ended it: a sentence, or of something that nobody expected all that is known. */
export function wordsOf(error: unknown): string {
  if (error instanceof Problem || error instanceof OperatorError) return error.message
  // PgBouncer takes no parameters of a session that it does not know
  if (error instanceof Error && error.message.startsWith('unsupported startup parameter'))
    return `DATABASE_URL leads to a connection pooler, which says: ${error.message}. Connect to PostgreSQL itself; or let a pool in session mode ignore statement_timeout and idle_in_transaction_session_timeout (PgBouncer: ignore_startup_parameters), which then bound nothing.`
  // a full disk keeps PostgreSQL from opening sessions too (behaviour: command-line 1.7)
  if (refusesWrites(error))
    return `The database cannot do that now: ${(error as Error).message}. See to its disk and memory, then try again.`
  // FATAL is what PostgreSQL says instead of opening a session: of a parameter in the URL that it does not know, for example
  if (isUnreachable(error) || (error as { severity?: string } | null)?.severity === 'FATAL')
    return `The database cannot be reached: ${(error as Error).message || String((error as NodeJS.ErrnoException).code)}. Check DATABASE_URL, and that it runs.`
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
