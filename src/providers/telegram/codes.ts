/** Errors of Telegram (https://core.telegram.org/api/errors, https://core.telegram.org/bots/api#making-requests). */
import type { MessageErrorCode } from '../../api/resources/message.ts'
import type { Outcome } from '../provider.ts'
import type { ApiAnswer } from './api.ts'

const meanings: readonly (readonly [
  status: number,
  words: RegExp,
  code: MessageErrorCode | 'lost',
  sentence: string,
])[] = [
  [
    401,
    /./s,
    'lost',
    'Telegram rejected the bot token. Get the current one from BotFather (/token) and update the channel with it.',
  ],
  [
    404,
    /^not found$/i,
    'lost',
    'Telegram knows no bot with this token. Get the current one from BotFather (/token) and update the channel with it.',
  ],
  [
    403,
    /blocked by the user/i,
    'recipient_blocked',
    'The recipient has blocked the bot. Only the recipient can undo that.',
  ],
  [403, /user is deactivated/i, 'provider_error', 'The account of the recipient was deleted.'],
  [403, /can't initiate/i, 'policy_violation', 'The recipient must press the Start button of the bot first.'],
  [403, /kicked|not a member/i, 'recipient_blocked', 'The bot was removed from that chat.'],
  [
    400,
    /chat not found/i,
    'provider_error',
    'There is no such chat: the recipient has never written to the bot, or `to` is wrong.',
  ],
  [400, /upgraded to a supergroup/i, 'provider_error', 'The chat has become a supergroup with another id.'],
  [
    400,
    /failed to get http url content|wrong type of the web page|wrong file identifier|webpage_/i,
    'provider_error',
    'Telegram could not fetch the file from its address, or Telegram does not accept its type or size.',
  ],
  [400, /too long/i, 'provider_error', 'The text is longer than Telegram allows.'],
]

const descriptionLengthMax = 300

export function outcomeOf(answer: Exclude<ApiAnswer, { kind: 'ok' }>): Outcome {
  if (answer.kind !== 'error')
    return answer.kind === 'unsent'
      ? { kind: 'unavailable', provider_code: answer.code, message: `Telegram could not be reached: ${answer.message}` }
      : { kind: 'unknown', message: `Telegram may have accepted the message: ${answer.message}` }
  const { code: status, description, retry_after_ms } = answer
  const provider_code = String(status)
  if (status === 429)
    // bot and chats are limited, and the answer does not say which
    // (https://core.telegram.org/bots/faq#my-bot-is-hitting-limits-how-do-i-avoid-this)
    return {
      kind: 'throttled',
      limit_on: 'unspecified',
      provider_code,
      message: 'Too many messages at once.',
      ...(retry_after_ms === undefined ? {} : { retry_after_ms }),
    }
  if (status >= 500) return { kind: 'unavailable', provider_code, message: 'Telegram is not available.' }
  const [, , code, sentence] =
    meanings.find(([of, words]) => of === status && words.test(description.replace(/^[A-Z][A-Za-z ]*: /, ''))) ?? []
  if (code === 'lost')
    return { kind: 'refused', code: 'channel_not_connected', provider_code, message: sentence!, channel_lost: true }
  return { kind: 'refused', code: code ?? 'provider_error', provider_code, message: sentence ?? sentenceOf(answer) }
}

/** Only short descriptions: a proxy may echo the request. */
export const sentenceOf = ({ code, description }: { readonly code: number; readonly description: string }): string =>
  description !== '' && description.length <= descriptionLengthMax && !/[\r\n]/.test(description)
    ? description
    : `Telegram refused with ${code}.`
