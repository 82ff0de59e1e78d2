/** Further processes of a world: apps on the same database and clock, that can be killed in the middle of anything. */
import type { AddressInfo } from 'node:net'
import { buildApp, type App } from '../../src/app.ts'
import { idMaker } from '../../src/lib/ids.ts'
import { openPool } from '../../src/platform/database/pool.ts'
import { apiClient, type Api } from './api.ts'
import { seeded } from './random.ts'
import type { PlatformWorld } from './world.ts'

export interface WorldProcess {
  readonly name: string
  readonly app: App
  api(key?: string): Api
  /** As SIGKILL: the connections are torn, what was claimed stays claimed, nothing is finished or given back. */
  kill(): Promise<void>
}

/** A process whose lanes are moved by hand. Its name decides its ids. The caller kills it. */
export async function startProcess(world: PlatformWorld, name: string): Promise<WorldProcess> {
  const { clock, platform } = world
  const pool = openPool(world.database_url, { max: 6, application_name: name })
  const app = buildApp({
    pool,
    clock,
    settings: platform.settings,
    secrets: platform.secrets,
    log: platform.log,
    ids: idMaker(clock, seeded(name).fill),
    process_id: name,
    followers: world.followers,
  })
  await app.lane('heartbeat').tick()
  await app.server.listen({ host: '127.0.0.1', port: 0 })
  const base_url = `http://127.0.0.1:${(app.server.server.address() as AddressInfo).port}`
  let dead: Promise<unknown> | undefined
  return {
    name,
    app,
    api: (key) => apiClient(base_url, key),
    async kill() {
      app.server.server.closeAllConnections()
      dead ??= Promise.all([pool.end({ timeout: 0 }), app.server.close()])
      await dead
    },
  }
}
