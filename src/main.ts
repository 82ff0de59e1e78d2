/** Reads the command line, nothing else. What was compiled once is kept, which takes a third off every start. */
import { enableCompileCache } from 'node:module'
import { join } from 'node:path'

enableCompileCache(join(import.meta.dirname, '../node_modules/.cache/compiled'))
const [{ runCli }, { groups }] = await Promise.all([import('./cli/program.ts'), import('./cli/groups.ts')])

process.exitCode = await runCli(
  process.argv.slice(2),
  {
    env: process.env,
    out: (text) => void process.stdout.write(text),
    err: (text) => void process.stderr.write(text),
  },
  groups,
)
