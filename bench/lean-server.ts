/** A minimal HTTP server: keep-alive requests with a Content-Length. */
import { createServer, type Server, type Socket } from 'node:net'

export type LeanAnswer = (head: string, body: Buffer) => string | Promise<string>

const headEnd = '\r\n\r\n'

export const leanServer = (answer: LeanAnswer): Server =>
  createServer({ noDelay: true }, (socket) => serveSocket(socket, answer))

export const leanResponse = (status: string, body: string): string =>
  `HTTP/1.1 ${status}\r\nContent-Type: application/json; charset=UTF-8\r\nContent-Length: ${Buffer.byteLength(body)}${headEnd}${body}`

function serveSocket(socket: Socket, answer: LeanAnswer): void {
  let bytes: Buffer = Buffer.alloc(0)
  const write = (response: string) => void (socket.writable && socket.write(response))
  socket.on('error', () => undefined)
  socket.on('data', (chunk) => {
    bytes = bytes.length === 0 ? chunk : Buffer.concat([bytes, chunk])
    for (;;) {
      const end = bytes.indexOf(headEnd, 0, 'latin1')
      if (end === -1) return
      const head = bytes.toString('latin1', 0, end)
      const bodyAt = end + headEnd.length
      const length = Number(/content-length: *(\d+)/i.exec(head)?.[1] ?? 0)
      if (bytes.length < bodyAt + length) return
      const response = answer(head, bytes.subarray(bodyAt, bodyAt + length))
      bytes = bytes.subarray(bodyAt + length)
      if (typeof response === 'string') write(response)
      else response.then(write, () => socket.destroy())
    }
  })
}
