/** Telegram, for messages of a bot (https://core.telegram.org/bots/api). */
import { Type } from 'typebox'
import type { Provider } from '../provider.ts'
import { capabilitiesOf } from '../../api/resources/channel.ts'
import { receiveCallback } from './callbacks.ts'
import { connect, disconnect, needsPolling, register } from './connect.ts'
import { validate } from './content.ts'
import { fetchMedia } from './media.ts'
import { openSession } from './session.ts'
import { send } from './send.ts'

export const telegramBot: Provider = {
  name: 'telegram_bot',
  title: 'Telegram',
  about: 'Messages of a Telegram bot to people who have pressed its Start button.',
  types: ['telegram'],
  offered: 'always',
  credentials: Type.Object({
    bot_token: Type.String({
      title: 'Bot token',
      description:
        'BotFather shows it when it has created the bot, such as 110201543:AAH…; send /token to see it again.',
      format: 'password',
      pattern: '^[0-9]{1,20}:[A-Za-z0-9_-]{1,100}$',
    }),
  }),
  identifier: 'from_provider',
  url: {
    setting: 'POSTHORN_TELEGRAM_URL',
    fallback: 'https://api.telegram.org',
    about: 'The address of the Telegram Bot API.',
  },
  guide: 'telegram',
  limits: [
    'A bot can write only to people who have pressed its Start button; `to` is the `from` of their message.',
    'Telegram reports no deliveries: a message stays `sent`.',
    'A bot sends about 30 messages per second in total, and one per second to the same person.',
    'Telegram downloads files from their addresses: pictures up to 5 MB, others up to 20 MB; a `document` must be a PDF or ZIP.',
    'Inbound files can have up to 20 MB.',
  ],
  capabilities: () => capabilitiesOf.telegram,
  adapter: (tools) => ({
    send: (message, connection, signal, onPartAccepted) => send(tools, message, connection, signal, onPartAccepted),
    validate,
    connect: (connection, signal) => connect(tools, connection, signal),
    register: (connection, signal) => register(tools, connection, signal),
    disconnect: (connection, signal) => disconnect(tools, connection, signal),
    receiveCallback,
    fetchMedia: (reference, connection, bytes_max, signal) =>
      fetchMedia(tools, reference, connection, bytes_max, signal),
    needsSession: needsPolling,
    openSession: (connection, context) => openSession(tools, connection, context),
  }),
}
