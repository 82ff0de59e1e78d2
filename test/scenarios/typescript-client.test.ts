/** The installed TypeScript client with a network that loses, delays and truncates. */
import assert from 'node:assert/strict'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { after, test, type TestContext } from 'node:test'
import { faultyProxy } from '../support/faulty-proxy.ts'
import { installClient } from '../support/client-package.ts'
import { until } from '../support/waiting.ts'
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

for (const fault of ['lose the request', 'lose the answer', 'cut the answer'] as const)
  test(`a message is sent once if the network ${fault.replace(/^(\w+)/, '$1s')}, twice over`, async (t) => {
    const { account, proxy, posthorn } = await start(t)
    proxy.next(fault, fault)

    const message = await posthorn.messages.send(text)

    const keys = proxy.seen.map(({ headers }) => headers['idempotency-key'])
    const { data } = (await account.api.get('/v1/messages')).body
    assert.deepEqual([keys.length, new Set(keys).size], [3, 1])
    assert.deepEqual(
      data.map(({ id }: { id: string }) => id),
      [message.id],
    )
  })

test('a request without an answer in time is repeated, and the message is sent once', async (t) => {
  const { account, proxy, posthorn } = await start(t)
  proxy.next('hold the answer')

  const message = await posthorn.messages.send(text, { timeoutMs: 3_000, maxRetries: 20 })

  const { data } = (await account.api.get('/v1/messages')).body
  assert.ok(proxy.seen.length >= 2)
  assert.deepEqual([data.length, data[0].id], [1, message.id])
})

test('429 and 503 are retried after the given time, other refusals are not', async (t) => {
  const { proxy, posthorn } = await start(t)
  const timers = t.mock.method(globalThis, 'setTimeout')
  proxy.next({ answer: 503 }, { answer: 429, headers: { 'retry-after': '2' } })

  await posthorn.me.retrieve()
  const waitedMs = timers.mock.calls.map(({ arguments: [, ms] }) => ms)
  proxy.next({ answer: 500 })
  const failed = await failureOf(posthorn.me.retrieve())

  assert.equal(proxy.seen.length, 4)
  assert.ok(waitedMs.includes(2_000), `waited ${waitedMs.join(', ')} ms`)
  assert.ok(failed instanceof client.ServerError)
})

test('a required wait of more than a minute rejects at once, with the wait', async (t) => {
  const { proxy, posthorn } = await start(t)
  const body = JSON.stringify({
    error: {
      type: 'rate_limit_error',
      code: 'rate_limit_exceeded',
      message: 'Slow down.',
      request_id: 'req_1',
      doc_url: '',
    },
  })
  proxy.next({ answer: 429, headers: { 'retry-after': '120' }, body })

  const error = await failureOf(posthorn.messages.send(text))

  assert.ok(error instanceof client.RateLimitError)
  assert.deepEqual(
    [error.retryAfterSeconds, error.code, error.requestId, proxy.seen.length],
    [120, 'rate_limit_exceeded', 'req_1', 1],
  )
})

test('after the last retry the last failure is reported, and whether an answer arrived', async (t) => {
  const { proxy, posthorn } = await start(t)
  proxy.next('lose the request', 'lose the request', 'hold the answer')

  const lost = await failureOf(posthorn.messages.send(text, { maxRetries: 1 }))
  const tries = proxy.seen.length
  const late = await failureOf(posthorn.me.retrieve({ maxRetries: 0, timeoutMs: 200 }))

  assert.ok(lost instanceof client.ConnectionError && lost.code === 'connection_failed' && lost.status === undefined)
  assert.ok(late instanceof client.TimeoutError && late.code === 'timeout' && late.name === 'TimeoutError')
  // the late one may not have arrived at all
  assert.deepEqual([tries, proxy.seen.length <= 3], [2, true])
})

test('a DELETE whose answer was lost accepts 404 as done; without a loss 404 is an error', async (t) => {
  const { proxy, posthorn } = await start(t)
  const contact = await posthorn.contacts.create({ phone: '+15005550006' })
  proxy.next('lose the answer')

  const gone = await posthorn.contacts.delete(contact.id)
  const again = await failureOf(posthorn.contacts.delete(contact.id))

  assert.deepEqual(gone, { id: contact.id, object: 'contact', deleted: true })
  assert.ok(again instanceof client.NotFoundError)
})

test('an abort ends a request during its attempt or its wait for a retry, with its reason', async (t) => {
  const { proxy, posthorn } = await start(t)
  proxy.next('hold the answer', { answer: 503, headers: { 'retry-after': '30' } })
  const reason = new Error('enough')

  for (let each = 0; each < 2; each++) {
    const stop = new AbortController()
    const failure = failureOf(posthorn.me.retrieve({ signal: stop.signal }))
    await until(
      'the request to arrive',
      () => Promise.resolve(proxy.seen.length),
      (requests) => requests > each,
    )
    stop.abort(reason)
    assert.equal(await failure, reason)
  }
  assert.equal(await failureOf(posthorn.me.retrieve({ signal: AbortSignal.abort(reason) })), reason)
  assert.equal(proxy.seen.length, 2)
})

test('a list is a page if awaited and yields all objects if iterated, despite faults', async (t) => {
  const { proxy, posthorn } = await start(t)
  const { accepted } = await posthorn.messages.sendBatch({ messages: Array.from({ length: 7 }, () => text) })
  proxy.next('pass', 'lose the answer', 'cut the answer')

  const ids: string[] = []
  for await (const message of posthorn.messages.list({ limit: 3 })) ids.push(message.id)
  const page = await posthorn.messages.list({ limit: 3 })

  assert.deepEqual([accepted, new Set(ids).size, ids.length], [7, 7, 7])
  assert.deepEqual(
    page.data.map(({ id }) => id),
    ids.slice(0, 3),
  )
  assert.deepEqual([page.has_more, page.next_cursor], [true, ids[2]])
})

test("the feed is followed in order, resumes at its reader's position, and ends with its signal", async (t) => {
  const { world, account, posthorn } = await start(t)
  await posthorn.messages.send(text)
  await world.clock.advance(60_000)
  await world.settle()
  const listed = (await account.api.get('/v1/events?order=asc')).body.data.map(({ id }: { id: string }) => id)
  assert.ok(listed.length >= 2)
  const stop = new AbortController()
  const seen: string[] = []

  const following = (async () => {
    for await (const event of posthorn.events.follow({ starting_after: listed[0] }, { signal: stop.signal })) {
      seen.push(event.id)
      if (seen.length === listed.length - 1) stop.abort(new Error('read'))
    }
  })()

  assert.equal((await failureOf(following)).message, 'read')
  assert.deepEqual(seen, listed.slice(1))
})

test('errors have a class, the code, the field, all details and the request id', async (t) => {
  const { world, posthorn } = await start(t)
  const stranger = new Posthorn({ apiKey: 'svc_test_unknown', baseUrl: world.base_url })

  const invalid = await failureOf(posthorn.messages.send({ ...text, text: { body: '' } }))
  const unknown = await failureOf(posthorn.messages.retrieve('msg_unknown'))
  const unauthenticated = await failureOf(stranger.me.retrieve())

  assert.ok(
    invalid instanceof client.InvalidRequestError &&
      invalid instanceof client.PosthornError &&
      invalid instanceof Error,
  )
  assert.deepEqual(
    [invalid.status, invalid.code, invalid.param, invalid.name],
    [400, 'parameter_invalid', 'text.body', 'InvalidRequestError'],
  )
  assert.equal(invalid.details[0]?.param, 'text.body')
  assert.match(invalid.requestId!, /^req_/)
  assert.match(invalid.docUrl!, /\/docs\/errors#\w+$/)
  assert.ok(unknown instanceof client.NotFoundError)
  assert.ok(unauthenticated instanceof client.AuthenticationError && unauthenticated.status === 401)
})

test("an answer that is not the service's is an error at once, and redirects are not followed", async (t) => {
  const { proxy, posthorn } = await start(t)
  const pages = ['<html>', '', 'null', '"ok"'].map((body) => ({ answer: 200, body }))
  proxy.next({ answer: 502, body: '<html>' }, { answer: 301, headers: { location: '/v1/messages' } }, ...pages)

  const gateway = await failureOf(posthorn.me.retrieve())
  const redirect = await failureOf(posthorn.messages.send(text))
  const strangers = []
  for (const _ of pages) strangers.push(await failureOf(posthorn.me.retrieve()))

  assert.deepEqual([gateway.status, gateway.code, redirect.status], [502, 'http_502', 301])
  assert.ok(
    strangers.every(
      (error) => error instanceof client.ServerError && error.code === 'http_200' && error.status === 200,
    ),
  )
  assert.equal(proxy.seen.length, 6)
})

test('an error of any shape has a text as `code` and a list as `details`', async (t) => {
  const { proxy, posthorn } = await start(t)
  const errors = [
    'refused',
    null,
    { code: 7, message: {}, param: [], details: 'x', request_id: 1 },
    { code: '', details: { 0: 'x' } },
    { details: [null, 'x'] },
  ]
  proxy.next(
    ...['null', '[]', ...errors.map((error) => JSON.stringify({ error }))].map((body) => ({ answer: 404, body })),
  )

  for (let each = 0; each < errors.length + 2; each++) {
    const { code, details, message, param, requestId } = await failureOf(posthorn.me.retrieve())
    assert.deepEqual(
      [code, details, typeof message, param, requestId],
      ['http_404', [], 'string', undefined, undefined],
    )
  }
})

test('an id cannot lead to another path: such a call rejects without a request', async (t) => {
  const { proxy, posthorn } = await start(t)

  for (const id of ['', '.', '..', '\ud800', undefined as unknown as string]) {
    assert.ok((await failureOf(posthorn.messages.retrieve(id))) instanceof TypeError)
    assert.ok((await failureOf(posthorn.channels.listTemplates(id))) instanceof TypeError)
  }
  assert.equal(proxy.seen.length, 0)
  assert.equal((await failureOf(posthorn.messages.retrieve('../me?'))).status, 404)
})

test('timeout and abort end a call even if `fetch` ignores its signal', async () => {
  const deaf = new Posthorn({
    apiKey: 'svc_test_x',
    baseUrl: 'http://127.0.0.1:1',
    fetch: () => new Promise<Response>(() => {}),
  })
  const stop = new AbortController()
  const reason = new Error('enough')

  const late = await failureOf(deaf.me.retrieve({ timeoutMs: 20, maxRetries: 0 }))
  const waiting = failureOf(deaf.me.retrieve({ signal: stop.signal }))
  stop.abort(reason)

  assert.ok(late instanceof client.TimeoutError)
  assert.equal(await waiting, reason)
})

test('invalid options are reported at once, and nothing is sent', async (t) => {
  const { proxy, posthorn } = await start(t)
  const good = { apiKey: 'svc_test_x', baseUrl: proxy.url }
  const wrong = [
    ...['', ' ', 'svc_test_\u043a', 'svc_\ntest', 7].map((apiKey) => ({ ...good, apiKey })),
    ...[
      '',
      'posthorn.example.com',
      'ftp://127.0.0.1',
      'http://ada:x@127.0.0.1',
      'http://127.0.0.1/?x=1',
      undefined,
    ].map((baseUrl) => ({ ...good, baseUrl })),
    ...[Number.NaN, 0, -1, '5'].map((timeoutMs) => ({ ...good, timeoutMs })),
    ...[Number.NaN, -1].map((maxRetries) => ({ ...good, maxRetries })),
    undefined,
    null,
  ]

  for (const options of wrong)
    assert.throws(() => new Posthorn(options as typeof good), {
      name: 'TypeError',
      message: /apiKey|baseUrl|timeoutMs|maxRetries/,
    })
  for (const options of [
    { timeoutMs: Number.NaN },
    { maxRetries: -1 },
    { maxRetries: Number.NaN },
    { idempotencyKey: '\u043a' },
  ])
    assert.ok((await failureOf(posthorn.messages.send(text, options))) instanceof TypeError)
  assert.ok((await failureOf(posthorn.events.follow({ pollMs: Number.NaN }).next())) instanceof TypeError)
  assert.equal(proxy.seen.length, 0)
  assert.ok(new Posthorn({ ...good, apiKey: 'svc_test_x\n', maxRetries: 0 }))
})

test('a file is uploaded and downloaded as text', async (t) => {
  const { world, posthorn } = await start(t)
  const { id } = await posthorn.contactImports.create('phone,first_name\n+15005550006,Ada\n', {
    consent_declared: true,
  })
  await world.settle()

  const read = await posthorn.contactImports.retrieve(id)
  const csv = await posthorn.contacts.export()

  assert.deepEqual([read.status, read.created], ['completed', 1])
  assert.match(csv, /Ada/)
})
