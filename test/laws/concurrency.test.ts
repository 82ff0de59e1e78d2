/** Requests that come all at once never wait for each other's connections. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { requestExample } from '../../src/reference/openapi.ts'
import { startWorld } from '../kit/world.ts'

const atOnce = 40

test('more keyed requests at once than there are connections are all answered', { timeout: 120_000 }, async (t) => {
  const world = await startWorld(t)
  const callers = { live: await world.account({ mode: 'live' }), test: await world.account() }
  const { body: contact } = await callers.test.api.post('/v1/contacts', { phone: '+4915112345678' })
  const { body: message } = await callers.test.api.post('/v1/messages', { channel: 'ch_test_sms', to: '+15005550006', type: 'text', text: { body: 'x' } })
  const { body: list } = await callers.test.api.post('/v1/contact_lists', { name: 'L' })
  const { body: endpoint } = await callers.test.api.post('/v1/webhook_endpoints', { url: 'https://example.com/', events: ['*'] })
  const idOf = (path: string): string =>
    path.startsWith('/v1/contact_lists') ? list.id : path.startsWith('/v1/messages') ? message.id : path.startsWith('/v1/webhook') ? endpoint.id : contact.id

  // those that wait for a first attempt by the clock have their own stories
  const routes = world.app.routes.filter((route) => route.method === 'POST' && route.streamed !== true && !/\/(test|retry)$/.test(route.path))
  for (const route of routes) {
    const path = route.path.replaceAll(/\{\w+\}/g, () => idOf(route.path))
    const body = route.body === undefined ? undefined : requestExample(route)
    const answers = await Promise.all(
      Array.from({ length: atOnce }, (_, i) => callers[route.mode ?? 'test'].api.post(path, body, { 'idempotency-key': `${route.path} ${i}` })),
    )
    const failed = answers.filter((answer) => answer.status >= 500)
    assert.deepEqual(
      failed.map((answer) => answer.body),
      [],
      route.path,
    )
  }
})
