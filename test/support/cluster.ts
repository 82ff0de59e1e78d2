/** The PostgreSQL of a test run: without durability, in memory where there is room, shared by the runs of a checkout and stopped by the last. */
import { hash } from 'node:crypto'
import { accessSync, constants, statfsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connectEmbedded, type Embedded } from '../../src/platform/database/embedded.ts'
import { runningPostmaster } from '../../src/platform/database/postmaster.ts'
import { makeLog } from '../../src/platform/observability/log.ts'

const memory = '/dev/shm'
const roomMinBytes = 2 * 1024 ** 3
const checkout = join(import.meta.dirname, '../..')

/** What its folder is called. A checkout that is removed takes its programs along, and would take those of a server that others had joined. */
export const clusterName = (root: string): string =>
  `posthorn-test-${process.getuid?.() ?? 'user'}-${hash('sha256', root).slice(0, 8)}`

/** Starts or joins it. The caller stops it. */
export async function testCluster(): Promise<Embedded> {
  const dataDir = join(hasRoom(memory) ? memory : tmpdir(), clusterName(checkout))
  const connect = () => connectEmbedded({ dataDir, log: makeLog('warn'), throwaway: true })
  try {
    return await connect()
  } catch (error) {
    if ((await runningPostmaster(join(dataDir, 'postgres'))) !== undefined) throw error
    // without durability a crash of the machine may leave anything; there is nothing in it to keep
    await rm(dataDir, { recursive: true, force: true })
    return await connect()
  }
}

/** A database is hundreds of files: on a disk, making one takes twenty times as long. */
function hasRoom(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK)
    const { bavail, bsize } = statfsSync(folder)
    return bavail * bsize > roomMinBytes
  } catch {
    return false
  }
}
