/** Twilio SMS and MMS (https://www.twilio.com/docs/messaging/api/message-resource). */
import { Type } from 'typebox'
import type { MediaReference, Provider, Connection, ConnectOutcome, ProviderTools } from '../provider.ts'
import { queryStatus } from './status-query.ts'
import { receiveCallback } from './callbacks.ts'
import { fetchMedia, callApi, credentialsOf, fieldsOf } from './api.ts'
import { send } from './send.ts'
import type { HttpAnswer } from '../../lib/http-client.ts'

export const twilio: Provider = {
  name: 'twilio',
  title: 'Twilio',
  about: 'SMS, and MMS if the number supports it, through the Twilio Messages API.',
  types: ['sms'],
  offered: 'always',
  credentials: Type.Object({
    account_sid: Type.String({
      title: 'Account SID',
      description: 'Begins with AC. On the home page of the Twilio console, under "Account Info".',
      pattern: '^AC[0-9A-Za-z]{2,62}$',
    }),
    auth_token: Type.String({
      title: 'Auth token',
      description:
        'Next to the Account SID on the home page of the Twilio console; click "Show". Twilio also signs its callbacks with it.',
      format: 'password',
      minLength: 1,
      maxLength: 200,
    }),
    messaging_service_sid: Type.Optional(
      Type.String({
        title: 'Messaging Service SID',
        description:
          'Begins with MG. Under Messaging > Services. With it, the service chooses among its numbers; without it, messages are sent from the identifier.',
        pattern: '^MG[0-9A-Za-z]{2,62}$',
      }),
    ),
  }),
  settings: Type.Object({
    mms: Type.Optional(
      Type.Boolean({
        title: 'MMS',
        description: 'The number can send pictures and other files (United States and Canada).',
        default: false,
      }),
    ),
  }),
  identifier: 'required',
  url: { setting: 'POSTHORN_TWILIO_URL', fallback: 'https://api.twilio.com', about: 'The address of the Twilio API.' },
  guide: 'twilio',
  limits: [
    'A text may have up to 1,600 characters. It is sent unchanged: no characters are replaced to save segments.',
    'In the United States a long code sends one segment per second, a toll-free number three, a short code one hundred: set `max_messages_per_second` accordingly.',
    'All files of an MMS are sent in one message, up to 5 MB in total, with their captions as its text.',
    'Twilio reports deliveries only if POSTHORN_BASE_URL is an address that it can reach.',
  ],
  capabilities: (_type, settings) => (settings['mms'] === true ? ['text', 'attachments'] : ['text']),
  adapter: (tools) => ({
    send: (message, connection, signal) => send(tools, message, connection, signal),
    queryStatus: (message, connection, signal) => queryStatus(tools, message, connection, signal),
    connect: (connection, signal) => connect(tools, connection, signal),
    receiveCallback,
    fetchMedia: (reference: MediaReference, connection, bytes_max, signal) =>
      fetchMedia(tools, reference, connection, bytes_max, signal),
  }),
}

async function connect(tools: ProviderTools, connection: Connection, signal: AbortSignal): Promise<ConnectOutcome> {
  const answer = await callApi(tools, connection, '.json', signal)
  const account = fieldsOf(answer)
  const failed = failureOf(answer)
  if (failed !== null) return failed
  if (account?.['sid'] !== credentialsOf(connection).account_sid)
    return { kind: 'unavailable', message: 'The answer does not come from Twilio.' }
  if ((account['status'] ?? 'active') !== 'active')
    return {
      kind: 'refused',
      message: `The Twilio account is ${String(account['status']).slice(0, 40)}. Check the Twilio console for the reason.`,
    }
  return await checkSender(tools, connection, signal)
}

function failureOf(answer: HttpAnswer): ConnectOutcome | null {
  if (answer.kind !== 'answer') return { kind: 'unavailable', message: answer.message }
  const { status } = answer
  if (status >= 200 && status < 300) return null
  if (status === 401 || status === 403 || status === 404)
    return {
      kind: 'refused',
      message: `Twilio answered ${status}: the Account SID and the auth token do not match, or are test credentials.`,
    }
  return { kind: 'unavailable', message: `Twilio answered ${status}.` }
}

function listOf({ identifier }: Connection): readonly [path: string, field: string] | null {
  if (identifier.startsWith('+'))
    return [`/IncomingPhoneNumbers.json?${new URLSearchParams({ PhoneNumber: identifier })}`, 'incoming_phone_numbers']
  return /^\d{3,8}$/.test(identifier)
    ? [`/SMS/ShortCodes.json?${new URLSearchParams({ ShortCode: identifier })}`, 'short_codes']
    : null
}

async function checkSender(tools: ProviderTools, connection: Connection, signal: AbortSignal): Promise<ConnectOutcome> {
  const list = credentialsOf(connection).messaging_service_sid === undefined ? listOf(connection) : null
  if (list === null) return { kind: 'connected' }
  const [path, field] = list
  const answer = await callApi(tools, connection, path, signal)
  if (answer.kind !== 'answer') return { kind: 'unavailable', message: answer.message }
  const found = fieldsOf(answer)?.[field]
  // credentials may send without being allowed to list numbers
  if (!Array.isArray(found) || found.length > 0) return { kind: 'connected' }
  return {
    kind: 'refused',
    message: `${connection.identifier} is not a number of this Twilio account. Use one that is listed under Phone Numbers in the Twilio console.`,
  }
}
