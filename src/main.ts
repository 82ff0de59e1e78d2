/** The entry point: runs the command line. */
import { groups } from './cli/groups.ts'
import { questions, errorWriterTo, writerTo } from './cli/terminal.ts'
import { runCli } from './cli/program.ts'

process.exitCode = await runCli(
  process.argv.slice(2),
  {
    env: process.env,
    out: writerTo(process.stdout),
    rewrites: process.stdout.isTTY,
    err: errorWriterTo(process.stderr),
    ...(process.stdin.isTTY && process.stderr.isTTY ? { ask: questions(process.stdin, process.stderr) } : {}),
  },
  groups,
)
