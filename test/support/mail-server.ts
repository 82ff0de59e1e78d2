/** A mail server of 127.0.0.1 that keeps what it is given. */
import { createServer, type AddressInfo, type Socket } from 'node:net'
import type { TestContext } from 'node:test'

const greeting = '220 mail.test ESMTP\r\n'

export interface MailServer {
  readonly url: string
  /** As they came, with long lines whole. */
  readonly mails: string[]
  /** So many more are answered with a temporary failure. */
  refuse(count: number): void
  /** So many more connections hear nothing after the greeting, for which a client waits half a minute of its own. */
  hang(count: number): void
  /** How many do now. */
  readonly hanging: () => number
}

/** A mail server that keeps what it is given; `refuse` answers the first so many with a temporary failure. */
export async function mailServer(t: TestContext, refuse = 0): Promise<MailServer> {
  const mails: string[] = []
  let left = refuse
  let silent = 0
  const held = new Set<Socket>()
  const server = createServer((socket) => {
    if (silent > 0) {
      silent -= 1
      held.add(socket)
      socket.on('error', () => undefined).on('close', () => held.delete(socket))
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
            socket.write('250 kept\r\n')
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
    for (const socket of held) socket.destroy()
    server.close()
  })
  return {
    mails,
    refuse: (count) => void (left = count),
    hang: (count) => void (silent = count),
    hanging: () => held.size,
    url: `smtp://127.0.0.1:${(server.address() as AddressInfo).port}/?from=posthorn@example.com`,
  }
}
