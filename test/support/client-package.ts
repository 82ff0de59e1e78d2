/** The TypeScript client as a program has it: built, packed and installed from its tarball, once for a test file. */
import { execFile } from 'node:child_process'
import { rmSync } from 'node:fs'
import { cp, mkdir, mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import type * as client from '../../clients/typescript/src/index.ts'

const root = join(import.meta.dirname, '../..')
/** Runs a program to its end; rejects where it fails. */
export const run = promisify(execFile)
const withinMs = 120_000

export type Client = typeof client

export interface InstalledClient {
  /** A folder with a `package.json` and the client beneath `node_modules`. The caller removes it. */
  readonly folder: string
  /** What the package brings, without its declarations. */
  readonly client: Client
}

/** Copies the client as the repository has it, so that nothing is written into the checkout. */
export async function clientSource(folder: string): Promise<void> {
  await cp(join(root, 'clients/typescript'), folder, {
    recursive: true,
    filter: (path) => !/[/\\](dist|node_modules)$/.test(path),
  })
}

let made: Promise<string> | undefined

/** The folder of `installClient`, made once for a test file and removed at its end: for those who copy it. */
export function installedClient(): Promise<string> {
  return (made ??= installClient().then(({ folder }) => {
    process.once('exit', () => rmSync(join(folder, '..'), { recursive: true, force: true }))
    return folder
  }))
}

/** Packs a copy of the client. */
export async function installClient(): Promise<InstalledClient> {
  const folder = await mkdtemp(join(tmpdir(), 'posthorn-client-'))
  const source = join(folder, 'source')
  await clientSource(source)
  const env = {
    ...process.env,
    PATH: `${join(root, 'node_modules/.bin')}${delimiter}${process.env['PATH']}`,
    npm_config_cache: join(folder, 'cache'),
  }
  const npm = (cwd: string, ...args: string[]) =>
    run('npm', args, { cwd, env, timeout: withinMs, shell: process.platform === 'win32' })
  await npm(source, 'pack', '--pack-destination', folder)
  const app = join(folder, 'app')
  await mkdir(app)
  await writeFile(join(app, 'package.json'), '{ "type": "module", "private": true }')
  await npm(app, 'install', '--offline', '--no-audit', '--no-fund', join(folder, 'posthorn-client-0.1.0.tgz'))
  const client = (await import(pathToFileURL(join(app, 'node_modules/@posthorn/client/dist/index.js')).href)) as Client
  return { folder: app, client }
}
