/** The channels that a busy process holds in memory. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Tenant } from '../../contract/caller.ts'
import { startWorld } from '../../../test/kit/world.ts'
import { channelCache } from './channel-cache.ts'

test('all who send at the moment when the copy of a channel grows old wait for the same look-up', async (t) => {
  const world = await startWorld(t)
  const shop = await world.account({ mode: 'live' })
  const channel = { type: 'sms', provider: 'simulator', name: 'Shop', identifier: '+4915100000001', credentials: {}, settings: {} }
  const { id } = (await shop.api.post('/v1/channels', channel)).body
  const cache = channelCache(world.platform)
  const tenant = { account_id: shop.id, mode: 'live' } as Tenant

  const found = await Promise.all(Array.from({ length: 20 }, () => cache.find(tenant, id)))

  assert.equal(found[0]?.id, id)
  assert.equal(new Set(found).size, 1)
  assert.equal(new Set(found.map((row) => cache.connection(row!))).size, 1)
})
