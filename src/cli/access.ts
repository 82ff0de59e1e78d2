/**
 * Finds the service and API key of a command: options, environment, then the login file (behaviour: command-line 8).
 */
import { open, readFile, rename, rm, stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, isAbsolute, join } from 'node:path'
import { InvalidArgumentError, type Command } from 'commander'
import { OperatorError, UsageError } from '../lib/operator-error.ts'
import { httpUrl } from './arguments.ts'
import type { Access, ServiceApi } from './service-api.ts'
import { makeFolder } from '../lib/system.ts'

export interface AccessOptions {
  readonly apiKey?: string | undefined
  readonly baseUrl?: URL | undefined
}

type Env = Readonly<Record<string, string | undefined>>

export const asksService = (command: Command, examples: readonly string[]): Command =>
  command
    .option(
      '--api-key <key>',
      'an API key; default: POSTHORN_API_KEY, else the key that `posthorn login` stored',
      apiKey,
    )
    .option(
      '--base-url <url>',
      'URL of the service; default: that of the login, else POSTHORN_BASE_URL, else http://HOST:PORT',
      httpUrl,
    )
    .addHelpText('after', ['', 'Examples:', ...examples.map((example) => `  $ posthorn ${example}`)].join('\n'))

export async function serviceOf(options: AccessOptions, env: Env): Promise<ServiceApi> {
  const [{ serviceApi }, access] = await Promise.all([import('./service-api.ts'), accessOf(options, env)])
  return serviceApi(access)
}

/** Rejects with an OperatorError if the stored key belongs to another service. */
export async function accessOf(options: AccessOptions, env: Env): Promise<Access> {
  const key = options.apiKey ?? keyOf(env)
  if (key !== undefined) return { key, base_url: await baseUrlOf(options, env) }
  const stored = await readLogin(loginFile(env))
  if (stored === undefined)
    throw new UsageError('An API key is required. Run `posthorn login` once, set POSTHORN_API_KEY, or give --api-key.')
  const baseUrl = options.baseUrl === undefined ? stored.base_url : withoutSlash(options.baseUrl)
  if (baseUrl !== stored.base_url)
    throw new OperatorError(
      `The API key that \`posthorn login\` keeps is for ${stored.base_url}, and is sent nowhere else. Give --api-key for ${baseUrl}.`,
    )
  return stored
}

/** Throws a UsageError if it is malformed. */
export function keyOf(env: Env): string | undefined {
  const key = env['POSTHORN_API_KEY']?.trim() ?? ''
  if (key === '') return undefined
  if (!isKey(key)) throw new UsageError('POSTHORN_API_KEY is not an API key. Set it to a key such as svc_test_….')
  return key
}

/** Only checks that it is valid in a header. */
export const isKey = (text: string): boolean => /^[!-~]+$/.test(text)

export function apiKey(text: string): string {
  if (!isKey(text)) throw new InvalidArgumentError('It must be an API key such as svc_test_….')
  return text
}

export async function baseUrlOf({ baseUrl }: AccessOptions, env: Env): Promise<string> {
  return baseUrl === undefined ? (await import('../config/config.ts')).readConfig(env).base_url : withoutSlash(baseUrl)
}

const withoutSlash = (url: URL): string => url.href.replace(/\/+$/, '')

/**
 * `posthorn/login.json` under XDG_CONFIG_HOME, by default `~/.config`:
 * https://specifications.freedesktop.org/basedir-spec/latest/
 */
export function loginFile(env: Env): string {
  const folder = env['XDG_CONFIG_HOME'] ?? ''
  return join(isAbsolute(folder) ? folder : join(homedir(), '.config'), 'posthorn', 'login.json')
}

/** Rejects with an OperatorError if others can read the file, or if its content is invalid. */
async function readLogin(file: string): Promise<Access | undefined> {
  const found = await stat(file).catch(() => undefined)
  if (found === undefined) return undefined
  if (process.platform !== 'win32' && (found.mode & 0o077) !== 0)
    throw new OperatorError(
      `Others can read the API key in ${file}. Run \`chmod 600\` on it, or \`posthorn login\` again.`,
    )
  try {
    const { base_url, key } = JSON.parse(await readFile(file, 'utf8')) as Partial<Access>
    if (typeof base_url === 'string' && typeof key === 'string') return { base_url, key }
  } catch {
    // reported below
  }
  throw new OperatorError(`${file} is damaged. Run \`posthorn login\` again.`)
}

/** Atomic, and readable by this user only. Rejects with an OperatorError. */
export async function writeLogin(file: string, access: Access): Promise<void> {
  const draft = `${file}.new`
  try {
    await makeFolder(dirname(file))
    await rm(draft, { force: true })
    const handle = await open(draft, 'wx', 0o600)
    try {
      await handle.writeFile(`${JSON.stringify(access)}\n`)
      await handle.sync()
    } finally {
      await handle.close()
    }
    await rename(draft, file)
  } catch (error) {
    throw new OperatorError(
      `The API key cannot be stored in ${file}: ${(error as Error).message}. Set XDG_CONFIG_HOME to a writable folder.`,
    )
  }
}

/** False if there was no login. */
export async function removeLogin(file: string): Promise<boolean> {
  const isThere = (await stat(file).catch(() => undefined)) !== undefined
  await rm(file, { force: true })
  return isThere
}
