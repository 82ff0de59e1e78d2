/** The command line (behaviour: command-line 1). */
import { Command, CommanderError, Option } from 'commander'
import posthorn from '../../package.json' with { type: 'json' }
import type { App } from '../app.ts'
import { Problem } from '../api/problem.ts'
import { printableJson, printableLines } from '../lib/text.ts'
import { isUnreachable, refusesWrites } from '../platform/database/failures.ts'
import { OperatorError, UsageError } from '../lib/operator-error.ts'
import { PipeClosed, type Terminal } from './terminal.ts'

export interface Printed {
  readonly json: unknown
  readonly text: string
}

export interface Cli {
  readonly terminal: Terminal
  /** Exactly one JSON value with `--json`. */
  print(command: Command, printed: Printed): void
  /** Without server and workers, also beside a running service. */
  withApp<T>(work: (app: App) => Promise<T>): Promise<T>
  /** Read-only. If migrations are missing, calls `behind` with them instead. */
  examine<T>(work: (app: App) => Promise<T>, behind: (missing: readonly string[]) => T): Promise<T>
  /** Ends with this code although the command printed its result. */
  exit(code: number): void
}

export type Register = (program: Command, cli: Cli) => void

const exitCodes = { done: 0, refused: 1, usage: 2 } as const

/** Resolves to the exit code. Never rejects. */
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
  // commander writes the version and help here
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
  forEachCommand(program, (command) => command.exitOverride().configureOutput(output).allowExcessArguments(false))
  try {
    await program.parseAsync([...argv], { from: 'user' })
    return code
  } catch (error) {
    return failure(error, terminal)
  }
}

function forEachCommand(command: Command, change: (command: Command) => unknown): void {
  for (const child of command.commands) {
    change(child)
    if (child.commands.length === 0 && !child.options.some((option) => option.long === '--json'))
      child.addOption(new Option('--json', 'print exactly one JSON value'))
    forEachCommand(child, change)
  }
}

function failure(error: unknown, terminal: Terminal): number {
  if (error instanceof PipeClosed) return exitCodes.done
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.done : exitCodes.usage
  terminal.err(`${printableLines(wordsOf(error))}\n`)
  return error instanceof UsageError ? exitCodes.usage : exitCodes.refused
}

/** A sentence; for an unexpected error everything that is known. */
export function wordsOf(error: unknown): string {
  if (error instanceof Problem || error instanceof OperatorError) return error.message
  // PgBouncer refuses unknown session parameters
  if (error instanceof Error && error.message.startsWith('unsupported startup parameter'))
    return `DATABASE_URL leads to a connection pooler, which says: ${error.message}. Connect to PostgreSQL itself; or let a pool in session mode ignore statement_timeout and idle_in_transaction_session_timeout (PgBouncer: ignore_startup_parameters), which then bound nothing.`
  // a full disk prevents PostgreSQL from opening sessions (behaviour: command-line 1.7)
  if (refusesWrites(error))
    return `The database cannot write: ${(error as Error).message}. Check its disk and memory, then try again.`
  // PostgreSQL refuses the session with FATAL, for example for an unknown parameter in the URL
  if (isUnreachable(error) || (error as { severity?: string } | null)?.severity === 'FATAL')
    return `The database cannot be reached: ${(error as Error).message || String((error as NodeJS.ErrnoException).code)}. Check DATABASE_URL, and that the database is running.`
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
