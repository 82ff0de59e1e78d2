/** A PostgreSQL server process on a folder. */
import { execFile } from 'node:child_process'
import { readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Clock } from '../../lib/clock.ts'

const run = promisify(execFile)
const fastStopMs = 7000
const pollMs = 10

export interface Postmaster {
  readonly pid: number
  readonly port: number
  readonly ready: boolean
}

/** Removes the pid file of a dead server, whose pid may belong to another program now. */
export async function runningPostmaster(folder: string): Promise<Postmaster | undefined> {
  const text = await readFile(pidFile(folder), 'utf8').catch(() => undefined)
  if (text === undefined) return undefined
  const lines = text.split('\n').map((line) => line.trim())
  const pid = Math.abs(Number(lines[0]))
  if (!Number.isInteger(pid) || pid === 0) return undefined
  if (await runsOn(pid, folder)) return { pid, port: Number(lines[3] ?? 0), ready: lines[7] === 'ready' }
  // PostgreSQL refuses to start while any process with this pid lives
  if (isAlive(pid)) await rm(pidFile(folder), { force: true })
  return undefined
}

/** Immediate after seven seconds. */
export async function stopPostmaster(folder: string, pid: number, clock: Clock): Promise<void> {
  signal(pid, 'SIGINT')
  if (await hasStopped(folder, pid, clock, fastStopMs)) return
  signal(pid, 'SIGQUIT')
  await hasStopped(folder, pid, clock, fastStopMs)
}

async function hasStopped(folder: string, pid: number, clock: Clock, limit_ms: number): Promise<boolean> {
  const deadline = clock.now() + limit_ms
  while (await runsOn(pid, folder)) {
    if (clock.now() > deadline) return false
    await clock.sleep(pollMs)
  }
  return true
}

const pidFile = (folder: string): string => join(folder, 'postmaster.pid')

/** False for another process, a zombie or none. */
async function runsOn(pid: number, folder: string): Promise<boolean> {
  if (!isAlive(pid)) return false
  if (process.platform === 'linux') {
    const [cwd, own] = await Promise.all([
      stat(`/proc/${pid}/cwd`).catch(() => undefined),
      stat(folder).catch(() => undefined),
    ])
    return cwd !== undefined && own !== undefined && cwd.dev === own.dev && cwd.ino === own.ino
  }
  if (process.platform === 'win32') return true
  const { stdout } = await run('ps', ['-o', 'command=', '-p', String(pid)]).catch(() => ({ stdout: '' }))
  return stdout.includes(folder)
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch {
    // already ended
  }
}
