/** The PostgreSQL of a test run: without durability, in the system's folder for passing things, shared by all runs of a user and stopped by the last. */
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { connectEmbedded, type Embedded } from '../../src/platform/database/embedded.ts'
import { makeLog } from '../../src/platform/log.ts'

/** Starts or joins it. The caller stops it. */
export function testCluster(): Promise<Embedded> {
  return connectEmbedded({ dataDir: join(tmpdir(), `posthorn-test-${userInfo().uid}`), log: makeLog('warn'), throwaway: true })
}
