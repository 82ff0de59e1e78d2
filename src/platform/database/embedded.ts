/**
 * The embedded PostgreSQL server, shared by all processes on the data folder through an advisory lock; the last one
 * stops it.
 */
import { advisoryLocks } from './locks.ts'
import { randomBytes } from 'node:crypto'
import { chown, lstat, mkdir, open, readFile, readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import type { ChildProcess } from 'node:child_process'
import postgres from '#postgres'
import { OperatorError } from '../../lib/operator-error.ts'
import { systemClock, type Clock } from '../../lib/clock.ts'
import { freePort, makeFolder } from '../../lib/system.ts'
import type { Log } from '../observability/log.ts'
import { refusesWrites } from './failures.ts'
import { findPrograms, type Detour, type Programs } from './binaries.ts'
import { runningPostmaster, stopPostmaster } from './postmaster.ts'

export interface EmbeddedOptions {
  readonly dataDir: string
  readonly log: Log
  readonly throwaway?: boolean
  readonly onStarted?: () => void
  readonly clock?: Clock
  readonly detours?: readonly Detour[]
}

export interface Embedded {
  readonly url: string
  readonly pid: number
  onRestarted(listener: () => void): void
  stop(): Promise<void>
}

const readyWithinMs = 60_000
const pollMs = 10
const retryMs = 50
const refusedMaxMs = 500
/** On a full disk the server starts only after space was freed. */
const recoverFirstMs = 250
const recoverMaxMs = 2000
const logBytesMax = 16 * 1024 * 1024
const database = 'posthorn'

const settings: Readonly<Record<string, string>> = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '100',
  shared_buffers: '128MB',
  work_mem: '8MB',
  maintenance_work_mem: '64MB',
  effective_cache_size: '512MB',
  random_page_cost: '1.1',
  jit: 'off',
  io_method: 'sync',
  max_worker_processes: '4',
  max_parallel_workers_per_gather: '1',
  wal_level: 'minimal',
  max_wal_senders: '0',
  max_logical_replication_workers: '0',
  wal_buffers: '8MB',
  min_wal_size: '64MB',
  max_wal_size: '1GB',
  checkpoint_timeout: '10min',
  autovacuum_naptime: '10s',
  autovacuum_vacuum_scale_factor: '0.2',
  // queues analyze their own tables; large tables mostly grow
  autovacuum_analyze_scale_factor: '0.2',
  default_statistics_target: '25',
  // for tables that only grow: not every ten seconds while small
  autovacuum_vacuum_insert_threshold: '100000',
  autovacuum_vacuum_cost_limit: '2000',
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_checkpoints: 'off',
  log_min_messages: 'warning',
  log_min_error_statement: 'panic',
  lc_messages: 'C',
}
const throwawaySettings = { fsync: 'off', full_page_writes: 'off', max_connections: '300', shared_buffers: '256MB' }

/** Starts or adopts the server, and restarts it if it dies. Resolves when it is ready. */
export const startEmbedded = (options: EmbeddedOptions): Promise<Embedded> => attach(options, true)

/** Adopts the server of a running service, or starts one temporarily. */
export const connectEmbedded = (options: EmbeddedOptions): Promise<Embedded> => attach(options, false)

interface Context {
  readonly options: EmbeddedOptions
  readonly folder: string
  readonly programs: Programs
  readonly clock: Clock
}

interface Address {
  readonly port: number
  readonly password: string
}

interface Attached extends Address {
  readonly pid: number
  readonly session: postgres.Sql
}

async function attach(options: EmbeddedOptions, supervised: boolean): Promise<Embedded> {
  const dataDir = resolve(options.dataDir)
  await makeFolder(dataDir).catch((error: Error) => {
    throw new OperatorError(
      `The data folder cannot be created: ${error.message}. Set POSTHORN_DATA_DIR to a writable folder.`,
    )
  })
  const programs = await findPrograms(dataDir, options.detours)
  const context: Context = {
    options,
    folder: join(dataDir, 'postgres'),
    programs,
    clock: options.clock ?? systemClock(),
  }
  let stopping = false
  let server: Attached | undefined
  let recovery: Promise<void> | undefined
  const listeners: (() => void)[] = []
  const onLost = () => {
    if (stopping || !supervised) return
    options.log.error('the embedded database stopped unexpectedly; restarting it')
    recovery ??= recover().finally(() => (recovery = undefined))
  }
  const recover = async () => {
    for (let failures = 0; !stopping; failures++) {
      try {
        server = await acquire(context, onLost, server?.port)
        options.log.info({ pid: server.pid }, 'the embedded database was restarted')
        for (const listener of listeners) listener()
        return
      } catch (error) {
        options.log.error({ reason: (error as Error).message, failures }, 'the embedded database could not be started')
        await context.clock.sleep(Math.min(recoverFirstMs * 2 ** failures, recoverMaxMs))
      }
    }
  }
  server = await acquire(context, onLost)
  return {
    url: urlOf(server, database),
    get pid() {
      return server!.pid
    },
    onRestarted: (listener) => void listeners.push(listener),
    async stop() {
      if (stopping) return
      stopping = true
      await recovery
      await release(context, server!)
    },
  }
}

async function acquire(context: Context, onLost: () => void, port?: number): Promise<Attached> {
  await makeCluster(context)
  // measured from the first refusal, because creating a cluster may take over a minute on a slow machine
  let deadline: number | undefined
  let refused = 0
  let reason = ''
  for (;;) {
    const password = await passwordOf(context)
    const running = (await runningPostmaster(context.folder)) ?? (await launch(context, port))
    if (running?.ready === true) {
      const address = { ...running, password }
      const attached = await attachTo(address, onLost).catch((error: unknown) => attachFailure(error, address))
      if ('session' in attached) return attached
      refused += 1
      reason = ` (${attached.reason})`
    }
    if (context.clock.now() > (deadline ??= context.clock.now() + readyWithinMs))
      throw new OperatorError(`The embedded database was not ready within a minute${reason}; see ${logFile(context)}.`)
    await context.clock.sleep(running === undefined ? retryMs : Math.min(pollMs * 2 ** refused, refusedMaxMs))
  }
}

async function passwordOf({ folder }: Context): Promise<string> {
  const path = join(folder, 'posthorn.password')
  const written = await readFile(path, 'utf8').catch((error: Error) => {
    throw new OperatorError(
      `The password of the embedded database cannot be read: ${error.message}. Restore ${path} from a backup.`,
    )
  })
  return written.trim()
}

const urlOf = (server: Address, name: string): string =>
  `postgres://posthorn:${server.password}@127.0.0.1:${server.port}/${name}`

async function attachTo(server: Omit<Attached, 'session'>, onLost: () => void): Promise<Attached> {
  let isAttached = false
  const session = openSession(server, database, {
    onclose: () => {
      if (!isAttached) return
      isAttached = false
      onLost()
    },
  })
  try {
    await session`select pg_advisory_lock_shared(${advisoryLocks.embedded_server})`
    isAttached = true
    return { ...server, session }
  } catch (error) {
    await session.end({ timeout: 0 })
    throw error
  }
}

const openSession = (server: Address, name: string, options: { onclose?: () => void } = {}): postgres.Sql =>
  postgres(urlOf(server, name), {
    max: 1,
    max_lifetime: null,
    fetch_types: false,
    connect_timeout: 5,
    connection: { application_name: 'posthorn embedded' },
    onnotice: () => undefined,
    ...options,
  })

/** Other errors are temporary. */
async function attachFailure(error: unknown, server: Address): Promise<{ readonly reason: string }> {
  const { code, message } = error as Error & { code?: string }
  if (code === '3D000') await makeDatabase(server)
  if (code === '28P01')
    throw new OperatorError(
      'The embedded database does not accept its own password: posthorn.password was changed. Restore that file from a backup.',
    )
  if (refusesWrites(error))
    throw new OperatorError(
      `The embedded database refuses connections: ${message}. Check its disk and memory, then try again.`,
      'database',
    )
  return { reason: message || String(code) }
}

/** Renaming the database `postgres` is instant; creating one takes a tenth of a second. */
async function makeDatabase(server: Address): Promise<void> {
  const session = openSession(server, 'template1')
  try {
    await session.unsafe(`alter database postgres rename to ${database}`)
  } catch {
    // another process was faster, or that database is gone or in use
    await session.unsafe(`create database ${database} template template0`).catch((error: { code?: string }) => {
      if (error.code !== '42P04' && error.code !== '23505') throw error
    })
  } finally {
    await session.end({ timeout: 1 })
  }
}

async function release(context: Context, server: Attached): Promise<void> {
  const last = await server.session
    .begin(async (sql) => {
      await sql`select pg_advisory_unlock_shared(${advisoryLocks.embedded_server})`
      const [row] = await sql<
        { alone: boolean }[]
      >`select pg_try_advisory_lock(${advisoryLocks.embedded_server}) as alone`
      return row!.alone
    })
    .catch(() => false)
  const ending = server.session.end({ timeout: 5 })
  if (last) await stopPostmaster(context.folder, server.pid, context.clock)
  await ending.catch(() => undefined)
}

const logFile = (context: Context): string => join(context.folder, '../postgres.log')

async function launch(
  context: Context,
  port?: number,
): Promise<{ pid: number; port: number; ready: boolean } | undefined> {
  const chosen = port ?? (await freePort())
  const size = await stat(logFile(context)).then(
    (found) => found.size,
    () => 0,
  )
  if (size > logBytesMax) await rename(logFile(context), `${logFile(context)}.1`)
  const log = await open(logFile(context), 'a', 0o600)
  const from = size > logBytesMax ? 0 : size
  try {
    const all = { ...settings, ...(context.options.throwaway === true ? throwawaySettings : {}), port: String(chosen) }
    const args = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])
    const child = await context.programs.start(
      'postgres',
      context.folder,
      (folder) => ['-D', folder, ...args],
      ['ignore', log.fd, log.fd],
      true,
    )
    child.unref()
    context.options.onStarted?.()
    const ended = exitOf(child)
    for (;;) {
      const code = await Promise.race([ended, context.clock.sleep(pollMs)])
      if (typeof code === 'string') return await explainExit(context, code, from)
      const running = await runningPostmaster(context.folder)
      if (running?.ready === true) return running
    }
  } finally {
    await log.close()
  }
}

async function explainExit(context: Context, code: string, from: number): Promise<undefined> {
  const written = (await readFile(logFile(context))).subarray(from).toString()
  // checked first: on a full disk the message may name a lock file
  const full = /No space left on device|Read-only file system/.test(written)
  // another process was faster, children of a killed server still run, or the port was taken
  if (
    !full &&
    /lock file|shared memory block|Address already in use|could not bind|could not create any TCP/.test(written)
  )
    return undefined
  throw new OperatorError(`The embedded database did not start: ${reasonIn(written) ?? code} (${logFile(context)})`)
}

function reasonIn(written: string): string | undefined {
  const lines = written.split('\n').filter((line) => line.trim() !== '')
  return (
    lines.findLast((line) => /FATAL|PANIC|error/i.test(line)) ??
    lines.find((line) => /could not/.test(line)) ??
    lines.at(-1)
  )?.trim()
}

function exitOf(child: ChildProcess): Promise<string> {
  const { promise, resolve: settle } = Promise.withResolvers<string>()
  child.once('error', (error) => settle(String(error)))
  child.once('exit', (code, signal) => settle(`it ended with ${signal ?? code}`))
  return promise
}

/** Creates it in a temporary folder that is then renamed, so that a partial cluster is never started. */
async function makeCluster(context: Context): Promise<void> {
  const { folder, programs, options } = context
  if (await exists(join(folder, 'PG_VERSION'))) return changeOwner(programs, folder)
  const temporary = `${folder}.new-${process.pid}-${randomBytes(3).toString('hex')}`
  const password = `${temporary}.password`
  await mkdir(temporary, { mode: 0o700 })
  try {
    await writeFile(password, randomBytes(24).toString('base64url'), { mode: 0o600 })
    await changeOwner(programs, temporary)
    await changeOwner(programs, password)
    await initdb(context, temporary, password)
    await rename(password, join(temporary, 'posthorn.password'))
    await rename(temporary, folder).catch(async (error: Error) => {
      if (!(await exists(join(folder, 'PG_VERSION'))))
        throw new OperatorError(
          `The embedded database cannot be created in ${folder}: ${error.message}. Move that folder away, or set POSTHORN_DATA_DIR.`,
        )
    })
    if (options.throwaway !== true) await Promise.all([folder, dirname(folder)].map(syncNames))
  } finally {
    await Promise.all([temporary, password].map((path) => rm(path, { recursive: true, force: true })))
  }
}

async function initdb({ programs, options }: Context, folder: string, passwordFile: string): Promise<void> {
  const password = await open(passwordFile, 'r')
  try {
    // an unprivileged user may not be able to read a password file
    const args = (reached: string) => [
      '-D',
      reached,
      '-U',
      'posthorn',
      '--pwfile=/dev/stdin',
      '--auth=scram-sha-256',
      '--encoding=UTF8',
      '--locale-provider=builtin',
      '--builtin-locale=C.UTF-8',
      '--locale=C',
      '--data-checksums',
      // the commit that opens a WAL file fills it with zeros: 16 MB block every commit for 20 to 80 ms, 1 MB for 2
      '--wal-segsize=1',
      '--no-instructions',
      ...syncing(options),
    ]
    const child = await programs.start('initdb', folder, args, [password.fd, 'pipe', 'pipe'], false)
    options.onStarted?.()
    const [output, errors, ended] = await Promise.all([text(child.stdout!), text(child.stderr!), exitOf(child)])
    if (ended !== 'it ended with 0')
      throw new OperatorError(
        `The embedded database could not be created: ${reasonIn(errors) ?? reasonIn(output) ?? ended}.`,
      )
  } finally {
    await password.close()
  }
}

/** One sync of the file system is a second or two faster than a thousand syncs of files. */
function syncing({ throwaway }: EmbeddedOptions): string[] {
  if (throwaway === true) return ['--no-sync']
  return process.platform === 'linux' ? ['--sync-method=syncfs'] : []
}

async function syncNames(folder: string): Promise<void> {
  if (process.platform === 'win32') return
  const opened = await open(folder, 'r')
  await opened.sync().finally(() => opened.close())
}

const exists = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => true,
    () => false,
  )

async function changeOwner({ owner }: Programs, path: string): Promise<void> {
  if (owner === undefined) return
  const found = await lstat(path)
  if (found.uid === owner.uid) return
  if (found.isDirectory())
    for (const name of await readdir(path, { recursive: true })) await chown(join(path, name), owner.uid, owner.gid)
  await chown(path, owner.uid, owner.gid)
}
