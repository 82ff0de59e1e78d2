import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { Tenant } from '../../api/caller.ts'
import { holdOpen } from '../../../test/support/open-transactions.ts'
import { within } from '../../../test/support/waiting.ts'
import { startWorld } from '../../../test/support/world.ts'
import { poolUse } from '../../platform/database/pool.ts'
import { channelCache } from './lookup.ts'

async function liveChannel(t: TestContext) {
  const world = await startWorld(t)
  const shop = await world.account({ mode: 'live' })
  const channel = {
    type: 'sms',
    provider: 'simulator',
    name: 'Shop',
    identifier: '+4915100000001',
    credentials: {},
    settings: {},
  }
  const { id } = (await shop.api.post('/v1/channels', channel)).body
  return { world, id, cache: channelCache(world.platform), tenant: { account_id: shop.id, mode: 'live' } as Tenant }
}

test('concurrent sends share one look-up of an expired channel', async (t) => {
  const { id, cache, tenant } = await liveChannel(t)

  const found = await Promise.all(Array.from({ length: 20 }, () => cache.find(tenant, id)))

  assert.equal(found[0]?.id, id)
  assert.equal(new Set(found).size, 1)
  assert.equal(new Set(found.map((row) => cache.connection(row!))).size, 1)
})

test('a transaction finds a channel on its own connection while others wait for the pool', async (t) => {
  const { world, id, cache, tenant } = await liveChannel(t)
  let waiting: ReturnType<typeof cache.find> | undefined

  const found = await holdOpen(world.pool, async (tx) => {
    const { in_use, max } = poolUse(world.pool)
    const held = await Promise.all(Array.from({ length: max - in_use }, () => world.pool.reserve()))
    waiting = cache.find(tenant, id)
    try {
      return await within('a channel in a transaction', cache.findIn(tx, tenant, id))
    } finally {
      for (const connection of held) connection.release()
    }
  })

  assert.deepEqual([found?.id, (await waiting)?.id], [id, id])
})
