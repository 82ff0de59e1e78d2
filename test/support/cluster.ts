/** The PostgreSQL server of a checkout's test runs: without durability, in memory if there is space; the last run stops it. */
import { hash } from 'node:crypto'
import { accessSync, constants, statfsSync } from 'node:fs'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connectEmbedded, type Embedded } from '../../src/platform/database/embedded.ts'
import { runningPostmaster } from '../../src/platform/database/postmaster.ts'
import { makeLog } from '../../src/platform/observability/log.ts'
import { testPool } from './pool.ts'

const memory = '/dev/shm'
const freeMinBytes = 2 * 1024 ** 3
const checkout = join(import.meta.dirname, '../..')

/** Each checkout has its own server, because removing a checkout removes the server's programs. */
export const clusterName = (root: string): string =>
  `posthorn-test-${process.getuid?.() ?? 'user'}-${hash('sha256', root).slice(0, 8)}`

export async function testCluster(): Promise<Embedded> {
  const dataDir = join(hasSpace(memory) ? memory : tmpdir(), clusterName(checkout))
  const cluster = await connect(dataDir)
  await trustLocalConnections(cluster.url, join(dataDir, 'postgres/pg_hba.conf'))
  return cluster
}

async function connect(dataDir: string): Promise<Embedded> {
  const connected = () => connectEmbedded({ dataDir, log: makeLog('warn'), throwaway: true })
  try {
    return await connected()
  } catch (error) {
    if ((await runningPostmaster(join(dataDir, 'postgres'))) !== undefined) throw error
    // without durability, a crash of the machine may corrupt the files
    await rm(dataDir, { recursive: true, force: true })
    return await connected()
  }
}

/** Saves the 4,096 rounds of SHA-256 that a password costs per connection. */
async function trustLocalConnections(url: string, file: string): Promise<void> {
  const line = 'host all all 127.0.0.1/32 trust\n'
  const rules = await readFile(file, 'utf8')
  if (rules.startsWith(line)) return
  await writeFile(file, line + rules)
  const admin = testPool(url, { max: 1 })
  await admin`select pg_reload_conf()`
  await admin.end()
}

/** On a disk, creating the hundreds of files of a database takes twenty times as long. */
function hasSpace(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK)
    const { bavail, bsize } = statfsSync(folder)
    return bavail * bsize > freeMinBytes
  } catch {
    return false
  }
}

/** Removes the databases of runs that were killed. */
export async function removeLeftovers(url: string): Promise<void> {
  const admin = testPool(url, { max: 1 })
  const rows = await admin<{ datname: string }[]>`select datname from pg_database where datname like 'w\\_%'`
  for (const { datname } of rows) {
    const pid = Number(/^w_(\d+)_/.exec(datname)?.[1] ?? 0)
    if (pid > 0 && !isAlive(pid)) await admin.unsafe(`drop database if exists ${datname} with (force)`)
  }
  await admin.end()
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
