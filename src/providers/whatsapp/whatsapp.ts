/** The WhatsApp Cloud API of Meta, as it describes itself. */
import { Type } from 'typebox'
import { capabilitiesOf } from '../../api/resources/channel.ts'
import type { Provider } from '../provider.ts'
import { handshake, receiveCallback } from './callbacks.ts'
import { connect, register } from './connecting.ts'
import { fetchMedia } from './media.ts'
import { send } from './sending.ts'
import { listTemplates } from './templates.ts'

const graphId = (title: string, description: string) =>
  Type.String({ title, description, pattern: '^[0-9A-Za-z_]{1,64}$' })
const secret = (title: string, description: string, maxLength: number, more: { readonly pattern?: string } = {}) =>
  Type.String({ title, description, format: 'password', minLength: 1, maxLength, ...more })

export const whatsappCloud: Provider = {
  name: 'whatsapp_cloud',
  title: 'WhatsApp Cloud API',
  about: 'WhatsApp by the API that Meta itself runs: one channel for each business phone number.',
  types: ['whatsapp'],
  offered: 'always',
  credentials: Type.Object({
    access_token: secret(
      'Access token',
      'Of a system user with the permissions whatsapp_business_messaging and whatsapp_business_management: Business settings, Users, System users, Generate new token; let it never expire.',
      4096,
      // it travels in a header
      { pattern: '^[!-~]+$' },
    ),
    phone_number_id: graphId(
      'Phone number id',
      'In the app dashboard under WhatsApp, API setup; it is not the number itself.',
    ),
    business_account_id: graphId(
      'WhatsApp Business account id',
      'In the app dashboard under WhatsApp, API setup, beside the phone number id.',
    ),
    app_secret: secret('App secret', 'In the app dashboard under App settings, Basic; it signs the callbacks.', 256),
    verify_token: Type.Optional(
      secret('Verify token', 'A word that you give to Meta together with the address of the callbacks.', 256),
    ),
  }),
  settings: Type.Object({
    messaging_limit: Type.Optional(
      Type.Integer({
        title: 'Messaging limit',
        description:
          'Different recipients whom the number may write to first in 24 hours, as WhatsApp Manager shows it: a campaign to more is refused.',
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
    'A number sends 80 messages a second; Meta raises it to 1,000 by itself, and `max_messages_per_second` follows by your hand.',
    'One recipient takes about one message every six seconds; more wait, and are sent later.',
    'Outside the 24 hours after the last message of a recipient only templates go out, to as many recipients a day as the messaging limit of the account allows.',
    'WhatsApp takes one file a message: each attachment becomes a message of its own.',
  ],
  capabilities: (type) => capabilitiesOf[type],
  adapter: (tools) => ({
    send: (message, connection, signal, took) => send(tools, message, connection, signal, took),
    connect: (connection, signal) => connect(tools, connection, signal),
    register: (connection, signal) => register(tools, connection, signal),
    handshake,
    receiveCallback,
    listTemplates: (connection, signal, name) => listTemplates(tools, connection, signal, name),
    fetchMedia: (reference, connection, bytes_max, signal) =>
      fetchMedia(tools, reference, connection, bytes_max, signal),
  }),
}
