/** A minimal client of the API. */
import { Agent, request } from 'undici'
import { assertDocumented, operationAt } from './documented.ts'
import { noteError } from './provoked.ts'
import { boundMs } from './waiting.ts'

export interface Answered {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly body: any
}

type Headers = Readonly<Record<string, string>>

/** Under load, connecting may take as long as an answer. */
const dispatcher = new Agent({ connect: { timeout: boundMs } })

export interface Api {
  get(path: string, headers?: Headers): Promise<Answered>
  post(path: string, body?: unknown, headers?: Headers): Promise<Answered>
  patch(path: string, body?: unknown, headers?: Headers): Promise<Answered>
  delete(path: string, headers?: Headers): Promise<Answered>
  send(method: string, path: string, headers?: Headers, body?: string | Uint8Array): Promise<Answered>
}

/** `before` is awaited before each request. */
export function apiClient(
  base_url: string,
  key?: string,
  before: (path: string) => Promise<void> = () => Promise.resolve(),
): Api {
  const authorization: Headers = key === undefined ? {} : { authorization: `Bearer ${key}` }
  const send: Api['send'] = async (method, path, headers = {}, body) => {
    await before(path)
    const url = new URL(base_url + path)
    const answer = await request(url, {
      method: method as 'GET',
      dispatcher,
      headersTimeout: boundMs,
      bodyTimeout: boundMs,
      headers: { ...authorization, ...headers },
      ...(body === undefined ? {} : { body }),
    })
    const text = await answer.body.text()
    const flat = Object.fromEntries(Object.entries(answer.headers).map(([name, value]) => [name, String(value)]))
    const answered: Answered = { status: answer.statusCode, headers: flat, body: parsed(text, flat['content-type']) }
    // as sent: `/v1/contacts/.` becomes `/v1/contacts/`
    const { pathname } = url
    if (answered.status >= 400) noteError(nameOf(method, pathname), answered.status, answered.body?.error?.code)
    assertDocumented(method, pathname, answered)
    return answered
  }
  const withBody =
    (method: string) =>
    (path: string, body?: unknown, headers: Headers = {}) => {
      if (body === undefined) return send(method, path, headers)
      return send(
        method,
        path,
        { 'content-type': 'application/json', ...headers },
        typeof body === 'string' ? body : JSON.stringify(body),
      )
    }
  return {
    send,
    get: (path, headers) => send('GET', path, headers),
    post: withBody('POST'),
    patch: withBody('PATCH'),
    delete: (path, headers) => send('DELETE', path, headers),
  }
}

/** `POST /v1/messages`; undocumented paths are left out. */
const nameOf = (method: string, path: string): string => [method, operationAt(method, path)?.path ?? '(none)'].join(' ')

function parsed(text: string, type: string | undefined): unknown {
  return type?.startsWith('application/json') === true && text !== '' ? JSON.parse(text) : text
}
