/** Twilio: SMS and MMS through its Messages API (https://www.twilio.com/docs/messaging/api/message-resource). */
import { Type } from 'typebox'
import type { MediaReference, Provider } from '../provider.ts'
import { queryStatus } from './asking.ts'
import { receiveCallback } from './callbacks.ts'
import { connect } from './connecting.ts'
import { fetchMedia } from './media.ts'
import { send } from './sending.ts'

export const twilio: Provider = {
  name: 'twilio',
  title: 'Twilio',
  about: 'SMS, and MMS where the number can, through the Messages API of Twilio.',
  types: ['sms'],
  offered: 'always',
  credentials: Type.Object({
    account_sid: Type.String({
      title: 'Account SID',
      description: 'Begins with AC. On the first page of the Twilio console, under "Account Info".',
      pattern: '^AC[0-9A-Za-z]{2,62}$',
    }),
    auth_token: Type.String({
      title: 'Auth token',
      description:
        'Beside the Account SID on the first page of the Twilio console; click "Show". Twilio signs its callbacks with it.',
      format: 'password',
      minLength: 1,
      maxLength: 200,
    }),
    messaging_service_sid: Type.Optional(
      Type.String({
        title: 'Messaging Service SID',
        description:
          'Begins with MG. Under Messaging > Services; give it to let the service choose among its numbers. Leave it out to send from the identifier alone.',
        pattern: '^MG[0-9A-Za-z]{2,62}$',
      }),
    ),
  }),
  settings: Type.Object({
    mms: Type.Optional(
      Type.Boolean({
        title: 'MMS',
        description: 'Whether the number can send pictures and other files (United States and Canada).',
        default: false,
      }),
    ),
  }),
  identifier: 'given',
  url: { setting: 'POSTHORN_TWILIO_URL', fallback: 'https://api.twilio.com', about: 'The address of the Twilio API.' },
  guide: 'twilio',
  limits: [
    'A text has up to 1,600 characters, and is sent as it is: nothing is replaced to save segments.',
    'A long code in the United States sends one segment a second, a toll-free number three, a short code a hundred: set `max_messages_per_second` to it.',
    'Of an MMS all files travel in one message, up to 5 MB in all; their captions are its text.',
    'Twilio tells of deliveries only where POSTHORN_BASE_URL is an address that it can reach.',
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
