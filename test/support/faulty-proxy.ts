/** A proxy that loses, delays and truncates requests and answers. */
import { type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import { closing } from './closing.ts'
import { patientServer } from './patient-server.ts'

export type Fault =
  | 'pass'
  | 'lose the request'
  | 'lose the answer'
  | 'cut the answer'
  | 'hold the answer'
  | { readonly answer: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: string }

export interface Seen {
  readonly method: string
  readonly url: string
  readonly headers: IncomingMessage['headers']
}

export interface FaultyProxy {
  readonly url: string
  readonly seen: Seen[]
  /** Applies faults in order, except to preflights. */
  next(...faults: Fault[]): void
}

export async function faultyProxy(t: TestContext, target: string): Promise<FaultyProxy> {
  const seen: Seen[] = []
  const faults: Fault[] = []
  const server = patientServer(async (incoming, outgoing) => {
    seen.push({ method: incoming.method!, url: incoming.url!, headers: incoming.headers })
    const fault = (incoming.method === 'OPTIONS' ? undefined : faults.shift()) ?? 'pass'
    const body = Buffer.concat(await incoming.toArray())
    if (fault === 'lose the request') incoming.socket.destroy()
    else if (typeof fault === 'object') outgoing.writeHead(fault.answer, fault.headers).end(fault.body)
    else pass(new URL(incoming.url!, target), incoming, body, outgoing, fault)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing(t, async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    next: (...more) => void faults.push(...more),
  }
}

function pass(url: URL, incoming: IncomingMessage, body: Buffer, outgoing: ServerResponse, fault: Fault): void {
  const { connection: _, ...headers } = incoming.headers
  const forwarded = request(url, { method: incoming.method!, headers, agent: false }, async (answer) => {
    const whole = Buffer.concat(await answer.toArray())
    if (fault === 'hold the answer') return
    if (fault === 'lose the answer') incoming.socket.destroy()
    else if (fault === 'cut the answer') {
      outgoing.writeHead(answer.statusCode!, { ...answer.headers, 'content-length': whole.length })
      outgoing.write(whole.subarray(0, whole.length / 2), () => incoming.socket.destroy())
    } else outgoing.writeHead(answer.statusCode!, answer.headers).end(whole)
  })
  forwarded.on('error', () => incoming.socket.destroy())
  forwarded.end(body)
}
