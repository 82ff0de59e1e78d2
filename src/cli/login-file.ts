/** The key that `posthorn login` keeps, in the user's configuration folder (behaviour: command-line 8). */
import { open, readFile, rename, rm, stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, isAbsolute, join } from 'node:path'
import { makeFolder } from '../lib/make-folder.ts'
import { OperatorError } from '../lib/operator-error.ts'

/** A key, and the service that it is for: it is sent to no other one. */
export interface Access {
  readonly base_url: string
  readonly key: string
}

type Env = Readonly<Record<string, string | undefined>>

/** `posthorn/login.json` under XDG_CONFIG_HOME, by default `~/.config`: https://specifications.freedesktop.org/basedir-spec/latest/ */
export function loginFile(env: Env): string {
  const folder = env['XDG_CONFIG_HOME'] ?? ''
  return join(isAbsolute(folder) ? folder : join(homedir(), '.config'), 'posthorn', 'login.json')
}

/** undefined where nobody has logged in. Rejects with an OperatorError where others can read the file, or it holds something else. */
export async function readLogin(file: string): Promise<Access | undefined> {
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
    // told below, as other content is
  }
  throw new OperatorError(`${file} holds no login. Run \`posthorn login\` again.`)
}

/** Whole or not at all, and for its user alone. Rejects with an OperatorError where it cannot be written. */
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
      `The API key cannot be kept in ${file}: ${(error as Error).message}. Set XDG_CONFIG_HOME to a folder that can be written.`,
    )
  }
}

/** False where nobody had logged in. */
export async function removeLogin(file: string): Promise<boolean> {
  const isThere = (await stat(file).catch(() => undefined)) !== undefined
  await rm(file, { force: true })
  return isThere
}
