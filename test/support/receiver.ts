/** A server that records requests and answers as the test says. */
import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { patientServer } from './patient-server.ts'
import { within } from './waiting.ts'

export interface Received {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
  /** undefined if the body is not JSON. */
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly json: any
}

/** `hang`: no answer; `reset`: resets the connection. */
export type Answer =
  | { readonly status?: number; readonly headers?: Record<string, string>; readonly body?: string | object }
  | 'hang'
  | 'reset'

export interface Receiver {
  readonly url: string
  readonly received: Received[]
  /** Answers in order, then `always`. */
  answerNext(...answers: Answer[]): void
  always(answer: Answer | ((request: Received) => Answer)): void
}

export interface ReceiverHost {
  readonly host: string
  receiver(): Receiver
  close(): Promise<void>
}

interface Box extends Receiver {
  answer(request: Received): Answer
}

export async function receiverHost(): Promise<ReceiverHost> {
  const boxes = new Map<string, Box>()
  const server = patientServer((request, response) => {
    void (async () => {
      const body = await text(request)
      const path = request.url ?? '/'
      const got: Received = { method: request.method ?? '', path, headers: request.headers, body, json: parsed(body) }
      const box = boxes.get(path.split(/[/?]/)[1] ?? '')
      box?.received.push(got)
      reply(response, box === undefined ? { status: 404 } : box.answer(got))
    })().catch(() => response.destroy())
  })
  server.listen(0, '127.0.0.1')
  await within('the receiver to listen', once(server, 'listening'))
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    host,
    receiver() {
      const name = `r${boxes.size + 1}`
      const box = makeBox(`http://${host}/${name}`)
      boxes.set(name, box)
      return box
    },
    async close() {
      server.closeAllConnections()
      server.close()
      await within('the receiver to close', once(server, 'close'))
    },
  }
}

function makeBox(url: string): Box {
  const queue: Answer[] = []
  let standard: Answer | ((request: Received) => Answer) = { status: 200 }
  return {
    url,
    received: [],
    answerNext: (...answers) => void queue.push(...answers),
    always: (answer) => void (standard = answer),
    answer: (request) => queue.shift() ?? (typeof standard === 'function' ? standard(request) : standard),
  }
}

function reply(response: ServerResponse, answer: Answer): void {
  if (answer === 'hang') return
  if (answer === 'reset') return void response.destroy()
  const isText = typeof answer.body === 'string' || answer.body === undefined
  response.writeHead(answer.status ?? 200, {
    'content-type': isText ? 'text/plain' : 'application/json',
    ...answer.headers,
  })
  response.end(isText ? answer.body : JSON.stringify(answer.body))
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}
