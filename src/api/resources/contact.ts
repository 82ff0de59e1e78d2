/** Contacts, consent, tags, attributes and contact lists (behaviour: contacts 1, 5, 6). */
import { Type, type Static } from 'typebox'
import { Mode, deletedOf, objectName } from './shared-fields.ts'
import { channelTypes, reservedChannelTypes } from './channel.ts'
import { AnyObject, NullableString, NullableTimestamp, Timestamp } from './nullable.ts'

/** Built and reserved channel types. */
export const consentTypes: readonly string[] = [...channelTypes, ...reservedChannelTypes]
export const consentStatuses = ['opted_in', 'opted_out', 'unknown'] as const
export type ConsentStatus = (typeof consentStatuses)[number]
export const consentSources = [
  'api',
  'import',
  'console',
  'keyword',
  'integration',
  'provider',
  'campaign',
  'form',
] as const
export type ConsentSource = (typeof consentSources)[number]
export type AttributeValue = string | number | boolean
export type AttributeType = 'string' | 'number' | 'boolean'

/** (behaviour: contacts 1, 4). Lengths count Unicode code points. */
export const contactLimits = {
  name_length_max: 255,
  email_length_max: 254,
  external_id_length_max: 255,
  identifier_length_max: 255,
  tags_max: 50,
  tag_length_max: 64,
  attributes_max: 200,
  attribute_length_max: 4096,
  bulk_max: 1000,
  list_name_length_max: 120,
  description_length_max: 500,
  /** Default for tags and attributes. */
  vocabulary_page: 1000,
} as const

/** Plain JSON Schema, so that replies with any keys serialize. */
const mapOf = <T>(values: object, options: object) =>
  Type.Unsafe<Record<string, T>>({ type: 'object', additionalProperties: values, ...options })

export const ConsentState = Type.Object({
  status: Type.String({
    enum: [...consentStatuses],
    description: 'Nothing is sent to contacts that are `opted_out`.',
  }),
  source: Type.String({ enum: [...consentSources], description: 'The source of the last change.' }),
  updated_at: Timestamp({ description: 'When the change happened.' }),
  marketing: Type.Optional(
    Type.String({
      enum: [...consentStatuses],
      description:
        "Set if the recipient's choice concerns only marketing: `opted_out` blocks marketing templates only.",
    }),
  ),
})
export interface ConsentState {
  status: ConsentStatus
  source: ConsentSource
  updated_at: string
  marketing?: ConsentStatus
}

const Window = Type.Object({
  window_expires_at: NullableTimestamp({ description: 'Until when free-form messages may be sent; null when closed.' }),
})

export const Contact = Type.Object(
  {
    id: Type.String({ description: 'Prefix `ct_`.' }),
    object: objectName('contact'),
    mode: Mode,
    phone: NullableString({ description: 'E.164. Unique: national variants of one number count as the same.' }),
    email: NullableString({ description: 'Up to 254 characters; nothing is sent to it.' }),
    first_name: NullableString({ description: 'Given name; the merge tag `{{first_name}}`.' }),
    last_name: NullableString({ description: 'Family name; the merge tag `{{last_name}}`.' }),
    full_name: NullableString({ description: 'First and last name together; derived.' }),
    locale: NullableString({ description: 'BCP 47, such as `de-AT`.' }),
    timezone: NullableString({ description: 'IANA name, such as `Europe/Vienna`.' }),
    country: NullableString({ description: 'ISO 3166 alpha-2, derived from the phone number.' }),
    identifiers: mapOf<string>(
      { type: 'string' },
      {
        description:
          'Channel type to identifier, for kinds without phone numbers; under `whatsapp` a business-scoped id. Each is unique.',
      },
    ),
    consent: mapOf<ConsentState>(ConsentState, {
      description: 'Channel type to consent. A type that is absent is `unknown`.',
    }),
    tags: Type.Array(Type.String(), { description: 'Sorted; unique without regard to case.' }),
    attributes: mapOf<AttributeValue>(
      { type: ['string', 'number', 'boolean'] },
      { description: 'Your own fields, usable as merge tags `{{attributes.<key>}}`.' },
    ),
    metadata: AnyObject({ description: 'Your own data, returned unchanged.' }),
    blocked: Type.Boolean({ description: 'A blocked contact is written to on no channel (`recipient_blocked`).' }),
    external_id: NullableString({ description: 'Your own id of this person; not unique.' }),
    windows: mapOf<{ window_expires_at: string | null }>(Window, {
      description:
        'Channel id to the 24-hour service window of that channel: opened by each inbound message. A channel that is absent has none open.',
    }),
    last_seen_at: NullableTimestamp({ description: 'When the last inbound message was received.' }),
    last_message_at: NullableTimestamp({
      description:
        'When the last message in either direction was stored, with a delay of a few seconds. Neither this nor `last_seen_at` changes `updated_at`.',
    }),
    created_at: Timestamp(),
    updated_at: Timestamp(),
  },
  { $id: 'Contact', description: 'A person that the account may write to.' },
)
export type Contact = Static<typeof Contact>

/** Checked by the contacts module: errors of a schema with alternatives would be confusing. */
const contactFields = {
  phone: Type.Optional(
    NullableString({
      description: 'E.164; spaces, dots, dashes and brackets are removed.',
      examples: ['+49 151 1234-5678'],
    }),
  ),
  email: Type.Optional(NullableString({ description: `Up to ${contactLimits.email_length_max} characters.` })),
  first_name: Type.Optional(
    NullableString({
      maxLength: contactLimits.name_length_max,
      description: 'Given name; the merge tag `{{first_name}}`.',
    }),
  ),
  last_name: Type.Optional(
    NullableString({
      maxLength: contactLimits.name_length_max,
      description: 'Family name; the merge tag `{{last_name}}`.',
    }),
  ),
  locale: Type.Optional(NullableString({ description: 'BCP 47.', examples: ['de-AT'] })),
  timezone: Type.Optional(NullableString({ description: 'IANA name.', examples: ['Europe/Vienna'] })),
  external_id: Type.Optional(
    NullableString({
      maxLength: contactLimits.external_id_length_max,
      description: 'Your own id of this person; not unique.',
    }),
  ),
  blocked: Type.Optional(
    Type.Boolean({ description: 'True: the contact is written to on no channel (`recipient_blocked`).' }),
  ),
  identifiers: Type.Optional(
    Type.Unsafe<Record<string, unknown> | null>({
      type: ['object', 'null'],
      additionalProperties: { type: ['string', 'null'] },
      description: 'Channel type to identifier; merged by key, null removes.',
    }),
  ),
  consent: Type.Optional(
    Type.Unsafe<Record<string, unknown> | null>({
      type: ['object', 'null'],
      additionalProperties: true,
      description:
        'Channel type to `opted_in`, `opted_out` or `unknown`, or to {`status`, `source`, `occurred_at`}; merged by key. Every change is kept as history. `opted_out` stops messages at once, scheduled ones included, and outlives the contact; only an explicit `opted_in`, `unknown` or null lifts it.',
      examples: [
        { sms: 'opted_in', whatsapp: { status: 'opted_in', source: 'form', occurred_at: '2026-01-31T09:30:00.000Z' } },
      ],
    }),
  ),
  tags: Type.Optional(
    Type.Unsafe<string[] | null>({
      type: ['array', 'null'],
      items: { type: 'string' },
      description:
        'Replaces the tags (upsert adds them): at most 50, each 1 to 64 characters, unique without regard to case.',
    }),
  ),
  attributes: Type.Optional(
    Type.Unsafe<Record<string, unknown> | null>({
      type: ['object', 'null'],
      additionalProperties: { type: ['string', 'number', 'boolean', 'null'] },
      description:
        'Keys `[a-z][a-z0-9_]{0,63}`; merged by key, null removes. An attribute becomes defined when a contact is first saved with it.',
    }),
  ),
  metadata: Type.Optional(
    Type.Unsafe<Record<string, unknown> | null>({
      type: ['object', 'null'],
      additionalProperties: true,
      description: 'Up to 16 KB; replaced whole.',
    }),
  ),
}

/** For the document only; the server checks it in code. */
const ConsentInput = {
  $id: 'ConsentInput',
  description: 'A status, or an object with details; null means `unknown`.',
  oneOf: [
    { type: 'string', enum: [...consentStatuses] },
    {
      type: 'object',
      description: 'One of `status` and `marketing` is required.',
      properties: {
        status: {
          type: 'string',
          enum: [...consentStatuses],
          description: 'Nothing is sent to contacts that are `opted_out`.',
        },
        marketing: {
          type: 'string',
          enum: [...consentStatuses],
          description: 'Where the recipient spoke of marketing alone.',
        },
        source: { type: 'string', enum: [...consentSources], description: 'Where the consent was given or withdrawn.' },
        occurred_at: { type: 'string', format: 'date-time', description: 'When; not in the future.' },
      },
    },
    { type: 'null' },
  ],
  examples: [{ status: 'opted_in', source: 'form', occurred_at: '2026-01-31T09:30:00.000Z' }],
}
export const documentedConsent = {
  ...(contactFields.consent as object),
  additionalProperties: false,
  properties: Object.fromEntries(consentTypes.map((type) => [type, ConsentInput])),
}

export const ContactCreation = Type.Object(contactFields, {
  $id: 'ContactCreation',
  description: 'A new contact. One of `phone`, `email` or an identifier is required.',
})
export const ContactUpsert = Type.Object(
  {
    ...contactFields,
    phone: Type.String({
      description: 'E.164; spaces, dots, dashes and brackets are removed. Decides which contact is meant.',
      examples: ['+4915112345678'],
    }),
  },
  { $id: 'ContactUpsert', description: 'A contact to create, or to update by its phone number.' },
)
export const ContactUpdate = Type.Object(contactFields, {
  $id: 'ContactUpdate',
  description: 'Changes; absent fields stay.',
})

export const ContactDeleted = deletedOf('contact')

const ids = (description: string) =>
  Type.Array(Type.String(), { minItems: 1, maxItems: contactLimits.bulk_max, description })
const tagArray = (description: string) => Type.Array(Type.String(), { maxItems: contactLimits.tags_max, description })

export const ContactTagging = Type.Object(
  {
    contacts: Type.Optional(ids('Contact ids.')),
    phones: Type.Optional(ids('Phone numbers instead of ids.')),
    add: Type.Optional(tagArray('Tags to add.')),
    remove: Type.Optional(tagArray('Tags to remove.')),
  },
  {
    $id: 'ContactTagging',
    description: 'Either `contacts` or `phones` is required, and `add` or `remove`.',
    examples: [{ phones: ['+14155550123'], add: ['customer'], remove: ['prospect'] }],
  },
)
export const ContactTagsResult = Type.Object({
  object: objectName('contact_tags_result'),
  updated: Type.Integer({ description: 'Contacts whose tags changed.' }),
  not_found: Type.Array(Type.String(), { description: 'Requested ids or phone numbers that no contact has.' }),
})

export const ContactTag = Type.Object(
  {
    object: objectName('contact_tag'),
    name: Type.String({ description: 'As it was first written; unique without regard to case.' }),
    contacts_count: Type.Integer({ description: 'Contacts that have it.' }),
  },
  { $id: 'ContactTag' },
)
export const ContactAttribute = Type.Object(
  {
    object: objectName('contact_attribute'),
    key: Type.String({ description: 'As in `attributes` of a contact; the merge tag is `{{attributes.<key>}}`.' }),
    type: Type.String({ enum: ['string', 'number', 'boolean'], description: 'The type that most of its values have.' }),
    contacts_count: Type.Integer({ description: 'Contacts that have a value of it.' }),
  },
  { $id: 'ContactAttribute' },
)

export const ConsentChange = Type.Object(
  {
    id: Type.String({ description: 'Names this change; the cursor of the list.' }),
    object: objectName('consent_change'),
    channel_type: Type.String({
      enum: consentTypes.flatMap((type) => [type, `${type}.marketing`]),
      description: 'The kind of channel; with `.marketing` behind it where the recipient spoke of marketing alone.',
    }),
    status: Type.String({ enum: [...consentStatuses], description: 'The new consent.' }),
    source: Type.String({
      enum: [...consentSources],
      description: 'The source of the change; `keyword` is a word such as STOP that the recipient sent.',
    }),
    message_id: NullableString({ description: 'The inbound message that caused it.' }),
    request_id: NullableString({ description: 'The API request that caused it.' }),
    occurred_at: Timestamp(),
  },
  { $id: 'ConsentChange', description: 'One change of a consent: the proof.' },
)
export type ConsentChange = Static<typeof ConsentChange>

export const ContactList = Type.Object(
  {
    id: Type.String({ description: 'Prefix `lst_`.' }),
    object: objectName('contact_list'),
    mode: Mode,
    name: Type.String({ description: 'For people: 1 to 120 characters.' }),
    description: Type.String({ description: 'For people; empty where there is none.' }),
    metadata: AnyObject({ description: 'Your own data, returned unchanged.' }),
    contacts_count: Type.Integer({ description: 'Members now.' }),
    created_at: Timestamp(),
    updated_at: Timestamp(),
  },
  { $id: 'ContactList', description: 'Contacts put together by hand.' },
)
export type ContactList = Static<typeof ContactList>

const listFields = {
  description: Type.Optional(
    NullableString({
      maxLength: contactLimits.description_length_max,
      description: 'For people; null is the empty text.',
    }),
  ),
  metadata: Type.Optional(
    Type.Unsafe<Record<string, unknown> | null>({
      type: ['object', 'null'],
      additionalProperties: true,
      description: 'Up to 16 KB; replaced whole.',
    }),
  ),
}
const listName = Type.String({
  minLength: 1,
  maxLength: contactLimits.list_name_length_max,
  description: 'For people.',
})
export const ContactListCreation = Type.Object({ name: listName, ...listFields }, { $id: 'ContactListCreation' })
export const ContactListUpdate = Type.Object(
  { name: Type.Optional(listName), ...listFields },
  { $id: 'ContactListUpdate' },
)
export const ContactListDeleted = deletedOf('contact_list')
export const ContactListMembership = Type.Object({ contacts: ids('Contact ids.') }, { $id: 'ContactListMembership' })

const membersResult = {
  object: objectName('contact_list_members'),
  list_id: Type.String({ description: 'The contact list (`lst_`).' }),
  not_found: Type.Array(Type.String(), { description: 'Ids that no contact has.' }),
  contacts_count: Type.Integer({ description: 'Members now.' }),
}
export const ContactListMembersAdded = Type.Object({
  ...membersResult,
  added: Type.Integer({ description: 'Contacts that were no members before.' }),
  already_members: Type.Integer({ description: 'Contacts that were members before.' }),
})
export const ContactListMembersRemoved = Type.Object({
  ...membersResult,
  removed: Type.Integer({ description: 'Contacts that were members before.' }),
  not_members: Type.Integer({ description: 'Contacts that were none.' }),
})
