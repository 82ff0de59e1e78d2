/** A server that answers like PostgreSQL on a full disk. */
import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import type { TestContext } from 'node:test'
import { closing } from './closing.ts'
import { within } from './waiting.ts'

export const fullMessage = 'could not write init file: No space left on device'

export interface FullDatabase {
  readonly port: number
  refused(): number
}

export async function fullDatabase(t: TestContext): Promise<FullDatabase> {
  let refused = 0
  const server = createServer((client) => {
    client.on('error', () => undefined)
    refuseAsFull(client, () => (refused += 1))
  })
  await within('the full database to listen', once(server.listen(0, '127.0.0.1'), 'listening'))
  closing(t, () => server.close())
  return { port: (server.address() as AddressInfo).port, refused: () => refused }
}

export function refuseAsFull(client: Socket, onRefused: () => void = () => undefined): void {
  client.once('data', () => {
    onRefused()
    client.end(fatalError('53100', fullMessage))
  })
}

export function fatalError(code: string, message: string): Buffer {
  const fields = Buffer.from(['SFATAL', 'VFATAL', `C${code}`, `M${message}`, ''].map((field) => `${field}\0`).join(''))
  const head = Buffer.from('E0000')
  head.writeInt32BE(fields.length + 4, 1)
  return Buffer.concat([head, fields])
}
