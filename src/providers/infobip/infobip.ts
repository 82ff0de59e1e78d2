/** Infobip, the SMS API (https://www.infobip.com/docs/api/channels/sms): what it is called, what it asks for, what it carries. */
import { Type } from 'typebox'
import type { Detail } from '../../api/errors.ts'
import { urlRefusal } from '../../lib/public-address.ts'
import type { Provider } from '../provider.ts'
import { verifyToken } from '../address-token.ts'
import { queryStatus } from './asking.ts'
import { receiveCallback } from './callbacks.ts'
import { connect } from './connecting.ts'
import { send } from './sending.ts'

const wrongBaseUrl: Detail = {
  param: 'credentials.base_url',
  code: 'invalid_format',
  message:
    'Give the base URL of your Infobip account with https:// before it and nothing behind it, such as https://xxxxx.api.infobip.com.',
}

export const infobip: Provider = {
  name: 'infobip',
  title: 'Infobip',
  about: 'SMS through the SMS API of Infobip.',
  types: ['sms'],
  offered: 'always',
  credentials: Type.Object({
    base_url: Type.String({
      title: 'Base URL',
      minLength: 1,
      maxLength: 255,
      description: 'On the first page of the Infobip portal, with https:// before it. Each account has its own.',
    }),
    api_key: Type.String({
      title: 'API key',
      format: 'password',
      minLength: 1,
      maxLength: 200,
      pattern: '^[!-~]+$',
      description:
        'In the Infobip portal under Developer Tools, API Keys. It must be allowed to send SMS and to read their logs.',
    }),
    verify_token: verifyToken(
      'The word by which callbacks are known, for Infobip signs none: the address for inbound messages in the Infobip portal ends in ?token= and this word. Left out, one is made and shown once.',
    ),
  }),
  identifier: 'given',
  guide: 'infobip',
  limits: [
    'A text has at most 4,000 bytes and 25 parts.',
    'By default one recipient gets at most 20 different and 6 equal messages an hour.',
    'Attachments are not carried.',
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

/** An address of a host alone, which may be called. */
function isOrigin(text: string, allowed_hosts: readonly string[]): boolean {
  if (urlRefusal(text, allowed_hosts) !== null) return false
  const { pathname, search, hash } = new URL(text)
  return pathname === '/' && search === '' && hash === '' && !/[?#]/.test(text)
}
