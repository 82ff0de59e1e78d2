/** A simulator of Meta's Graph API for WhatsApp, with signed callbacks. */
import { createHash, createHmac } from 'node:crypto'
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { patientServer } from '../patient-server.ts'
import { within } from '../waiting.ts'
import { wrongMessage } from './whatsapp-messages.ts'

// oxlint-disable-next-line typescript/no-explicit-any
type Json = any

/** Replaces the next answer. `error`: of Graph; `cut`: the connection ends during the answer; `none`: normal. */
export type Trouble =
  | { readonly error: number; readonly status?: number; readonly subcode?: number; readonly retry_after?: string }
  | 'cut'
  | 'hang'
  | 'nonsense'
  | 'huge'
  | 'gateway'
  | 'no_id'
  | 'none'

export interface WhatsappSimulator {
  readonly url: string
  readonly credentials: {
    access_token: string
    phone_number_id: string
    business_account_id: string
    app_secret: string
    verify_token: string
  }
  readonly number: Record<string, Json>
  readonly templates: Json[]
  readonly files: Map<string, { readonly mime_type: string; readonly body: Buffer }>
  readonly sent: Json[]
  readonly calls: string[]
  readonly subscribed: () => boolean
  /** For the next calls of paths with this ending, in order. */
  trouble(ending: string, ...troubles: Trouble[]): void
  refuse(to: string, trouble: Trouble): void
  report(
    webhook_url: string,
    changes: readonly Json[],
    more?: { readonly secret?: string; readonly account?: string; readonly raw?: string },
  ): Promise<number>
  messages(value: Json, phone_number_id?: string): Json
  status(sent: Json, status: string, more?: Json): Json
  close(): Promise<void>
}

export const businessNumber = '+4915100000001'

export async function startWhatsapp(): Promise<WhatsappSimulator> {
  const state = startState()
  const { credentials } = state
  const server = patientServer((request, response) => {
    void serve(state, request, response).catch(() => response.destroy())
  })
  server.listen(0, '127.0.0.1')
  await within('the simulator to listen', once(server, 'listening'))
  state.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    ...state,
    subscribed: () => state.subscribed,
    trouble: (ending, ...troubles) => void state.troubles.push(...troubles.map((trouble) => ({ ending, trouble }))),
    refuse: (to, trouble) => void state.refusals.set(to.replace(/^\+/, ''), trouble),
    report: (webhook_url, changes, more = {}) => report(credentials, webhook_url, changes, more),
    messages: (value, phone_number_id = credentials.phone_number_id) => ({
      field: 'messages',
      value: {
        messaging_product: 'whatsapp',
        metadata: { display_phone_number: businessNumber.slice(1), phone_number_id },
        ...value,
      },
    }),
    status: (sent, status, more = {}) => ({
      id: idOf(sent),
      status,
      timestamp: '1750030073',
      recipient_id: sent.to ?? sent.recipient,
      biz_opaque_callback_data: sent.biz_opaque_callback_data,
      ...more,
    }),
    async close() {
      server.closeAllConnections()
      server.close()
      await within('the simulator to close', once(server, 'close'))
    },
  }
}

function startState(): State {
  const credentials = {
    access_token: 'EAAJtoken',
    phone_number_id: '106540352242922',
    business_account_id: '102290129340398',
    app_secret: 'app-secret',
    verify_token: 'our word',
  }
  return {
    credentials,
    number: {
      id: credentials.phone_number_id,
      display_phone_number: '+49 151 00000001',
      verified_name: 'Shop',
      quality_rating: 'GREEN',
      status: 'CONNECTED',
      health_status: { can_send_message: 'AVAILABLE', entities: [] },
    },
    templates: [],
    files: new Map(),
    sent: [],
    calls: [],
    subscribed: false,
    troubles: [],
    refusals: new Map(),
    url: '',
  }
}

interface State {
  readonly credentials: WhatsappSimulator['credentials']
  readonly number: Record<string, Json>
  readonly templates: Json[]
  readonly files: Map<string, { readonly mime_type: string; readonly body: Buffer }>
  readonly sent: Json[]
  readonly calls: string[]
  subscribed: boolean
  readonly troubles: { ending: string; trouble: Trouble }[]
  readonly refusals: Map<string, Trouble>
  url: string
}

async function serve(state: State, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? '/', state.url)
  const body = await text(request)
  state.calls.push(`${request.method} ${url.pathname}`)
  const waiting = state.troubles.findIndex(({ ending }) => url.pathname.endsWith(ending))
  const trouble = waiting === -1 ? 'none' : state.troubles.splice(waiting, 1)[0]!.trouble
  if (trouble !== 'none') return answerTrouble(response, trouble)
  const { access_token } = state.credentials
  if (request.headers.authorization !== `Bearer ${access_token}`)
    return answerError(response, 401, { code: 190, message: 'Error validating access token' })
  if (url.pathname.startsWith('/files/')) return answerFile(state, url.pathname.slice('/files/'.length), response)
  const version = /^\/v\d+\.0\/(.*)$/.exec(url.pathname)
  if (version === null) return answerError(response, 400, { code: 2500, message: 'Unknown path components' })
  answerCall(state, `${request.method} ${version[1]!}`, url.searchParams, body, response)
}

function answerCall(state: State, call: string, query: URLSearchParams, body: string, response: ServerResponse): void {
  const { phone_number_id, business_account_id, app_secret, access_token } = state.credentials
  switch (call) {
    case `GET ${phone_number_id}`: {
      const proof = query.get('appsecret_proof')
      if (proof !== null && proof !== createHmac('sha256', app_secret).update(access_token).digest('hex'))
        return answerError(response, 400, {
          code: 100,
          message: 'Invalid appsecret_proof provided in the API argument',
        })
      return answer(response, 200, state.number)
    }
    case `GET ${business_account_id}/phone_numbers`:
      return answer(response, 200, { data: [{ id: '1' }, { id: state.number['id'] }] })
    case `GET ${business_account_id}/message_templates`:
      return answerTemplates(state, query, response)
    case `POST ${business_account_id}/subscribed_apps`:
      state.subscribed = true
      return answer(response, 200, { success: true })
    case `POST ${phone_number_id}/messages`:
      return takeMessage(state, body, response)
  }
  const id = call.replace(/^GET /, '')
  const file = state.files.get(id)
  if (file === undefined)
    return answerError(response, 400, {
      code: 100,
      error_subcode: 33,
      message: 'Unsupported request. Object does not exist',
    })
  answer(response, 200, {
    id,
    url: `${state.url}/files/${id}`,
    mime_type: file.mime_type,
    file_size: file.body.length,
    messaging_product: 'whatsapp',
  })
}

function answerTemplates({ templates, url }: State, query: URLSearchParams, response: ServerResponse): void {
  const name = query.get('name')
  const found = templates.filter((template) => name === null || template.name?.includes(name))
  const begin = Number(query.get('after') ?? 0)
  const end = begin + Number(query.get('limit') ?? 25)
  const paging = {
    cursors: { before: String(begin), after: String(end) },
    ...(end < found.length ? { next: `${url}/next` } : {}),
  }
  answer(response, 200, { data: found.slice(begin, end), paging })
}

function takeMessage(state: State, body: string, response: ServerResponse): void {
  const message = JSON.parse(body) as Json
  const wrong = wrongMessage(message)
  if (wrong !== null)
    return answerError(response, 400, {
      code: 100,
      message: 'Invalid parameter',
      error_data: { messaging_product: 'whatsapp', details: wrong },
    })
  const to = message.to ?? message.recipient
  const trouble = state.refusals.get(to)
  // executed even if the answer is lost
  if (trouble === undefined || typeof trouble === 'string') state.sent.push(message)
  if (trouble !== undefined && trouble !== 'none') return answerTrouble(response, trouble)
  answer(response, 200, {
    messaging_product: 'whatsapp',
    contacts: [{ input: to, wa_id: to }],
    messages: [{ id: idOf(message), ...(message.type === 'template' ? { message_status: 'accepted' } : {}) }],
  })
}

const idOf = (message: Json): string =>
  `wamid.${createHash('sha256')
    .update(`${message.biz_opaque_callback_data} ${message.to ?? message.recipient}`)
    .digest('base64')}`

function answerFile({ files }: State, id: string, response: ServerResponse): void {
  const file = files.get(id)
  if (file === undefined) return void response.writeHead(404).end()
  response.writeHead(200, { 'content-type': file.mime_type }).end(file.body)
}

function answer(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=UTF-8' }).end(JSON.stringify(body))
}

const answerError = (response: ServerResponse, status: number, error: object): void =>
  answer(response, status, { error: { type: 'OAuthException', fbtrace_id: 'A1b2', ...error } })

function answerTrouble(response: ServerResponse, trouble: Exclude<Trouble, 'none'>): void {
  if (typeof trouble === 'object') {
    const { error: code, status = 400, subcode, retry_after } = trouble
    if (retry_after !== undefined) response.setHeader('retry-after', retry_after)
    const details = { messaging_product: 'whatsapp', details: `Details of ${code}.` }
    return answerError(response, status, {
      code,
      message: `(#${code}) An error`,
      ...(subcode === undefined ? {} : { error_subcode: subcode }),
      error_data: details,
    })
  }
  if (trouble === 'hang') return
  if (trouble === 'no_id') return answer(response, 200, { messaging_product: 'whatsapp', messages: [] })
  if (trouble === 'nonsense') return void response.writeHead(200).end('<html>It works!</html>')
  if (trouble === 'gateway') return void response.writeHead(502).end('<html>Bad gateway</html>')
  if (trouble === 'huge') {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.on('error', () => undefined)
    const more = () => void (response.destroyed || response.write(Buffer.alloc(64 * 1024, 32), more))
    return more()
  }
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' })
  response.write('{"messaging_product":"whats', () => response.destroy())
}

/** Escapes non-ASCII characters before signing, as Meta does. */
async function report(
  { app_secret, business_account_id }: State['credentials'],
  webhook_url: string,
  changes: readonly Json[],
  {
    secret = app_secret,
    account = business_account_id,
    raw,
  }: { readonly secret?: string; readonly account?: string; readonly raw?: string },
): Promise<number> {
  const body =
    raw ??
    JSON.stringify({
      object: 'whatsapp_business_account',
      entry: [{ id: account, time: 1750030073, changes }],
    }).replaceAll(/[\u0080-\uffff]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
  const signature = createHmac('sha256', secret).update(body).digest('hex')
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'facebookexternalua',
    'x-hub-signature-256': `sha256=${signature}`,
  }
  const answered = await within('the answer to a callback', fetch(webhook_url, { method: 'POST', headers, body }))
  await answered.arrayBuffer()
  return answered.status
}
