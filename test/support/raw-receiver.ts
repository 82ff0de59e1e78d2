/** A TCP or TLS server with arbitrary answers. */
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import type { TestContext } from 'node:test'
import { certificate, certificateKey } from './certificate.ts'
import { ownPort } from './own-port.ts'
import { within } from './waiting.ts'

export interface RawReceiver {
  readonly port: number
  readonly host: string
  readonly requests: readonly string[]
  readonly connections: () => number
  arrived(count: number): Promise<void>
}

export type Answer = (socket: Socket, request: string, index: number) => void

export const respond =
  (status: number, body = '', headers = ''): Answer =>
  (socket) => {
    socket.write(`HTTP/1.1 ${status} X\r\ncontent-length: ${Buffer.byteLength(body)}\r\n${headers}\r\n${body}`)
  }

export async function rawReceiver(
  t: Pick<TestContext, 'after'>,
  answer: Answer,
  options: { tls?: boolean } = {},
): Promise<RawReceiver> {
  const requests: string[] = []
  const sockets = new Set<Socket>()
  let connections = 0
  let waiting: { count: number; resolve: () => void }[] = []
  const onConnection = (socket: Socket) => {
    connections += 1
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket)).on('error', () => undefined)
    let text = ''
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1')
      for (let end = requestEnd(text); end !== -1; end = requestEnd(text)) {
        requests.push(Buffer.from(text.slice(0, end), 'latin1').toString('utf8'))
        text = text.slice(end)
        answer(socket, requests.at(-1)!, requests.length - 1)
        for (const waiter of waiting) if (requests.length >= waiter.count) waiter.resolve()
        waiting = waiting.filter(({ count }) => count > requests.length)
      }
    })
  }
  const server: Server =
    options.tls === true
      ? createTlsServer({ key: certificateKey, cert: certificate }, onConnection)
      : createServer(onConnection)
  server.on('tlsClientError', () => undefined)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return {
    port,
    host: `127.0.0.1:${port}`,
    requests,
    connections: () => connections,
    arrived: (count) =>
      requests.length >= count
        ? Promise.resolve()
        : within(`${count} requests to arrive`, new Promise<void>((resolve) => waiting.push({ count, resolve }))),
  }
}

/** -1 while incomplete. */
function requestEnd(text: string): number {
  const head = text.indexOf('\r\n\r\n')
  if (head === -1) return -1
  const length = Number(/content-length: (\d+)/i.exec(text.slice(0, head))?.[1] ?? 0)
  return text.length >= head + 4 + length ? head + 4 + length : -1
}

export const closedPort = (): Promise<number> => ownPort()
