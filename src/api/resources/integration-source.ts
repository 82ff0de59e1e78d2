/** The integration source: a shop or site that reports events (behaviour: integrations 1). */
import { Type, type Static } from 'typebox'
import { Mode, objectName } from './shared-fields.ts'
import { NullableString, NullableTimestamp, Timestamp } from './nullable.ts'

const sourceStatuses = ['active', 'disabled'] as const
export type SourceStatus = (typeof sourceStatuses)[number]
const consentModes = ['implied', 'explicit'] as const
export type ConsentMode = (typeof consentModes)[number]

const EventTypeName = Type.String({ minLength: 1, maxLength: 100, examples: ['order.paid'] })

const settings = {
  contact_sync: Type.Boolean({ description: "Whether each event's customer is saved as a contact. Default true." }),
  consent_mode: Type.Unsafe<ConsentMode>({
    type: 'string',
    enum: [...consentModes],
    description:
      '`implied` (default): transactional automations send unless the event says `consent.transactional` is false. `explicit`: they need it to be true.',
  }),
  store_all_events: Type.Boolean({
    description: 'Reports `enabled_events` as `*`, so that the plugin sends everything. Default false.',
  }),
}

const fields = {
  id: Type.String({ description: 'Prefix `src_`.' }),
  object: objectName('integration_source'),
  mode: Mode,
  platform: Type.String({
    description: 'The slug of the platform, in lower case.',
    examples: ['shopify', 'woocommerce', 'custom'],
  }),
  external_id: Type.String({
    description: "The platform's stable id of the store or site.",
    examples: ['shop.example.com'],
  }),
  name: Type.String({ description: 'For people: up to 120 characters.' }),
  url: NullableString({ description: 'The public address of the store or site.' }),
  status: Type.Unsafe<SourceStatus>({
    type: 'string',
    enum: [...sourceStatuses],
    description: 'A `disabled` source reports nothing: 403 `source_disabled`.',
  }),
  plugin_version: NullableString({ description: 'As the plugin reports it; null before it has.' }),
  platform_version: NullableString({
    description: 'The version of the shop software, as the plugin reports it; null before it has.',
  }),
  emits: Type.Array(Type.String(), {
    description: 'The event types that the plugin can send.',
    examples: [['order.paid', 'order.shipped']],
  }),
  enabled_events: Type.Array(Type.String(), {
    description:
      'The event types that the plugin should send: those with an active automation, or the single entry `*` with `store_all_events`.',
    examples: [['order.shipped']],
  }),
  event_settings: Type.Unsafe<Record<string, { delay_seconds: number }>>({
    type: 'object',
    additionalProperties: {
      type: 'object',
      properties: { delay_seconds: { type: 'integer', description: 'Seconds; 0 where one of them sends at once.' } },
      required: ['delay_seconds'],
    },
    description: 'By event type: `delay_seconds`, the shortest delay of its active automations.',
    examples: [{ 'order.shipped': { delay_seconds: 0 } }],
  }),
  settings: Type.Object(settings, { description: 'How the events of the source are dealt with.' }),
  console_url: Type.String({ description: 'Where the source is edited.' }),
  automation_url_template: Type.String({
    description: 'The page to create an automation for the source, with the placeholder `{event_type}`.',
  }),
  ingest_urls: Type.Unsafe<Record<string, string>>({
    type: 'object',
    additionalProperties: { type: 'string' },
    description: 'By platform: the address for native webhooks, signed with the signing secret.',
  }),
  config_version: Type.Integer({ description: 'Raised by every change but that of `last_event_at`. The ETag.' }),
  last_event_at: NullableTimestamp(),
  created_at: Timestamp(),
}

export const IntegrationSource = Type.Object(fields, {
  $id: 'IntegrationSource',
  description: 'A shop or site that reports events.',
})
export type IntegrationSource = Static<typeof IntegrationSource>

export const IntegrationSourceWithSecrets = Type.Object(
  {
    ...fields,
    source_key: Type.String({
      description: 'Prefix `svc_src_`. Shown only here; good for `GET` and `PATCH /v1/integration_sources/current`.',
    }),
    signing_secret: Type.String({ description: 'Shown only here. Native webhooks are signed with it.' }),
  },
  {
    $id: 'IntegrationSourceWithSecrets',
    description: 'An integration source with its secrets, as answered when it is created and by roll_key.',
  },
)
export type IntegrationSourceWithSecrets = Static<typeof IntegrationSourceWithSecrets>

const name = Type.String({
  maxLength: 120,
  pattern: String.raw`\S`,
  'x-format': 'a name that is not blank',
  description: 'For people; not blank.',
})
const url = Type.Unsafe<string | null>({
  type: ['string', 'null'],
  maxLength: 2048,
  format: 'http-url',
  description: 'The public address of the store or site, with http or https.',
  examples: ['https://shop.example.com'],
})
const plugin_version = Type.Unsafe<string | null>({
  type: ['string', 'null'],
  maxLength: 64,
  description: 'The version of the plugin that reports.',
})
const platform_version = Type.Unsafe<string | null>({
  type: ['string', 'null'],
  maxLength: 255,
  description: 'The version of the shop software.',
})
const emits = Type.Array(EventTypeName, {
  maxItems: 500,
  description: 'The event types that the plugin can send. Replaces the list.',
})

/** Fields of a source that its plugin may change. */
export const OwnSourceChange = Type.Object({
  name: Type.Optional(name),
  url: Type.Optional(url),
  plugin_version: Type.Optional(plugin_version),
  platform_version: Type.Optional(platform_version),
  emits: Type.Optional(emits),
})
export type OwnSourceChange = Static<typeof OwnSourceChange>

export const SourceUpsert = Type.Object({
  platform: Type.String({
    minLength: 1,
    maxLength: 40,
    pattern: '^[A-Za-z0-9][A-Za-z0-9_-]*$',
    'x-format': 'letters, digits, `_` and `-`, first a letter or digit',
    description: 'The slug of the platform; stored in lower case.',
    examples: ['woocommerce'],
  }),
  external_id: Type.String({
    minLength: 1,
    maxLength: 255,
    description: "The platform's stable id of the store or site.",
    examples: ['shop.example.com'],
  }),
  ...OwnSourceChange.properties,
})
export type SourceUpsert = Static<typeof SourceUpsert>

export const SourceChange = Type.Object({
  ...OwnSourceChange.properties,
  status: Type.Optional(
    Type.Unsafe<SourceStatus>({
      type: 'string',
      enum: [...sourceStatuses],
      description: '`disabled`: what it reports is 403 `source_disabled` from now on.',
    }),
  ),
  signing_secret: Type.Optional(
    Type.String({
      minLength: 8,
      maxLength: 255,
      writeOnly: true,
      examples: ['shpss_0123456789abcdef'],
      description:
        'Replaces the secret that native webhooks are verified with, such as the one that Shopify shows. Never returned.',
    }),
  ),
  settings: Type.Optional(
    Type.Object(
      {
        contact_sync: Type.Optional(settings.contact_sync),
        consent_mode: Type.Optional(settings.consent_mode),
        store_all_events: Type.Optional(settings.store_all_events),
      },
      { additionalProperties: false, description: 'Only what is given changes.' },
    ),
  ),
})
export type SourceChange = Static<typeof SourceChange>
