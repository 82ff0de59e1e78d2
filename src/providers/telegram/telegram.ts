/** Telegram: messages of a bot (https://core.telegram.org/bots/api). */
import { Type } from 'typebox'
import type { Provider } from '../provider.ts'
import { capabilitiesOf } from '../../api/resources/channel.ts'
import { receiveCallback } from './callbacks.ts'
import { connect, disconnect, needsPolling, register } from './connecting.ts'
import { validate } from './contents.ts'
import { fetchMedia } from './media.ts'
import { openSession } from './polling.ts'
import { send } from './sending.ts'

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
        'What BotFather answers when it has made the bot, such as 110201543:AAH…; write /token to it to see it again.',
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
    'A bot can write only to people who have pressed its Start button; their `to` is the `from` of what they wrote.',
    'Telegram tells of no delivery: a message stays `sent`.',
    'About 30 messages a second go out in all, and one a second to the same person.',
    'Files are fetched by Telegram from their addresses: pictures up to 5 MB, others up to 20 MB; as `document` only PDF and ZIP.',
    'Files that come in can be fetched up to 20 MB.',
  ],
  capabilities: () => capabilitiesOf.telegram,
  adapter: (tools) => ({
    send: (message, connection, signal, took) => send(tools, message, connection, signal, took),
    validate,
    connect: (connection, signal) => connect(tools, connection, signal),
    register: (connection, signal) => register(tools, connection, signal),
    disconnect: (connection, signal) => disconnect(tools, connection, signal),
    receiveCallback,
    fetchMedia: (reference, connection, bytes_max, signal) =>
      fetchMedia(tools, reference, connection, bytes_max, signal),
    needsSession: needsPolling,
    openSession: (connection, opening) => openSession(tools, connection, opening),
  }),
}
