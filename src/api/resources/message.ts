/** The Message, its history and its attempts (behaviour: messages 1, 9). */
import { Type, type Static } from 'typebox'
import { Mode, objectName } from './shared-fields.ts'
import { channelTypes } from './channel.ts'
import { limits } from '../limits.ts'
import { AnyObject, NullableInteger, NullableString, NullableTimestamp, Timestamp } from './nullable.ts'

export const messageStatuses = ['queued', 'sending', 'sent', 'delivered', 'read', 'failed', 'received'] as const
export type MessageStatus = (typeof messageStatuses)[number]
export const priorities = ['high', 'normal', 'low'] as const
export type Priority = (typeof priorities)[number]
export const ranks: Readonly<Record<Priority, 0 | 1 | 2>> = { high: 0, normal: 1, low: 2 }
export const originTypes = ['api', 'campaign', 'automation', 'console', 'inbound'] as const
export type OriginType = (typeof originTypes)[number]

/** Codes of the error catalogue, and `provider_error`, `expired`, `cancelled`. */
export const messageErrorCodes = [
  'provider_error',
  'channel_not_connected',
  'recipient_blocked',
  'policy_violation',
  'upstream_rejected',
  'internal_error',
  'expired',
  'cancelled',
] as const
export type MessageErrorCode = (typeof messageErrorCodes)[number]

export const MessageError = Type.Object({
  code: Type.String({
    enum: [...messageErrorCodes],
    description:
      'Stable, to branch on: an error code, or `provider_error`, `expired` or `cancelled`. More may be added.',
  }),
  message: Type.String({ description: 'For people; the wording may change.' }),
  provider_code: Type.String({
    description: "The provider's own code; empty where the failure is not the provider's.",
  }),
})
export type MessageError = Static<typeof MessageError>
export const Billing = Type.Object({
  source: Type.String({
    enum: ['package', 'wallet'],
    description: '`package`: paid with a credit of a package; otherwise from the wallet.',
  }),
  amount_micros: Type.Integer({ description: 'Micro-USD; 0 when paid by a package credit.' }),
  package_grant_id: NullableString({
    description: 'The package (`grant_`) that paid for it; null if the wallet did.',
  }),
  refunded: Type.Boolean({ description: 'True once the charge was refunded because the message failed.' }),
})

export const Message = Type.Object(
  {
    id: Type.String({ description: 'Prefix `msg_`.' }),
    object: objectName('message'),
    mode: Mode,
    channel_id: Type.String({ description: 'The channel (`ch_`).' }),
    channel_type: Type.String({ enum: [...channelTypes], description: 'The kind of that channel.' }),
    direction: Type.String({
      enum: ['outbound', 'inbound'],
      description: '`outbound`: sent by the account. `inbound`: written to it, with status `received`.',
    }),
    to: Type.String({
      description: 'The recipient: E.164 on phone channels. For inbound messages the identifier of the channel.',
    }),
    from: Type.String({
      description: 'The sender: the identifier of the channel, or for inbound messages the person.',
    }),
    type: Type.String({ examples: ['text'] }),
    content: AnyObject({
      description:
        'The content object, under the key named by `type`. Inbound content may exceed the limits for sent content.',
    }),
    status: Type.String({
      enum: [...messageStatuses],
      description:
        '`queued`: stored and charged. `sending`: a send attempt is in progress. `sent`: accepted by the provider. `delivered` and `read`: if the channel reports it. `failed`: see `error`; refunded. `received`: inbound.',
    }),
    error: Type.Unsafe<Static<typeof MessageError> | null>({
      ...MessageError,
      type: ['object', 'null'],
      description: 'Why it failed; null where it did not.',
    }),
    reference: NullableString({ description: 'Your own name of it, as sent; messages can be listed by it.' }),
    metadata: AnyObject({ description: 'Your own data, returned unchanged.' }),
    billing: Type.Object(Billing.properties, {
      description: 'The charge. Test mode and inbound messages are free.',
    }),
    sender: Type.Unsafe<Record<string, unknown> | null>({
      type: ['object', 'null'],
      additionalProperties: true,
      description: 'Always null.',
    }),
    contact_id: NullableString({
      description: 'The contact (`ct_`) of the recipient or sender; null if there is none.',
    }),
    origin: Type.Object(
      {
        type: Type.String({
          enum: [...originTypes],
          description: 'The origin: a request, a campaign, an automation, or an inbound message.',
        }),
        id: NullableString({
          description: 'The key (`key_`), campaign (`cmp_`) or automation (`aut_`); null where there is none.',
        }),
      },
      { description: 'The origin.' },
    ),
    reply_to: NullableString({ description: 'The message (`msg_`) that it answers; null where it answers none.' }),
    segments: NullableInteger({ description: 'On sms the number of parts; otherwise null.' }),
    encoding: NullableString({
      enum: ['gsm7', 'ucs2', null],
      description: 'On sms: `gsm7` has 160 characters in one part, `ucs2` 70. Elsewhere null.',
    }),
    priority: Type.String({ enum: [...priorities], description: 'Priority among messages queued on the channel.' }),
    send_at: NullableTimestamp({ description: 'The message is not sent before this time.' }),
    expires_at: NullableTimestamp({
      description: 'The message fails with `expired` and is refunded if it is not sent by this time.',
    }),
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

/** For the documents; validation has two rounds (behaviour: messages 3). */
export const SendMessage = Type.Object(
  {
    channel: Type.String({ description: 'Channel id; with a test key a sandbox channel such as `ch_test_whatsapp`.' }),
    to: Type.String({
      minLength: 1,
      maxLength: 255,
      description: 'The recipient on the channel: E.164 on phone channels.',
    }),
    type: Type.String({
      description: "One of the channel's capabilities. The content object stands under the key of this name.",
    }),
    reference: Type.Optional(
      NullableString({
        maxLength: limits.reference_length_max,
        description: 'Your own name of it, to list messages by; need not be unique.',
      }),
    ),
    metadata: Type.Optional(
      Type.Unsafe<Record<string, unknown> | null>({
        type: ['object', 'null'],
        additionalProperties: true,
        description: 'Up to 16 KB, returned unchanged.',
      }),
    ),
    reply_to: Type.Optional(NullableString({ description: 'The message to reply to.' })),
    send_at: Type.Optional(
      NullableString({
        format: 'date-time',
        description: 'Up to 35 days ahead. The message stays `queued` until then.',
      }),
    ),
    expires_in_seconds: Type.Optional(
      NullableInteger({
        minimum: limits.expires_in_seconds_min,
        maximum: limits.expires_in_seconds_max,
        description:
          'The message fails with `expired` and is refunded if it is not sent within this many seconds, counted from `send_at` if set.',
      }),
    ),
    priority: Type.Optional(
      NullableString({
        enum: [...priorities, null],
        default: 'normal',
        description: 'Priority among messages queued on the channel.',
      }),
    ),
  },
  {
    $id: 'SendMessage',
    additionalProperties: true,
    description: 'A message to send, with its content object under the key named by `type`.',
  },
)

export const MessageHistoryItem = Type.Object({
  id: Type.String({ description: 'Prefix `mev_`.' }),
  object: objectName('message_event'),
  message_id: Type.String({ description: 'The message (`msg_`) whose history it is.' }),
  type: Type.String({
    enum: messageStatuses.map((status) => `message.${status}`),
    description: 'The type: `message.` and the status.',
  }),
  status: Type.String({ enum: [...messageStatuses], description: 'The status that it had from then on.' }),
  error: Type.Unsafe<Static<typeof MessageError> | null>({
    ...MessageError,
    type: ['object', 'null'],
    description: 'Why it failed; null where it did not.',
  }),
  event_id: NullableString({ description: 'The public event of this change, where there is one.' }),
  created_at: Timestamp(),
})
export type MessageHistoryItem = Static<typeof MessageHistoryItem>

export const attemptOutcomes = ['accepted', 'refused', 'throttled', 'unavailable', 'unknown'] as const
export const MessageAttempt = Type.Object({
  id: Type.String({ description: 'Prefix `att_`.' }),
  object: objectName('message_attempt'),
  number: Type.Integer({ description: 'Counted from 1.' }),
  provider: Type.String({ description: 'The provider that received it, such as `whatsapp_cloud` or `sandbox`.' }),
  outcome: Type.String({
    enum: [...attemptOutcomes],
    description:
      '`accepted`: the provider accepted the message. `refused`: it refused it permanently. `throttled` and `unavailable`: retried later. `unknown`: no response, so it may have been accepted.',
  }),
  provider_code: NullableString({ description: "The provider's own code; null where it gave none." }),
  provider_message: NullableString({ description: "The provider's message; null if there was none." }),
  duration_ms: Type.Integer({ description: 'Milliseconds until the provider answered or the attempt was abandoned.' }),
  created_at: Timestamp(),
})
