/** More processes of a world, which can be killed at any point. */
import type { TestContext } from 'node:test'
import type { AddressInfo } from 'node:net'
import { buildApp, type App } from '../../src/app.ts'
import { idMaker } from '../../src/lib/ids.ts'
import { apiClient, type Api } from './api.ts'
import { closing } from './closing.ts'
import { testPool } from './pool.ts'
import { seeded } from './random.ts'
import { until } from './waiting.ts'
import type { PlatformWorld } from './world.ts'

export interface WorldProcess {
  readonly name: string
  readonly app: App
  readonly base_url: string
  api(key?: string): Api
  tickWhileTimePasses(worker: string): Promise<number>
  /** Listens to other processes; its workers run as time passes. */
  start(): Promise<void>
  stop(): Promise<void>
  /** Like SIGKILL: claims remain and nothing is completed. */
  kill(): Promise<void>
}

export async function startProcess(t: TestContext, world: PlatformWorld, name: string): Promise<WorldProcess> {
  const { clock, platform } = world
  const pool = testPool(world.database_url, { max: 6, application_name: name })
  world.idleWatch.pools.add(pool)
  const app = buildApp({
    pool,
    clock,
    settings: platform.settings,
    secrets: platform.secrets,
    log: platform.log,
    ids: idMaker(clock, seeded(name).fill),
    process_id: name,
    projections: world.projections,
    producers: world.producers,
    providers: world.providers,
  })
  world.idleWatch.pools.add(app.platform.reads.pool)
  world.idleWatch.ingests.add(app.services.ingest)
  await app.worker('heartbeat').tick()
  await app.server.listen({ host: '127.0.0.1', port: 0 })
  const base_url = `http://127.0.0.1:${(app.server.server.address() as AddressInfo).port}`
  let dead: Promise<unknown> | undefined
  const kill = async () => {
    world.idleWatch.pools.delete(pool)
    world.idleWatch.pools.delete(app.platform.reads.pool)
    world.idleWatch.ingests.delete(app.services.ingest)
    app.server.server.closeAllConnections()
    dead ??= Promise.all([pool.end({ timeout: 0 }), app.platform.reads.close(), app.server.close()]).then(() =>
      sessionsAreOver(world, name),
    )
    await dead
  }
  const stop = async () => {
    if (dead === undefined) await world.idleWatch.whileTimePasses(() => app.stop(), 100)
    await kill()
  }
  let started = false
  closing(t, () => (started ? stop() : kill()))
  return {
    name,
    app,
    base_url,
    api: (key) => apiClient(base_url, key),
    tickWhileTimePasses: (worker) => world.idleWatch.whileTimePasses(() => app.worker(worker).tick()),
    async start() {
      started = true
      await app.start()
    },
    stop,
    kill,
  }
}

/** PostgreSQL notices a dead client only at the end of a statement and keeps its locks until then. Statements that wait for locks are skipped. */
async function sessionsAreOver({ database_url }: PlatformWorld, name: string): Promise<void> {
  const sql = testPool(database_url, { max: 1, application_name: 'test' })
  const running = async () => {
    const [row] = await sql<{ running: number }[]>`
      select count(*)::int as running from pg_stat_activity
      where datname = current_database() and (application_name = ${name} or starts_with(application_name, ${`${name} `})) and wait_event_type is distinct from 'Lock'`
    return row!.running
  }
  try {
    await until(
      `the sessions of ${name} to be over`,
      () => running().catch(() => 0),
      (left) => left === 0,
    )
  } finally {
    await sql.end({ timeout: 0 })
  }
}
