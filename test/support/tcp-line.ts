/** A TCP proxy that can be paused and cut. */
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import type { TestContext } from 'node:test'
import { closing } from './closing.ts'
import { within } from './waiting.ts'

export interface TcpLine {
  readonly port: number
  /** Pauses all connections, also new ones, without closing them. */
  hold(): void
  /** Closes all connections and drops paused data. New connections work. */
  cut(): void
}

export async function tcpLine(t: TestContext, target: { host: string; port: number }): Promise<TcpLine> {
  const sockets = new Set<Socket>()
  let paused = false
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
      if (paused) from.pause()
    }
  })
  server.listen(0, '127.0.0.1')
  await within('a line to listen', once(server, 'listening'))
  const cut = () => {
    paused = false
    for (const socket of sockets) socket.destroy()
  }
  closing(t, () => {
    cut()
    server.close()
  })
  return {
    port: (server.address() as AddressInfo).port,
    hold() {
      paused = true
      for (const socket of sockets) socket.pause()
    },
    cut,
  }
}
