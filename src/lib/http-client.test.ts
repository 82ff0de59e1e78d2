import type { Socket } from 'node:net'
import { test, type TestContext } from 'node:test'
import assert from 'node:assert/strict'
import { closedPort, rawReceiver, respond, type Answer } from '../../test/support/raw-receiver.ts'
import { fakeClock } from '../../test/support/clock.ts'
import { fenced } from './fence.ts'
import { httpClient, type HttpClientOptions } from './http-client.ts'

function client(t: TestContext, options: Partial<HttpClientOptions> = {}) {
  const clock = fakeClock()
  const made = httpClient({
    clock,
    resolve: async () => [{ address: '127.0.0.1', family: 4 }],
    allowed_hosts: [],
    ...options,
  })
  t.after(() => made.close())
  return { clock, ...made }
}

async function against(t: TestContext, answer: Answer) {
  const receiver = await rawReceiver(t, answer)
  return { receiver, ...client(t, { allowed_hosts: [receiver.host] }), url: `http://${receiver.host}/v1/x?a=1` }
}

test('a response with any status is returned completely, and connections are reused', async (t) => {
  const { receiver, call, url } = await against(t, respond(422, '{"code":7}', 'Content-Type: application/json\r\n'))

  const first = await call({ method: 'POST', url, headers: { authorization: 'Bearer x' }, body: '{"ü":1}' })
  await new Promise(setImmediate) // the connection is returned
  await call({ method: 'GET', url })

  assert.equal(first.kind === 'answer' && first.status, 422)
  assert.equal(first.kind === 'answer' && first.body.toString(), '{"code":7}')
  assert.match(receiver.requests[0]!, /^POST \/v1\/x\?a=1 HTTP\/1\.1\r\n/)
  assert.match(receiver.requests[0]!, /\{"ü":1\}$/)
  assert.equal(receiver.connections(), 1)
})

test('a request that reached nobody is distinguished from one that may have arrived', async (t) => {
  const closed = `127.0.0.1:${await closedPort()}`
  const { call } = client(t, { allowed_hosts: [closed] })
  const cut = await against(t, (socket) => void socket.destroy())

  assert.deepEqual(await call({ method: 'POST', url: `http://${closed}/` }).then(({ kind }) => kind), 'unsent')
  assert.deepEqual(await cut.call({ method: 'POST', url: cut.url, body: 'x' }).then(({ kind }) => kind), 'unknown')
})

test('a request that the server read before closing an idle connection is not sent again', async (t) => {
  const kept = 4
  const waiting: Socket[] = []
  const { receiver, call, url } = await against(t, (socket, request, index) => {
    if (index >= kept) return void socket.destroy()
    waiting.push(socket)
    if (waiting.length === kept) for (const each of waiting) respond(200)(each, request, index)
  })
  await Promise.all(Array.from({ length: kept }, () => call({ method: 'POST', url, body: 'x' })))
  await new Promise(setImmediate) // the connections are returned

  assert.equal((await call({ method: 'POST', url, body: 'y' })).kind, 'unknown')

  assert.equal(receiver.requests.length, kept + 1)
  assert.equal(receiver.connections(), kept)
})

test('a request whose fence falls before it is written is not sent, on new and on idle connections', async (t) => {
  const { receiver, call, url } = await against(t, respond(200, 'done'))
  const state = { holds: true }
  const post = (body: string) =>
    fenced(
      () => state.holds,
      () => call({ method: 'POST', url, body }),
    )

  const connecting = post('late')
  state.holds = false
  const late = await connecting
  state.holds = true
  const held = await post('held')
  state.holds = false
  const kept = await post('later')
  const free = await call({ method: 'POST', url, body: 'free' })

  assert.deepEqual(
    [late, held, kept, free].map(({ kind }) => kind),
    ['unsent', 'answer', 'unsent', 'answer'],
  )
  assert.deepEqual(
    receiver.requests.map((request) => request.split('\r\n\r\n')[1]),
    ['held', 'free'],
  )
})

test('a call to a provider that hangs ends at its deadline', async (t) => {
  const { receiver, call, clock, url } = await against(t, () => undefined)

  const answer = call({ method: 'POST', url, timeout_ms: 5000 })
  await receiver.arrived(1)
  await clock.advance(5000)

  assert.deepEqual(await answer, { kind: 'unknown', code: 'timeout', message: 'No complete answer within 5000 ms.' })
})

test('long polls take no connection from other requests', async (t) => {
  const { receiver, call, url } = await against(t, (socket, request, nth) =>
    request.startsWith('GET') ? undefined : respond(200, 'sent')(socket, request, nth),
  )
  const over = new AbortController()
  const polls = Array.from({ length: 130 }, () => call({ method: 'GET', url, long_poll: true, signal: over.signal }))
  await receiver.arrived(130)

  const sent = await call({ method: 'POST', url, body: 'x' })
  over.abort()

  assert.equal(sent.kind === 'answer' && sent.body.toString(), 'sent')
  assert.deepEqual(new Set((await Promise.all(polls)).map(({ kind }) => kind)), new Set(['unknown']))
})

test('a response that is too long or incomplete is no response', async (t) => {
  const long = await against(t, respond(200, 'x'.repeat(5000)))
  const half = await against(t, (socket) => void socket.end('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf'))

  assert.equal((await long.call({ method: 'GET', url: long.url, answer_bytes_max: 1000 })).kind, 'unknown')
  assert.equal((await half.call({ method: 'GET', url: half.url })).kind, 'unknown')
})

test('addresses that are not public are not called, however they are written', async (t) => {
  const { call } = client(t)

  for (const url of [
    'https://127.0.0.1/',
    'https://printer.example/',
    'http://example.com/',
    'https://[::1]/',
    'nonsense',
  ])
    assert.deepEqual(
      await call({ method: 'GET', url }).then((answer) => [answer.kind, 'code' in answer && answer.code]),
      ['unsent', 'address_not_public'],
      url,
    )
})

test('a download is streamed within its size limit', async (t) => {
  const { download, url } = await against(t, respond(200, 'x'.repeat(5000), 'Content-Type: image/png\r\n'))

  const file = await download({ method: 'GET', url, answer_bytes_max: 10_000 })
  let bytes = 0
  for await (const chunk of file.chunks) bytes += chunk.length
  const long = await download({ method: 'GET', url, answer_bytes_max: 1000 })

  assert.deepEqual([file.content_type, bytes], ['image/png', 5000])
  await assert.rejects(async () => {
    for await (const chunk of long.chunks) bytes += chunk.length
  }, /longer than 1000 bytes/)
})

test('a failed download leaves no timer behind', async (t) => {
  const { download, url } = await against(t, respond(404))

  await assert.rejects(download({ method: 'GET', url, answer_bytes_max: 1000 }), /answer was 404/)
})

test('a failed download leaves nothing pending', async (t) => {
  const nameless = client(t, {
    resolve: () => Promise.reject(Object.assign(new Error('no such name'), { code: 'ENOTFOUND' })),
  })
  const silent = await against(t, () => undefined)
  const given = new AbortController()

  await assert.rejects(
    nameless.download({ method: 'GET', url: 'https://no-such-name.example/f.png', answer_bytes_max: 1000 }),
    /no such name/,
  )
  const waiting = silent.download({ method: 'GET', url: silent.url, answer_bytes_max: 1000, signal: given.signal })
  await silent.receiver.arrived(1)
  given.abort(new Error('the service stops'))

  await assert.rejects(waiting, /the service stops/)
  assert.deepEqual([nameless.clock.wakesAt(), silent.clock.wakesAt()], [[], []])
})

test('a call that was abandoned before it was sent is distinguished from one that may have arrived', async (t) => {
  const { receiver, call, clock, url } = await against(t, () => undefined)
  const given = new AbortController()

  const waiting = call({ method: 'POST', url, signal: given.signal })
  await receiver.arrived(1)
  given.abort()
  const afterwards = await call({ method: 'POST', url, signal: given.signal })

  assert.deepEqual([(await waiting).kind, afterwards.kind], ['unknown', 'unsent'])
  assert.equal(receiver.requests.length, 1)
  await clock.advance(20_000)
})
