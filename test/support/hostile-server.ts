/** A server with every kind of broken HTTP answer. */
import { createServer, type AddressInfo, type Socket } from 'node:net'
import type { TestContext } from 'node:test'
import type { Outcome } from '../../src/providers/provider.ts'
import { closedPort, rawReceiver, respond, type Answer } from './raw-receiver.ts'

const json = (status: number, body: string): Answer => respond(status, body, 'content-type: application/json\r\n')

/** After each of these the request may have been executed. */
export const hostileAnswers: Readonly<Record<string, Answer>> = {
  'no HTTP at all': (socket) => socket.end('220 smtp.example.com ESMTP\r\n\r\n'),
  'a page of a proxy': respond(
    200,
    '<html><body>Welcome to the hotel. Accept our terms.</body></html>',
    'content-type: text/html\r\n',
  ),
  'an empty body': json(200, ''),
  null: json(200, 'null'),
  'an empty object': json(200, '{}'),
  'an empty array': json(200, '[]'),
  'a text': json(200, '"ok"'),
  'fields of wrong types': json(
    200,
    '{"messages":"x","message-count":{},"sid":7,"ok":true,"result":[],"error":5,"status":{},"contacts":null,"code":[]}',
  ),
  'arrays of nothing': json(
    200,
    '{"messages":[null],"results":[null],"contacts":[null],"data":[null],"result":null,"ok":"yes","error":null}',
  ),
  'half a JSON': json(200, '{"messages":[{"id":'),
  'brackets without an end': json(200, '['.repeat(200_000)),
  'half an answer': (socket) =>
    socket.end('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n{"messages":'),
  'half a head': (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-le'),
  'an endless body': (socket) => flood(socket, 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n'),
  'an endless head': (socket) => flood(socket, 'HTTP/1.1 200 OK\r\nx-more: '),
  'a cut connection': (socket) => socket.destroy(),
  'a redirect to itself': respond(302, '', 'location: /\r\n'),
}

const page = (status: number): Answer => respond(status, `<h1>${status}</h1>`, 'content-type: text/html\r\n')

/** Errors in no provider's format: a 4xx means not sent, anything else is unknown. */
export const foreignAnswers: Readonly<Record<string, readonly [Answer, Outcome['kind']]>> = {
  'a 400 of a proxy': [page(400), 'unavailable'],
  'a 401 of a proxy': [page(401), 'unavailable'],
  'a 403 of a firewall': [respond(403, 'blocked', 'content-type: text/plain\r\n'), 'unavailable'],
  'a 404 without a body': [respond(404), 'unavailable'],
  'a 407 of a proxy': [page(407), 'unavailable'],
  'a 408 of a proxy': [page(408), 'unknown'],
  'a 413 in JSON': [json(413, '{"statusCode":413,"message":"too large"}'), 'unavailable'],
  'a 400 of wrong types': [
    json(
      400,
      '{"error":{"code":[],"message":[]},"code":[],"message":7,"requestError":null,"description":{},"error_code":"x","ok":false,"title":7}',
    ),
    'unavailable',
  ],
  'a 429 with nonsense': [respond(429, 'null', 'content-type: application/json\r\nretry-after: soon\r\n'), 'throttled'],
  'a 429 until the end of time': [
    respond(429, '{}', 'content-type: application/json\r\nretry-after: 99999999999999999999\r\n'),
    'throttled',
  ],
  'a 500 of a proxy': [page(500), 'unknown'],
  'a 502 of a proxy': [page(502), 'unknown'],
  'a 503 without a body': [respond(503), 'unknown'],
  'a 504 in JSON': [json(504, '{"message":"Endpoint request timed out"}'), 'unknown'],
}

export interface HostileServer {
  readonly url: string
  arrived(count: number): Promise<void>
  readonly requests: readonly string[]
  readonly flooded: () => number
}

let floodedBytes = 0

function flood(socket: Socket, head: string): void {
  const piece = 'x'.repeat(64 * 1024)
  socket.write(head)
  const more = () => {
    while (!socket.destroyed && socket.write(piece)) floodedBytes += piece.length
    floodedBytes += piece.length
  }
  socket.on('drain', more)
  more()
}

export async function hostileServer(t: Pick<TestContext, 'after'>, answer: Answer): Promise<HostileServer> {
  const before = floodedBytes
  const receiver = await rawReceiver(t, answer)
  return {
    url: `http://${receiver.host}`,
    arrived: receiver.arrived,
    requests: receiver.requests,
    flooded: () => floodedBytes - before,
  }
}

export const echo =
  (status: number, wrap: (request: string) => string = (request) => request): Answer =>
  (socket, request) =>
    json(status, wrap(request))(socket, request, 0)

export const silence: Answer = () => undefined

export const deafUrl = async (): Promise<string> => `http://127.0.0.1:${await closedPort()}`

export const hostilePeers: Readonly<Record<string, (socket: Socket) => void>> = {
  'closes at once': (socket) => socket.end(),
  'resets at once': (socket) => socket.resetAndDestroy(),
  'speaks HTTP': (socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'),
  'sends zeros': (socket) => socket.end(Buffer.alloc(64 * 1024)),
  'announces four gigabytes': (socket) => socket.end(Buffer.concat([Buffer.alloc(4, 0xff), Buffer.alloc(64)])),
  'sends noise': (socket) => socket.end(Buffer.from(Array.from({ length: 4096 }, (_, i) => (i * 131 + 17) % 256))),
}

export async function hostilePeer(
  t: Pick<TestContext, 'after'>,
  treat: (socket: Socket) => void,
): Promise<{ port: number; connected: Promise<void> }> {
  const connected = Promise.withResolvers<void>()
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket)).on('error', () => undefined)
    treat(socket)
    connected.resolve()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return { port: (server.address() as AddressInfo).port, connected: connected.promise }
}
