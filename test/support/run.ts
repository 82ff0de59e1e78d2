/** Runs test files on one throwaway PostgreSQL, whose address they get in POSTHORN_TEST_DATABASE_URL. */
import { spawn } from 'node:child_process'
import { globSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { testCluster } from './cluster.ts'
import { removeLeftovers } from './database.ts'
import { collectErrors } from './provoked.ts'

const root = join(import.meta.dirname, '../..')
/** Files often wait, for the database or a browser: one more than there are cores, and no more than the database has connections for. */
const concurrency = Math.min(4, availableParallelism() + 1)
const named = process.argv.slice(2)
const files =
  named.length > 0
    ? named
    : globSync(['src/**/*.test.ts', 'test/**/*.test.ts', 'bench/**/*.test.ts', 'scripts/**/*.test.ts'], {
        cwd: root,
      }).toSorted()
// what only some of the tests provoke tells nothing
const provoked = named.length > 0 ? undefined : collectErrors()
const cluster = await testCluster()
await removeLeftovers(cluster.url)
const status = await new Promise<number>((done) => {
  const child = spawn(
    process.execPath,
    [
      '--import',
      pathToFileURL(join(import.meta.dirname, 'ends.ts')).href,
      '--test',
      `--test-concurrency=${concurrency}`,
      '--test-reporter=spec',
      '--test-timeout=900000',
      ...files.map((file) => (named.length > 0 ? resolve(file) : file)),
    ],
    {
      cwd: root,
      stdio: 'inherit',
      // what is compiled once is kept: every file is a process of its own
      env: {
        NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/compiled'),
        ...process.env,
        ...provoked?.env,
        POSTHORN_TEST_DATABASE_URL: cluster.url,
      },
    },
  )
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal))
  child.once('exit', (code) => done(code ?? 1))
})
await cluster.stop()
const missing = provoked?.close() ?? []
if (missing.length > 0)
  console.error(
    `\n✖ every error of the catalogue is provoked over HTTP\n${missing.map((line) => `  ${line}`).join('\n')}`,
  )
process.exit(status === 0 && missing.length > 0 ? 1 : status)
