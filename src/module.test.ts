/** Modules: built alone, and with handlers in lock order. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { buildModule, startPlatform } from '../test/support/world.ts'
import { buildModules, on, type LockRank, type Module } from './module.ts'
import { webhooksModule } from './modules/webhooks/module.ts'

test('a module is built alone with one call', async (t) => {
  const world = await startPlatform(t)

  const { services, routes = [] } = buildModule(world, webhooksModule, {})

  assert.ok(routes.some(({ operation }) => operation === 'webhook_endpoints.create'))
  await services.webhooks.close()
})

test('handlers of an event run in lock order, regardless of the order of modules', async (t) => {
  const { platform, pool } = await startPlatform(t)
  const calls: string[] = []
  const locking = (name: string, locks: LockRank): Module => ({
    name,
    tables: {},
    build: () => ({
      services: {},
      handlers: [on('contact_deleted', locks, async () => void calls.push(name))],
    }),
  })
  const context = {
    platform,
    roles: [],
    alone: () => false,
    contributions: { providers: [], producers: [], projections: [], sendTimes: [] },
  }

  buildModules(
    [locking('second', 'messages'), locking('third', 'conversations'), locking('first', 'campaigns')],
    context,
  )
  await platform.domain_events.publish(pool, 'contact_deleted', [
    { account_id: 'acc_1', mode: 'live', contact_id: 'ct_1' },
  ])

  assert.deepEqual(calls, ['first', 'second', 'third'])
})
