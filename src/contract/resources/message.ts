/** The Message, its history and its attempts (behaviour: messages 1, 9). */
import { Type, type Static } from 'typebox'
import { Mode, objectName } from './shared-fields.ts'
import { limits } from '../limits.ts'
import { AnyObject, NullableInteger, NullableString, NullableTimestamp, Timestamp } from './nullable.ts'

export const messageStatuses = ['queued', 'sending', 'sent', 'delivered', 'read', 'failed', 'received'] as const
export type MessageStatus = (typeof messageStatuses)[number]
export const priorities = ['high', 'normal', 'low'] as const
export type Priority = (typeof priorities)[number]
/** The order in which priorities go. */
export const ranks: Readonly<Record<Priority, 0 | 1 | 2>> = { high: 0, normal: 1, low: 2 }
export const originTypes = ['api', 'campaign', 'automation', 'console', 'inbound'] as const
export type OriginType = (typeof originTypes)[number]

/** Codes of `error` on a failed message: words of the error catalogue, and `provider_error`, `expired`, `cancelled`. */
export const messageErrorCodes = [
  'provider_error',
  'channel_not_connected',
  'recipient_blocked',
  'policy_violation',
  'upstream_rejected',
  'expired',
  'cancelled',
] as const
export type MessageErrorCode = (typeof messageErrorCodes)[number]

export const MessageError = Type.Object({
  code: Type.String({ examples: ['provider_error'] }),
  message: Type.String(),
  provider_code: Type.String({ description: "The provider's own code; empty where the failure is not the provider's." }),
})
export type MessageError = Static<typeof MessageError>
export const Billing = Type.Object({
  source: Type.String({ enum: ['package', 'wallet'] }),
  amount_micros: Type.Integer({ description: 'Micro-USD; 0 when paid by a package credit.' }),
  package_grant_id: NullableString(),
  refunded: Type.Boolean(),
})

export const Message = Type.Object(
  {
    id: Type.String(),
    object: objectName('message'),
    mode: Mode,
    channel_id: Type.String(),
    channel_type: Type.String(),
    direction: Type.String({ enum: ['outbound', 'inbound'] }),
    to: Type.String(),
    from: Type.String(),
    type: Type.String({ examples: ['text'] }),
    content: AnyObject({ description: 'The content object, under the key named by `type`. What comes in is not held to the limits of what is sent.' }),
    status: Type.String({ enum: [...messageStatuses] }),
    error: Type.Unsafe<Static<typeof MessageError> | null>({ ...MessageError, type: ['object', 'null'] }),
    reference: NullableString(),
    metadata: AnyObject(),
    billing: Billing,
    sender: Type.Unsafe<Record<string, unknown> | null>({ type: ['object', 'null'], additionalProperties: true }),
    contact_id: NullableString(),
    origin: Type.Object({ type: Type.String({ enum: [...originTypes] }), id: NullableString() }),
    reply_to: NullableString(),
    segments: NullableInteger({ description: 'On sms: the parts that the text takes.' }),
    encoding: NullableString({ enum: ['gsm7', 'ucs2', null] }),
    priority: Type.String({ enum: [...priorities] }),
    send_at: NullableTimestamp({ description: 'Not handed to the provider before then.' }),
    expires_at: NullableTimestamp({ description: 'Not handed over by then: failed, `expired`, refunded.' }),
    created_at: Timestamp(),
    updated_at: Timestamp(),
    sent_at: NullableTimestamp(),
    delivered_at: NullableTimestamp(),
    read_at: NullableTimestamp(),
    failed_at: NullableTimestamp(),
  },
  { $id: 'Message', description: 'A message, outbound or inbound.' },
)
export type Message = Static<typeof Message>

/** The body of `POST /v1/messages`, for the documents; it is checked in two rounds (behaviour: messages 3). */
export const SendMessage = Type.Object(
  {
    channel: Type.String({ description: 'Channel id; with a test key a sandbox channel such as `ch_test_whatsapp`.' }),
    to: Type.String({ minLength: 1, maxLength: 255, description: 'The recipient on the channel: E.164 on phone channels.' }),
    type: Type.String({ description: "One of the channel's capabilities. The content object stands under the key of this name." }),
    reference: Type.Optional(NullableString({ maxLength: limits.reference_length_max })),
    metadata: Type.Optional(
      Type.Unsafe<Record<string, unknown> | null>({ type: ['object', 'null'], additionalProperties: true, description: 'Up to 16 KB, returned unchanged.' }),
    ),
    reply_to: Type.Optional(NullableString({ description: 'The message that this one answers.' })),
    send_at: Type.Optional(NullableString({ format: 'date-time', description: 'Up to 35 days ahead. The message stays `queued` until then.' })),
    expires_in_seconds: Type.Optional(NullableInteger({ minimum: limits.expires_in_seconds_min, maximum: limits.expires_in_seconds_max })),
    priority: Type.Optional(NullableString({ enum: [...priorities, null], default: 'normal' })),
  },
  { $id: 'SendMessage', additionalProperties: true, description: 'A message to send, with its content object under the key named by `type`.' },
)

export const MessageHistoryItem = Type.Object({
  id: Type.String(),
  object: objectName('message_event'),
  message_id: Type.String(),
  type: Type.String({ examples: ['message.sent'] }),
  status: Type.String({ enum: [...messageStatuses] }),
  error: Type.Unsafe<Static<typeof MessageError> | null>({ ...MessageError, type: ['object', 'null'] }),
  event_id: NullableString({ description: 'The public event of this change, where there is one.' }),
  created_at: Timestamp(),
})
export type MessageHistoryItem = Static<typeof MessageHistoryItem>

export const attemptOutcomes = ['accepted', 'refused', 'throttled', 'unavailable', 'unknown'] as const
export const MessageAttempt = Type.Object({
  id: Type.String(),
  object: objectName('message_attempt'),
  number: Type.Integer(),
  provider: Type.String(),
  outcome: Type.String({ enum: [...attemptOutcomes] }),
  provider_code: NullableString(),
  provider_message: NullableString(),
  duration_ms: Type.Integer(),
  created_at: Timestamp(),
})
