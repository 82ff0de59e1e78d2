/** A simulator of Twilio: accounts, messages, media, and callbacks signed by Twilio's package. */
import type { TestContext } from 'node:test'
import type { IncomingHttpHeaders } from 'node:http'
import { createRequire } from 'node:module'
import type * as Webhooks from 'twilio/lib/webhooks/webhooks.js'
import type { StatusQuerySample } from '../conformance/samples.ts'
import { simulatedHttp, type SimulatedRequest, type Odd, type Said } from './http.ts'

const { getExpectedTwilioSignature } = createRequire(import.meta.url)(
  'twilio/lib/webhooks/webhooks.js',
) as typeof Webhooks

export interface TwilioOptions {
  readonly account_sid: string
  readonly auth_token: string
  readonly numbers: readonly string[]
  readonly now: () => number
  readonly reach?: (url: string) => string
}

export interface TwilioMessage {
  readonly sid: string
  readonly form: URLSearchParams
  readonly headers: IncomingHttpHeaders
  status: string
  error_code: number | null
  readonly date_created: string
}

export interface TwilioSimulator {
  readonly url: string
  readonly account: { status: string; auth_token: string }
  readonly messages: TwilioMessage[]
  refuse(to: string, code: number, status?: number): void
  answerNext(...answers: Odd[]): void
  file(name: string, content: Buffer, content_type: string): string
  report(message: TwilioMessage, status: string, more?: Readonly<Record<string, string>>): Promise<Response>
  receive(webhook_url: string, fields: Readonly<Record<string, string>>): Promise<Response>
  post(url: string, fields: Readonly<Record<string, string>>, auth_token?: string): Promise<Response>
}

interface State {
  readonly options: TwilioOptions
  readonly account: TwilioSimulator['account']
  readonly messages: TwilioMessage[]
  readonly refusals: Map<string, { code: number; status: number }>
  readonly files: Map<string, { content: Buffer; content_type: string }>
}

export async function simulateTwilio(t: TestContext, options: TwilioOptions): Promise<TwilioSimulator> {
  const account = { status: 'active', auth_token: options.auth_token }
  const state: State = { options, account, messages: [], refusals: new Map(), files: new Map() }
  const http = await simulatedHttp(t, (request) => answerOf(state, request))
  const post: TwilioSimulator['post'] = async (url, fields, auth_token = account.auth_token) =>
    await fetch((options.reach ?? ((same) => same))(url), {
      method: 'POST',
      headers: {
        'x-twilio-signature': getExpectedTwilioSignature(auth_token, url, fields),
        'content-type': 'application/x-www-form-urlencoded; charset=utf-8',
      },
      body: new URLSearchParams(fields).toString(),
    })
  const base = { AccountSid: options.account_sid, ApiVersion: '2010-04-01' }
  return {
    url: http.url,
    account,
    messages: state.messages,
    refuse: (to, code, status = 400) => void state.refusals.set(to, { code, status }),
    answerNext: http.answerNext,
    file(name, content, content_type) {
      state.files.set(name, { content, content_type })
      return `${http.url}/2010-04-01/Accounts/${options.account_sid}/Messages/${sidOf('MM', 1)}/Media/${name}`
    },
    async report(message, status, more = {}) {
      message.status = status
      message.error_code = more['ErrorCode'] === undefined ? null : Number(more['ErrorCode'])
      const names = { MessageSid: message.sid, MessageStatus: status, SmsSid: message.sid, SmsStatus: status }
      return await post(message.form.get('StatusCallback') ?? '', {
        ...base,
        ...names,
        To: message.form.get('To') ?? '',
        From: message.form.get('From') ?? '',
        ...more,
      })
    },
    receive: async (webhook_url, fields) =>
      await post(webhook_url, {
        ...base,
        SmsStatus: 'received',
        NumMedia: '0',
        NumSegments: '1',
        Body: '',
        SmsMessageSid: fields['MessageSid'] ?? '',
        ...fields,
      }),
    post,
  }
}

const sidOf = (prefix: string, number: number): string => prefix + number.toString(16).padStart(32, '0')

const refused = (status: number, code: number, message: string): Said => ({
  status,
  body: { code, message, more_info: `https://www.twilio.com/docs/errors/${code}`, status },
})

function answerOf(state: State, request: SimulatedRequest): Said {
  const { account_sid } = state.options
  const { method, path } = request
  if (path.startsWith('/files/')) return fileOf(state, path.slice('/files/'.length))
  const wanted = `Basic ${Buffer.from(`${account_sid}:${state.account.auth_token}`).toString('base64')}`
  const below = `/2010-04-01/Accounts/${account_sid}`
  if (request.headers.authorization !== wanted || !path.startsWith(below)) return refused(401, 20003, 'Authenticate')
  const rest = path.slice(below.length)
  if (method === 'GET' && rest === '.json')
    return { body: { sid: account_sid, status: state.account.status, friendly_name: 'Simulated', type: 'Full' } }
  if (method === 'GET' && rest === '/IncomingPhoneNumbers.json')
    return { body: { incoming_phone_numbers: numbersOf(state, request), page: 0, page_size: 50 } }
  if (method === 'GET' && rest === '/Messages.json') return { body: pageOf(state, request) }
  if (method === 'POST' && rest === '/Messages.json')
    return take(state, new URLSearchParams(request.body.toString('utf8')), request.headers)
  const media = /\/Messages\/\w+\/Media\/([\w.-]+)$/.exec(rest)
  if (media !== null) return { status: 307, headers: { location: `/files/${media[1]}` } }
  return refused(404, 20404, 'The requested resource was not found')
}

const numbersOf = ({ options }: State, { query }: SimulatedRequest) =>
  options.numbers
    .filter((number) => number === query.get('PhoneNumber'))
    .map((phone_number, at) => ({ sid: sidOf('PN', at), phone_number }))

function fileOf({ files }: State, name: string): Said {
  const file = files.get(name)
  return file === undefined ? { status: 404 } : { body: file.content, headers: { 'content-type': file.content_type } }
}

/** Newest first; the token names the last message of the page before. */
function pageOf(state: State, { path, query }: SimulatedRequest): object {
  const size = Number(query.get('PageSize') ?? 50)
  const found = state.messages
    .filter(
      ({ form }) =>
        (query.get('To') ?? form.get('To')) === form.get('To') &&
        (query.get('From') ?? form.get('From')) === form.get('From'),
    )
    .toReversed()
  const begin = found.findIndex(({ sid }) => `PA${sid}` === query.get('PageToken')) + 1
  const rows = found.slice(begin, begin + size)
  const page = Number(query.get('Page') ?? 0)
  const next = new URLSearchParams([...query].filter(([name]) => !name.startsWith('Page')))
  for (const [name, value] of Object.entries({ PageSize: size, Page: page + 1, PageToken: `PA${rows.at(-1)?.sid}` }))
    next.set(name, String(value))
  const next_page_uri = begin + size < found.length ? `${path}?${next}` : null
  return { messages: rows.map((message) => resourceOf(state, message)), page, page_size: size, next_page_uri }
}

const resourceOf = ({ options }: State, { sid, form, status, error_code, date_created }: TwilioMessage) => ({
  sid,
  account_sid: options.account_sid,
  messaging_service_sid: form.get('MessagingServiceSid'),
  to: form.get('To'),
  from: form.get('From'),
  body: form.get('Body') ?? '',
  num_media: String(form.getAll('MediaUrl').length),
  num_segments: '1',
  direction: 'outbound-api',
  status,
  error_code,
  error_message: null,
  date_created,
  date_sent: null,
  date_updated: date_created,
  price: null,
  price_unit: 'USD',
  api_version: '2010-04-01',
})

function take(state: State, form: URLSearchParams, headers: IncomingHttpHeaders): Said {
  const { options, messages, refusals } = state
  const [to, from] = [form.get('To') ?? '', form.get('From')]
  const refusal = refusals.get(to)
  if (refusal !== undefined) return refused(refusal.status, refusal.code, 'Refused by the simulator')
  if (!/^\+[1-9]\d{6,14}$/.test(to)) return refused(400, 21211, `Invalid 'To' Phone Number: ${to}`)
  if (form.get('MessagingServiceSid') === null && !options.numbers.includes(from ?? ''))
    return refused(400, 21659, `'From' ${from} is not a Twilio phone number`)
  if ((form.get('Body') ?? '') === '' && form.getAll('MediaUrl').length === 0)
    return refused(400, 21619, 'A message body or media urls must be specified')
  const date_created = new Date(options.now()).toUTCString().replace('GMT', '+0000')
  const message: TwilioMessage = {
    sid: sidOf('SM', messages.length + 1),
    form,
    headers,
    status: 'queued',
    error_code: null,
    date_created,
  }
  messages.push(message)
  return { status: 201, body: resourceOf(state, message) }
}

export const twilioStatusQuery = (sim: TwilioSimulator, to: string): StatusQuerySample => ({
  by: 'candidates',
  to,
  loseAnswer: () => sim.answerNext('lost'),
  loseRequest: () => sim.answerNext('reset'),
  ids: () => sim.messages.map(({ sid }) => sid),
  fail: () => void Object.assign(sim.messages.at(-1)!, { status: 'undelivered', error_code: 30003 }),
})
