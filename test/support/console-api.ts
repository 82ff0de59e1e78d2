/** The console's API as a browser uses it, without pages. */
import assert from 'node:assert/strict'
import { request } from 'undici'
import type { Answered } from './api.ts'
import { assertConsoleRefusal } from './documented.ts'
import { noteError } from './provoked.ts'
import type { World } from './world.ts'

export interface ConsoleClient {
  cookie: string | undefined
  account: string | undefined
  mode: 'live' | 'test' | undefined
  /** Below `/console/api`. Text and bytes with a Content-Type are sent unchanged, other bodies as JSON. */
  send(
    method: string,
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string | undefined>>,
  ): Promise<Answered>
}

/** Status and code of an answer. */
export const refusal = ({ status, body }: Pick<Answered, 'status' | 'body'>): [number, string | undefined] => [
  status,
  body.error?.code,
]

export function consoleClient(world: Pick<World, 'base_url'>): ConsoleClient {
  const client: ConsoleClient = {
    cookie: undefined,
    account: undefined,
    mode: undefined,
    async send(method, path, body, more = {}) {
      const all = {
        cookie: client.cookie,
        'service-console': method === 'GET' ? undefined : '1',
        'service-account': client.account,
        'service-mode': client.mode,
        'content-type': body === undefined ? undefined : 'application/json',
        ...more,
      }
      const headers = Object.fromEntries(
        Object.entries(all).filter((pair): pair is [string, string] => pair[1] !== undefined),
      )
      const url = `${world.base_url}/console/api${path}`
      const answer = await request(url, {
        method: method as 'GET',
        headers,
        body: body === undefined ? null : sentAs(body, headers['content-type']),
      })
      const text = await answer.body.text()
      const set = answer.headers['set-cookie']
      if (set !== undefined) {
        const pair = String(set).split(';', 1)[0]!
        client.cookie = pair.endsWith('=') ? undefined : pair
      }
      const flat = Object.fromEntries(Object.entries(answer.headers).map(([name, value]) => [name, String(value)]))
      const answered = {
        status: answer.statusCode,
        headers: flat,
        body: flat['content-type']?.startsWith('application/json') === true ? JSON.parse(text) : text,
      }
      if (answered.status >= 400) {
        noteError(`${method} /console/api${path}`, answered.status, answered.body?.error?.code)
        assertConsoleRefusal(method, `/console/api${path}`, answered)
      }
      return answered
    },
  }
  return client
}

const sentAs = (body: unknown, type: string | undefined): string | Uint8Array =>
  type !== 'application/json' && (typeof body === 'string' || body instanceof Uint8Array) ? body : JSON.stringify(body)

export const ownerPassword = 'a horse with a battery'

export async function signedInOwner(world: World): Promise<ConsoleClient> {
  const client = consoleClient(world)
  const link = await world.services.operators.offerSetup()
  assert.ok(link, 'somebody can sign in already')
  const token = link.slice(link.indexOf('#') + 1)
  const made = await client.send('POST', '/setup', {
    token,
    name: 'Olivia Owner',
    email: 'owner@example.com',
    password: ownerPassword,
  })
  assert.equal(made.status, 201, JSON.stringify(made.body))
  client.account = made.body.accounts[0].id
  client.mode = 'test'
  return client
}
