/** A simulator of Vonage's SMS API, with callbacks in each of its formats. */
import { createHmac } from 'node:crypto'
import type { TestContext } from 'node:test'
import { simulatedHttp, type SimulatedRequest, type Odd, type Said } from './http.ts'

export interface VonageOptions {
  readonly api_key: string
  readonly api_secret: string
  readonly signature_secret?: string
  readonly form?: 'GET' | 'POST' | 'POST-JSON'
  readonly reach?: (url: string) => string
}

export interface VonageMessage {
  readonly request: Readonly<Record<string, string | number>>
  readonly parts: readonly string[]
}

export interface VonageSimulator {
  readonly url: string
  readonly messages: VonageMessage[]
  refuse(to: string, ...parts: readonly { readonly status: string; readonly 'error-text'?: string }[]): void
  changeSecret(api_secret: string): void
  answerNext(...answers: Odd[]): void
  report(message: VonageMessage, fields: Readonly<Record<string, string>>, part?: number): Promise<Response>
  receive(webhook_url: string, fields: Readonly<Record<string, string>>): Promise<Response>
}

export async function simulateVonage(t: TestContext, options: VonageOptions): Promise<VonageSimulator> {
  const state: State = { api_key: options.api_key, api_secret: options.api_secret, messages: [], refusals: new Map() }
  const call = (url: string, fields: Readonly<Record<string, string>>) => callBack(options, url, fields)
  const { url, answerNext } = await simulatedHttp(t, (request) => answer(state, request))
  return {
    url,
    messages: state.messages,
    refuse: (to, ...parts) => void state.refusals.set(to.replace('+', ''), parts),
    changeSecret: (secret) => void (state.api_secret = secret),
    answerNext,
    report: ({ request, parts }, fields, part = 0) =>
      call(String(request['callback']), {
        msisdn: String(request['to']),
        to: String(request['from']),
        messageId: parts[part]!,
        'err-code': '0',
        'network-code': '26201',
        price: '0.05',
        scts: '2601310930',
        'api-key': options.api_key,
        'message-timestamp': '2026-01-31 09:30:07',
        ...(request['client-ref'] === undefined ? {} : { 'client-ref': String(request['client-ref']) }),
        ...fields,
      }),
    receive: (webhook_url, fields) =>
      call(webhook_url, {
        'api-key': options.api_key,
        type: 'text',
        'message-timestamp': '2026-01-31 09:31:00',
        keyword: 'HELLO',
        ...fields,
      }),
  }
}

interface State {
  readonly api_key: string
  api_secret: string
  readonly messages: VonageMessage[]
  readonly refusals: Map<string, readonly object[]>
}

function answer(state: State, { method, path, query, body }: SimulatedRequest): Said {
  const known = (key: unknown, secret: unknown) => key === state.api_key && secret === state.api_secret
  if (method === 'GET' && path === '/account/get-balance') {
    if (!known(query.get('api_key'), query.get('api_secret')))
      return { status: 401, body: { 'error-code': '401', 'error-code-label': 'authentication failed' } }
    return { body: { value: 10.28, autoReload: false } }
  }
  if (method !== 'POST' || path !== '/sms/json') return { status: 404, body: '' }
  const request = JSON.parse(body.toString()) as Record<string, string | number>
  if (!known(request['api_key'], request['api_secret']))
    return resultOf([{ status: '4', 'error-text': 'Bad Credentials' }])
  return take(state, request)
}

function take({ messages, refusals }: State, request: Record<string, string | number>): Said {
  const refused = refusals.get(String(request['to']))
  const count = Math.ceil(String(request['text']).length / (request['type'] === 'unicode' ? 67 : 153)) || 1
  const parts = Array.from(
    { length: count },
    (_, part) => `0A${String(messages.length + 1).padStart(10, '0')}${String(part).padStart(4, '0')}`,
  )
  if (refused !== undefined)
    return resultOf(refused.map((part, at) => ({ ...part, 'message-id': parts[at] ?? `0B${at}` })))
  messages.push({ request, parts })
  const paid = {
    to: String(request['to']),
    status: '0',
    'remaining-balance': '9.90',
    'message-price': '0.05',
    network: '26201',
  }
  return resultOf(parts.map((id) => ({ ...paid, 'message-id': id, 'client-ref': String(request['client-ref'] ?? '') })))
}

const resultOf = (messages: readonly object[]): Said => ({
  body: { 'message-count': String(messages.length), messages },
})

/** `&` and `=` in values become `_`; the digest is upper case. */
function signed(options: VonageOptions, fields: Readonly<Record<string, string>>): Record<string, string> {
  if (options.signature_secret === undefined) return { ...fields }
  const all: Record<string, string> = { ...fields, timestamp: '1769851807', nonce: '6f7e8d' }
  const text = Object.keys(all)
    .toSorted()
    .map((name) => `&${name}=${all[name]!.replaceAll('&', '_').replaceAll('=', '_')}`)
    .join('')
  return {
    ...all,
    sig: createHmac('sha256', options.signature_secret).update(text, 'utf8').digest('hex').toUpperCase(),
  }
}

async function callBack(
  options: VonageOptions,
  address: string,
  fields: Readonly<Record<string, string>>,
): Promise<Response> {
  const url = new URL((options.reach ?? ((same: string) => same))(address))
  const all = signed(options, fields)
  if (options.form === 'GET') {
    for (const [name, value] of Object.entries(all)) url.searchParams.set(name, value)
    return await fetch(url)
  }
  const json = options.form !== 'POST'
  const headers = {
    'content-type': json ? 'application/json' : 'application/x-www-form-urlencoded; charset=UTF-8',
    'user-agent': 'Nexmo/MessagingHUB/v1.0',
  }
  return await fetch(url, {
    method: 'POST',
    headers,
    body: json ? JSON.stringify(all) : new URLSearchParams(all).toString(),
  })
}
