/** Retries of the TypeScript client, and its key for continuing after a failure. */
import assert from 'node:assert/strict'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { after, test, type TestContext } from 'node:test'
import { installClient } from '../support/client-package.ts'
import { faultyProxy, type Fault } from '../support/faulty-proxy.ts'
import { startWorld } from '../support/world.ts'

const { folder, client } = await installClient()
const { Posthorn } = client
after(() => rm(join(folder, '..'), { recursive: true, force: true }))

const text = { channel: 'ch_test_whatsapp', to: '+15005550006', type: 'text', text: { body: 'Hello' } } as const

async function start(t: TestContext) {
  const world = await startWorld(t)
  const account = await world.account()
  const proxy = await faultyProxy(t, world.base_url)
  const posthorn = new Posthorn({ apiKey: account.key, baseUrl: proxy.url, timeoutMs: 20_000 })
  return { world, account, proxy, posthorn }
}

async function failureOf(promise: PromiseLike<unknown>) {
  try {
    await promise
  } catch (error) {
    return error as InstanceType<typeof client.PosthornError>
  }
  return assert.fail('it resolved')
}

const refusal = (status: number, code: string, headers: Record<string, string> = {}): Fault => ({
  answer: status,
  headers,
  body: JSON.stringify({ error: { type: 'x', code, message: 'x', request_id: 'req_1', doc_url: '' } }),
})

test("after a DELETE whose answer was lost, the service's 404 means done, and a proxy's does not", async (t) => {
  const { account, proxy, posthorn } = await start(t)
  const [first, second] = [
    await posthorn.contacts.create({ phone: '+15005550006' }),
    await posthorn.contacts.create({ phone: '+15005550010' }),
  ]
  proxy.next('lose the answer', 'pass', 'lose the request', { answer: 404, body: '<html>' })

  const gone = await posthorn.contacts.delete(first.id)
  const foreign = await failureOf(posthorn.contacts.delete(second.id))

  assert.deepEqual([gone.deleted, foreign.status, foreign.code], [true, 404, 'http_404'])
  assert.equal((await account.api.get(`/v1/contacts/${second.id}`)).status, 200)
})

test('after a DELETE that was never sent, a 404 does not mean done', async () => {
  const answers = [
    new TypeError('fetch failed', { cause: { code: 'ECONNREFUSED' } }),
    Response.json({ error: { code: 'resource_missing' } }, { status: 404 }),
  ]
  const fetch = () => {
    const next = answers.shift()!
    return next instanceof Response ? Promise.resolve(next) : Promise.reject(next)
  }
  const posthorn = new Posthorn({ apiKey: 'svc_test_x', baseUrl: 'http://127.0.0.1:1', fetch })

  assert.ok((await failureOf(posthorn.contacts.delete('ct_1'))) instanceof client.NotFoundError)
})

test('a PATCH whose answer was lost is repeated', async (t) => {
  const { proxy, posthorn } = await start(t)
  const { id } = await posthorn.contacts.create({ phone: '+15005550006' })
  proxy.next('lose the answer')

  const changed = await posthorn.contacts.update(id, { first_name: 'Ada' })

  assert.deepEqual([changed.first_name, proxy.seen.map(({ method }) => method)], ['Ada', ['POST', 'PATCH', 'PATCH']])
})

test('a request whose key is in use is retried after the given time', async (t) => {
  const { proxy, posthorn } = await start(t)
  const timers = t.mock.method(globalThis, 'setTimeout')
  proxy.next(refusal(409, 'idempotency_key_in_use', { 'retry-after': '2' }))

  await posthorn.messages.send(text, { idempotencyKey: 'order-1' })
  const waitedMs = timers.mock.calls.map(({ arguments: [, ms] }) => ms!)

  assert.deepEqual(
    proxy.seen.map(({ headers }) => headers['idempotency-key']),
    ['order-1', 'order-1'],
  )
  assert.ok(waitedMs.includes(2_000), `waited ${waitedMs.join(', ')} ms`)
})

test('`Retry-After` may be a date; one in the past means no wait', async (t) => {
  const { proxy, posthorn } = await start(t)
  const at = (date: string) => refusal(503, 'upstream_unavailable', { 'retry-after': date })
  proxy.next(at('Thu, 01 Jan 2099 00:00:00 GMT'), at('Thu, 01 Jan 1998 00:00:00 GMT'))

  const late = await failureOf(posthorn.me.retrieve())
  const past = await failureOf(posthorn.me.retrieve({ maxRetries: 0 }))

  assert.ok(late.retryAfterSeconds! > 86_400)
  assert.deepEqual([past.retryAfterSeconds, proxy.seen.length], [0, 2])
})

test('an error has the wait, and the key with which a later program can repeat the POST once', async (t) => {
  const { account, proxy, posthorn } = await start(t)
  proxy.next('lose the answer', refusal(503, 'upstream_unavailable', { 'retry-after': '90' }))

  const lost = await failureOf(posthorn.messages.send(text, { maxRetries: 0 }))
  const busy = await failureOf(posthorn.me.retrieve())
  const again = await posthorn.messages.send(text, { idempotencyKey: lost.idempotencyKey })

  const { data } = (await account.api.get('/v1/messages')).body
  assert.match(lost.idempotencyKey!, /^[\da-f]{32}$/)
  assert.deepEqual([data.length, data[0].id], [1, again.id])
  assert.deepEqual([busy.retryAfterSeconds, busy.idempotencyKey, busy.name], [90, undefined, 'ServerError'])
})

test('an outage does not end a reader of the feed, but a refusal does', async (t) => {
  const { world, account, proxy, posthorn } = await start(t)
  await posthorn.messages.send(text)
  await world.clock.advance(60_000)
  await world.settle()
  const listed = (await account.api.get('/v1/events?order=asc')).body.data.map(({ id }: { id: string }) => id)
  proxy.next(
    'lose the request',
    { answer: 502, body: '<html>' },
    refusal(429, 'rate_limit_exceeded', { 'retry-after': '1' }),
  )
  const seen: string[] = []

  for await (const event of posthorn.events.follow({}, { maxRetries: 0 }))
    if (seen.push(event.id) === listed.length) break
  proxy.next(refusal(401, 'api_key_invalid'))
  const refused = await failureOf(posthorn.events.follow({}, { maxRetries: 0 }).next())

  assert.deepEqual(seen, listed)
  assert.ok(refused instanceof client.AuthenticationError)
})

test('a list whose page failed can be awaited again', async (t) => {
  const { proxy, posthorn } = await start(t)
  proxy.next({ answer: 500 })
  const list = posthorn.messages.list()

  assert.ok((await failureOf(list)) instanceof client.ServerError)
  assert.deepEqual((await list).data, [])
})
