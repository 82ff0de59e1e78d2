/** A local mail server that stores mails. */
import { createServer, type AddressInfo, type Socket } from 'node:net'
import type { TestContext } from 'node:test'

const greeting = '220 mail.test ESMTP\r\n'

export interface MailServer {
  readonly url: string
  readonly mails: string[]
  refuse(count: number): void
  /** The next connections get no answer after the greeting. */
  hang(count: number): void
  readonly hanging: () => number
}

export async function mailServer(t: TestContext, refuse = 0): Promise<MailServer> {
  const mails: string[] = []
  let left = refuse
  let silent = 0
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    if (silent > 0) {
      silent -= 1
      sockets.add(socket)
      socket.on('error', () => undefined).on('close', () => sockets.delete(socket))
      socket.write(greeting)
      return
    }
    let inData = false
    let text = ''
    socket.write(greeting)
    socket
      .on('error', () => undefined)
      .on('data', (chunk) => {
        text += chunk.toString()
        if (inData) {
          if (!text.endsWith('\r\n.\r\n')) return
          inData = false
          if (left > 0) {
            left -= 1
            socket.write('451 try again\r\n')
          } else {
            mails.push(text.replaceAll('=\r\n', '').replaceAll('=3D', '='))
            socket.write('250 stored\r\n')
          }
          text = ''
          return
        }
        const line = text
        text = ''
        if (/^(EHLO|HELO|MAIL|RCPT|RSET)/i.test(line)) socket.write('250 fine\r\n')
        else if (/^DATA/i.test(line)) {
          inData = true
          socket.write('354 go on\r\n')
        } else socket.end('221 bye\r\n')
      })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return {
    mails,
    refuse: (count) => void (left = count),
    hang: (count) => void (silent = count),
    hanging: () => sockets.size,
    url: `smtp://127.0.0.1:${(server.address() as AddressInfo).port}/?from=posthorn@example.com`,
  }
}
