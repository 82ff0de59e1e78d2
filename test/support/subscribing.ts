/** Webhook endpoints with receivers, and their deliveries. */
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { Receiver } from './receiver.ts'
import { startWorld, type TestAccount, type World } from './world.ts'

export const message = (to = '+15005550006', more: object = {}) => ({
  channel: 'ch_test_sms',
  to,
  type: 'text',
  text: { body: 'Hi' },
  ...more,
})

export async function start(t: TestContext, settings: object = {}) {
  const world = await startWorld(t, { settings })
  const account = await world.account()
  return { world, account, api: account.api, receiver: world.receiver() }
}

export async function subscribe(account: TestAccount, receiver: Receiver, more: object = {}) {
  const made = await account.api.post('/v1/webhook_endpoints', { url: receiver.url, events: ['*'], ...more })
  assert.equal(made.status, 201, JSON.stringify(made.body))
  return made.body as { id: string; secret: string }
}

export const deliveries = async (account: TestAccount, id: string, query = '') =>
  (await account.api.get(`/v1/webhook_endpoints/${id}/deliveries${query}`)).body.data

export async function advanceAndSettle(world: World, ms: number) {
  await world.clock.advance(ms)
  await world.settle()
}
