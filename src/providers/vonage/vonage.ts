/** Vonage, the SMS API (https://developer.vonage.com/en/api/sms): what it is called, what it asks for, what it carries. */
import { Type } from 'typebox'
import type { Provider } from '../provider.ts'
import { verifyToken } from '../address-token.ts'
import { receiveCallback } from './callbacks.ts'
import { connect } from './connecting.ts'
import { send } from './sending.ts'

export const vonage: Provider = {
  name: 'vonage',
  title: 'Vonage',
  about: 'SMS through the SMS API of Vonage, formerly Nexmo.',
  types: ['sms'],
  offered: 'always',
  credentials: Type.Object({
    api_key: Type.String({
      title: 'API key',
      format: 'password',
      minLength: 1,
      maxLength: 100,
      description: 'In the Vonage dashboard under API Settings, at the top of the page.',
    }),
    api_secret: Type.String({
      title: 'API secret',
      format: 'password',
      minLength: 1,
      maxLength: 200,
      description: 'In the Vonage dashboard under API Settings, beside the key.',
    }),
    signature_secret: Type.Optional(
      Type.String({
        title: 'Signature secret',
        format: 'password',
        minLength: 1,
        maxLength: 200,
        description:
          'In the Vonage dashboard under API Settings, where Vonage signs the webhooks of your account; choose the algorithm SHA-256 HMAC. Callbacks without a right signature are refused then. Leave it out where webhooks are not signed.',
      }),
    ),
    verify_token: verifyToken(
      'The word by which callbacks without a signature are known: the address for inbound messages in the Vonage dashboard ends in ?token= and this word. Left out, one is made and shown once.',
    ),
  }),
  identifier: 'given',
  url: { setting: 'POSTHORN_VONAGE_URL', fallback: 'https://rest.nexmo.com', about: 'Address of the Vonage SMS API.' },
  guide: 'vonage',
  limits: [
    'A long text that comes in is one message for each of its parts, as Vonage forwards them.',
    'An account sends up to 30 messages a second, a United States long number one.',
    'Attachments are not carried.',
  ],
  capabilities: () => ['text'],
  adapter: (tools) => ({
    send: (message, connection, signal) => send(tools, message, connection, signal),
    connect: (connection, signal) => connect(tools, connection, signal),
    receiveCallback,
  }),
}
