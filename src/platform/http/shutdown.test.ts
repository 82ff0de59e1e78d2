/** Requests and connections while a server stops (behaviour: operating 4). */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type RequestListener, type ServerResponse } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import test, { type TestContext } from 'node:test'
import { closing } from '../../../test/support/closing.ts'
import { until, within } from '../../../test/support/waiting.ts'
import { startPlatform, startWorld } from '../../../test/support/world.ts'
import { Connections } from './connections.ts'
import { stopListening } from './shutdown.ts'

const get = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'

interface Client {
  readonly socket: Socket
  received(): string
  ended(): boolean
}

async function serve(t: TestContext, handler: RequestListener) {
  const world = await startPlatform(t)
  const connections = new Connections(world.platform)
  const server = createServer({ ...connections.serverOptions, keepAliveTimeout: connections.idleMs }, handler)
  connections.attach(server)
  server.listen(0, '127.0.0.1')
  await within('the server to listen', once(server, 'listening'))
  const { port } = server.address() as AddressInfo
  closing(t, () => {
    server.close()
    connections.closeAll()
  })
  return {
    ...world,
    server,
    stop: () => stopListening(server, connections, world.clock),
    async client(bytes = ''): Promise<Client> {
      const socket = connect({ port, host: '127.0.0.1' })
      let received = ''
      let ended = false
      socket.on('data', (chunk) => (received += chunk.toString()))
      socket.on('close', () => (ended = true))
      closing(t, () => socket.destroy())
      await within('a client to connect', once(socket, 'connect'))
      socket.write(bytes)
      return { socket, received: () => received, ended: () => ended }
    },
  }
}

const answers = ({ received }: Client): string[] => received().split('HTTP/1.1 ').slice(1)

/** The listener is open for half a second, and closes after a quiet moment. */
const untilClosedMs = 500 + 5 * 100

/** Advances to the moment at which the listener closes. */
const untilClosed = async ({ clock, server }: Pick<Awaited<ReturnType<typeof serve>>, 'clock' | 'server'>) =>
  await until('the listener to close', async () => {
    if (clock.wakesAt().length > 0) await clock.advance(20)
    return !server.listening
  })

test('an idle connection gets its next response before and after the listener closes, and is closed if nothing is sent', async (t) => {
  const served = await serve(t, (_request, response) => response.end('hello'))
  const [early, late, never] = [await served.client(get), await served.client(get), await served.client(get)]
  await until('their answers', () => [early, late, never].every((client) => answers(client).length === 1))

  const stopped = served.stop()
  await served.clock.advance(400)
  early.socket.write(get)
  await until('the answer within the window', () => early.ended())
  const another = await served.client(get)
  await until('the answer on a new connection', () => another.ended())
  await untilClosed(served)
  await served.clock.advance(600)
  late.socket.write(get)
  await until('the answer after the window', () => late.ended())
  const before = never.ended()
  await served.clock.advance(2_000)
  await within('the stop to end', stopped)
  await until('the idle connection to be closed', () => never.ended())

  for (const client of [early, late]) {
    assert.deepEqual([answers(client).length, /^connection: close$/im.test(answers(client)[1]!)], [2, true])
  }
  assert.match(another.received(), /^connection: close\r$/im)
  assert.equal(before, false)
  assert.equal(answers(never).length, 1)
})

test('requests that arrive while the listener is closing begin after that, so that no client reconnects too early', async (t) => {
  const { app, clock, base_url } = await startWorld(t)
  const { server } = app.server
  const arrived: ServerResponse[] = []
  server.prependListener('request', (_request, response) => arrived.push(response))

  const stopped = app.stop()
  await clock.advance(500)
  const answered = [fetch(`${base_url}/healthz`), fetch(`${base_url}/nothing`)]
  const gone = connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1' })
  gone.write('POST /v1/messages HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc')
  await until('the requests to arrive', () => arrived.length === 3)
  gone.destroy()
  await until('one to be given up', () => arrived.some((response) => response.closed))
  const before = arrived.map((response) => response.headersSent)
  await untilClosed({ clock, server })
  const answers = await within('their answers', Promise.all(answered))
  await within('the stop to end', stopped)

  assert.deepEqual(before, [false, false, false])
  assert.deepEqual(
    answers.map(({ status, headers }) => [status, headers.get('connection')]),
    [
      [200, 'close'],
      [404, 'close'],
    ],
  )
})

test('a response in progress is finished and closes its connection; of pipelined requests the last one does', async (t) => {
  const waiting: (() => void)[] = []
  const served = await serve(t, (_request, response) => void waiting.push(() => response.end('hello')))
  const one = await served.client(get)
  const three = await served.client(get + get + get)
  await until('the requests to arrive', () => waiting.length === 4)

  const stopped = served.stop()
  await served.clock.advance(untilClosedMs)
  await untilClosed(served)
  await served.clock.advance(2_000)
  for (const answer of waiting) answer()
  await within('the stop to end, with nobody to wait for', stopped)
  await until('the clients to be told', () => one.ended() && three.ended())

  const last = (client: Client) => answers(client).map((answer) => /^connection: close\r$/im.test(answer))
  assert.deepEqual([last(one), last(three)], [[true], [false, false, true]])
})

test('a request that is not complete within five seconds is cut off', async (t) => {
  const served = await serve(t, (request, response) => void request.on('end', () => response.end()).resume())
  const slow = [
    await served.client('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc'),
    await served.client('POST / HTTP/1.1\r\nHos'),
  ]
  const silent = await served.client()
  await until('all to be there', async () => (await openOf(served)) === 3)

  const stopped = served.stop()
  await untilClosed(served)
  await served.clock.advance(2_000)
  await until('the silent one to be closed', () => silent.ended())
  const before = slow.map((client) => client.ended())
  await served.clock.advance(3_000)
  await within('the stop to end', stopped)

  assert.deepEqual(before, [false, false])
  await until('the slow ones to be cut off', () => slow.every((client) => client.ended()))
})

async function openOf({
  platform,
}: {
  platform: { metrics: { connections_open: { get(): Promise<{ values: { value: number }[] }> } } }
}): Promise<number> {
  return (await platform.metrics.connections_open.get()).values[0]?.value ?? 0
}
