/** Runtimes for tests of the TypeScript client: pinned in `test/fixtures/runtimes`, installed under `node_modules/.cache`. */
import { execFile } from 'node:child_process'
import { createHash, randomUUID } from 'node:crypto'
import { existsSync, globSync } from 'node:fs'
import { cp, mkdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

const root = join(import.meta.dirname, '../..')
const pinned = join(root, 'test/fixtures/runtimes')
const installWithinMs = 300_000

export interface Runtimes {
  readonly node20: string
  readonly deno: string
  readonly bun: string
}

/** npm installs the package of the current platform. */
const programs: Readonly<Record<keyof Runtimes, string>> = {
  node20: 'node_modules/node-*/bin/node{,.exe}',
  deno: 'node_modules/@deno/*/deno{,.exe}',
  bun: 'node_modules/@oven/bun-*/bin/bun{,.exe}',
}

export async function runtimes(): Promise<Runtimes> {
  const lock = await readFile(join(pinned, 'package-lock.json'))
  const cache = join(root, 'node_modules/.cache')
  const folder = join(cache, `runtimes-${createHash('sha256').update(lock).digest('hex').slice(0, 12)}`)
  if (!existsSync(folder)) await install(cache, folder)
  const found = Object.entries(programs).map(
    ([name, pattern]) => [name, globSync(pattern, { cwd: folder })[0]] as const,
  )
  const missing = found.filter(([, path]) => path === undefined).map(([name]) => name)
  if (missing.length > 0)
    throw new Error(`There is no ${missing.join(', no ')} for this platform in test/fixtures/runtimes/package.json.`)
  return Object.fromEntries(found.map(([name, path]) => [name, join(folder, path!)])) as unknown as Runtimes
}

async function install(cache: string, folder: string): Promise<void> {
  const unfinished = join(cache, `runtimes-${randomUUID()}`)
  await mkdir(unfinished, { recursive: true })
  try {
    for (const file of ['package.json', 'package-lock.json']) await cp(join(pinned, file), join(unfinished, file))
    const args = ['ci', '--ignore-scripts', '--include=optional', '--no-audit', '--no-fund', '--loglevel=error']
    await promisify(execFile)('npm', args, {
      cwd: unfinished,
      timeout: installWithinMs,
      shell: process.platform === 'win32',
    })
    await rename(unfinished, folder)
  } catch (error) {
    if (existsSync(folder)) return
    const reason =
      /^npm error (?!code |syscall |errno )(\S.*)$/m.exec((error as { stderr?: string }).stderr ?? '')?.[1] ??
      String(error)
    throw new Error(
      `Node 20, Deno and Bun come from the npm registry on the first run, and could not be installed: ${reason}`,
      { cause: error },
    )
  } finally {
    await rm(unfinished, { recursive: true, force: true })
  }
}
