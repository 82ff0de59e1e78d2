/** Takes what Telegram's webhook calls with: one update, beside the secret word that was given at setWebhook. */
import { sameText } from '../../lib/hmac.ts'
import type { Answer, Callback, Connection, Received } from '../provider.ts'
import { tokenOf } from './api.ts'
import { secretOf } from './connecting.ts'
import { readUpdate } from './updates.ts'

/** A tapped button waits for an answer, and the answer to a webhook may be a call (https://core.telegram.org/bots/api#making-requests-when-getting-updates). */
const answerButton = (callback_query_id: string): Answer => ({
  content_type: 'application/json; charset=utf-8',
  body: JSON.stringify({ method: 'answerCallbackQuery', callback_query_id }),
})

export function receive({ headers, body }: Callback, connection: Connection): Received | null {
  const secret = headers['x-telegram-bot-api-secret-token'] ?? ''
  if (tokenOf(connection) === '' || !sameText(secret, secretOf(connection))) return null
  let update: unknown
  try {
    update = JSON.parse(Buffer.from(body).toString('utf8'))
  } catch {
    return { reports: [], ignored: 'a body that is no JSON' }
  }
  const read = readUpdate(update)
  if ('ignored' in read) return { reports: [], ignored: read.ignored }
  return {
    reports: [read.inbound],
    ...(read.callback_query_id === undefined ? {} : { answer: answerButton(read.callback_query_id) }),
  }
}
