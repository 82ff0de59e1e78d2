/** `/healthz`, `/readyz` and `/metrics`. */
import type { FastifyInstance } from 'fastify'
import { poolUse } from '../database/pool.ts'
import type { Platform } from '../platform.ts'

const readyWithinMs = 2_000

export function mountOperatorPages(server: FastifyInstance, platform: Platform, isStopping: () => boolean): void {
  const also = { exposeHeadRoute: true }
  server.get('/healthz', also, (_request, reply) =>
    reply.type('application/json; charset=utf-8').send('{"status":"ok"}'),
  )
  server.get('/readyz', also, async (_request, reply) => {
    const ready = !isStopping() && platform.storage.writable && (await answers(platform))
    return reply
      .code(ready ? 200 : 503)
      .type('application/json; charset=utf-8')
      .send(ready ? '{"status":"ready"}' : '{"status":"not ready"}')
  })
  server.get('/metrics', also, async (_request, reply) => {
    const { registry, pool_connections, read_connections, clock_ahead, database_writable } = platform.metrics
    clock_ahead.set(platform.retention_clock.ahead_ms() / 1000)
    database_writable.set(platform.storage.writable ? 1 : 0)
    for (const [state, count] of Object.entries(poolUse(platform.pool))) pool_connections.set({ state }, count)
    for (const [state, count] of Object.entries(platform.reads.use())) read_connections.set({ state }, count)
    return reply.type(registry.contentType).send(await registry.metrics())
  })
}

async function answers(platform: Platform): Promise<boolean> {
  const late = new AbortController()
  try {
    return await Promise.race([
      platform.pool`select 1`.then(() => true),
      platform.clock.sleep(readyWithinMs, late.signal).then(() => false),
    ])
  } catch (error) {
    platform.storage.failed(error)
    return false
  } finally {
    late.abort()
  }
}
