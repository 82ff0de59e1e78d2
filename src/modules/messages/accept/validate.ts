/** Checks of a message that need no database: shape, content for the channel, recipient (behaviour: messages 3). */
import { validateContent } from '../../../api/content/validate.ts'
import type { Detail } from '../../../api/errors.ts'
import { metadataFailures } from '../../../api/body-sizes.ts'
import { limits } from '../../../api/limits.ts'
import { Problem, throwFailures } from '../../../api/problem.ts'
import { isPhoneChannel } from '../../../api/resources/channel.ts'
import { type Priority, SendMessage } from '../../../api/resources/message.ts'
import { parseStrictDateTime } from '../../../api/times.ts'
import { validator } from '../../../api/validation.ts'
import { isObject } from '../../../lib/json.ts'
import { didYouMean } from '../../../lib/text.ts'
import { UnfitItem } from '../../../platform/http/body.ts'
import type { ChannelRow } from '../../channels/service.ts'

/** The body of `POST /v1/messages`. */
export interface MessageRequest {
  channel: string
  to: string
  type: string
  reference?: string | null
  metadata?: Record<string, unknown> | null
  reply_to?: string | null
  send_at?: string | null
  expires_in_seconds?: number | null
  priority?: Priority | null
  [content: string]: unknown
}

const shapeFailures = validator(SendMessage)
const e164 = /^\+[1-9]\d{6,14}$/
const zeroPadded = /^-?0\d+$/
const businessScopedId = /^[A-Z]{2}\.[A-Za-z0-9.]{1,128}$/

/** All failures at once. */
export function parseMessage(written: unknown, now_ms: number): MessageRequest {
  if (written instanceof UnfitItem) throw Problem.invalid(written.details)
  if (written === null || typeof written !== 'object' || Array.isArray(written)) {
    throw new Problem(
      'parameter_invalid',
      'A message must be a JSON object with `channel`, `to`, `type` and the content under the key named by `type`.',
    )
  }
  const failures = shapeFailures(written)
  const request = written as MessageRequest
  if (isObject(request.metadata)) failures.push(...metadataFailures(request.metadata))
  if (typeof request.send_at === 'string' && !failures.some((failure) => failure.param === 'send_at'))
    failures.push(...sendAtFailures(request.send_at, now_ms))
  throwFailures(failures)
  return request
}

function sendAtFailures(send_at: string, now_ms: number): Detail[] {
  const at = parseStrictDateTime(send_at)
  if (at === null || Date.parse(at) - now_ms <= limits.send_at_ahead_ms_max) return []
  return [{ param: 'send_at', code: 'invalid_value', message: '`send_at` may lie at most 35 days ahead.' }]
}

/** Throws `unsupported_message_type`. */
export function validateForChannel(channel: ChannelRow, request: MessageRequest): Detail[] {
  const { type, to } = request
  if (!channel.capabilities.includes(type)) throw unsupported(channel, type)
  return [
    ...validateContent(type, request[type], { channel_type: channel.type }),
    ...recipientFailures(channel.type, to),
  ]
}

function unsupported({ id, capabilities }: ChannelRow, type: string): Problem {
  return new Problem(
    'unsupported_message_type',
    `The channel ${id} cannot send ${JSON.stringify(type.slice(0, 80))}. Its capabilities are ${capabilities.join(', ')}.${didYouMean(type, capabilities)}`,
    { param: 'type' },
  )
}

/** (behaviour: messages 4) */
export function recipientFailures(channel_type: string, to: string, param = 'to'): Detail[] {
  if (channel_type === 'telegram' && zeroPadded.test(to)) {
    // Telegram may read it as the chat without the zeros, bypassing that chat's opt-out
    return [
      {
        param,
        code: 'invalid_value',
        message: `\`${param}\` must be the id of a chat without zeros before it, as in 123456789.`,
      },
    ]
  }
  if (!isPhoneChannel(channel_type) || e164.test(to) || (channel_type === 'whatsapp' && businessScopedId.test(to)))
    return []
  return [
    {
      param,
      code: 'invalid_format',
      message: `\`${param}\` must be an E.164 phone number: a plus sign, the country code and the number, as in +4915112345678.`,
    },
  ]
}
