/** The service as a process with its own data folder, for tests that kill it. */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { apiClient, type Api } from './api.ts'
import { ownPort } from './own-port.ts'
import { program as defaultProgram } from './program.ts'
import { until, within } from './waiting.ts'

export interface ServiceProcess {
  readonly base_url: string
  start(): Promise<void>
  kill(what: 'service' | 'database'): Promise<void>
  /** SIGSTOP until `wake`. */
  hang(): void
  wake(): void
  pid(): number
  stop(): Promise<number | null>
  command(...args: string[]): Promise<{ status: number | null; stdout: string; stderr: string }>
  api(key?: string): Api
  errors(): string
  printed(): string
}

/** The caller starts and stops it. `posthorn`: the program and its first arguments; `options`: after `serve`. */
export async function serviceProcess(
  dataDir: string,
  settings: Readonly<Record<string, string>> = {},
  [program, ...first]: readonly string[] = defaultProgram,
  options: readonly string[] = [],
): Promise<ServiceProcess> {
  const port = await ownPort()
  const base_url = `http://127.0.0.1:${port}`
  const env = { PATH: process.env['PATH'] ?? '', POSTHORN_DATA_DIR: dataDir, PORT: String(port), ...settings }
  const cwd = dirname(dataDir)
  let child: ChildProcess | undefined
  let errors = ''
  let printed = ''
  const ended = async (process: ChildProcess | undefined) => {
    if (process !== undefined && process.exitCode === null && process.signalCode === null)
      await within('the service to end', once(process, 'exit'))
  }
  return {
    base_url,
    async start() {
      child = spawn(program!, [...first, 'serve', ...options], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
      child.stdout!.on('data', (chunk: Buffer) => (printed += chunk.toString()))
      child.stderr!.on('data', (chunk: Buffer) => (errors += chunk.toString()))
      await untilReady(child, base_url, () => errors.slice(-4000))
    },
    async kill(what) {
      if (what === 'service') {
        child?.kill('SIGKILL')
        return await ended(child)
      }
      const pid = Number(
        (await readFile(join(dataDir, 'postgres/postmaster.pid'), 'utf8').catch(() => '0')).split('\n')[0],
      )
      if (pid > 0) killHard(pid)
    },
    hang: () => void child?.kill('SIGSTOP'),
    wake: () => void child?.kill('SIGCONT'),
    pid: () => child!.pid!,
    async stop() {
      child?.kill('SIGTERM')
      await ended(child)
      return child?.exitCode ?? null
    },
    async command(...args) {
      const command = spawn(program!, [...first, ...args], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
      const [stdout, stderr] = await within(
        `${args.join(' ')} to end`,
        Promise.all([text(command.stdout), text(command.stderr), once(command, 'exit')]),
      )
      return { status: command.exitCode, stdout, stderr }
    },
    api: (key) => apiClient(base_url, key),
    errors: () => errors,
    printed: () => printed,
  }
}

async function untilReady(child: ChildProcess, base_url: string, errors: () => string): Promise<void> {
  const { exitCode, signalCode, ready } = await until(
    'the service to be ready',
    async () => ({
      exitCode: child.exitCode,
      signalCode: child.signalCode,
      ready: await isReady(base_url),
      errors: errors(),
    }),
    (seen) => seen.ready || seen.exitCode !== null || seen.signalCode !== null,
  )
  if (!ready) throw new Error(`the service did not start (exit ${exitCode}, signal ${signalCode}): ${errors()}`)
}

function killHard(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // already dead
  }
}

async function isReady(base_url: string): Promise<boolean> {
  return await apiClient(base_url)
    .get('/readyz')
    .then(
      ({ status }) => status === 200,
      () => false,
    )
}
