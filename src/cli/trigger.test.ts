import assert from 'node:assert/strict'
import test from 'node:test'
import { startWorld } from '../../test/support/world.ts'
import { serviceApi } from './service-api.ts'
import { triggers } from './trigger.ts'

test('campaign.failed is triggered even if the service takes five seconds to delete the list', async (t) => {
  const world = await startWorld(t)
  const account = await world.account()
  const api = serviceApi({ base_url: world.base_url, key: account.key })
  const slowly = async (path: string) => {
    await world.clock.advance(5_000)
    await world.settle()
    await api.delete(path)
  }
  const trigger = triggers['campaign.failed']
  assert.ok(typeof trigger !== 'string')

  const { object_id } = await trigger({ api: { ...api, delete: slowly }, clock: world.clock, endpoint: undefined })
  await world.clock.advance(10_000)
  await world.settle()

  const { data } = (await account.api.get(`/v1/events?type=campaign.failed&object_id=${object_id}`)).body
  assert.deepEqual([data.length, data[0].data.object.id], [1, object_id])
  await world.invariants()
})
