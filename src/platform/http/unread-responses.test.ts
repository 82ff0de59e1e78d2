/** Unread responses are limited (behaviour: operating 8). */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { Readable } from 'node:stream'
import { test, type TestContext } from 'node:test'
import { closing } from '../../../test/support/closing.ts'
import { fakeClock } from '../../../test/support/clock.ts'
import { until, within } from '../../../test/support/waiting.ts'
import { UnreadResponses, unreadLimits, type UnreadLimits } from './unread-responses.ts'

/** More than the system buffers for a connection. */
const answerBytes = 16 * 1024 * 1024

/** The path chooses the size of the response. Records the paths in order. */
async function serverOf(t: TestContext, bounds: Partial<UnreadLimits> = {}) {
  const clock = fakeClock()
  const unread = new UnreadResponses(clock, { ...unreadLimits, ...bounds })
  const begun: string[] = []
  const page = Buffer.alloc(answerBytes, 'p')
  const answer = (path: string, response: ServerResponse) => {
    begun.push(path)
    if (path === '/stream') {
      const stream = Readable.from(pieces())
      stream.on('error', () => undefined)
      stream.pipe(response)
    } else response.end(path === '/small' ? 'small' : path === '/page' ? page : 'a'.repeat(answerBytes))
    unread.sent(response, path === '/page', path === '/stream')
  }
  const server = createServer((request: IncomingMessage, response: ServerResponse) =>
    unread.inOrder(request, response, () => answer(request.url!, response)),
  )
  server.listen(0, '127.0.0.1')
  await within('the server to listen', once(server, 'listening'))
  const sockets: Socket[] = []
  closing(t, async () => {
    for (const socket of sockets) socket.destroy()
    server.close()
    server.closeAllConnections()
  })
  const ask = (...paths: string[]) => {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
    sockets.push(socket)
    socket.on('error', () => undefined) // nobody reads it
    socket.write(paths.map((path) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`).join(''))
    return socket
  }
  const open = () =>
    new Promise<number>((resolve, reject) =>
      server.getConnections((error, count) => (error === null ? resolve(count) : reject(error))),
    )
  return { clock, unread, begun, ask, open }
}

async function* pieces(): AsyncGenerator<Buffer> {
  for (let count = 0; count < 100_000; count++) yield await Promise.resolve(Buffer.alloc(256 * 1024, 's'))
}

test('a connection has one response in progress: the next request begins once it was read', async (t) => {
  const { begun, ask } = await serverOf(t)
  const socket = ask('/large', ...Array.from({ length: 20 }, () => '/small'))
  await until(
    'the first to be begun',
    () => begun.length,
    (count) => count > 0,
  )
  assert.deepEqual(begun, ['/large'])

  let received = 0
  socket.on('data', (chunk: Buffer) => (received += chunk.length)).resume()

  await until(
    'all to be answered',
    () => begun.length,
    (count) => count === 21,
  )
  await until(
    'all to arrive',
    () => received,
    (bytes) => bytes > answerBytes + 20 * 5,
  )
})

test('a client that pipelines too many requests is disconnected, and none of them begins', async (t) => {
  const { begun, ask, open } = await serverOf(t, { pipelinedMax: 4 })
  ask('/large', ...Array.from({ length: 200 }, () => '/large'))

  await until('the connection to be closed', open, (count) => count === 0)
  assert.ok(begun.length <= 1, `${begun.length} were begun`)
})

test('unread bytes are bounded in total: the connection that has waited longest is closed', async (t) => {
  const { begun, unread, ask, open } = await serverOf(t, { bytesMax: 4 * answerBytes })
  for (let count = 1; count <= 12; count++) {
    ask('/large')
    await until(
      'it to be begun',
      () => begun.length,
      (seen) => seen === count,
    )
    assert.ok(unread.bytes <= 4 * answerBytes, `${unread.bytes} bytes wait`)
  }

  assert.ok((await until('the others to be closed', open, (count) => count <= 5)) >= 3)
})

test('buffers that answers share are not counted', async (t) => {
  const { begun, unread, ask, open } = await serverOf(t, { bytesMax: answerBytes })
  for (let count = 0; count < 12; count++) ask('/page')
  await until(
    'all to be begun',
    () => begun.length,
    (count) => count === 12,
  )

  assert.deepEqual([unread.bytes, await open()], [0, 12])
})

test('a response that is not read in time is closed, complete or streamed; one that is read continues', async (t) => {
  const { clock, begun, ask, open } = await serverOf(t, { stallMs: 60_000, bytesPerSecond: 1024 * 1024 })
  ask('/large')
  ask('/stream')
  const reader = ask('/stream')
  let received = 0
  reader.on('data', (chunk: Buffer) => (received += chunk.length)).resume()
  await until(
    'all to be begun',
    () => begun.length,
    (count) => count === 3,
  )
  await until(
    'the reader to get ahead',
    () => received,
    (bytes) => bytes > answerBytes,
  )

  await clock.advance(59_000)
  assert.equal(await open(), 3)
  let rounds = 0
  const round = async () => {
    const before = received
    await until(
      // by more than the system buffers, so that the server must write more
      'the reader to get on',
      () => received,
      (bytes) => bytes > before + answerBytes,
    )
    await clock.advance(40_000)
    rounds += 1
    return await open()
  }
  // the system may accept the last chunk late on a busy machine, which restarts the period
  await until('who reads nothing to be closed', round, (count) => count === 1 && rounds >= 4)

  assert.equal(reader.destroyed, false)
})

test('a response whose client has disconnected uses no memory', async (t) => {
  const clock = fakeClock()
  const unread = new UnreadResponses(clock)
  const gone = Promise.withResolvers<ServerResponse>()
  const server = createServer((_request, response) => void response.once('close', () => gone.resolve(response)))
  server.listen(0, '127.0.0.1')
  await within('the server to listen', once(server, 'listening'))
  closing(t, () => void server.close())
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  await within('a request to arrive', once(server, 'request'))
  socket.destroy()
  const response = await within('the client to be gone', gone.promise)

  Readable.from(['late']).pipe(response)
  unread.sent(response, false, true)

  assert.deepEqual([unread.bytes, clock.wakesAt()], [0, []])
})

test('none of a thousand pipelined requests begins after the connection was closed', async (t) => {
  const unread = new UnreadResponses(fakeClock())
  let begun = 0
  const server = createServer((request, response) =>
    unread.inOrder(request, response, () => {
      begun += 1
      request.socket.destroy()
    }),
  )
  closing(t, () => server.close())
  server.listen(0, '127.0.0.1')
  await within('the server to listen', once(server, 'listening'))
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => undefined)
  const closed = within('the connection to end', once(client, 'close'))

  client.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n'.repeat(1000))
  await closed

  assert.equal(begun, 1)
})
