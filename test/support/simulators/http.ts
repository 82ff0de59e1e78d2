/** The HTTP server of a simulated provider, with broken answers on request. */
import { once } from 'node:events'
import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import type { TestContext } from 'node:test'
import { closing } from '../closing.ts'
import { patientServer } from '../patient-server.ts'
import { within } from '../waiting.ts'

export interface SimulatedRequest {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

export interface Said {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Buffer | object
}

/** `half`: reset during the body. `lost`: executed, then reset before the answer. `pass`: answered normally. */
export type Odd = Said | 'pass' | 'hang' | 'reset' | 'half' | 'endless' | 'lost'

export interface SimulatedHttp {
  readonly url: string
  answerNext(...answers: Odd[]): void
}

/** A request with a broken answer is not executed, except for `lost`. */
export async function simulatedHttp(
  t: TestContext,
  answer: (received: SimulatedRequest) => Said | Promise<Said>,
): Promise<SimulatedHttp> {
  const odd: Odd[] = []
  const server = patientServer((request, response) => {
    void (async () => {
      const url = new URL(request.url ?? '/', 'http://simulated')
      const body = await buffer(request)
      const received: SimulatedRequest = {
        method: request.method ?? '',
        path: url.pathname,
        query: url.searchParams,
        headers: request.headers,
        body,
      }
      const next = odd.shift()
      if (next === undefined || next === 'pass') return write(response, await answer(received))
      if (next === 'lost') await answer(received)
      writeOdd(response, next)
    })().catch(() => response.destroy())
  })
  server.listen(0, '127.0.0.1')
  await within('a simulated provider to listen', once(server, 'listening'))
  closing(t, async () => {
    server.closeAllConnections()
    server.close()
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    answerNext: (...answers) => void odd.push(...answers),
  }
}

function write(response: ServerResponse, { status = 200, headers = {}, body = '' }: Said): void {
  const isRaw = typeof body === 'string' || Buffer.isBuffer(body)
  response.writeHead(status, { 'content-type': isRaw ? 'text/plain' : 'application/json', ...headers })
  response.end(isRaw ? body : JSON.stringify(body))
}

function writeOdd(response: ServerResponse, odd: Exclude<Odd, 'pass'>): void {
  if (odd === 'hang') return
  if (odd === 'reset' || odd === 'lost') return void response.destroy()
  if (odd === 'half') {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' })
    return void response.write('{"half":', () => response.destroy())
  }
  if (odd !== 'endless') return write(response, odd)
  response.writeHead(200, { 'content-type': 'application/json' })
  const chunk = Buffer.alloc(64 * 1024, ' ')
  const more = () => {
    while (!response.destroyed && response.write(chunk));
  }
  response.on('drain', more)
  more()
}
