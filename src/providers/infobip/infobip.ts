/** The SMS API of Infobip (https://www.infobip.com/docs/api/channels/sms). */
import { Type } from 'typebox'
import type { Detail } from '../../api/errors.ts'
import { urlRefusal } from '../../lib/public-address.ts'
import type { Provider, Connection, ConnectOutcome, ProviderTools } from '../provider.ts'
import { verifyToken } from '../sms-callbacks.ts'
import { queryStatus } from './status-query.ts'
import { receiveCallback } from './callbacks.ts'
import { send } from './send.ts'
import { isObject, parsedObject } from '../../lib/json.ts'
import { callApi } from './api.ts'

const wrongBaseUrl: Detail = {
  param: 'credentials.base_url',
  code: 'invalid_format',
  message: 'Give the base URL of your Infobip account without a path, such as https://xxxxx.api.infobip.com.',
}

export const infobip: Provider = {
  name: 'infobip',
  title: 'Infobip',
  about: 'SMS through the Infobip SMS API.',
  types: ['sms'],
  offered: 'always',
  credentials: Type.Object({
    base_url: Type.String({
      title: 'Base URL',
      minLength: 1,
      maxLength: 255,
      description: 'Shown on the home page of the Infobip portal; include https://. Each account has its own.',
    }),
    api_key: Type.String({
      title: 'API key',
      format: 'password',
      minLength: 1,
      maxLength: 200,
      pattern: '^[!-~]+$',
      description:
        'In the Infobip portal under Developer Tools > API Keys. It needs permission to send SMS and to read SMS logs.',
    }),
    verify_token: verifyToken(
      'Verifies callbacks, which Infobip does not sign: append ?token= and this value to the address for inbound messages in the Infobip portal. If you leave it empty, one is generated and shown once.',
    ),
  }),
  identifier: 'required',
  guide: 'infobip',
  limits: [
    'A text may have up to 4,000 bytes in 25 parts.',
    'By default a recipient gets at most 20 different and 6 identical messages per hour.',
    'Attachments are not supported.',
  ],
  capabilities: () => ['text'],
  check: ({ credentials, allowed_hosts }) =>
    isOrigin(String(credentials['base_url']), allowed_hosts) ? [] : [wrongBaseUrl],
  adapter: (tools) => ({
    send: (message, connection, signal) => send(tools, message, connection, signal),
    queryStatus: (message, connection, signal) => queryStatus(tools, message, connection, signal),
    connect: (connection, signal) => connect(tools, connection, signal),
    receiveCallback,
  }),
}

function isOrigin(text: string, allowed_hosts: readonly string[]): boolean {
  if (urlRefusal(text, allowed_hosts) !== null) return false
  const { pathname, search, hash } = new URL(text)
  return pathname === '/' && search === '' && hash === '' && !/[?#]/.test(text)
}

async function connect(tools: ProviderTools, connection: Connection, signal: AbortSignal): Promise<ConnectOutcome> {
  const answer = await callApi(tools, connection, '/sms/3/logs?limit=1', signal)
  if (answer.kind !== 'answer') return { kind: 'unavailable', message: answer.message }
  if (answer.status === 401)
    return {
      kind: 'refused',
      message: 'Infobip rejected the API key. Copy it again from API Keys in the Infobip portal.',
    }
  if (answer.status === 403)
    return {
      kind: 'refused',
      message:
        'The API key may not read SMS logs. Create one in the Infobip portal that may send SMS and read SMS logs.',
    }
  if (answer.status === 404)
    return {
      kind: 'refused',
      message: 'The base URL is not an Infobip address. Copy it again from the home page of the Infobip portal.',
    }
  if (answer.status !== 200) return { kind: 'unavailable', message: `Infobip answered ${answer.status}.` }
  const results = parsedObject(answer.body)?.['results']
  if (Array.isArray(results) && results.every(isObject)) return { kind: 'connected' }
  return { kind: 'unavailable', message: 'The answer does not come from Infobip.' }
}
