/** Meta's WhatsApp Cloud API. */
import { Type } from 'typebox'
import { capabilitiesOf } from '../../api/resources/channel.ts'
import type { Provider } from '../provider.ts'
import { handshake, receiveCallback } from './callbacks.ts'
import { connect, register } from './connect.ts'
import { fetchMedia } from './media.ts'
import { send } from './send.ts'
import { listTemplates } from './templates.ts'

const graphId = (title: string, description: string) =>
  Type.String({ title, description, pattern: '^[0-9A-Za-z_]{1,64}$' })
const secret = (title: string, description: string, maxLength: number, more: { readonly pattern?: string } = {}) =>
  Type.String({ title, description, format: 'password', minLength: 1, maxLength, ...more })

export const whatsappCloud: Provider = {
  name: 'whatsapp_cloud',
  title: 'WhatsApp Cloud API',
  about: 'WhatsApp through the API that Meta itself runs. Each business phone number is one channel.',
  types: ['whatsapp'],
  offered: 'always',
  credentials: Type.Object({
    access_token: secret(
      'Access token',
      'From Business settings > Users > System users > Generate new token, with the permissions whatsapp_business_messaging and whatsapp_business_management. Choose a token that never expires.',
      4096,
      { pattern: '^[!-~]+$' },
    ),
    phone_number_id: graphId(
      'Phone number id',
      'In the app dashboard under WhatsApp > API setup. This is not the phone number itself.',
    ),
    business_account_id: graphId(
      'WhatsApp Business account id',
      'In the app dashboard under WhatsApp > API setup, next to the phone number ID.',
    ),
    app_secret: secret('App secret', 'In the app dashboard under App settings > Basic. It signs the callbacks.', 256),
    verify_token: Type.Optional(
      secret('Verify token', 'A value that you choose and enter at Meta together with the callback address.', 256),
    ),
  }),
  settings: Type.Object({
    messaging_limit: Type.Optional(
      Type.Integer({
        title: 'Messaging limit',
        description:
          'How many different recipients the number may contact first within 24 hours, as shown in WhatsApp Manager. A campaign to more recipients is refused.',
        minimum: 1,
        default: 2000,
      }),
    ),
  }),
  identifier: 'from_provider',
  url: {
    setting: 'POSTHORN_WHATSAPP_GRAPH_URL',
    fallback: 'https://graph.facebook.com',
    about: "The address of Meta's Graph API, for a proxy or for tests.",
  },
  guide: 'whatsapp-cloud',
  limits: [
    'A number sends 80 messages per second. When Meta raises this to 1,000, raise `max_messages_per_second` yourself.',
    'A recipient can get about one message every six seconds; further messages wait.',
    'More than 24 hours after the last message of a recipient only templates can be sent, to as many recipients per day as the messaging limit of the account allows.',
    'WhatsApp sends one file per message: each attachment becomes a separate message.',
  ],
  capabilities: (type) => capabilitiesOf[type],
  adapter: (tools) => ({
    send: (message, connection, signal, onPartAccepted) => send(tools, message, connection, signal, onPartAccepted),
    connect: (connection, signal) => connect(tools, connection, signal),
    register: (connection, signal) => register(tools, connection, signal),
    handshake,
    receiveCallback,
    listTemplates: (connection, signal, name) => listTemplates(tools, connection, signal, name),
    fetchMedia: (reference, connection, bytes_max, signal) =>
      fetchMedia(tools, reference, connection, bytes_max, signal),
  }),
}
