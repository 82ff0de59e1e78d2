/** Connections end by time-outs and limits (behaviour: operating 5). */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import test, { type TestContext } from 'node:test'
import { closing } from '../../../test/support/closing.ts'
import { until, within } from '../../../test/support/waiting.ts'
import { startPlatform, type PlatformWorld } from '../../../test/support/world.ts'
import type { Settings } from '../../config/settings.ts'
import { Connections, connectionTimes, withinDescriptors, type ConnectionTimes } from './connections.ts'
import { answerMalformed } from './responses.ts'

interface Served extends PlatformWorld {
  readonly server: Server
  readonly connections: Connections
  /** The client never closes it. */
  client(bytes?: string): Promise<Client>
  figure(name: 'connections_open' | 'connections_closed' | 'connections_refused', reason?: string): Promise<number>
}

interface Client {
  readonly socket: Socket
  received(): string
  ended(): boolean
}

interface Options {
  readonly settings?: Partial<Settings>
  readonly times?: Partial<ConnectionTimes>
  readonly handler?: RequestListener
}

const get = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'

async function serve(
  t: TestContext,
  { settings = {}, times = {}, handler = (_request, response) => response.end('hello') }: Options = {},
): Promise<Served> {
  const world = await startPlatform(t, { settings })
  const connections = new Connections(world.platform, { ...connectionTimes, checkMs: 10, ...times })
  const server = createServer(
    { ...connections.serverOptions, keepAliveTimeout: connections.idleMs, keepAliveTimeoutBuffer: 0 },
    handler,
  )
  server.on('clientError', (error, socket) =>
    connections.onClientError(error, socket as Socket, () => answerMalformed(error, socket, 'req_1', 'http://x')),
  )
  connections.attach(server)
  server.listen(0, '127.0.0.1')
  await within('the server to listen', once(server, 'listening'))
  closing(t, () => {
    server.close()
    connections.closeAll()
  })
  const { port } = server.address() as AddressInfo
  return {
    ...world,
    server,
    connections,
    async client(bytes = '') {
      const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
      const chunks: Buffer[] = []
      let ended = false
      socket.on('data', (chunk) => void chunks.push(chunk))
      socket.on('end', () => (ended = true)).on('close', () => (ended = true))
      socket.on('error', () => undefined)
      closing(t, () => socket.destroy())
      await within('a client to connect', once(socket, 'connect'))
      socket.write(bytes)
      return { socket, received: () => chunks.join(''), ended: () => ended }
    },
    async figure(name, reason) {
      const { values } = await world.platform.metrics[name].get()
      return values
        .filter(({ labels }) => reason === undefined || (labels as { reason?: string }).reason === reason)
        .reduce((sum, { value }) => sum + value, 0)
    },
  }
}

const held = (server: Server): Promise<number> =>
  new Promise((resolve, reject) =>
    server.getConnections((error, count) => (error === null ? resolve(count) : reject(error))),
  )

const released = (served: Served): Promise<number> =>
  until(
    'every connection to be released',
    () => held(served.server),
    (count) => count === 0,
  )

test('a silent connection and one with endless headers get an error and are closed at the timeout', async (t) => {
  const served = await serve(t, { times: { headMs: 100 } })
  const clients = [await served.client(), await served.client('GET / HTTP/1.1\r\nHost:')]

  await released(served)
  await until('the clients to hear of it', () => clients.every((client) => client.ended()))

  for (const client of clients) {
    assert.match(client.received(), /^HTTP\/1\.1 400 Bad Request\r\n/)
    assert.match(client.received(), /did not arrive in time/)
  }
  assert.equal(await served.figure('connections_closed', 'headers_timeout'), 2)
  assert.equal(await served.figure('connections_open'), 0)
})

test('a body that never ends gets an error at its timeout, unless it was answered already', async (t) => {
  const arrived: string[] = []
  const served = await serve(t, {
    handler(request, response) {
      arrived.push(request.url!)
      if (request.url === '/answered') response.end('hello')
      else request.resume()
    },
  })
  const body = 'Host: x\r\nContent-Length: 10\r\n\r\nabc'
  const waiting = await served.client(`POST / HTTP/1.1\r\n${body}`)
  const answered = await served.client(`POST /answered HTTP/1.1\r\n${body}`)
  await until('both to arrive', () => arrived.length === 2 && answered.received().endsWith('hello'))

  served.server.headersTimeout = served.server.requestTimeout = 50
  await released(served)
  await until('the clients to hear of it', () => waiting.ended() && answered.ended())

  assert.match(waiting.received(), /^HTTP\/1\.1 400 /)
  assert.match(answered.received(), /^HTTP\/1\.1 200 OK[^]*hello$/)
  assert.equal(await served.figure('connections_closed', 'body_timeout'), 2)
})

test('an idle connection is closed at its timeout, a long response is not', async (t) => {
  const answers: (() => void)[] = []
  const served = await serve(t, {
    handler: (request, response) =>
      void (request.url === '/long' ? answers.push(() => response.end('at last')) : response.end('hello')),
  })
  const [long, idle] = [await served.client('GET /long HTTP/1.1\r\nHost: x\r\n\r\n'), await served.client()]
  await until('the long request to arrive', () => answers.length === 1)

  served.server.keepAliveTimeout = 50
  idle.socket.write(get)
  await until('the idle connection to end', () => idle.ended())
  const before = await served.figure('connections_open')
  answers[0]!()
  await until('the long answer', () => long.received().endsWith('at last'))

  assert.match(idle.received(), /hello$/)
  assert.equal(before, 1)
  await released(served)
  assert.equal(await served.figure('connections_closed', 'idle'), 2)
})

test('malformed HTTP gets an error, and its connection is closed a moment later', async (t) => {
  const served = await serve(t)
  const client = await served.client('nonsense\r\n\r\n')

  await until('the answer', () => client.ended())
  await served.clock.advance(connectionTimes.lingerMs)

  await released(served)
  assert.match(client.received(), /^HTTP\/1\.1 400 /)
})

test('malformed HTTP after pipelined requests writes nothing into their responses', async (t) => {
  const served = await serve(t, {
    handler: (request, response) => void (request.url === '/begun' ? response.write('begun') : undefined),
  })
  const client = await served.client(`GET /begun HTTP/1.1\r\nHost: x\r\n\r\n${get}`)
  await until('the first answer to begin', () => client.received().includes('begun'))

  client.socket.write('nonsense\r\n\r\n')
  await released(served)

  assert.doesNotMatch(client.received(), /400/)
})

test('at the connection limit a new connection gets an error in the envelope and is closed', async (t) => {
  const answers: (() => void)[] = []
  const served = await serve(t, {
    settings: { connection_limit: 3 },
    handler: (_request, response) => void answers.push(() => response.end('hello')),
  })
  const clients = [await served.client(get), await served.client(get), await served.client(get)]
  await until('three requests to arrive', () => answers.length === 3)

  const refused = await served.client(get)
  await until('the refusal', () => refused.ended())
  const [head, body] = refused.received().split('\r\n\r\n')
  const beyond = await held(served.server)
  await served.clock.advance(connectionTimes.lingerMs)
  await until('the refused one to be released', async () => (await held(served.server)) === 3)
  for (const answer of answers) answer()
  await until('every answer', () => clients.every((client) => client.received().endsWith('hello')))

  assert.match(head!, /^HTTP\/1\.1 503 Service Unavailable\r\n[^]*Retry-After: 1\r\n[^]*Connection: close$/)
  assert.deepEqual([JSON.parse(body!).error.code, JSON.parse(body!).error.type], ['upstream_unavailable', 'api_error'])
  assert.match(head!, /X-Content-Type-Options: nosniff/)
  assert.equal(beyond, 4)
  assert.equal(answers.length, 3)
  assert.equal(await served.figure('connections_refused', 'all'), 1)
})

test('a new connection replaces the one that has been silent longest, otherwise the one idle longest', async (t) => {
  const served = await serve(t, { settings: { connection_limit: 3 } })
  const [used, unused] = [await served.client(get), await served.client(get)]
  await until('their answers', () => used.received() !== '' && unused.received() !== '')
  const silent = await served.client()

  const first = await served.client(get)
  await until('an answer in the place of the silent one', () => first.received().endsWith('hello') && silent.ended())
  const refused = await served.client(get)
  await until('a refusal, for the others were used just now', () => refused.ended())
  await served.clock.advance(5_000)
  used.socket.write(get)
  await until('another answer', () => used.received().split('hello').length === 3)
  const second = await served.client(get)
  await until('an answer in the place of the unused one', () => second.received().endsWith('hello') && unused.ended())

  assert.match(refused.received(), /^HTTP\/1\.1 503 /)
  assert.equal(await served.figure('connections_closed', 'displaced'), 2)
  assert.equal(await served.figure('connections_open'), 3)
})

test('connections are limited per address, and its silent ones go first; trusted proxies count only in total', async (t) => {
  const handler: RequestListener = (request, response) =>
    void (request.url === '/held' ? undefined : response.end('hello'))
  const hold = 'GET /held HTTP/1.1\r\nHost: x\r\n\r\n'
  const bounded = await serve(t, { handler, settings: { address_connection_limit: 2 } })
  const trusting = await serve(t, {
    handler,
    settings: { address_connection_limit: 2, trusted_proxies: ['127.0.0.0/8'] },
  })

  const silent = await bounded.client()
  for (let n = 0; n < 2; n++) await bounded.client(hold)
  await until('the silent one to make room', () => silent.ended())
  const refused = await bounded.client(get)
  await until('the refusal', () => refused.ended())
  for (let n = 0; n < 3; n++) await trusting.client(hold)
  const third = await trusting.client(get)
  await until('the answer through the proxy', () => third.received() !== '')

  assert.match(refused.received(), /^HTTP\/1\.1 429 Too Many Requests\r\n[^]*"rate_limit_exceeded"/)
  assert.equal(await bounded.figure('connections_refused', 'address'), 1)
  assert.match(third.received(), /hello$/)
})

test('many silent connections do not keep others from being answered', async (t) => {
  const served = await serve(t, { settings: { connection_limit: 50, address_connection_limit: 40 } })

  for (let round = 0; round < 10; round++) {
    for (let n = 0; n < 50; n++) await served.client()
    const client = await served.client(get)
    await until('an answer among silent connections', () => client.received().endsWith('hello'))
    client.socket.destroy()
  }

  assert.ok((await held(served.server)) <= 40)
  assert.equal(await served.figure('connections_refused'), 0)
})

test('an error of accept does not end the process', async (t) => {
  const served = await serve(t)

  served.server.emit('error', Object.assign(new Error('accept EMFILE'), { code: 'EMFILE' }))
  const client = await served.client(get)

  await until('an answer to the next one', () => client.received().endsWith('hello'))
})

test('the connection limit leaves descriptors for the database and for webhooks', () => {
  const warnings: unknown[] = []
  const log = { warn: (...line: unknown[]) => void warnings.push(line) } as unknown as Parameters<
    typeof withinDescriptors
  >[2]

  const bounds = [Infinity, 20_000, 4_096, 1_024].map((descriptors) => withinDescriptors(10_000, descriptors, log))

  assert.deepEqual(bounds, [10_000, 10_000, 3_096, 512])
  assert.equal(warnings.length, 2)
})
