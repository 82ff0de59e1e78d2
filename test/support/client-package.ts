/** The TypeScript client, packed and installed as users install it. */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, globSync, rmSync } from 'node:fs'
import { cp, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import type * as client from '../../clients/typescript/src/index.ts'

const root = join(import.meta.dirname, '../..')
export const run = promisify(execFile)
const withinMs = 120_000

export type Client = typeof client

export interface InstalledClient {
  readonly folder: string
  readonly client: Client
}

export async function clientSource(folder: string): Promise<void> {
  await cp(join(root, 'clients/typescript'), folder, {
    recursive: true,
    filter: (path) => !/[/\\](dist|node_modules)$/.test(path),
  })
}

let made: Promise<string> | undefined

export function installedClient(): Promise<string> {
  return (made ??= installClient().then(({ folder }) => {
    process.once('exit', () => rmSync(join(folder, '..'), { recursive: true, force: true }))
    return folder
  }))
}

export async function installClient(): Promise<InstalledClient> {
  const app = join(await mkdtemp(join(tmpdir(), 'posthorn-client-')), 'app')
  await cp(await packedAndInstalled(), app, { recursive: true })
  const client = (await import(pathToFileURL(join(app, 'node_modules/@posthorn/client/dist/index.js')).href)) as Client
  return { folder: app, client }
}

async function packedAndInstalled(): Promise<string> {
  const cache = join(root, 'node_modules/.cache')
  const installed = join(cache, `client-${await hashOfSources()}`)
  if (existsSync(installed)) return installed
  await mkdir(cache, { recursive: true })
  const folder = await mkdtemp(join(cache, 'client-unfinished-'))
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
  await rename(app, installed).catch((error: unknown) => {
    if (!existsSync(installed)) throw error
  })
  await rm(folder, { recursive: true, force: true })
  return installed
}

async function hashOfSources(): Promise<string> {
  const folder = join(root, 'clients/typescript')
  const files = globSync(['*.*', 'src/**/*.*'], { cwd: folder }).toSorted()
  const texts = await Promise.all(files.map((file) => readFile(join(folder, file), 'utf8')))
  return createHash('sha256')
    .update(JSON.stringify([files, texts]))
    .digest('hex')
    .slice(0, 16)
}
