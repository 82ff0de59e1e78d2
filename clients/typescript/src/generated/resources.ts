/** The operations of the API. Written by `npm run gen` from openapi.json: not by hand. */
import type { List } from '../list.js'
import { Resource } from '../resource.js'
import type { RequestOptions, Transport } from '../transport.js'
import type {
  Account,
  Automation,
  AutomationCreation,
  AutomationEvent,
  AutomationRun,
  AutomationSimulation,
  AutomationSimulationRequest,
  AutomationUpdate,
  Balance,
  BalanceTransaction,
  Campaign,
  CampaignCreation,
  CampaignDuplication,
  CampaignLaunch,
  CampaignRecipient,
  CampaignRehearsal,
  CampaignTest,
  CampaignUpdate,
  Channel,
  ConnectedChannel,
  ConsentChange,
  Contact,
  ContactAttribute,
  ContactCreation,
  ContactExport,
  ContactImport,
  ContactList,
  ContactListCreation,
  ContactListMembership,
  ContactListUpdate,
  ContactTag,
  ContactTagging,
  ContactUpdate,
  ContactUpsert,
  ErrorBody,
  Event,
  InboundMessage,
  IntegrationSource,
  IntegrationSourceWithSecrets,
  Message,
  Price,
  Segment,
  SegmentCreation,
  SegmentPreview,
  SegmentUpdate,
  SendMessage,
  Template,
  UsageRecord,
  WebhookDelivery,
  WebhookEndpoint,
  WebhookEndpointWithSecret,
} from './types.js'

export interface PricesListQuery {
  /** Objects at most. Default: all of them. */
  limit?: number | undefined
  /** These objects have no ids: leave it out. */
  starting_after?: string | undefined
}

export interface UsageRetrieveQuery {
  /** First day (UTC), inclusive. Default: 30 days in all. */
  from?: string | undefined
  /** Last day (UTC), inclusive. Default: today. At most 366 days from `from`. */
  to?: string | undefined
  /** `day` and `month` sum over all channels; `channel_type` and `channel` over the whole period. */
  group_by?: 'day' | 'month' | 'channel_type' | 'channel' | undefined
  /** Objects at most. Default: all of them. */
  limit?: number | undefined
  /** These objects have no ids: leave it out. */
  starting_after?: string | undefined
}

export interface BalanceTransactionsListQuery {
  /** Only this type. */
  type?: 'top_up' | 'message_charge' | 'message_refund' | 'package_grant' | 'package_expiry' | 'adjustment' | undefined
  /** Only what this message was charged and refunded. */
  message_id?: string | undefined
  /** Only what moved the credits of this package. */
  package_grant_id?: string | undefined
  /** An RFC 3339 time, a date, or a time without zone (UTC). Exclusive. */
  created_after?: string | undefined
  /** An RFC 3339 time, a date, or a time without zone (UTC). Exclusive. */
  created_before?: string | undefined
  /** Objects per page. */
  limit?: number | undefined
  /** The id of the last object of the previous page (`next_cursor`). */
  starting_after?: string | undefined
}

export interface ChannelsListQuery {
  /** Objects per page. */
  limit?: number | undefined
  /** The id of the last object of the previous page (`next_cursor`). */
  starting_after?: string | undefined
}

export interface ChannelsCreateBody {
  /** Kind of channel. */
  type: 'whatsapp' | 'sms' | 'telegram'
  /** Optional if the type has only one provider. */
  provider?: string | undefined
  /** A display name; recipients do not see it. */
  name: string
  /** The sender; optional if the provider reports it. */
  identifier?: string | undefined
  /** The provider's credentials: encrypted at rest, never returned. */
  credentials: Record<string, unknown>
  /** `max_messages_per_second`, and the settings of the provider. */
  settings?: Record<string, unknown> | undefined
}

export interface ChannelsUpdateBody {
  /** A display name; recipients do not see it. */
  name?: string | undefined
  /** `disabled`: new messages get 422 `channel_not_connected`, and accepted ones wait. */
  status?: 'active' | 'disabled' | undefined
  /** `max_messages_per_second`, and the settings of the provider. Replaces all settings. */
  settings?: Record<string, unknown> | undefined
  /** The provider's credentials. Replaces all of them; encrypted at rest, never returned. */
  credentials?: Record<string, unknown> | undefined
}

export interface ChannelsDeleteResponse {
  /** The id that it had. */
  id: string
  /** Always `channel`. */
  object: 'channel'
  /** Always `true`. */
  deleted: true
}

export interface ChannelsListTemplatesQuery {
  /** Objects at most. Default: all of them. */
  limit?: number | undefined
  /** The id of the last object of the previous page (`next_cursor`). */
  starting_after?: string | undefined
}

export interface ContactsListQuery {
  /** Exact; any national variant of the number. */
  phone?: string | undefined
  /** Exact, without regard to case. */
  email?: string | undefined
  /** Exact. */
  external_id?: string | undefined
  /** Contacts with this tag, without regard to case. */
  tag?: string | undefined
  /** Members of this contact list. */
  list?: string | undefined
  /** Contacts that fit this segment now. */
  segment?: string | undefined
  /** A channel type and a status, such as `sms:opted_in`. */
  consent?: string | undefined
  /** The beginning of the full name, the last name, the phone number or the e-mail address, without regard to case. */
  query?: string | undefined
  /** An RFC 3339 time, a date, or a time without zone (UTC). Exclusive. */
  created_after?: string | undefined
  /** An RFC 3339 time, a date, or a time without zone (UTC). Exclusive. */
  created_before?: string | undefined
  /** An RFC 3339 time, a date, or a time without zone (UTC). Exclusive. */
  updated_after?: string | undefined
  /** Objects per page. */
  limit?: number | undefined
  /** The id of the last object of the previous page (`next_cursor`). */
  starting_after?: string | undefined
}

export interface ContactsUpdateTagsResponse {
  /** Always `contact_tags_result`. */
  object: 'contact_tags_result'
  /** Contacts whose tags changed. */
  updated: number
  /** Requested ids or phone numbers that no contact has. */
  not_found: string[]
}

export interface ContactsDeleteResponse {
  /** The id that it had. */
  id: string
  /** Always `contact`. */
  object: 'contact'
  /** Always `true`. */
  deleted: true
}

export interface ContactsListConsentHistoryQuery {
  /** Objects per page. */
  limit?: number | undefined
  /** The id of the last object of the previous page (`next_cursor`). */
  starting_after?: string | undefined
}

export interface ContactsExportQuery {
  /** Exact; any national variant of the number. */
  phone?: string | undefined
  /** Exact, without regard to case. */
  email?: string | undefined
  /** Exact. */
  external_id?: string | undefined
  /** Contacts with this tag, without regard to case. */
  tag?: string | undefined
  /** Members of this contact list. */
  list?: string | undefined
  /** Contacts that fit this segment now. */
  segment?: string | undefined
  /** A channel type and a status, such as `sms:opted_in`. */
  consent?: string | undefined
  /** The beginning of the full name, the last name, the phone number or the e-mail address, without regard to case. */
  query?: string | undefined
  /** An RFC 3339 time, a date, or a time without zone (UTC). Exclusive. */
  created_after?: string | undefined
  /** An RFC 3339 time, a date, or a time without zone (UTC). Exclusive. */
  created_before?: string | undefined
  /** An RFC 3339 time, a date, or a time without zone (UTC). Exclusive. */
  updated_after?: string | undefined
}

export interface ContactTagsListQuery {
  /** Entries per page; without it up to 1000. */
  limit?: number | undefined
  /** `next_cursor` of the page before. */
  starting_after?: string | undefined
}

export interface ContactAttributesListQuery {
  /** Entries per page; without it up to 1000. */
  limit?: number | undefined
  /** `next_cursor` of the page before. */
  starting_after?: string | undefined
}

export interface ContactListsListQuery {
  /** Objects per page. */
  limit?: number | undefined
  /** The id of the last object of the previous page (`next_cursor`). */
  starting_after?: string | undefined
}

export interface ContactListsDeleteResponse {
  /** The id that it had. */
  id: string
  /** Always `contact_list`. */
  object: 'contact_list'
  /** Always `true`. */
  deleted: true
}

export interface ContactListsAddMembersResponse {
  /** Always `contact_list_members`. */
  object: 'contact_list_members'
  /** The contact list (`lst_`). */
  list_id: string
  /** Ids that no contact has. */
  not_found: string[]
  /** Members now. */
  contacts_count: number
  /** Contacts that were no members before. */
  added: number
  /** Contacts that were members before. */
  already_members: number
}

export interface ContactListsRemoveMembersResponse {
  /** Always `contact_list_members`. */
  object: 'contact_list_members'
  /** The contact list (`lst_`). */
  list_id: string
  /** Ids that no contact has. */
  not_found: string[]
  /** Members now. */
  contacts_count: number
  /** Contacts that were members before. */
  removed: number
  /** Contacts that were none. */
  not_members: number
}

export interface SegmentsListQuery {
  /** Objects per page. */
  limit?: number | undefined
  /** The id of the last object of the previous page (`next_cursor`). */
  starting_after?: string | undefined
}

export interface SegmentsDeleteResponse {
  /** The id that it had. */
  id: string
  /** Always `segment`. */
  object: 'segment'
  /** Always `true`. */
  deleted: true
}

export interface ContactImportsCreateQuery {
  /** You hold the consent of everybody in the file to be contacted. Required to be `true`. */
  consent_declared?: boolean | undefined
  /** ISO 3166 alpha-2: how to read phone numbers without a country code. Without it they are rejected. */
  default_country?: string | undefined
  /** A JSON object of headers and the fields that they are, or null for columns to leave out, for headers that are not understood by themselves. */
  columns?: string | undefined
  /** Shown on the import; a form brings its own. */
  file_name?: string | undefined
}

export interface ContactImportsListQuery {
  /** With this status now. */
  status?: 'pending' | 'running' | 'completed' | 'failed' | undefined
  /** Objects per page. */
  limit?: number | undefined
  /** The id of the last object of the previous page (`next_cursor`). */
  starting_after?: string | undefined
}

export interface MessagesListQuery {
  /** Messages of this channel (`ch_`). */
  channel?: string | undefined
  /** Sent or received messages. */
  direction?: 'outbound' | 'inbound' | undefined
  /** Messages with this status. */
  status?: 'queued' | 'sending' | 'sent' | 'delivered' | 'read' | 'failed' | 'received' | undefined
  /** Messages to this recipient, as in `to`. */
  to?: string | undefined
  /** Messages with this `reference`. */
  reference?: string | undefined
  /** An RFC 3339 time, a date, or a time without zone (UTC). Exclusive. */
  created_after?: string | undefined
  /** An RFC 3339 time, a date, or a time without zone (UTC). Exclusive. */
  created_before?: string | undefined
  /** An RFC 3339 time, a date, or a time without zone (UTC). Exclusive. */
  updated_after?: string | undefined
  /** Objects per page. */
  limit?: number | undefined
  /** The id of the last object of the previous page (`next_cursor`). */
  starting_after?: string | undefined
}

export interface MessagesSendBatchBody {
  /** Each message is validated, billed and accepted separately. Channels may differ. */
  messages: SendMessage[]
}

export interface MessagesSendBatchResponse {
  /** Always `batch`. */
  object: 'batch'
  /** One entry per message, in the order of the request: `message` if it was accepted, otherwise `error`. */
  data: ({
    /** Position in `messages` of the request, from 0. */
    index: number
    /** The HTTP status of a single send. */
    status: number
    message?: Message | undefined
    error?: ErrorBody | undefined
  })[]
  /** Messages that were stored and charged. */
  accepted: number
  /** Messages that were refused and not charged. */
  rejected: number
}

export interface MessagesListEventsQuery {
  /** Objects at most. Default: all of them. */
  limit?: number | undefined
  /** The id of the last object of the previous page (`next_cursor`). */
  starting_after?: string | undefined
}

export interface MessagesListEventsItem {
  /** Prefix `mev_`. */
  id: string
  /** Always `message_event`. */
  object: 'message_event'
  /** The message (`msg_`) whose history it is. */
  message_id: string
  /** The type: `message.` and the status. */
  type: 'message.queued' | 'message.sending' | 'message.sent' | 'message.delivered' | 'message.read' | 'message.failed' | 'message.received' | (string & {})
  /** The status that it had from then on. */
  status: 'queued' | 'sending' | 'sent' | 'delivered' | 'read' | 'failed' | 'received' | (string & {})
  /** Why it failed; null where it did not. */
  error: {
    /** Stable, to branch on: an error code, or `provider_error`, `expired` or `cancelled`. More may be added. */
    code: 'provider_error' | 'channel_not_connected' | 'recipient_blocked' | 'policy_violation' | 'upstream_rejected' | 'internal_error' | 'expired' | 'cancelled' | (string & {})
    /** For people; the wording may change. */
    message: string
    /** The provider's own code; empty where the failure is not the provider's. */
    provider_code: string
  } | null
  /** The public event of this change, where there is one. */
  event_id: string | null
  /** ISO 8601, UTC, with milliseconds. */
  created_at: string
}

export interface MessagesListAttemptsQuery {
  /** Objects at most. Default: all of them. */
  limit?: number | undefined
  /** The id of the last object of the previous page (`next_cursor`). */
  starting_after?: string | undefined
}

export interface MessagesListAttemptsItem {
  /** Prefix `att_`. */
  id: string
  /** Always `message_attempt`. */
  object: 'message_attempt'
  /** Counted from 1. */
  number: number
  /** The provider that received it, such as `whatsapp_cloud` or `sandbox`. */
  provider: string
  /** `accepted`: the provider accepted the message. `refused`: it refused it permanently. `throttled` and `unavailable`: retried later. `unknown`: no response, so it may have been accepted. */
  outcome: 'accepted' | 'refused' | 'throttled' | 'unavailable' | 'unknown' | (string & {})
  /** The provider's own code; null where it gave none. */
  provider_code: string | null
  /** The provider's message; null if there was none. */
  provider_message: string | null
  /** Milliseconds until the provider answered or the attempt was abandoned. */
  duration_ms: number
  /** ISO 8601, UTC, with milliseconds. */
  created_at: string
}

export interface WebhookEndpointsCreateBody {
  /** A public https address. */
  url: string
  /** Event types, or the single entry `*` for all. */
  events: ('message.sent' | 'message.delivered' | 'message.read' | 'message.failed' | 'message.received' | 'channel.connected' | 'channel.disconnected' | 'balance.low' | 'package.exhausted' | 'package.expiring' | 'campaign.started' | 'campaign.paused' | 'campaign.completed' | 'campaign.failed' | 'webhook.test' | '*')[]
  /** For people. */
  description?: string | undefined
  /** Returned unchanged, up to 16 KB; null is {}. */
  metadata?: Record<string, unknown> | null | undefined
  /** An event is delivered when it fits every key that is given (AND), by any of its values (OR). An event whose object a key does not speak of passes that key; an empty array restricts nothing. */
  filters?: {
    /** Channel ids: of messages, channels and campaigns. */
    channels?: string[] | undefined
    /** Kinds of channel: of messages, channels and campaigns. */
    channel_types?: ('whatsapp' | 'sms' | 'telegram' | 'messenger' | 'instagram' | 'viber' | 'rcs' | 'email')[] | undefined
    /** Of messages. */
    directions?: ('outbound' | 'inbound')[] | undefined
    /** Of messages. */
    message_types?: ('text' | 'attachments' | 'template' | 'button' | 'list' | 'cta_url' | 'location' | 'contacts' | 'flow' | 'product' | 'product_list' | 'catalog' | 'carousel' | 'location_request' | 'button_reply' | 'list_reply' | 'flow_reply' | 'order' | 'reaction' | 'unsupported')[] | undefined
    /** Campaign ids: of campaigns, and of messages that a campaign sent. */
    campaigns?: string[] | undefined
  } | null | undefined
  /** Sent with every delivery as `Service-Verification-Token`, for receivers that cannot compute an HMAC. Never returned. */
  verification_token?: string | null | undefined
  /** The integration source (`src_`) it is created for. */
  source?: string | null | undefined
}

export interface WebhookEndpointsListQuery {
  /** Objects per page. */
  limit?: number | undefined
  /** The id of the last object of the previous page (`next_cursor`). */
  starting_after?: string | undefined
}

export interface WebhookEndpointsUpdateBody {
  /** A public https address. */
  url?: string | undefined
  /** Replaces the list. */
  events?: ('message.sent' | 'message.delivered' | 'message.read' | 'message.failed' | 'message.received' | 'channel.connected' | 'channel.disconnected' | 'balance.low' | 'package.exhausted' | 'package.expiring' | 'campaign.started' | 'campaign.paused' | 'campaign.completed' | 'campaign.failed' | 'webhook.test' | '*')[] | undefined
  /** For people. */
  description?: string | undefined
  /** Returned unchanged, up to 16 KB; null is {}. */
  metadata?: Record<string, unknown> | null | undefined
  /** An event is delivered when it fits every key that is given (AND), by any of its values (OR). An event whose object a key does not speak of passes that key; an empty array restricts nothing. */
  filters?: {
    /** Channel ids: of messages, channels and campaigns. */
    channels?: string[] | undefined
    /** Kinds of channel: of messages, channels and campaigns. */
    channel_types?: ('whatsapp' | 'sms' | 'telegram' | 'messenger' | 'instagram' | 'viber' | 'rcs' | 'email')[] | undefined
    /** Of messages. */
    directions?: ('outbound' | 'inbound')[] | undefined
    /** Of messages. */
    message_types?: ('text' | 'attachments' | 'template' | 'button' | 'list' | 'cta_url' | 'location' | 'contacts' | 'flow' | 'product' | 'product_list' | 'catalog' | 'carousel' | 'location_request' | 'button_reply' | 'list_reply' | 'flow_reply' | 'order' | 'reaction' | 'unsupported')[] | undefined
    /** Campaign ids: of campaigns, and of messages that a campaign sent. */
    campaigns?: string[] | undefined
  } | null | undefined
  /** Sent with every delivery as `Service-Verification-Token`, for receivers that cannot compute an HMAC. Never returned. */
  verification_token?: string | null | undefined
  /** `active` enables a disabled endpoint: its count of failures starts anew, and what happened while it was disabled is never sent. */
  status?: 'active' | 'disabled' | undefined
}

export interface WebhookEndpointsDeleteResponse {
  /** The id that it had. */
  id: string
  /** Always `webhook_endpoint`. */
  object: 'webhook_endpoint'
  /** Always `true`. */
  deleted: true
}

export interface WebhookEndpointsRollSecretBody {
  /** How long deliveries are signed with the previous secret as well (a second `v1=`). */
  expire_previous_in_seconds?: number | undefined
}

export interface WebhookEndpointsListDeliveriesQuery {
  /** With this status now. */
  status?: 'pending' | 'delivered' | 'failed' | undefined
  /** Objects per page. */
  limit?: number | undefined
  /** The id of the last object of the previous page (`next_cursor`). */
  starting_after?: string | undefined
}

export interface EventsListQuery {
  /** An event type, or a known prefix such as `message.*`. */
  type?: 'message.sent' | 'message.delivered' | 'message.read' | 'message.failed' | 'message.received' | 'channel.connected' | 'channel.disconnected' | 'balance.low' | 'package.exhausted' | 'package.expiring' | 'campaign.started' | 'campaign.paused' | 'campaign.completed' | 'campaign.failed' | 'webhook.test' | 'message.*' | 'channel.*' | 'balance.*' | 'package.*' | 'campaign.*' | 'webhook.*' | undefined
  /** Events of the object with this id. */
  object_id?: string | undefined
  /** An RFC 3339 time, a date, or a time without zone (UTC). Exclusive. */
  created_after?: string | undefined
  /** An RFC 3339 time, a date, or a time without zone (UTC). Exclusive. */
  created_before?: string | undefined
  /** `asc` follows the feed: keep the last `id` as `starting_after` of the next request. */
  order?: 'asc' | 'desc' | undefined
  /** Objects per page. */
  limit?: number | undefined
  /** The id of the last object of the previous page (`next_cursor`). */
  starting_after?: string | undefined
}

export interface CampaignsListQuery {
  /** With this status now. */
  status?: 'draft' | 'scheduled' | 'queued' | 'sending' | 'paused' | 'completed' | 'cancelled' | 'failed' | undefined
  /** Objects per page. */
  limit?: number | undefined
  /** The id of the last object of the previous page (`next_cursor`). */
  starting_after?: string | undefined
}

export interface CampaignsDeleteResponse {
  /** The id that it had. */
  id: string
  /** Always `campaign`. */
  object: 'campaign'
  /** Always `true`. */
  deleted: true
}

export interface CampaignsListRecipientsQuery {
  /** With this status now. */
  status?: 'pending' | 'sent' | 'delivered' | 'read' | 'failed' | 'skipped' | 'cancelled' | undefined
  /** The exact identifier. */
  to?: string | undefined
  /** Objects per page. */
  limit?: number | undefined
  /** The id of the last object of the previous page (`next_cursor`). */
  starting_after?: string | undefined
}

export interface IntegrationSourcesUpdateCurrentBody {
  /** For people; not blank. */
  name?: string | undefined
  /** The public address of the store or site, with http or https. */
  url?: string | null | undefined
  /** The version of the plugin that reports. */
  plugin_version?: string | null | undefined
  /** The version of the shop software. */
  platform_version?: string | null | undefined
  /** The event types that the plugin can send. Replaces the list. */
  emits?: string[] | undefined
}

export interface IntegrationSourcesUpsertBody {
  /** The slug of the platform; stored in lower case. */
  platform: string
  /** The platform's stable id of the store or site. */
  external_id: string
  /** For people; not blank. */
  name?: string | undefined
  /** The public address of the store or site, with http or https. */
  url?: string | null | undefined
  /** The version of the plugin that reports. */
  plugin_version?: string | null | undefined
  /** The version of the shop software. */
  platform_version?: string | null | undefined
  /** The event types that the plugin can send. Replaces the list. */
  emits?: string[] | undefined
}

export interface IntegrationSourcesListQuery {
  /** Objects per page. */
  limit?: number | undefined
  /** The id of the last object of the previous page (`next_cursor`). */
  starting_after?: string | undefined
}

export interface IntegrationSourcesUpdateBody {
  /** For people; not blank. */
  name?: string | undefined
  /** The public address of the store or site, with http or https. */
  url?: string | null | undefined
  /** The version of the plugin that reports. */
  plugin_version?: string | null | undefined
  /** The version of the shop software. */
  platform_version?: string | null | undefined
  /** The event types that the plugin can send. Replaces the list. */
  emits?: string[] | undefined
  /** `disabled`: what it reports is 403 `source_disabled` from now on. */
  status?: 'active' | 'disabled' | undefined
  /** Replaces the secret that native webhooks are verified with, such as the one that Shopify shows. Never returned. */
  signing_secret?: string | undefined
  /** Only what is given changes. */
  settings?: {
    /** Whether each event's customer is saved as a contact. Default true. */
    contact_sync?: boolean | undefined
    /** `implied` (default): transactional automations send unless the event says `consent.transactional` is false. `explicit`: they need it to be true. */
    consent_mode?: 'implied' | 'explicit' | undefined
    /** Reports `enabled_events` as `*`, so that the plugin sends everything. Default false. */
    store_all_events?: boolean | undefined
  } | undefined
}

export interface IntegrationSourcesDeleteResponse {
  /** The id that it had. */
  id: string
  /** Always `integration_source`. */
  object: 'integration_source'
  /** Always `true`. */
  deleted: true
}

export interface AutomationEventsCreateBody {
  /** The integration source (`src_`). */
  source: string
  /** One of the catalogue, or `custom.<name>`. */
  type: string
  /** The source's own id of the event: the same one again is a duplicate, and nothing runs twice. */
  event_id: string
  /** Default: now. */
  occurred_at?: string | null | undefined
  /** The customer of the event. */
  customer?: {
    /** The platform's id of the customer. */
    external_id?: string | null | undefined
    /** With country code, such as +4915112345678; spaces, dots, dashes and brackets are allowed. Without a valid number no message can be sent. */
    phone?: string | null | undefined
    /** Stored with the contact; no messages are sent to it. */
    email?: string | null | undefined
    /** Given name; the merge tag `{{first_name}}`. */
    first_name?: string | null | undefined
    /** Family name; the merge tag `{{last_name}}`. */
    last_name?: string | null | undefined
    /** Such as `de` or `de-AT`. */
    locale?: string | null | undefined
    /** Labels of the customer, for conditions on `customer.tags`. */
    tags?: string[] | null | undefined
    /** Other data about the customer, for conditions on `customer.attributes.<path>`. */
    attributes?: Record<string, unknown> | null | undefined
    [key: string]: unknown
  } | null | undefined
  /** Consents of the customer that the source knows. */
  consent?: {
    /** Consent to messages about purchases, bookings and requests of the customer. */
    transactional?: boolean | null | undefined
    /** To advertising. */
    marketing?: boolean | null | undefined
    [key: string]: unknown
  } | null | undefined
  /** Data of the event, such as `{ "order": { … } }`; conditions and merge tags read it as `data.<path>`. */
  data?: Record<string, unknown> | null | undefined
}

export interface AutomationEventsListQuery {
  /** Of this integration source (`src_`). */
  source?: string | undefined
  /** Of this type of event, as it was reported. */
  type?: string | undefined
  /** With this status. */
  status?: 'accepted' | 'ignored' | 'skipped' | 'duplicate' | 'failed' | undefined
  /** An RFC 3339 time, a date, or a time without zone (UTC). Exclusive. */
  created_after?: string | undefined
  /** An RFC 3339 time, a date, or a time without zone (UTC). Exclusive. */
  created_before?: string | undefined
  /** Objects per page. */
  limit?: number | undefined
  /** The id of the last object of the previous page (`next_cursor`). */
  starting_after?: string | undefined
}

export interface AutomationsListQuery {
  /** Of this integration source (`src_`). */
  source?: string | undefined
  /** That wait for this type of event. */
  event_type?: string | undefined
  /** With this status now. */
  status?: 'active' | 'paused' | undefined
  /** Objects per page. */
  limit?: number | undefined
  /** The id of the last object of the previous page (`next_cursor`). */
  starting_after?: string | undefined
}

export interface AutomationsDeleteResponse {
  /** The id that it had. */
  id: string
  /** Always `automation`. */
  object: 'automation'
  /** Always `true`. */
  deleted: true
}

export interface AutomationRunsListQuery {
  /** Of this automation (`aut_`). */
  automation?: string | undefined
  /** With this status now. */
  status?: 'scheduled' | 'sent' | 'skipped' | 'cancelled' | 'failed' | undefined
  /** Objects per page. */
  limit?: number | undefined
  /** The id of the last object of the previous page (`next_cursor`). */
  starting_after?: string | undefined
}

export class MeResource extends Resource {
  /** Retrieve the account behind the key. The account, mode and scopes of the key that makes this request. Every accepted key may call it. */
  retrieve(options?: RequestOptions): Promise<Account> {
    return this.call({ method: 'GET', path: ['v1', 'me'] }, options)
  }
}

export class BalanceResource extends Resource {
  /** Retrieve the balance. The prepaid wallet and the packages of the account, read fresh. Test mode is never billed: its wallet is 0 and it has no packages. */
  retrieve(options?: RequestOptions): Promise<Balance> {
    return this.call({ method: 'GET', path: ['v1', 'balance'] }, options)
  }
}

export class PricesResource extends Resource {
  /** List the prices. What a message costs this account on each kind of channel: its own price where it has one. One page: `has_more` is always false. In test mode every price is 0. */
  list(query?: PricesListQuery, options?: RequestOptions): List<Price> {
    return this.page(['v1', 'prices'], query, options)
  }
}

export class UsageResource extends Resource {
  /** Read the usage. Messages accepted, and what they cost, right to the message: it is counted in the transaction that accepts them. Newest day first; a day, month or channel without usage has no record. One page: `has_more` is always false. Test mode counts its messages at no cost. */
  retrieve(query?: UsageRetrieveQuery, options?: RequestOptions): List<UsageRecord> {
    return this.page(['v1', 'usage'], query, options)
  }
}

export class BalanceTransactionsResource extends Resource {
  /** List the balance transactions. Every movement of money and credits, newest first, in the order in which they moved the wallet: each `balance_after_micros` follows from the one before it. A message that cost nothing has none, and neither has test mode. */
  list(query?: BalanceTransactionsListQuery, options?: RequestOptions): List<BalanceTransaction> {
    return this.page(['v1', 'balance_transactions'], query, options)
  }
}

export class ChannelsResource extends Resource {
  /** List channels. Newest first, without deleted ones. A test key sees the sandbox channels, whose ids begin with `ch_test_`. */
  list(query?: ChannelsListQuery, options?: RequestOptions): List<Channel> {
    return this.page(['v1', 'channels'], query, options)
  }

  /** Connect a channel. The credentials are tested at once; nothing is created if the provider refuses them or cannot be reached. If the provider has a `verify_token` and none is given, one is generated and shown only here. See `/docs/providers` for the fields of each provider. */
  create(body: ChannelsCreateBody, options?: RequestOptions): Promise<ConnectedChannel> {
    return this.call({ method: 'POST', path: ['v1', 'channels'], body }, options)
  }

  /** Retrieve a channel. Check `connection_status` before sending, and `capabilities` for the content types that the channel can send. */
  retrieve(id: string, options?: RequestOptions): Promise<Channel> {
    return this.call({ method: 'GET', path: ['v1', 'channels', id] }, options)
  }

  /** Update a channel. Changes only the given fields; `settings` and `credentials` are replaced as a whole, except that a `verify_token` that is left out stays. New credentials are tested at once and must belong to the same sender; nothing changes if the provider refuses them or cannot be reached. The channel is then connected, and waiting messages continue. While `status` is `disabled`, new messages are refused with `channel_not_connected`, and accepted ones wait within their validity period until it is `active` again. */
  update(id: string, body: ChannelsUpdateBody = {}, options?: RequestOptions): Promise<Channel> {
    return this.call({ method: 'PATCH', path: ['v1', 'channels', id], body }, options)
  }

  /** Delete a channel. New messages get 404. Messages that still wait on the channel, including scheduled ones, become `failed` with `channel_not_connected` and are refunded. */
  delete(id: string, options?: RequestOptions): Promise<ChannelsDeleteResponse> {
    return this.call({ method: 'DELETE', path: ['v1', 'channels', id], deleted: { id: id, object: 'channel', deleted: true } }, options)
  }

  /** Reconnect a channel. Tests the credentials at once instead of at the next automatic attempt, and returns the updated channel. */
  reconnect(id: string, options?: RequestOptions): Promise<Channel> {
    return this.call({ method: 'POST', path: ['v1', 'channels', id, 'reconnect'] }, options)
  }

  /** List a channel's message templates. One page: `has_more` is always false. */
  listTemplates(id: string, query?: ChannelsListTemplatesQuery, options?: RequestOptions): List<Template> {
    return this.page(['v1', 'channels', id, 'templates'], query, options)
  }
}

export class ContactsResource extends Resource {
  /** Create a contact. One of `phone`, `email` or an identifier is required. `phone` and every identifier are unique in the account and mode. A person who opted out earlier, without a contact or as a contact deleted since, starts as `opted_out`, unless `consent` states otherwise. */
  create(body: ContactCreation = {}, options?: RequestOptions): Promise<Contact> {
    return this.call({ method: 'POST', path: ['v1', 'contacts'], body }, options)
  }

  /** List contacts. Newest first. Filters are joined by AND; one that names nothing known gives an empty list. */
  list(query?: ContactsListQuery, options?: RequestOptions): List<Contact> {
    return this.page(['v1', 'contacts'], query, options)
  }

  /** Create or update a contact by phone number. 201 when created, 200 when updated. Works as an update, except that `tags` are added. A known number keeps its spelling. An opt-out never changes unless `consent` names its channel type. Updates work at the contact cap, too. */
  upsert(body: ContactUpsert, options?: RequestOptions): Promise<Contact> {
    return this.call({ method: 'POST', path: ['v1', 'contacts', 'upsert'], body }, options)
  }

  /** Add and remove tags of many contacts. Up to 1000 contacts, by `contacts` or by `phones`; `remove` comes before `add`. All or nothing: when one contact would have more than 50 tags, none changes. */
  updateTags(body: ContactTagging = {}, options?: RequestOptions): Promise<ContactsUpdateTagsResponse> {
    return this.call({ method: 'POST', path: ['v1', 'contacts', 'tags'], body }, options)
  }

  /** Retrieve a contact. With its tags, attributes and consent by channel type. A deleted contact is 404. */
  retrieve(id: string, options?: RequestOptions): Promise<Contact> {
    return this.call({ method: 'GET', path: ['v1', 'contacts', id] }, options)
  }

  /** Update a contact. `attributes`, `identifiers` and `consent` are merged by key, null removes; `tags` and `metadata` are replaced; absent fields stay. `opted_out` takes effect at once: scheduled messages of that channel type fail with `recipient_blocked` and are refunded. */
  update(id: string, body: ContactUpdate = {}, options?: RequestOptions): Promise<Contact> {
    return this.call({ method: 'PATCH', path: ['v1', 'contacts', id], body }, options)
  }

  /** Delete a contact. Deletes its data, consent history and memberships. Its opt-outs stay in force as keyed hashes; its messages keep their own record. */
  delete(id: string, options?: RequestOptions): Promise<ContactsDeleteResponse> {
    return this.call({ method: 'DELETE', path: ['v1', 'contacts', id], deleted: { id: id, object: 'contact', deleted: true } }, options)
  }

  /** List the changes of a contact's consent. Newest first: the proof of every opt-in and opt-out, with the message or request that caused it. */
  listConsentHistory(id: string, query?: ContactsListConsentHistoryQuery, options?: RequestOptions): List<ConsentChange> {
    return this.page(['v1', 'contacts', id, 'consent_history'], query, options)
  }

  /** Export contacts as CSV. Streams every contact that fits the filters, which are those of the list. One column for each attribute, consent and identifier that is in use. An import reads the file back. Cells that a spreadsheet would run as a formula start with an apostrophe; E.164 phone numbers do not. */
  export(query?: ContactsExportQuery, options?: RequestOptions): Promise<string> {
    return this.call({ method: 'GET', path: ['v1', 'contacts', 'export'], query, text: true }, options)
  }

  /** Export the whole record of a contact. Everything stored about the contact, to answer a data subject request: the contact, every change of its consent, its lists, and rejected rows of imports. */
  exportData(id: string, options?: RequestOptions): Promise<ContactExport> {
    return this.call({ method: 'GET', path: ['v1', 'contacts', id, 'export'] }, options)
  }
}

export class ContactTagsResource extends Resource {
  /** List the tags of contacts. By name, with the spelling that was met first. A tag that no contact has any more is left out. */
  list(query?: ContactTagsListQuery, options?: RequestOptions): List<ContactTag> {
    return this.page(['v1', 'contact_tags'], query, options)
  }
}

export class ContactAttributesResource extends Resource {
  /** List the attributes of contacts. By key. An attribute is defined once a contact was saved with it, and stays so. */
  list(query?: ContactAttributesListQuery, options?: RequestOptions): List<ContactAttribute> {
    return this.page(['v1', 'contact_attributes'], query, options)
  }
}

export class ContactListsResource extends Resource {
  /** Create a contact list. An empty list. Contacts are added with `POST /v1/contact_lists/{id}/members`. */
  create(body: ContactListCreation, options?: RequestOptions): Promise<ContactList> {
    return this.call({ method: 'POST', path: ['v1', 'contact_lists'], body }, options)
  }

  /** List contact lists. Newest first, each with the number of its members. */
  list(query?: ContactListsListQuery, options?: RequestOptions): List<ContactList> {
    return this.page(['v1', 'contact_lists'], query, options)
  }

  /** Retrieve a contact list. The list and the number of its members. `GET /v1/contacts?list={id}` returns the members. */
  retrieve(id: string, options?: RequestOptions): Promise<ContactList> {
    return this.call({ method: 'GET', path: ['v1', 'contact_lists', id] }, options)
  }

  /** Update a contact list. Absent fields stay; `metadata` is replaced whole. */
  update(id: string, body: ContactListUpdate = {}, options?: RequestOptions): Promise<ContactList> {
    return this.call({ method: 'PATCH', path: ['v1', 'contact_lists', id], body }, options)
  }

  /** Delete a contact list. Its contacts stay. */
  delete(id: string, options?: RequestOptions): Promise<ContactListsDeleteResponse> {
    return this.call({ method: 'DELETE', path: ['v1', 'contact_lists', id], deleted: { id: id, object: 'contact_list', deleted: true } }, options)
  }

  /** Add contacts to a list. Reports contacts that are members already or do not exist; they cause no error. */
  addMembers(id: string, body: ContactListMembership, options?: RequestOptions): Promise<ContactListsAddMembersResponse> {
    return this.call({ method: 'POST', path: ['v1', 'contact_lists', id, 'members'], body }, options)
  }

  /** Remove contacts from a list. The contacts themselves stay. Ids that are no members are counted in `not_members`, not refused. */
  removeMembers(id: string, body: ContactListMembership, options?: RequestOptions): Promise<ContactListsRemoveMembersResponse> {
    return this.call({ method: 'POST', path: ['v1', 'contact_lists', id, 'members', 'remove'], body }, options)
  }
}

export class SegmentsResource extends Resource {
  /** Create a segment. The rules are checked as a whole; a refusal names every place that does not fit. A list that the rules name must exist (404). */
  create(body: SegmentCreation, options?: RequestOptions): Promise<Segment> {
    return this.call({ method: 'POST', path: ['v1', 'segments'], body }, options)
  }

  /** List segments. Newest first, with their rules. Use the preview of a segment to count its contacts. */
  list(query?: SegmentsListQuery, options?: RequestOptions): List<Segment> {
    return this.page(['v1', 'segments'], query, options)
  }

  /** Retrieve a segment. Its name and rules. Its contacts are determined each time it is used. */
  retrieve(id: string, options?: RequestOptions): Promise<Segment> {
    return this.call({ method: 'GET', path: ['v1', 'segments', id] }, options)
  }

  /** Update a segment. Absent fields stay; `rules` are replaced whole. A list that the stored rules name may be named again although it has been deleted. */
  update(id: string, body: SegmentUpdate = {}, options?: RequestOptions): Promise<Segment> {
    return this.call({ method: 'PATCH', path: ['v1', 'segments', id], body }, options)
  }

  /** Delete a segment. Its contacts stay. A campaign that has not taken its snapshot fails with `audience_missing`. */
  delete(id: string, options?: RequestOptions): Promise<SegmentsDeleteResponse> {
    return this.call({ method: 'DELETE', path: ['v1', 'segments', id], deleted: { id: id, object: 'segment', deleted: true } }, options)
  }

  /** Preview a segment. Counts the contacts that fit now, exactly, and for each channel type how many of them can be written to. */
  preview(id: string, options?: RequestOptions): Promise<SegmentPreview> {
    return this.call({ method: 'GET', path: ['v1', 'segments', id, 'preview'] }, options)
  }
}

export class ContactImportsResource extends Resource {
  /** Import contacts from a CSV file. The body is the file itself (`Content-Type: text/csv`), or a form (`multipart/form-data`) with the file in the field `file` and the parameters in the query or in fields before it. UTF-8, with or without BOM; comma, semicolon or tab, or what a line `sep=;` before the header names. The first row names the columns: contact fields, `attributes.<key>`, `consent.<channel type>`, `identifiers.<channel type>`, `tags` with `;` between; common spellings are understood, an unknown column is refused. Rows create contacts or update them, found by phone number, else by identifier, else by e-mail address; an empty cell changes nothing, tags are added. An opt-out is never undone. A file that is no CSV is refused as a whole. Rows are applied in the background: read the import to see how far it is. */
  create(body: string | Blob | Uint8Array<ArrayBuffer>, query?: ContactImportsCreateQuery, options?: RequestOptions): Promise<ContactImport> {
    return this.call({ method: 'POST', path: ['v1', 'contact_imports'], body, contentType: 'text/csv', query }, options)
  }

  /** List contact imports. Newest first, with the counts of each so far. */
  list(query?: ContactImportsListQuery, options?: RequestOptions): List<ContactImport> {
    return this.page(['v1', 'contact_imports'], query, options)
  }

  /** Retrieve a contact import. Its counters move while it runs. */
  retrieve(id: string, options?: RequestOptions): Promise<ContactImport> {
    return this.call({ method: 'GET', path: ['v1', 'contact_imports', id] }, options)
  }

  /** Download the rejected rows of a contact import. A CSV with the columns of the file, `import_row` (the header is row 1), `import_result` and `import_reason`; correct it and import it as it is. Stored for 30 days. Includes rows that were applied without some of their cells. */
  listErrors(id: string, options?: RequestOptions): Promise<string> {
    return this.call({ method: 'GET', path: ['v1', 'contact_imports', id, 'errors'], text: true }, options)
  }
}

export class MessagesResource extends Resource {
  /** Send a message. Answers 202 once the message is stored and charged; read its outcome with GET /v1/messages/{id} or receive it by webhook. */
  send(body: SendMessage, options?: RequestOptions): Promise<Message> {
    return this.call({ method: 'POST', path: ['v1', 'messages'], body }, options)
  }

  /** List messages. Newest first. `updated_after` covers new messages and changes of status; poll with an overlap of a few seconds. */
  list(query?: MessagesListQuery, options?: RequestOptions): List<Message> {
    return this.page(['v1', 'messages'], query, options)
  }

  /** Send up to 100 messages. Answers 207 whenever the batch itself is well-formed, even if every item was rejected. The Idempotency-Key applies to the whole batch. */
  sendBatch(body: MessagesSendBatchBody, options?: RequestOptions): Promise<MessagesSendBatchResponse> {
    return this.call({ method: 'POST', path: ['v1', 'messages', 'batch'], body }, options)
  }

  /** Retrieve a message. `status` and its timestamps show progress; `error` explains a failure. */
  retrieve(id: string, options?: RequestOptions): Promise<Message> {
    return this.call({ method: 'GET', path: ['v1', 'messages', id] }, options)
  }

  /** List a message's history. Newest first, in one page. */
  listEvents(id: string, query?: MessagesListEventsQuery, options?: RequestOptions): List<MessagesListEventsItem> {
    return this.page(['v1', 'messages', id, 'events'], query, options)
  }

  /** List a message's send attempts. Newest first, in one page. */
  listAttempts(id: string, query?: MessagesListAttemptsQuery, options?: RequestOptions): List<MessagesListAttemptsItem> {
    return this.page(['v1', 'messages', id, 'attempts'], query, options)
  }

  /** Cancel a message that is still queued. The message becomes `failed` with the error code `cancelled`, and is refunded. */
  cancel(id: string, options?: RequestOptions): Promise<Message> {
    return this.call({ method: 'POST', path: ['v1', 'messages', id, 'cancel'] }, options)
  }
}

export class TestResource extends Resource {
  /** Simulate an inbound message. On a sandbox channel: emits `message.received`, opens the service window, applies the opt-out keywords. */
  createInboundMessage(body: InboundMessage, options?: RequestOptions): Promise<Message> {
    return this.call({ method: 'POST', path: ['v1', 'test', 'inbound_messages'], body }, options)
  }
}

export class WebhookEndpointsResource extends Resource {
  /** Create a webhook endpoint. From now on the endpoint receives every event of its mode that it subscribes to, signed with `secret`, which is shown only here. `url` must be https and lead to a public address; a host name that does not resolve yet is accepted, and every attempt checks the address it connects to. */
  create(body: WebhookEndpointsCreateBody, options?: RequestOptions): Promise<WebhookEndpointWithSecret> {
    return this.call({ method: 'POST', path: ['v1', 'webhook_endpoints'], body }, options)
  }

  /** List webhook endpoints. Newest first, disabled ones too. Secrets are not shown again. */
  list(query?: WebhookEndpointsListQuery, options?: RequestOptions): List<WebhookEndpoint> {
    return this.page(['v1', 'webhook_endpoints'], query, options)
  }

  /** Retrieve a webhook endpoint. Its secret is not shown again: `roll_secret` makes a new one. */
  retrieve(id: string, options?: RequestOptions): Promise<WebhookEndpoint> {
    return this.call({ method: 'GET', path: ['v1', 'webhook_endpoints', id] }, options)
  }

  /** Update a webhook endpoint. Absent fields stay; `events`, `filters` and `metadata` are replaced whole; null clears `filters`, `metadata` and `verification_token`. `status` `disabled` ends what is pending as failed; `active` enables a disabled endpoint again, its count of failures starts anew, and what happened meanwhile is never sent. */
  update(id: string, body: WebhookEndpointsUpdateBody = {}, options?: RequestOptions): Promise<WebhookEndpoint> {
    return this.call({ method: 'PATCH', path: ['v1', 'webhook_endpoints', id], body }, options)
  }

  /** Delete a webhook endpoint. Its pending deliveries are dropped for good. */
  delete(id: string, options?: RequestOptions): Promise<WebhookEndpointsDeleteResponse> {
    return this.call({ method: 'DELETE', path: ['v1', 'webhook_endpoints', id], deleted: { id: id, object: 'webhook_endpoint', deleted: true } }, options)
  }

  /** Roll the signing secret. Answers the endpoint with a new `secret`. The previous one stops being used immediately, or signs as well (a second `v1=`) for `expire_previous_in_seconds`. */
  rollSecret(id: string, body: WebhookEndpointsRollSecretBody = {}, options?: RequestOptions): Promise<WebhookEndpointWithSecret> {
    return this.call({ method: 'POST', path: ['v1', 'webhook_endpoints', id, 'roll_secret'], body }, options)
  }

  /** Send a test event. Delivers a signed `webhook.test` event to this endpoint alone, whatever it subscribes to. Waits up to 5 seconds for the first attempt and answers the delivery as it then is. The delivery is retried and counted as any other. A disabled endpoint gets nothing: `failed`, `endpoint_disabled`. */
  test(id: string, options?: RequestOptions): Promise<WebhookDelivery> {
    return this.call({ method: 'POST', path: ['v1', 'webhook_endpoints', id, 'test'] }, options)
  }

  /** List an endpoint's deliveries. Kept 30 days. */
  listDeliveries(id: string, query?: WebhookEndpointsListDeliveriesQuery, options?: RequestOptions): List<WebhookDelivery> {
    return this.page(['v1', 'webhook_endpoints', id, 'deliveries'], query, options)
  }

  /** Retrieve a delivery. The response to its last attempt, and the time of the next one. */
  retrieveDelivery(id: string, deliveryId: string, options?: RequestOptions): Promise<WebhookDelivery> {
    return this.call({ method: 'GET', path: ['v1', 'webhook_endpoints', id, 'deliveries', deliveryId] }, options)
  }

  /** Retry a delivery. One attempt now, with the same body, of a delivery that is not pending; it is counted, and no further attempts follow. Waits up to 5 seconds and answers the delivery as it then is. */
  retryDelivery(id: string, deliveryId: string, options?: RequestOptions): Promise<WebhookDelivery> {
    return this.call({ method: 'POST', path: ['v1', 'webhook_endpoints', id, 'deliveries', deliveryId, 'retry'] }, options)
  }
}

export class EventsResource extends Resource {
  /** List events. The events that webhooks deliver, for polling and for catching up; each item is the body delivered. With `order=asc` no event ever appears before a cursor that was already returned. Events are kept 30 days; a cursor older than that means the start of the feed. */
  list(query?: EventsListQuery, options?: RequestOptions): List<Event> {
    return this.page(['v1', 'events'], query, options)
  }

  /** Retrieve an event. As it was delivered: `data.object` is the resource as it was then, not as it is now. Events are kept for 30 days. */
  retrieve(id: string, options?: RequestOptions): Promise<Event> {
    return this.call({ method: 'GET', path: ['v1', 'events', id] }, options)
  }
}

export class CampaignsResource extends Resource {
  /** Create a campaign. A draft, unless `launch` is true. A live `whatsapp` campaign must send an approved template, which is looked up at the provider. */
  create(body: CampaignCreation, options?: RequestOptions): Promise<Campaign> {
    return this.call({ method: 'POST', path: ['v1', 'campaigns'], body }, options)
  }

  /** List campaigns. Newest first. Recipients of ad-hoc audiences are left out; `recipients_count` is their number. */
  list(query?: CampaignsListQuery, options?: RequestOptions): List<Campaign> {
    return this.page(['v1', 'campaigns'], query, options)
  }

  /** Retrieve a campaign. With its counters and cost so far, and an ad-hoc audience with its recipients. */
  retrieve(id: string, options?: RequestOptions): Promise<Campaign> {
    return this.call({ method: 'GET', path: ['v1', 'campaigns', id] }, options)
  }

  /** Update a draft. Absent fields stay; objects are replaced whole. The draft is checked as a whole: replace a deleted list, segment or channel in the same request. */
  update(id: string, body: CampaignUpdate = {}, options?: RequestOptions): Promise<Campaign> {
    return this.call({ method: 'PATCH', path: ['v1', 'campaigns', id], body }, options)
  }

  /** Delete a draft. Drafts alone are deleted; a campaign of another status is 409 `campaign_state_invalid`. */
  delete(id: string, options?: RequestOptions): Promise<CampaignsDeleteResponse> {
    return this.call({ method: 'DELETE', path: ['v1', 'campaigns', id], deleted: { id: id, object: 'campaign', deleted: true } }, options)
  }

  /** List the recipients of a campaign. In the order of the snapshot; none before it is complete. With `Accept: text/csv` all that fit `status` and `to` are streamed as CSV; `limit` and `starting_after` have no effect then. Cells that a spreadsheet would run as a formula start with an apostrophe; E.164 phone numbers do not. */
  listRecipients(id: string, query?: CampaignsListRecipientsQuery, options?: RequestOptions): List<CampaignRecipient> {
    return this.page(['v1', 'campaigns', id, 'recipients'], query, options)
  }

  /** Launch a campaign. Checked in this order: status, consent, channel, template, size, funds. Each message is charged when it is sent. */
  launch(id: string, body: CampaignLaunch = {}, options?: RequestOptions): Promise<Campaign> {
    return this.call({ method: 'POST', path: ['v1', 'campaigns', id, 'launch'], body }, options)
  }

  /** Rehearse a campaign. Predicts a launch, or the rest of a running campaign: recipients, cost, start and end, and every check of a launch. Nothing is stored, sent or charged. With `Accept: text/csv` each recipient is streamed with its outcome. */
  rehearse(id: string, options?: RequestOptions): Promise<CampaignRehearsal> {
    return this.call({ method: 'POST', path: ['v1', 'campaigns', id, 'rehearse'] }, options)
  }

  /** Send a campaign to yourself. Sends its message to one address as an ordinary API message, which is charged. Merge tags have the values of the first ad-hoc recipient and of the contact at that address. */
  test(id: string, body: CampaignTest, options?: RequestOptions): Promise<Message> {
    return this.call({ method: 'POST', path: ['v1', 'campaigns', id, 'test'], body }, options)
  }

  /** Duplicate a campaign. Creates a draft with the same fields, without `send_at` and declared consent. With `recipients` = `failed` its audience is the failed recipients (409 if there are none). */
  duplicate(id: string, body: CampaignDuplication = {}, options?: RequestOptions): Promise<Campaign> {
    return this.call({ method: 'POST', path: ['v1', 'campaigns', id, 'duplicate'], body }, options)
  }

  /** Pause a campaign. Messages that were accepted already are still sent. */
  pause(id: string, options?: RequestOptions): Promise<Campaign> {
    return this.call({ method: 'POST', path: ['v1', 'campaigns', id, 'pause'] }, options)
  }

  /** Resume a campaign. Continues where it stopped. A live campaign needs funds for at least one message. */
  resume(id: string, options?: RequestOptions): Promise<Campaign> {
    return this.call({ method: 'POST', path: ['v1', 'campaigns', id, 'resume'] }, options)
  }

  /** Cancel a campaign. Cancels recipients who were not sent to. Sent messages are not recalled and stay charged. */
  cancel(id: string, options?: RequestOptions): Promise<Campaign> {
    return this.call({ method: 'POST', path: ['v1', 'campaigns', id, 'cancel'] }, options)
  }
}

export class IntegrationSourcesResource extends Resource {
  /** Retrieve the source of a source key. For plugins: what to report and how. The ETag is `config_version`; with `If-None-Match` an unchanged source is 304 without a body. Ask at most once every five minutes. */
  retrieveCurrent(options?: RequestOptions): Promise<IntegrationSource> {
    return this.call({ method: 'GET', path: ['v1', 'integration_sources', 'current'] }, options)
  }

  /** Update the source of a source key. Only what is sent changes; `emits` is replaced whole. Status and secrets cannot be changed with this key. */
  updateCurrent(body: IntegrationSourcesUpdateCurrentBody = {}, options?: RequestOptions): Promise<IntegrationSource> {
    return this.call({ method: 'PATCH', path: ['v1', 'integration_sources', 'current'], body }, options)
  }

  /** Create or update an integration source. Upserts by `platform` and `external_id` within the mode of the key: 201 with `source_key` and `signing_secret`, shown only here, where the source is new; 200 without them where it existed. Replaces the fields of an existing source that are sent; a disabled source stays disabled. */
  upsert(body: IntegrationSourcesUpsertBody, options?: RequestOptions): Promise<IntegrationSource | IntegrationSourceWithSecrets> {
    return this.call({ method: 'POST', path: ['v1', 'integration_sources'], body }, options)
  }

  /** List integration sources. Newest first. Keys and secrets are not shown again. */
  list(query?: IntegrationSourcesListQuery, options?: RequestOptions): List<IntegrationSource> {
    return this.page(['v1', 'integration_sources'], query, options)
  }

  /** Retrieve an integration source. The ETag is `config_version`; with `If-None-Match` an unchanged source is 304 without a body. */
  retrieve(id: string, options?: RequestOptions): Promise<IntegrationSource> {
    return this.call({ method: 'GET', path: ['v1', 'integration_sources', id] }, options)
  }

  /** Update an integration source. Only what is sent changes; `emits` is replaced whole. `status` `disabled` refuses the source key and native webhooks (403 `source_disabled`) and cancels waiting runs. Set it to `active` to accept events again. */
  update(id: string, body: IntegrationSourcesUpdateBody = {}, options?: RequestOptions): Promise<IntegrationSource> {
    return this.call({ method: 'PATCH', path: ['v1', 'integration_sources', id], body }, options)
  }

  /** Delete an integration source. Its automations and receipts go with it, scheduled runs are cancelled, and its key stops at once. Messages that were sent stay. */
  delete(id: string, options?: RequestOptions): Promise<IntegrationSourcesDeleteResponse> {
    return this.call({ method: 'DELETE', path: ['v1', 'integration_sources', id], deleted: { id: id, object: 'integration_source', deleted: true } }, options)
  }

  /** Roll the source key and the signing secret. Answers the source with a new `source_key` and `signing_secret`. The old ones stop at once. */
  rollKey(id: string, options?: RequestOptions): Promise<IntegrationSourceWithSecrets> {
    return this.call({ method: 'POST', path: ['v1', 'integration_sources', id, 'roll_key'] }, options)
  }
}

export class AutomationEventsResource extends Resource {
  /** Report what happened in a shop or site. Answers 202 with the receipt once the event is stored, with the runs of the automations that are for it. The same `source` and `event_id` again is 200, the first receipt with `status` `duplicate`; nothing runs twice. At most 256 KB. */
  create(body: AutomationEventsCreateBody, options?: RequestOptions): Promise<AutomationEvent> {
    return this.call({ method: 'POST', path: ['v1', 'automation_events'], body }, options)
  }

  /** List the receipts of reported events. Newest first, with the state of their runs. A page ends before its `limit` once its receipts contain more than 4 MB of data. */
  list(query?: AutomationEventsListQuery, options?: RequestOptions): List<AutomationEvent> {
    return this.page(['v1', 'automation_events'], query, options)
  }

  /** Retrieve the receipt of a reported event. With its runs, or the reason why there are none. */
  retrieve(id: string, options?: RequestOptions): Promise<AutomationEvent> {
    return this.call({ method: 'GET', path: ['v1', 'automation_events', id] }, options)
  }
}

export class AutomationsResource extends Resource {
  /** Create an automation. Sends its message for each new event of its source and type that meets the conditions. On a live `whatsapp` channel the message must be an approved template, which is looked up at the provider. */
  create(body: AutomationCreation, options?: RequestOptions): Promise<Automation> {
    return this.call({ method: 'POST', path: ['v1', 'automations'], body }, options)
  }

  /** List automations. Newest first, paused ones too. */
  list(query?: AutomationsListQuery, options?: RequestOptions): List<Automation> {
    return this.page(['v1', 'automations'], query, options)
  }

  /** Retrieve an automation. Which event it waits for, under which conditions, and what it sends. */
  retrieve(id: string, options?: RequestOptions): Promise<Automation> {
    return this.call({ method: 'GET', path: ['v1', 'automations', id] }, options)
  }

  /** Update an automation. Absent fields stay; objects and arrays are replaced whole. Waiting runs keep their time and are sent with the changed message. Pausing, another `event_type` or a channel of another type cancels them. Pausing or renaming does not validate the automation again. */
  update(id: string, body: AutomationUpdate = {}, options?: RequestOptions): Promise<Automation> {
    return this.call({ method: 'PATCH', path: ['v1', 'automations', id], body }, options)
  }

  /** Delete an automation. Cancels waiting runs. Finished runs and sent messages remain. */
  delete(id: string, options?: RequestOptions): Promise<AutomationsDeleteResponse> {
    return this.call({ method: 'DELETE', path: ['v1', 'automations', id], deleted: { id: id, object: 'automation', deleted: true } }, options)
  }

  /** Simulate an automation. Predicts the result for an event reported now: each condition, the message, and when it would be sent. A paused one is simulated as if it were active. Nothing is stored or sent. A receipt of another source, or of another type of event, is `skipped`, `no_automation`. */
  simulate(id: string, body: AutomationSimulationRequest = {}, options?: RequestOptions): Promise<AutomationSimulation> {
    return this.call({ method: 'POST', path: ['v1', 'automations', id, 'simulate'], body }, options)
  }
}

export class AutomationRunsResource extends Resource {
  /** List automation runs. Newest first: the result of each automation for each event, with the reason if nothing was sent. */
  list(query?: AutomationRunsListQuery, options?: RequestOptions): List<AutomationRun> {
    return this.page(['v1', 'automation_runs'], query, options)
  }

  /** Retrieve an automation run. Its result: `message_id` is the message, whose status shows the rest; `reason` explains why there is none. */
  retrieve(id: string, options?: RequestOptions): Promise<AutomationRun> {
    return this.call({ method: 'GET', path: ['v1', 'automation_runs', id] }, options)
  }
}

/** All of them, as the fields of the client. */
export class Resources {
  readonly me: MeResource
  readonly balance: BalanceResource
  readonly prices: PricesResource
  readonly usage: UsageResource
  readonly balanceTransactions: BalanceTransactionsResource
  readonly channels: ChannelsResource
  readonly contacts: ContactsResource
  readonly contactTags: ContactTagsResource
  readonly contactAttributes: ContactAttributesResource
  readonly contactLists: ContactListsResource
  readonly segments: SegmentsResource
  readonly contactImports: ContactImportsResource
  readonly messages: MessagesResource
  readonly test: TestResource
  readonly webhookEndpoints: WebhookEndpointsResource
  readonly events: EventsResource
  readonly campaigns: CampaignsResource
  readonly integrationSources: IntegrationSourcesResource
  readonly automationEvents: AutomationEventsResource
  readonly automations: AutomationsResource
  readonly automationRuns: AutomationRunsResource

  constructor(transport: Transport) {
    this.me = new MeResource(transport)
    this.balance = new BalanceResource(transport)
    this.prices = new PricesResource(transport)
    this.usage = new UsageResource(transport)
    this.balanceTransactions = new BalanceTransactionsResource(transport)
    this.channels = new ChannelsResource(transport)
    this.contacts = new ContactsResource(transport)
    this.contactTags = new ContactTagsResource(transport)
    this.contactAttributes = new ContactAttributesResource(transport)
    this.contactLists = new ContactListsResource(transport)
    this.segments = new SegmentsResource(transport)
    this.contactImports = new ContactImportsResource(transport)
    this.messages = new MessagesResource(transport)
    this.test = new TestResource(transport)
    this.webhookEndpoints = new WebhookEndpointsResource(transport)
    this.events = new EventsResource(transport)
    this.campaigns = new CampaignsResource(transport)
    this.integrationSources = new IntegrationSourcesResource(transport)
    this.automationEvents = new AutomationEventsResource(transport)
    this.automations = new AutomationsResource(transport)
    this.automationRuns = new AutomationRunsResource(transport)
  }
}
