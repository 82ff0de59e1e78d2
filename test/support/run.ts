/**
 * Runs test files, or all of them, on one throwaway PostgreSQL. A few processes share them, because loading the service takes seconds: each takes the next
 * file from a queue, the longest first. `--full` runs random and crash tests at full length.
 */
import { spawn } from 'node:child_process'
import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join, relative, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { removeLeftovers, testCluster } from './cluster.ts'
import { bundleProgram } from './program.ts'
import { collectErrors } from './provoked.ts'

const root = join(import.meta.dirname, '../..')
const cache = join(root, 'node_modules/.cache')
const durationsFile = join(cache, 'test-durations.json')
/** Tests often wait for the database or a browser: one process more than there are cores, within the database's connection limit. */
const concurrency = Math.min(4, availableParallelism() + 1)
/** A process takes no further file after this time, because node:test keeps what each test made: another process goes on. */
const processMs = 120_000
const runsEach = 10
/** A process that something keeps alive this long after its last test reports it and ends. */
const graceMs = 10_000

const { values, positionals } = parseArgs({ allowPositionals: true, options: { full: { type: 'boolean' } } })
const named = positionals.map((file) => relative(root, resolve(file)))
const files =
  named.length > 0
    ? named
    : globSync(['{src,test,bench,scripts}/**/*.test.ts'], { cwd: root }).map((file) => file.replaceAll('\\', '/'))
const known = knownDurations()
const folder = mkdtempSync(join(tmpdir(), 'posthorn-test-run-'))
const timings = join(folder, 'timings')
const queue = longestFirst(files)
const entries = Array.from({ length: Math.min(concurrency * runsEach, queue.length) }, (_, at) => writeEntry(at))
// the error catalogue can only be checked where every test runs
const provoked = named.length > 0 ? undefined : collectErrors()
const bundled = named.length > 0 ? {} : { POSTHORN_TEST_PROGRAM: await bundleProgram(join(cache, 'program')) }
const cluster = await testCluster()
await removeLeftovers(cluster.url)
const status = await new Promise<number>((done) => {
  const child = spawn(
    process.execPath,
    [
      // tests make much garbage: collecting it took a fifth of their time with Node's default of 16 MB
      '--max-semi-space-size=64',
      '--test',
      `--test-concurrency=${concurrency}`,
      '--test-reporter=spec',
      '--test-reporter-destination=stdout',
      `--test-reporter=${pathToFileURL(join(import.meta.dirname, 'timing-reporter.ts')).href}`,
      `--test-reporter-destination=${timings}`,
      '--test-timeout=900000',
      ...entries,
    ],
    {
      cwd: root,
      stdio: 'inherit',
      env: {
        NODE_COMPILE_CACHE: join(cache, 'compiled'),
        ...process.env,
        ...provoked?.env,
        ...bundled,
        ...(values.full === true ? { POSTHORN_TEST_FULL: 'true' } : {}),
        POSTHORN_TEST_DATABASE_URL: cluster.url,
      },
    },
  )
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal))
  child.once('exit', (code) => done(code ?? 1))
})
await cluster.stop()
const notRun = queue.filter((_, index) => !existsSync(join(folder, `taken-${index}`)))
const durations = measured()
if (named.length === 0) reportSlowest(durations)
mkdirSync(cache, { recursive: true })
writeFileSync(durationsFile, JSON.stringify({ ...known, ...durations }, undefined, 1))
rmSync(folder, { recursive: true, force: true })
const missing = provoked?.close() ?? []
if (missing.length > 0)
  console.error(
    `\n✖ every error of the catalogue is provoked over HTTP\n${missing.map((line) => `  ${line}`).join('\n')}`,
  )
if (notRun.length > 0) console.error(`\n✖ these files were not run\n  ${notRun.join('\n  ')}`)
process.exit(status === 0 && missing.length + notRun.length > 0 ? 1 : status)

/** Milliseconds by file, from earlier runs in this checkout. */
function knownDurations(): Record<string, number> {
  try {
    return JSON.parse(readFileSync(durationsFile, 'utf8')) as Record<string, number>
  } catch {
    // the first run of this checkout
    return {}
  }
}

/** A file that was never measured is judged by its size. */
function longestFirst(all: readonly string[]): string[] {
  const expected = (file: string) => known[file] ?? statSync(join(root, file)).size / 2
  return all.toSorted((a, b) => expected(b) - expected(a))
}

/**
 * A module that runs files of the queue for two minutes, one after the other; the last `concurrency` modules run until it is empty. Node starts modules in the
 * order of their names. A file is loaded while the last test of the file before waits, so that none of its tests starts before the whole file has been loaded.
 */
function writeEntry(at: number): string {
  const path = join(folder, `${String(at).padStart(2, '0')}.test.mjs`)
  const urls = queue.map((file) => [file, pathToFileURL(join(root, file)).href])
  writeFileSync(
    path,
    `import { mkdirSync } from 'node:fs'
import { createRequire } from 'node:module'
// node:test follows every promise with an async hook, to name the test of an error that nobody caught: a fifth of all CPU. Without it such an error still fails
// the process. The hook is made when node:test is loaded.
const hooks = createRequire(import.meta.url)('node:async_hooks')
const { createHook } = hooks
hooks.createHook = () => ({ enable: () => undefined, disable: () => undefined })
const { default: test } = await import('node:test')
hooks.createHook = createHook
const gate = (name, error) => {
  const [reached, open] = [Promise.withResolvers(), Promise.withResolvers()]
  test(name, async () => {
    reached.resolve()
    await open.promise
    if (error !== undefined) throw error
  })
  return { reached: reached.promise, open: open.resolve }
}
// a folder can be made once: whoever makes it runs the file
const isMine = (index) => {
  try {
    mkdirSync(${JSON.stringify(join(folder, 'taken-'))} + index)
    return true
  } catch (error) {
    if (error.code === 'EEXIST') return false
    throw error
  }
}
const mayGoOn = () => ${at >= concurrency * (runsEach - 1)} || performance.now() < ${processMs}
const ran = []
let last = gate('loading')
for (const [index, [file, url]] of ${JSON.stringify(urls)}.entries()) {
  if (!mayGoOn()) break
  if (!isMine(index)) continue
  ran.push(file)
  const error = await import(url).then(() => undefined, (reason) => reason)
  const next = gate(file, error)
  last.open()
  await next.reached
  last = next
}
last.open()
await globalThis.closeTestBrowser?.()
setTimeout(() => {
  console.error('The tests are done, but ' + process.getActiveResourcesInfo().join(', ') + ' is still open after ' + ran.join(', '))
  process.exit(1)
}, ${graceMs}).unref()
`,
  )
  return path
}

/** Milliseconds by file, of this run. */
function measured(): Record<string, number> {
  const found: Record<string, number> = {}
  for (const line of readFileSync(timings, 'utf8').split('\n').slice(0, -1)) {
    const { file, ms } = JSON.parse(line) as { file: string; ms: number }
    const path = relative(root, file).replaceAll('\\', '/')
    if (!path.endsWith('.ts')) continue
    found[path] = (found[path] ?? 0) + ms
  }
  return found
}

function reportSlowest(found: Readonly<Record<string, number>>): void {
  const slowest = Object.entries(found)
    .toSorted(([, a], [, b]) => b - a)
    .slice(0, 15)
  console.log(`\nSlowest files:\n${slowest.map(([file, ms]) => `  ${(ms / 1000).toFixed(1)} s  ${file}`).join('\n')}`)
}
