/** Worker processes on one database, which can be killed and replaced. */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import type { Pool } from '../../src/platform/database/sql.ts'
import { closing } from './closing.ts'
import { ownPort } from './own-port.ts'
import { program } from './program.ts'
import { within } from './waiting.ts'
import { testSecretKeys } from './world.ts'

export interface WorkerProcesses {
  killOne(place: number): Promise<void>
  /** By the service's process id; -1 if unknown. */
  placeOf(process_id: string): number
  stop(): Promise<(number | null)[]>
  kills(): number
  errors(): string
}

const [node = '', ...main] = program

export async function workerProcesses(
  t: TestContext,
  { database_url, pool }: { database_url: string; pool: Pool },
  count: number,
  settings: Readonly<Record<string, string>> = {},
): Promise<WorkerProcesses> {
  const dataDir = mkdtempSync(join(tmpdir(), 'posthorn-workers-'))
  closing(t, () => rmSync(dataDir, { recursive: true, force: true }))
  const living: ChildProcess[] = []
  let kills = 0
  let errors = ''
  const begin = async () => {
    const env = {
      PATH: process.env['PATH'] ?? '',
      PORT: String(await ownPort()),
      DATABASE_URL: database_url,
      POSTHORN_DATA_DIR: dataDir,
      POSTHORN_SECRET_KEY: testSecretKeys.current,
      POSTHORN_SIMULATOR: 'true',
      POSTHORN_LOG_LEVEL: 'error',
      ...settings,
    }
    const child = spawn(node, [...main, 'serve', '--roles', 'worker'], {
      env,
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()))
    return child
  }
  const ended = async (child: ChildProcess) => {
    if (child.exitCode === null && child.signalCode === null) await within('a worker to end', once(child, 'exit'))
    return child.exitCode
  }
  for (let place = 0; place < count; place++) living.push(await begin())
  closing(t, () => {
    for (const child of living) child.kill('SIGKILL')
  })
  return {
    async killOne(place) {
      const child = living[place]!
      living[place] = await begin()
      kills++
      child.kill('SIGKILL')
      await ended(child)
      // ages its heartbeat, which otherwise takes ten seconds
      const its_id = `%.${child.pid!}.%`
      await pool`update processes set heartbeat_at = heartbeat_at - interval '1 minute' where id like ${its_id}`
      await pool`update channel_sessions set lease_until = lease_until - interval '1 minute' where process_id like ${its_id}`
    },
    placeOf: (process_id) => living.findIndex(({ pid }) => process_id.includes(`.${pid}.`)),
    async stop() {
      for (const child of living) child.kill('SIGTERM')
      return await Promise.all(living.map(ended))
    },
    kills: () => kills,
    errors: () => errors,
  }
}
