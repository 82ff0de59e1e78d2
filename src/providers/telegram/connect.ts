/** Tests a bot token and registers the webhook, which needs an https address. */
import { hmac } from '../../lib/hmac.ts'
import type { Connection, ConnectOutcome, ProviderTools } from '../provider.ts'
import { callApi, tokenOf, type ApiAnswer, textAt } from './api.ts'
import { sentenceOf } from './codes.ts'
import { isObject } from '../../lib/json.ts'

export const allowedUpdates: readonly string[] = ['message', 'callback_query']

export const needsPolling = ({ webhook_url }: Connection): boolean => !webhook_url.startsWith('https://')

/** Derived from the token: the same at every registration. */
export const secretOf = (connection: Connection): string =>
  hmac(tokenOf(connection), 'base64url', `webhook of ${connection.channel_id}`)

export async function connect(
  tools: ProviderTools,
  connection: Connection,
  signal: AbortSignal,
): Promise<ConnectOutcome> {
  const answer = await callApi(tools, connection, 'getMe', {}, signal)
  if (answer.kind !== 'ok') return failureOf(answer)
  const username =
    isObject(answer.result) && answer.result['is_bot'] !== false ? textAt(answer.result, 'username') : null
  if (username === null || !/^\w{1,64}$/.test(username))
    return { kind: 'unavailable', message: 'The answer does not come from Telegram.' }
  return { kind: 'connected', identifier: username }
}

export async function register(
  tools: ProviderTools,
  connection: Connection,
  signal: AbortSignal,
): Promise<ConnectOutcome> {
  const answer = needsPolling(connection)
    ? await callApi(tools, connection, 'deleteWebhook', {}, signal)
    : await callApi(
        tools,
        connection,
        'setWebhook',
        { url: connection.webhook_url, secret_token: secretOf(connection), allowed_updates: allowedUpdates },
        signal,
      )
  if (answer.kind === 'ok' && answer.result === true) return { kind: 'connected' }
  if (answer.kind === 'ok') return { kind: 'unavailable', message: 'The answer does not come from Telegram.' }
  if (answer.kind === 'error' && answer.code === 400)
    return {
      kind: 'refused',
      message: `Telegram cannot call ${connection.webhook_url}: ${sentenceOf(answer)} Set POSTHORN_BASE_URL to an address that it can reach.`,
    }
  return failureOf(answer)
}

export async function disconnect(tools: ProviderTools, connection: Connection, signal: AbortSignal): Promise<void> {
  if (needsPolling(connection)) return
  const answer = await callApi(tools, connection, 'getWebhookInfo', {}, signal)
  if (answer.kind !== 'ok' || !isObject(answer.result) || answer.result['url'] !== connection.webhook_url) return
  await callApi(tools, connection, 'deleteWebhook', {}, signal)
}

export function failureOf(answer: Exclude<ApiAnswer, { kind: 'ok' }>): {
  readonly kind: 'refused' | 'unavailable'
  readonly message: string
} {
  if (answer.kind !== 'error') return { kind: 'unavailable', message: answer.message }
  if (answer.code === 401 || answer.code === 404)
    return { kind: 'refused', message: 'Telegram knows no bot with this token. Copy it from BotFather again (/token).' }
  return { kind: 'unavailable', message: sentenceOf(answer) }
}
