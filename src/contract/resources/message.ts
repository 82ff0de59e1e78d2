/** The Message of the interface, its history and its attempts (decisions 4 add fields). */
import { Type, type Static } from 'typebox'
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
type MessageError = Static<typeof MessageError>
/** As it is kept: without a provider's code where there is none. */
export type KeptError = Omit<MessageError, 'provider_code'> & { readonly provider_code: string | null }

/** The error as the interface shows it, whose `provider_code` is always a string. */
export const errorObject = (error: KeptError | null): MessageError | null =>
  error === null ? null : { code: error.code, message: error.message, provider_code: error.provider_code ?? '' }

export const Billing = Type.Object({
  source: Type.String({ enum: ['package', 'wallet'] }),
  amount_micros: Type.Integer({ description: 'Micro-USD; 0 when paid by a package credit.' }),
  package_grant_id: NullableString(),
  refunded: Type.Boolean(),
})

export const Message = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal('message'),
    mode: Type.String({ enum: ['live', 'test'] }),
    channel_id: Type.String(),
    channel_type: Type.String(),
    direction: Type.String({ enum: ['outbound', 'inbound'] }),
    to: Type.String(),
    from: Type.String(),
    type: Type.String(),
    content: AnyObject({ description: 'The content object, under the key named by `type`.' }),
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

/** A row of `messages`: the Message with its nested objects flat. */
export interface MessageRow {
  account_id: string
  mode: 'live' | 'test'
  id: string
  channel_id: string
  channel_type: string
  direction: 'outbound' | 'inbound'
  to: string
  from: string
  type: string
  /** What stands under the key named by `type`. */
  content: unknown
  status: MessageStatus
  error: KeptError | null
  reference: string | null
  metadata: Record<string, unknown>
  billing_source: 'package' | 'wallet'
  amount_micros: number
  package_grant_id: string | null
  refunded: boolean
  contact_id: string | null
  origin_type: OriginType
  origin_id: string | null
  /** By which its submitter knows it, where it must become exactly one message; never shown. */
  submission_key: string | null
  reply_to: string | null
  segments: number | null
  encoding: 'gsm7' | 'ucs2' | null
  priority: Priority
  send_at: string | null
  expires_at: string | null
  created_at: string
  updated_at: string
  sending_at: string | null
  sent_at: string | null
  delivered_at: string | null
  read_at: string | null
  failed_at: string | null
}

/** The Message of a row, as the interface shows it. */
export function messageObject(row: MessageRow): Message {
  return {
    id: row.id,
    object: 'message',
    mode: row.mode,
    channel_id: row.channel_id,
    channel_type: row.channel_type,
    direction: row.direction,
    to: row.to,
    from: row.from,
    type: row.type,
    content: { [row.type]: row.content },
    status: row.status,
    error: errorObject(row.error),
    reference: row.reference,
    metadata: row.metadata,
    billing: { source: row.billing_source, amount_micros: row.amount_micros, package_grant_id: row.package_grant_id, refunded: row.refunded },
    sender: null,
    contact_id: row.contact_id,
    origin: { type: row.origin_type, id: row.origin_id },
    reply_to: row.reply_to,
    segments: row.segments,
    encoding: row.encoding,
    priority: row.priority,
    send_at: row.send_at,
    expires_at: row.expires_at,
    created_at: row.created_at,
    updated_at: row.updated_at,
    sent_at: row.sent_at,
    delivered_at: row.delivered_at,
    read_at: row.read_at,
    failed_at: row.failed_at,
  }
}

/** The Message as it was when it was accepted: what a replayed 202 answers. */
export function acceptedObject(row: MessageRow): Message {
  return messageObject({
    ...row,
    status: 'queued',
    error: null,
    refunded: false,
    updated_at: row.created_at,
    sent_at: null,
    delivered_at: null,
    read_at: null,
    failed_at: null,
  })
}

/** The body of `POST /v1/messages`, for the documents; the accepting door checks it in two rounds (decisions 1, "Validation"). */
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
  object: Type.Literal('message_event'),
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
  object: Type.Literal('message_attempt'),
  number: Type.Integer(),
  provider: Type.String(),
  outcome: Type.String({ enum: [...attemptOutcomes] }),
  provider_code: NullableString(),
  provider_message: NullableString(),
  duration_ms: Type.Integer(),
  created_at: Timestamp(),
})
