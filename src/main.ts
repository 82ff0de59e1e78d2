/** Reads the command line, nothing else. */
import { groups } from './cli/groups.ts'
import { questions } from './cli/questions.ts'
import { runCli } from './cli/program.ts'

process.exitCode = await runCli(
  process.argv.slice(2),
  {
    env: process.env,
    out: (text) => void process.stdout.write(text),
    rewrites: process.stdout.isTTY,
    err: (text) => void process.stderr.write(text),
    ...(process.stdin.isTTY && process.stderr.isTTY ? { ask: questions(process.stdin, process.stderr) } : {}),
  },
  groups,
)
