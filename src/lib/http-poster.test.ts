import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Socket } from 'node:net'
import { test, type TestContext } from 'node:test'
import assert from 'node:assert/strict'
import { certificate } from '../../test/support/certificate.ts'
import { closedPort, rawReceiver, respond, type Answer } from '../../test/support/raw-receiver.ts'
import { until } from '../../test/support/waiting.ts'
import type { SteadyClock } from './clock.ts'
import { httpPoster, type HttpPosterOptions } from './http-poster.ts'

/** A clock that only `pass` moves. */
function handClock(): SteadyClock & { pass(): void } {
  const sleepers = new Set<() => void>()
  let now = 0
  return {
    now: () => now,
    elapsed: () => now,
    sleep: (_ms, signal) =>
      new Promise((resolve) => {
        sleepers.add(resolve)
        signal?.addEventListener('abort', () => resolve())
      }),
    pass() {
      now += 10_000
      for (const wake of sleepers) wake()
    },
  }
}

function poster(t: TestContext, options: Partial<HttpPosterOptions> = {}) {
  const clock = handClock()
  const made = httpPoster({
    clock,
    resolve: async () => [{ address: '127.0.0.1', family: 4 }],
    allowed_hosts: [],
    ...options,
  })
  t.after(() => made.close())
  const post = (url: string, body = '{}') =>
    made.post({
      url,
      headers: ['Service-Event-Id', 'evt_1', 'Content-Type', 'application/json'],
      body: Buffer.from(body),
      timeout_ms: 10_000,
    })
  return { post, clock }
}

async function against(t: TestContext, answer: Answer, more: { pass?: boolean } = {}) {
  const receiver = await rawReceiver(t, answer)
  const { post, clock } = poster(t, { allowed_hosts: [receiver.host] })
  const outcome = post(`http://${receiver.host}/hook?a=1`)
  await receiver.arrived(1)
  if (more.pass === true) clock.pass()
  return { receiver, outcome: await outcome }
}

test('body and headers arrive exactly as given, and 2xx is success', async (t) => {
  const receiver = await rawReceiver(t, respond(204))
  const { post } = poster(t, { allowed_hosts: [receiver.host] })

  const outcome = await post(`http://${receiver.host}/hook?a=1`, '{"ü": 1}')

  assert.deepEqual(outcome, { status: 204, error: null })
  const [head, body] = receiver.requests[0]!.split('\r\n\r\n')
  assert.equal(body, '{"ü": 1}')
  assert.match(head!, /^POST \/hook\?a=1 HTTP\/1\.1\r\n/)
  assert.match(head!, /Service-Event-Id: evt_1\r\nContent-Type: application\/json/)
})

test('connections are reused', async (t) => {
  const receiver = await rawReceiver(t, respond(200, 'ok'))
  const { post } = poster(t, { allowed_hosts: [receiver.host] })
  for (let i = 0; i < 10; i++) assert.equal((await post(`http://${receiver.host}/`)).error, null)
  assert.equal(receiver.connections(), 1)
})

test('an idle connection that the receiver closed is replaced without a failure', async (t) => {
  const receiver = await rawReceiver(t, (socket, request, index) =>
    index === 1 ? socket.destroy() : respond(200)(socket, request, index),
  )
  const { post } = poster(t, { allowed_hosts: [receiver.host] })
  await post(`http://${receiver.host}/`)
  assert.deepEqual(await post(`http://${receiver.host}/`), { status: 200, error: null })
  assert.equal(receiver.requests.length, 3)
})

test('a receiver that breaks off every request gets a post at most twice', async (t) => {
  const kept = 8
  const waiting: Socket[] = []
  const receiver = await rawReceiver(t, (socket, request, index) => {
    if (index >= kept) return void socket.destroy()
    waiting.push(socket)
    if (waiting.length === kept) for (const each of waiting) respond(200)(each, request, index)
  })
  const { post } = poster(t, { allowed_hosts: [receiver.host] })
  await Promise.all(Array.from({ length: kept }, () => post(`http://${receiver.host}/`)))
  assert.equal(receiver.connections(), kept)

  const outcome = await post(`http://${receiver.host}/`)

  assert.equal(outcome.error?.code, 'connection_reset')
  assert.equal(receiver.requests.length, kept + 2)
  assert.equal(receiver.connections(), kept + 1)
})

test('other statuses are errors by number, and redirects name their target but are not followed', async (t) => {
  for (const status of [400, 404, 410, 500, 503])
    assert.equal((await against(t, respond(status))).outcome.error?.code, `status_${status}`)
  const { outcome, receiver } = await against(t, respond(302, '', 'location: http://169.254.169.254/\r\n'))
  assert.equal(outcome.status, 302)
  assert.equal(outcome.error?.code, 'redirect')
  assert.match(outcome.error!.message, /169\.254\.169\.254/)
  assert.equal(receiver.requests.length, 1)
})

test('hanging before, within the headers and within the body ends at the deadline', async (t) => {
  const before = await against(t, () => undefined, { pass: true })
  assert.deepEqual([before.outcome.status, before.outcome.error?.code], [null, 'timeout'])
  const headers = await against(t, (socket) => void socket.write('HTTP/1.1 200 OK\r\ncontent-le'), { pass: true })
  assert.deepEqual([headers.outcome.status, headers.outcome.error?.code], [null, 'timeout'])
  assert.match(headers.outcome.error!.message, /10000 ms \(waiting for the answer\)/)
})

test('a response body that does not end in time is a timeout with its status', async (t) => {
  const receiver = await rawReceiver(
    t,
    (socket) => void socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\npart'),
  )
  const { post, clock } = poster(t, { allowed_hosts: [receiver.host] })
  let read = 0
  const onHeaders = () => void read++
  subscribe('undici:request:headers', onHeaders)
  t.after(() => unsubscribe('undici:request:headers', onHeaders))
  const posting = post(`http://${receiver.host}/`)
  await until('the headers of the answer to be read', () => read)
  clock.pass()
  const outcome = await posting
  assert.deepEqual([outcome.status, outcome.error?.code], [200, 'timeout'])
  assert.match(outcome.error!.message, /reading the answer/)
})

test('an endless response body is cut off, and its status counts', async (t) => {
  const chunk = 'x'.repeat(32 * 1024)
  const { outcome } = await against(t, (socket) => {
    socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n')
    const more = () => {
      if (socket.writable) socket.write(`8000\r\n${chunk}\r\n`, () => setImmediate(more))
    }
    more()
  })
  assert.deepEqual(outcome, { status: 200, error: null })
  const long = await against(t, (socket) => void socket.write('HTTP/1.1 500 X\r\ncontent-length: 999999999\r\n\r\n'))
  assert.equal(long.outcome.error?.code, 'status_500')
})

test('resets, incomplete responses and invalid HTTP are distinguished', async (t) => {
  assert.equal((await against(t, (socket) => void socket.resetAndDestroy())).outcome.error?.code, 'connection_reset')
  assert.equal((await against(t, (socket) => void socket.end())).outcome.error?.code, 'connection_reset')
  const half = await against(t, (socket) => void socket.end('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf'))
  assert.equal(half.outcome.error?.code, 'connection_reset')
  assert.equal(
    (await against(t, (socket) => void socket.end('SMTP ready\r\n\r\n'))).outcome.error?.code,
    'response_invalid',
  )
  assert.equal(
    (await against(t, (socket) => void socket.write(`HTTP/1.1 200 OK\r\nx: ${'y'.repeat(70_000)}\r\n\r\n`))).outcome
      .error?.code,
    'response_invalid',
  )
})

test('an unexpected interim response and an invalid status are reported as such', async (t) => {
  const asked = await against(
    t,
    (socket) => void socket.write('HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'),
  )
  assert.equal(asked.outcome.error?.code, 'response_invalid')
  assert.match(asked.outcome.error!.message, /100 Continue/)
  const none = await against(t, (socket) => void socket.write('HTTP/1.1 000 X\r\ncontent-length: 0\r\n\r\n'))
  assert.equal(none.outcome.error?.code, 'response_invalid')
  assert.doesNotMatch(none.outcome.error!.message, /\n/)
})

test('a refused connection, an unknown name and a failed TLS handshake are distinguished', async (t) => {
  const port = await closedPort()
  const refused = poster(t, { allowed_hosts: [`127.0.0.1:${port}`] })
  assert.equal((await refused.post(`http://127.0.0.1:${port}/`)).error?.code, 'connection_refused')
  const unresolved = poster(t, {
    resolve: async () => Promise.reject(Object.assign(new Error('queryA'), { code: 'ENOTFOUND' })),
  })
  assert.equal((await unresolved.post('https://nowhere.test/')).error?.code, 'dns_failed')
  const secure = await rawReceiver(t, respond(200), { tls: true })
  const untrusted = poster(t, { allowed_hosts: [secure.host] })
  assert.equal((await untrusted.post(`https://${secure.host}/`)).error?.code, 'tls_failed')
  const plain = await rawReceiver(t, respond(200))
  const mistaken = poster(t, { allowed_hosts: [plain.host] })
  const posting = mistaken.post(`https://${plain.host}/`)
  mistaken.clock.pass()
  assert.match((await posting).error!.code, /^(tls_failed|timeout)$/)
  const trusted = poster(t, { allowed_hosts: [secure.host], ca: certificate })
  assert.deepEqual(await trusted.post(`https://${secure.host}/`), { status: 200, error: null })
})

test('a name that resolves to a private or documentation address gets nothing, whatever it resolved to before', async (t) => {
  const receiver = await rawReceiver(t, respond(200), { tls: true })
  let address = '127.0.0.1'
  const { post } = poster(t, { resolve: async () => [{ address, family: 4 }], ca: certificate })
  for (address of ['127.0.0.1', '10.0.0.1', '192.0.2.1', '169.254.169.254', '100.64.0.1']) {
    const outcome = await post(`https://receiver.test:${receiver.port}/`)
    assert.equal(outcome.error?.code, 'address_not_public', address)
  }
  for (const host of ['127.0.0.1', '2130706433', '[::1]', '[::ffff:127.0.0.1]', '203.0.113.5']) {
    assert.equal((await post(`https://${host}:${receiver.port}/`)).error?.code, 'address_not_public', host)
  }
  assert.equal(receiver.connections(), 0)
})

test('the deadline includes look-up and connecting, and a late connection sends nothing', async (t) => {
  let found: ((addresses: { address: string; family: number }[]) => void) | undefined
  const { post, clock } = poster(t, { resolve: () => new Promise((resolve) => (found = resolve)) })
  const posting = post('https://slow-dns.test/')
  await until('the look-up to begin', () => found !== undefined)
  clock.pass()
  assert.match((await posting).error!.message, /connecting/)
  found!([{ address: '127.0.0.1', family: 4 }])
})

test('abandoning ends an exchange at once', async (t) => {
  const receiver = await rawReceiver(t, () => undefined)
  const clock = handClock()
  const made = httpPoster({ clock, resolve: async () => [], allowed_hosts: [receiver.host] })
  t.after(() => made.close())
  const stop = new AbortController()
  const posting = made.post({
    url: `http://${receiver.host}/`,
    headers: [],
    body: Buffer.from('{}'),
    timeout_ms: 10_000,
    signal: stop.signal,
  })
  await receiver.arrived(1)
  stop.abort()
  assert.equal((await posting).error?.code, 'aborted')
})
