/** Sends a text through Infobip with our own id, by which a status query finds it. */
import type { HttpAnswer } from '../../lib/http-client.ts'
import { isObject, parsedObject } from '../../lib/json.ts'
import { isReachable } from '../../lib/public-address.ts'
import type { Connection, Outcome, OutboundMessage, ProviderTools } from '../provider.ts'
import { callbackUrlWithToken, withoutPlus } from '../sms-callbacks.ts'
import { outcomeOfForeignAnswer, retryAfterOf, outcomeOfNoAnswer } from '../outcomes.ts'
import { callApi, errorCodeOf, statusOf } from './api.ts'
import { outcomeOfStatus } from './codes.ts'

const minuteMs = 60_000
/** Infobip's maximum: 48 hours. */
const validityMinutesMax = 48 * 60

export async function send(
  tools: ProviderTools,
  message: OutboundMessage,
  connection: Connection,
  signal: AbortSignal,
): Promise<Outcome> {
  return outcomeOf(
    await callApi(tools, connection, '/sms/3/messages', signal, { messages: [requestOf(tools, message, connection)] }),
    message.id,
  )
}

function requestOf({ clock }: ProviderTools, message: OutboundMessage, connection: Connection): object {
  const left_ms = message.expires_at === null ? undefined : Date.parse(message.expires_at) - clock.now()
  const amount =
    left_ms === undefined ? undefined : Math.min(Math.max(Math.ceil(left_ms / minuteMs), 1), validityMinutesMax)
  return {
    sender: withoutPlus(message.from),
    destinations: [{ to: withoutPlus(message.to), messageId: message.id }],
    content: { text: (message.content as { body: string }).body },
    ...(amount === undefined ? {} : { options: { validityPeriod: { amount, timeUnit: 'MINUTES' } } }),
    ...(isReachable(connection.webhook_url)
      ? {
          webhooks: {
            delivery: { url: callbackUrlWithToken(connection), intermediateReport: true },
            contentType: 'application/json',
          },
        }
      : {}),
  }
}

function outcomeOf(answer: HttpAnswer, id: string): Outcome {
  if (answer.kind !== 'answer') return outcomeOfNoAnswer('Infobip', answer)
  const { status } = answer
  if (status < 200 || status > 299) return outcomeOfError(answer)
  const messages = parsedObject(answer.body)?.['messages']
  const first: unknown = Array.isArray(messages) && messages.length === 1 ? messages[0] : undefined
  const result = isObject(first) ? statusOf(first['status']) : null
  if (!isObject(first) || result === null)
    return { kind: 'unknown', message: 'Infobip answered without a result, and may have accepted the message.' }
  const provider_id = first['messageId']
  return outcomeOfStatus(
    result,
    typeof provider_id === 'string' && provider_id !== '' && provider_id.length <= 200 ? provider_id : id,
  )
}

function outcomeOfError(answer: Extract<HttpAnswer, { kind: 'answer' }>): Outcome {
  const { status, headers } = answer
  const code = errorCodeOf(answer)
  if (code === null) return outcomeOfForeignAnswer('Infobip', answer)
  if (status === 429)
    return {
      kind: 'throttled',
      limit_on: 'channel',
      provider_code: code,
      message: 'The Infobip account makes too many requests at once.',
      ...retryAfterOf(headers),
    }
  if (status < 400 || status === 408 || status >= 500)
    return { kind: 'unknown', message: `Infobip answered ${status}, and may have accepted the message.` }
  if (status === 401 || status === 403)
    return {
      kind: 'refused',
      code: 'channel_not_connected',
      provider_code: code,
      message:
        'Infobip rejected the API key. Create one in the Infobip portal that may send SMS, and update the channel with it.',
      channel_lost: true,
    }
  return {
    kind: 'refused',
    code: 'provider_error',
    provider_code: code,
    message: `Infobip refused the message with ${status}. Check the recipient and the sender of the channel.`,
  }
}
