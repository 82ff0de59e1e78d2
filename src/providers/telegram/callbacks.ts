/** Takes what Telegram's webhook calls with: one update, beside the secret word that was given at setWebhook. */
import { sameText } from '../../lib/hmac.ts'
import type { CallbackResponse, Callback, Connection, CallbackResult } from '../provider.ts'
import { tokenOf } from './api.ts'
import { secretOf } from './connecting.ts'
import { readUpdate } from './updates.ts'

/** A tapped button waits for an answer, and the answer to a webhook may be a call (https://core.telegram.org/bots/api#making-requests-when-getting-updates). */
const answerButton = (callback_query_id: string): CallbackResponse => ({
  content_type: 'application/json; charset=utf-8',
  body: JSON.stringify({ method: 'answerCallbackQuery', callback_query_id }),
})

export function receiveCallback({ headers, body }: Callback, connection: Connection): CallbackResult | null {
  const secret = headers['x-telegram-bot-api-secret-token'] ?? ''
  if (tokenOf(connection) === '' || !sameText(secret, secretOf(connection))) return null
  let update: unknown
  try {
    update = JSON.parse(Buffer.from(body).toString('utf8'))
  } catch {
    return { items: [], ignored: 'a body that is no JSON' }
  }
  const read = readUpdate(update)
  if ('ignored' in read) return { items: [], ignored: read.ignored }
  return {
    items: [read.inbound],
    ...(read.callback_query_id === undefined ? {} : { response: answerButton(read.callback_query_id) }),
  }
}
