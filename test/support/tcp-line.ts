/** A line to a server that can be held, so that nothing passes and nobody is told, and cut. */
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import type { TestContext } from 'node:test'
import { closing } from './closing.ts'
import { within } from './waiting.ts'

export interface TcpLine {
  readonly port: number
  /** Nothing passes any more, also of connections that are made now; both ends stay connected. */
  hold(): void
  /** Tears every connection; what was held is lost. Those that are made afterwards pass. */
  cut(): void
}

export async function tcpLine(t: TestContext, target: { host: string; port: number }): Promise<TcpLine> {
  const sockets = new Set<Socket>()
  let held = false
  const server = createServer((near) => {
    const far = connect(target.port, target.host)
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from)
      from.on('data', (bytes) => void to.write(bytes))
      from.on('error', () => undefined)
      from.on('close', () => {
        sockets.delete(from)
        to.destroy()
      })
      if (held) from.pause()
    }
  })
  server.listen(0, '127.0.0.1')
  await within('a line to listen', once(server, 'listening'))
  const cut = () => {
    held = false
    for (const socket of sockets) socket.destroy()
  }
  closing(t, () => {
    cut()
    server.close()
  })
  return {
    port: (server.address() as AddressInfo).port,
    hold() {
      held = true
      for (const socket of sockets) socket.pause()
    },
    cut,
  }
}
