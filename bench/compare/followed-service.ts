/** `followed-service.ts <kind> serve …`: the command line of the product with one more projection. */
import { runCli } from '../../src/cli/program.ts'
import { serveCommand } from '../../src/cli/serve.ts'
import { counter, type Followed } from './followed.ts'

const [kind, ...args] = process.argv.slice(2)

process.exitCode = await runCli(
  args,
  {
    env: process.env,
    out: (text) => void process.stdout.write(text),
    err: (text) => void process.stderr.write(text),
  },
  [serveCommand({ projections: [counter(kind as Exclude<Followed, 'none'>)] })],
)
