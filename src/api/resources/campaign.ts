/** Campaigns and their recipients (behaviour: campaigns 1). */
import { Type, type Static } from 'typebox'
import { Mode, deletedOf, objectName } from './shared-fields.ts'
import { errorCodes } from '../errors.ts'
import { channelTypes } from './channel.ts'
import { MessageError, messageErrorCodes } from './message.ts'
import { AnyObject, NullableInteger, NullableString, NullableTimestamp, Timestamp } from './nullable.ts'

export const campaignStatuses = [
  'draft',
  'scheduled',
  'queued',
  'sending',
  'paused',
  'completed',
  'cancelled',
  'failed',
] as const
export type CampaignStatus = (typeof campaignStatuses)[number]
export const pauseReasons = [
  'user',
  'insufficient_balance',
  'channel_disconnected',
  'template_paused',
  'messaging_limit_reached',
] as const
export type PauseReason = (typeof pauseReasons)[number]
export const failureReasons = [
  'channel_deleted',
  'channel_suspended',
  'audience_missing',
  'audience_too_large',
  'template_not_approved',
  'account_suspended',
  'internal_error',
] as const
export type FailureReason = (typeof failureReasons)[number]
export const recipientStatuses = ['pending', 'sent', 'delivered', 'read', 'failed', 'skipped', 'cancelled'] as const
export type RecipientStatus = (typeof recipientStatuses)[number]
export const skipReasons = [
  'unsubscribed',
  'not_opted_in',
  'no_identifier',
  'invalid_identifier',
  'duplicate',
  'contact_deleted',
] as const
export type SkipReason = (typeof skipReasons)[number]
const audienceTypes = ['segment', 'list', 'tags', 'adhoc'] as const
export type AudienceType = (typeof audienceTypes)[number]

/** Lengths count Unicode code points. */
export const campaignLimits = {
  name_length_max: 120,
  adhoc_recipients_max: 10_000,
  to_length_max: 255,
  name_part_length_max: 100,
  audience_tags_max: 20,
  throttle_max: 100,
  throttle_default: 20,
} as const

const Recipient = Type.Object(
  {
    to: Type.String({
      minLength: 1,
      maxLength: campaignLimits.to_length_max,
      description: 'As `to` of a message on this channel.',
    }),
    first_name: Type.Optional(
      NullableString({
        maxLength: campaignLimits.name_part_length_max,
        description: 'Goes before the name of the contact, as `{{first_name}}`.',
      }),
    ),
    last_name: Type.Optional(
      NullableString({
        maxLength: campaignLimits.name_part_length_max,
        description: 'Goes before the name of the contact, as `{{last_name}}`.',
      }),
    ),
    variables: Type.Optional(
      Type.Unsafe<Record<string, unknown> | null>({
        type: ['object', 'null'],
        additionalProperties: { type: ['string', 'number', 'boolean', 'null'] },
        description: 'Merge tag name to value: usable as `{{<key>}}` and as `{{attributes.<key>}}`.',
      }),
    ),
  },
  { description: 'Somebody of an ad-hoc audience.' },
)
export type AdhocRecipient = Static<typeof Recipient>

/** The campaigns module checks which fields `type` requires. null means absent. */
const audienceType = Type.String({
  enum: [...audienceTypes],
  description: 'Which of the other fields count; those of other variants are left out.',
})
const recipientsBounds = { minItems: 1, maxItems: campaignLimits.adhoc_recipients_max }
const audienceFields = {
  type: audienceType,
  segment_id: Type.Optional(
    NullableString({ description: '`segment`: required. Its rules are evaluated when sending starts.' }),
  ),
  list_id: Type.Optional(NullableString({ description: '`list`: required.' })),
  tags: Type.Optional(
    Type.Unsafe<string[] | null>({
      type: ['array', 'null'],
      items: { type: 'string', minLength: 1 },
      minItems: 1,
      maxItems: campaignLimits.audience_tags_max,
      description: '`tags`: required; 1 to 20, as contacts have them.',
    }),
  ),
  match: Type.Optional(
    NullableString({
      enum: ['any', 'all', null],
      default: 'any',
      description: '`tags`: contacts with any of them, or with all.',
    }),
  ),
  recipients: Type.Optional(
    Type.Unsafe<AdhocRecipient[] | null>({
      type: ['array', 'null'],
      items: Recipient,
      ...recipientsBounds,
      description: '`adhoc`: required.',
    }),
  ),
  save_as_contacts: Type.Optional(
    Type.Unsafe<boolean | null>({
      type: ['boolean', 'null'],
      default: false,
      description: '`adhoc`: the recipients become contacts when sending starts (phone channels).',
    }),
  ),
}
const AudienceRequest = Type.Object(audienceFields, {
  $id: 'CampaignAudienceRequest',
  description: 'The recipients.',
})
export type AudienceRequest = Static<typeof AudienceRequest>
const Audience = Type.Object(
  {
    type: audienceType,
    segment_id: Type.Optional(
      Type.String({ description: '`segment`: the segment (`seg_`); its rules are evaluated when sending starts.' }),
    ),
    list_id: Type.Optional(Type.String({ description: '`list`: the contact list (`lst_`).' })),
    tags: Type.Optional(Type.Array(Type.String(), { description: '`tags`: what contacts are tagged with.' })),
    match: Type.Optional(
      Type.String({ enum: ['any', 'all'], description: '`tags`: contacts with any of them, or with all.' }),
    ),
    recipients: Type.Optional(Type.Array(Recipient, { description: '`adhoc`: left out of lists and events.' })),
    recipients_count: Type.Optional(Type.Integer({ description: '`adhoc`: how many recipients were given.' })),
    save_as_contacts: Type.Optional(
      Type.Boolean({ description: '`adhoc`: whether the recipients become contacts when sending starts.' }),
    ),
  },
  { $id: 'CampaignAudience', description: 'The recipients.' },
)
export type Audience = Static<typeof Audience>

const time = { format: 'wall-time', examples: ['09:00'] }
const windowFields = {
  start: Type.String({ ...time, description: 'HH:MM, inclusive.' }),
  end: Type.String({ ...time, description: 'HH:MM, exclusive.' }),
}
const SendWindow = Type.Object(windowFields)
export type SendWindow = Static<typeof SendWindow>
const NullableWindow = Type.Unsafe<SendWindow | null>({
  ...SendWindow,
  type: ['object', 'null'],
  description:
    'Nothing is sent outside of it. An end that is not after the start lies on the next day; an equal one means the whole day.',
})
const ScheduleRequest = Type.Object(
  {
    send_at: Type.Optional(
      NullableString({
        format: 'date-time',
        description: 'null starts when launched; so does a time that has passed.',
      }),
    ),
    timezone: Type.Optional(
      NullableString({
        format: 'timezone',
        description: 'IANA name. Default: that of the account.',
        examples: ['Europe/Vienna'],
      }),
    ),
    send_window: Type.Optional(NullableWindow),
    recipient_timezone: Type.Optional(
      Type.Boolean({
        default: false,
        description: "The window counts in each contact's own time zone, where it has one.",
      }),
    ),
  },
  { $id: 'CampaignScheduleRequest' },
)
export type ScheduleRequest = Static<typeof ScheduleRequest>
const Schedule = Type.Object(
  {
    send_at: NullableTimestamp({ description: 'Nothing is sent before; null starts at launch.' }),
    timezone: Type.String({ description: 'IANA name of the zone that `send_window` counts in.' }),
    send_window: NullableWindow,
    recipient_timezone: Type.Boolean({
      description: "Whether the window counts in each contact's own time zone, where it has one.",
    }),
  },
  { $id: 'CampaignSchedule' },
)
export type Schedule = Static<typeof Schedule>

const message = {
  description:
    '`type` and the content object under the key named by it. Every string of it may hold merge tags: `{{first_name}}`, `{{last_name}}`, `{{full_name}}`, `{{phone}}`, `{{email}}`, `{{locale}}`, `{{attributes.<key>}}`.',
  examples: [{ type: 'text', text: { body: 'Hello {{first_name}}, our spring sale has begun.' } }],
}
const CampaignMessage = Type.Object(
  { type: Type.String({ description: "One of the channel's capabilities." }) },
  { ...message, $id: 'CampaignMessage', additionalProperties: true },
)
export type CampaignMessage = { readonly type: string } & Readonly<Record<string, unknown>>

const fallbacks = (options: object) =>
  Type.Unsafe<Record<string, string>>({
    type: 'object',
    additionalProperties: { type: 'string' },
    description: 'Merge tag name, without braces, to the text for recipients without a value.',
    ...options,
  })

const CampaignCounters = Type.Object({
  total: Type.Integer({
    description: 'Recipients of the snapshot: `queued` + `sent` + `failed` + `skipped` + `cancelled`.',
  }),
  queued: Type.Integer({ description: 'Not sent yet.' }),
  sent: Type.Integer({ description: 'Accepted by the provider and not failed; includes delivered and read messages.' }),
  delivered: Type.Integer({ description: 'Those read count too.' }),
  read: Type.Integer({ description: 'Read, where the channel reports it.' }),
  failed: Type.Integer({ description: 'Their messages failed, and were refunded.' }),
  skipped: Type.Integer({ description: 'Not sent to; see `skip_reasons`.' }),
  cancelled: Type.Integer({ description: 'Not written to because the campaign was cancelled or failed.' }),
  skip_reasons: Type.Unsafe<Record<string, number>>({
    type: 'object',
    additionalProperties: { type: 'integer' },
    description: 'Reason to recipients.',
  }),
})
export type CampaignCounters = Static<typeof CampaignCounters>

const CampaignCost = Type.Object({
  currency: Type.Literal('USD', { description: 'Amounts are in micro-USD: 1,000,000 are one US dollar.' }),
  estimated_wallet_micros: NullableInteger({
    description: 'Micro-USD; null for a segment that has not been looked up yet.',
  }),
  estimated_credits: NullableInteger({
    description: 'Package credits; null for a segment that has not been looked up yet.',
  }),
  wallet_micros: Type.Integer({ description: 'Micro-USD charged so far, minus refunds.' }),
  package_credits: Type.Integer({ description: 'Package credits used so far, minus refunds.' }),
})
export type CampaignCost = Static<typeof CampaignCost>

export const Campaign = Type.Object(
  {
    id: Type.String({ description: 'Prefix `cmp_`.' }),
    object: objectName('campaign'),
    mode: Mode,
    name: Type.String({ description: 'For people: 1 to 120 characters.' }),
    channel_id: Type.String({ description: 'The channel (`ch_`) that it is sent on.' }),
    channel_type: Type.String({ enum: [...channelTypes], description: 'The kind of that channel.' }),
    status: Type.String({
      enum: [...campaignStatuses],
      description:
        '`draft` may be changed and deleted. `scheduled` waits for `send_at`, `queued` for its turn. `sending` and `paused` may be cancelled. `completed`, `cancelled` and `failed` stay as they are.',
    }),
    pause_reason: NullableString({
      enum: [...pauseReasons, null],
      description:
        'Why it is `paused`, else null. `channel_disconnected`: its channel is disabled, pending or without its link.',
    }),
    failure_reason: NullableString({
      enum: [...failureReasons, null],
      description: 'Why it is `failed`, otherwise null. Remaining recipients are `cancelled`.',
    }),
    audience: Audience,
    message: AnyObject({ ...message, $id: 'CampaignMessage' }),
    merge_fallbacks: fallbacks({}),
    require_opt_in: Type.Boolean({
      description: 'Whether only contacts with the consent `opted_in` for the channel type receive it.',
    }),
    consent_declared: Type.Boolean({
      description: 'Whether it was declared that the recipients have agreed; a launch needs it.',
    }),
    schedule: Schedule,
    throttle_per_second: Type.Integer({
      description: "Messages a second at most. Where the channel's own rate is lower, that counts.",
    }),
    counters: Type.Object(CampaignCounters.properties, {
      description: 'Recipients by status; 0 before the snapshot.',
    }),
    cost: Type.Object(CampaignCost.properties, {
      description: 'The expected cost, and the cost so far.',
    }),
    created_at: Timestamp(),
    launched_at: NullableTimestamp(),
    started_at: NullableTimestamp(),
    paused_at: NullableTimestamp(),
    completed_at: NullableTimestamp(),
    cancelled_at: NullableTimestamp(),
  },
  { $id: 'Campaign', description: 'One message to many.' },
)
export type Campaign = Static<typeof Campaign>

const name = Type.String({
  minLength: 1,
  maxLength: campaignLimits.name_length_max,
  description: 'For people; need not be unique.',
})
const optional = {
  merge_fallbacks: Type.Optional(fallbacks({ type: ['object', 'null'] })),
  require_opt_in: Type.Optional(
    Type.Boolean({ default: false, description: 'Only contacts whose consent for the channel type is `opted_in`.' }),
  ),
  consent_declared: Type.Optional(
    Type.Boolean({
      default: false,
      description: 'Confirms that the recipients consented; may also be sent at launch.',
    }),
  ),
  schedule: Type.Optional(
    Type.Unsafe<ScheduleRequest | null>({
      ...ScheduleRequest,
      type: ['object', 'null'],
      description: 'When it is sent; null: as soon as it is launched.',
    }),
  ),
  throttle_per_second: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: campaignLimits.throttle_max,
      default: campaignLimits.throttle_default,
      description: 'Messages per second, as requested. A lower rate of the channel takes precedence.',
    }),
  ),
}
const launching = {
  allow_insufficient_funds: Type.Optional(
    Type.Boolean({
      default: false,
      description:
        'Launch although credits and wallet do not cover all recipients: the campaign pauses when they run out.',
    }),
  ),
}

export const CampaignCreation = Type.Object(
  {
    name,
    channel: Type.String({ description: 'Channel id; with a test key a sandbox channel such as `ch_test_whatsapp`.' }),
    audience: AudienceRequest,
    message: CampaignMessage,
    ...optional,
    launch: Type.Optional(
      Type.Boolean({
        default: false,
        description: 'Create and launch in one call; nothing is stored if the launch is refused.',
      }),
    ),
    ...launching,
  },
  { $id: 'CampaignCreation', description: 'A new campaign.' },
)
export type CampaignCreation = Static<typeof CampaignCreation>
export const CampaignUpdate = Type.Object(
  {
    name: Type.Optional(name),
    channel: Type.Optional(
      Type.String({ description: 'Channel id; the message is checked against what that channel can send.' }),
    ),
    audience: Type.Optional(AudienceRequest),
    message: Type.Optional(CampaignMessage),
    ...optional,
  },
  {
    $id: 'CampaignUpdate',
    description: 'Changes of a draft; absent fields stay, objects are replaced completely.',
    examples: [{ name: 'Spring sale, second try', merge_fallbacks: { first_name: 'friend' } }],
  },
)
export type CampaignUpdate = Static<typeof CampaignUpdate>
export const CampaignLaunch = Type.Object(
  { consent_declared: Type.Optional(Type.Boolean({ description: 'Replaces that of the campaign.' })), ...launching },
  { $id: 'CampaignLaunch', examples: [{ consent_declared: true }] },
)
export type CampaignLaunch = Static<typeof CampaignLaunch>
export const CampaignTest = Type.Object(
  {
    to: Type.String({
      minLength: 1,
      maxLength: campaignLimits.to_length_max,
      description: 'The recipient; E.164 on phone channels.',
    }),
  },
  // unknown fields are reported, and are part of the Idempotency-Key's fingerprint
  { $id: 'CampaignTest', additionalProperties: true },
)
export const CampaignDuplication = Type.Object(
  {
    name: Type.Optional(name),
    recipients: Type.Optional(
      Type.String({
        enum: ['all', 'failed'],
        default: 'all',
        description: '`failed`: an ad-hoc audience of those alone to whom it failed.',
      }),
    ),
    starting_after: Type.Optional(
      Type.String({
        pattern: '^[0-9]{1,9}$',
        examples: ['0'],
        description:
          '`failed`: the first 10,000 of them behind the recipient with this id, for those who are more than an ad-hoc audience may have; `0` is before the first.',
      }),
    ),
  },
  { $id: 'CampaignDuplication', examples: [{ name: 'Summer sale' }] },
)
export type CampaignDuplication = Static<typeof CampaignDuplication>
export const CampaignDeleted = deletedOf('campaign')

const RecipientError = Type.Object({
  ...MessageError.properties,
  code: Type.String({
    enum: [...new Set([...messageErrorCodes, ...errorCodes])],
    description:
      'Stable, to branch on: as of a failed message, or the error code of the refusal where the message was not taken. More may be added.',
  }),
})

export const CampaignRecipient = Type.Object(
  {
    id: Type.String({ description: 'A number, counted from 1 in the order of the snapshot.', examples: ['1'] }),
    object: objectName('campaign_recipient'),
    contact_id: NullableString({ description: 'The contact (`ct_`); null for an ad-hoc recipient without a contact.' }),
    to: Type.String({ description: 'Empty where the contact has no identifier on the channel.' }),
    name: NullableString({ description: 'The full name that merge tags fill in; null where none is known.' }),
    status: Type.String({
      enum: [...recipientStatuses],
      description: '`pending`: not sent yet. `skipped`: see `skip_reason`. The others as of the message.',
    }),
    skip_reason: NullableString({
      enum: [...skipReasons, null],
      description: 'Why a recipient was `skipped`, otherwise null.',
    }),
    message_id: NullableString({ description: 'The message (`msg_`) to them; null as long as there is none.' }),
    error: Type.Unsafe<Static<typeof MessageError> | null>({
      ...RecipientError,
      type: ['object', 'null'],
      description: 'Why it failed; null where it did not.',
    }),
    variables: AnyObject({ description: 'Those of an ad-hoc recipient.' }),
    sent_at: NullableTimestamp(),
    delivered_at: NullableTimestamp(),
    read_at: NullableTimestamp(),
    failed_at: NullableTimestamp(),
  },
  { $id: 'CampaignRecipient', description: 'A recipient of a campaign.' },
)
export type CampaignRecipient = Static<typeof CampaignRecipient>

export const CampaignRehearsal = Type.Object(
  {
    object: objectName('campaign_rehearsal'),
    campaign_id: Type.String({ description: 'The campaign (`cmp_`) that was rehearsed.' }),
    recipients_count: Type.Integer({ description: 'Once the snapshot is taken: those who still wait.' }),
    would_send: Type.Integer({ description: 'Recipients that would receive a message now.' }),
    would_skip: Type.Unsafe<Record<string, number>>({
      type: 'object',
      additionalProperties: { type: 'integer' },
      description:
        'Reason to recipients: a `skip_reason`, or the code of the refusal by which a message of theirs would fail.',
    }),
    cost: Type.Object(
      {
        package_credits: Type.Integer({ description: 'Of the messages that are not charged yet.' }),
        wallet_micros: Type.Integer({ description: 'Micro-USD; whether or not the wallet holds as much.' }),
      },
      { description: 'The expected cost.' },
    ),
    starts_at: NullableTimestamp({ description: 'When the first message would be sent; null if there is none.' }),
    ends_at: NullableTimestamp({
      description:
        "When the last one would, by throttle, the channel's rate and windows; null where none would, or only in years.",
    }),
    checks: Type.Array(
      Type.Object({
        code: Type.String({
          enum: [...errorCodes],
          description: 'The error code of a launch while this check fails.',
          examples: ['insufficient_balance'],
        }),
        ok: Type.Boolean({ description: 'Whether it passes now.' }),
        message: Type.String({ description: 'The same for people.' }),
      }),
      {
        description: 'All launch checks, in their order; once launched without that of the status.',
      },
    ),
    samples: Type.Array(
      Type.Object({
        to: Type.String({ description: 'The expected recipients.' }),
        message: AnyObject({
          description: '`type` and the content object under the key named by it, merge tags filled in.',
        }),
      }),
      { description: 'The first three that would be sent, rendered.' },
    ),
  },
  { $id: 'CampaignRehearsal', description: 'The result of a launch at this time.' },
)
export type CampaignRehearsal = Static<typeof CampaignRehearsal>
