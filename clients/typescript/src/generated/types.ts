/** The objects of the API. Written by `npm run gen` from openapi.json: not by hand. */

/** The account behind a request. */
export interface Account {
  /** Prefix `acc_`. */
  id: string
  /** Always `account`. */
  object: 'account'
  /** As the operator called the account. */
  name: string
  /** Of the keys that see it: `live` delivers and bills, `test` is the sandbox. */
  mode: 'live' | 'test' | (string & {})
  /** The key of this request. */
  api_key: {
    /** Prefix `key_`; it names the key in logs, and reveals nothing of it. */
    id: string
    /** The name of the key when it was created. */
    name: string
    /** The permissions of the key: an operation with another scope responds 403 `scope_missing`. */
    scopes: ('messages:read' | 'messages:write' | 'channels:read' | 'channels:write' | 'webhooks:read' | 'webhooks:write' | 'contacts:read' | 'contacts:write' | 'campaigns:read' | 'campaigns:write' | 'integrations:read' | 'integrations:write' | 'automation_events:read' | 'automation_events:write' | 'events:read' | 'billing:read' | (string & {}))[]
  }
  /** Features that this version of the service has; more may be added. */
  capabilities: ('automation_events' | 'webhook_filters' | 'test_inbound' | 'events_feed' | (string & {}))[]
}

/** The error envelope. */
export interface ApiError {
  error: ErrorBody
}

/** One to ten files, fetched from their URLs. On a live WhatsApp channel each becomes a separate provider message, under one Message and one charge. */
export type AttachmentsContent = ({
  /** The kind of file. */
  type: 'image' | 'video' | 'audio' | 'document' | 'sticker'
  /** Where the file is fetched from. */
  url: string
  /** The name under which a document is shown. */
  filename?: string | null | undefined
  /** Words shown with the file. */
  caption?: string | null | undefined
})[]

/** One to ten files, fetched from their URLs. On a live WhatsApp channel each becomes a separate provider message, under one Message and one charge. */
export type AttachmentsMessage = MessageFields & {
  /** Always `attachments`, the discriminator of the variants. */
  type: 'attachments'
  /** The content, under the key `attachments`. */
  content: {
    attachments: ReceivedAttachmentsContent
  }
}

/** Which message follows which event of a source. */
export interface Automation {
  /** Prefix `aut_`. */
  id: string
  /** Always `automation`. */
  object: 'automation'
  /** Of the keys that see it: `live` delivers and bills, `test` is the sandbox. */
  mode: 'live' | 'test' | (string & {})
  /** For people: 1 to 120 characters. */
  name: string
  /** The integration source (`src_`) whose events trigger it. */
  source_id: string
  /** The type of event that it waits for. */
  event_type: string
  /** `paused`: nothing follows an event. */
  status: 'active' | 'paused' | (string & {})
  /** Rules as a segment has them, over the event: {`match` `all`|`any`, `conditions`} of {`field`, `operator`, `value`}. Fields: `data.<path>`, such as `data.order.total` or `data.order.items[0].name`, `customer.external_id`, `.phone`, `.email`, `.first_name`, `.last_name`, `.locale`, `.tags` and `customer.attributes.<path>`. A text in digits, such as `"59.99"`, compares with a number as a number. null: every event of the type. */
  conditions: Rules | null
  /** How long after the event it is sent. */
  delay_seconds: number
  /** Event types that cancel waiting runs of the same customer. */
  cancel_on: string[]
  /** The channel (`ch_`) that its message is sent on. */
  channel_id: string
  /** `marketing` is sent only to customers who agreed to advertising. */
  category: 'transactional' | 'marketing' | (string & {})
  message: AutomationMessage
  /** Merge tag name, without braces, to the text that replaces a missing value. */
  merge_fallbacks: Record<string, string>
  /** ISO 8601, UTC, with milliseconds. */
  created_at: string
  /** ISO 8601, UTC, with milliseconds. */
  updated_at: string
}

/** A new automation. */
export interface AutomationCreation {
  /** For people; need not be unique. */
  name: string
  /** The integration source (`src_`). */
  source_id: string
  /** A type of the catalogue, or `custom.<name>` with a name of your own. */
  event_type: string
  /** The channel that it is sent on (`ch_`); with a test key a sandbox channel such as `ch_test_whatsapp`. */
  channel_id: string
  message: AutomationMessage
  /** `active` where it is new. */
  status?: 'active' | 'paused' | undefined
  /** Rules as a segment has them, over the event: {`match` `all`|`any`, `conditions`} of {`field`, `operator`, `value`}. Fields: `data.<path>`, such as `data.order.total` or `data.order.items[0].name`, `customer.external_id`, `.phone`, `.email`, `.first_name`, `.last_name`, `.locale`, `.tags` and `customer.attributes.<path>`. A text in digits, such as `"59.99"`, compares with a number as a number. null: every event of the type. */
  conditions?: Rules | null | undefined
  /** How long after the event it is sent: up to 30 days. 0 where it is new. */
  delay_seconds?: number | undefined
  /** Event types that cancel waiting runs of the same customer. */
  cancel_on?: string[] | null | undefined
  /** `marketing` is sent only to customers who agreed to advertising. `transactional` where it is new. */
  category?: 'transactional' | 'marketing' | undefined
  /** Merge tag name, without braces, to the text that replaces a missing value. */
  merge_fallbacks?: Record<string, string> | null | undefined
}

/** The receipt of an event. */
export interface AutomationEvent {
  /** Prefix `aev_`. */
  id: string
  /** Always `automation_event`. */
  object: 'automation_event'
  /** Of the keys that see it: `live` delivers and bills, `test` is the sandbox. */
  mode: 'live' | 'test' | (string & {})
  /** The integration source (`src_`) that reported it. */
  source_id: string
  /** As reported; `<platform>.<topic>` for a native webhook whose topic is no known event. */
  type: string
  /** The source's own id of the event. */
  event_id: string
  /** How it was received: by `POST /v1/automation_events`, or as a native webhook of the platform. */
  origin: 'api' | 'native_webhook' | (string & {})
  /** `accepted`: at least one automation runs. `ignored`: none is for it. `skipped`: those that are do nothing about it. `failed`: it could not be looked at. `duplicate` is only ever answered to who reports an event again. */
  status: 'accepted' | 'ignored' | 'skipped' | 'duplicate' | 'failed' | (string & {})
  /** Why nothing runs; null where something does. */
  reason: 'no_automation' | 'unmapped_topic' | 'no_identifier' | 'consent_missing' | 'unsubscribed' | 'condition_not_met' | (string & {}) | null
  /** The contact that the customer is. */
  contact_id: string | null
  /** One for each automation that is for the event. */
  runs: ({
    /** Prefix `run_`. */
    id: string
    /** The automation (`aut_`) that runs. */
    automation_id: string
    /** `sent`: its message was accepted; see the message for its status. */
    status: 'scheduled' | 'sent' | 'skipped' | 'cancelled' | 'failed' | (string & {})
    /** When its message will be sent, ISO 8601, UTC, with milliseconds. */
    scheduled_for: string
    /** The message (`msg_`) that was accepted; null where none was, or not yet. */
    message_id: string | null
    /** Why it was skipped or cancelled, or failed. */
    reason: string | null
  })[]
  /** As it was reported. */
  data: Record<string, unknown>
  /** ISO 8601, UTC, with milliseconds. */
  occurred_at: string
  /** ISO 8601, UTC, with milliseconds. */
  created_at: string
}

/** `type` and the content object under the key named by it. Every string of it may hold the merge tags of a campaign, `{{data.<path>}}` and `{{customer.<field>}}`. */
export type AutomationMessage = TaggedTextMessage | TaggedAttachmentsMessage | TaggedTemplateMessage | TaggedButtonMessage | TaggedListMessage | TaggedCtaUrlMessage | TaggedLocationMessage | TaggedContactsMessage | TaggedFlowMessage | TaggedProductMessage | TaggedProductListMessage | TaggedCatalogMessage | TaggedCarouselMessage | TaggedLocationRequestMessage

/** The execution of an automation for one event. */
export interface AutomationRun {
  /** Prefix `run_`. */
  id: string
  /** The automation (`aut_`) that runs. */
  automation_id: string
  /** `sent`: its message was accepted; see the message for its status. */
  status: 'scheduled' | 'sent' | 'skipped' | 'cancelled' | 'failed' | (string & {})
  /** When its message will be sent, ISO 8601, UTC, with milliseconds. */
  scheduled_for: string
  /** The message (`msg_`) that was accepted; null where none was, or not yet. */
  message_id: string | null
  /** Why it was skipped or cancelled, or failed. */
  reason: string | null
  /** Always `automation_run`. */
  object: 'automation_run'
  /** Of the keys that see it: `live` delivers and bills, `test` is the sandbox. */
  mode: 'live' | 'test' | (string & {})
  /** The integration source (`src_`) that reported the event. */
  source_id: string
  /** The receipt (`aev_`) of the event that it follows. */
  automation_event_id: string
  /** The contact (`ct_`) that the customer is; null where there is none. */
  contact_id: string | null
  /** ISO 8601, UTC, with milliseconds. */
  created_at: string
}

/** The result of a simulation. Nothing is stored or sent. */
export interface AutomationSimulation {
  /** Always `automation_simulation`. */
  object: 'automation_simulation'
  /** That of the run there would be: `scheduled`, or `skipped`, `cancelled` or `failed` where no message would come of it. */
  status: 'scheduled' | 'sent' | 'skipped' | 'cancelled' | 'failed' | (string & {})
  /** As a run has it, or `no_automation` of an event that is not for this one; of a `scheduled` one what holds it up at this moment. */
  reason: string | null
  /** Each condition by itself, in the order in which they are written. */
  conditions: {
    /** As the condition names it. */
    field: string
    /** Whether the event fits it. */
    met: boolean
  }[]
  /** When it would be sent; null where nothing is tried. */
  scheduled_for: string | null
  /** As it would be sent; null where none would be. */
  message: Record<string, unknown> | null
  /** Event types of the same customer that would cancel it until then. */
  cancel_on: string[]
}

/** Either of the two. */
export interface AutomationSimulationRequest {
  /** A receipt (`aev_`): its event, as if it were reported now. */
  automation_event_id?: string | null | undefined
  /** An invented event in the form of `POST /v1/automation_events`, without `source`. */
  event?: {
    /** One of the catalogue, or `custom.<name>`. */
    type: string
    /** Has no effect. */
    event_id?: string | null | undefined
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
  } | null | undefined
}

/** Absent fields stay; objects and arrays are replaced whole. */
export interface AutomationUpdate {
  /** For people; need not be unique. */
  name?: string | undefined
  /** A type of the catalogue, or `custom.<name>` with a name of your own. */
  event_type?: string | undefined
  /** The channel that it is sent on (`ch_`); with a test key a sandbox channel such as `ch_test_whatsapp`. */
  channel_id?: string | undefined
  message?: AutomationMessage | undefined
  /** `active` where it is new. */
  status?: 'active' | 'paused' | undefined
  /** Rules as a segment has them, over the event: {`match` `all`|`any`, `conditions`} of {`field`, `operator`, `value`}. Fields: `data.<path>`, such as `data.order.total` or `data.order.items[0].name`, `customer.external_id`, `.phone`, `.email`, `.first_name`, `.last_name`, `.locale`, `.tags` and `customer.attributes.<path>`. A text in digits, such as `"59.99"`, compares with a number as a number. null: every event of the type. */
  conditions?: Rules | null | undefined
  /** How long after the event it is sent: up to 30 days. 0 where it is new. */
  delay_seconds?: number | undefined
  /** Event types that cancel waiting runs of the same customer. */
  cancel_on?: string[] | null | undefined
  /** `marketing` is sent only to customers who agreed to advertising. `transactional` where it is new. */
  category?: 'transactional' | 'marketing' | undefined
  /** Merge tag name, without braces, to the text that replaces a missing value. */
  merge_fallbacks?: Record<string, string> | null | undefined
}

export interface Balance {
  /** Always `balance`. */
  object: 'balance'
  /** Of the keys that see it: `live` delivers and bills, `test` is the sandbox. */
  mode: 'live' | 'test' | (string & {})
  /** Amounts are in micro-USD: 1,000,000 are one US dollar. */
  currency: 'USD'
  /** The wallet balance in micro-USD. Never negative. */
  wallet_micros: number
  /** In the order of their use; exhausted and expired ones follow for 30 days. */
  packages: Package[]
  /** Credits of all active packages together. */
  credits_remaining: number
}

/** Sent when the wallet is below its threshold and no package credits remain; at most once every 24 hours. */
export interface BalanceLowEvent {
  /** Prefix `evt_`; the same in every retry. Receivers deduplicate on it. */
  id: string
  /** Always `event`. */
  object: 'event'
  /** Always `balance.low`, the discriminator of the variants. */
  type: 'balance.low'
  /** Of the keys that see it: `live` delivers and bills, `test` is the sandbox. */
  mode: 'live' | 'test' | (string & {})
  /** When it occurred. */
  created_at: string
  /** The object of the event. */
  data: {
    object: Balance
  }
}

/** One entry of the append-only ledger. The wallet is the sum of `amount_micros`, a package the sum of its `credits`. */
export interface BalanceTransaction {
  /** Prefix `txn_`. */
  id: string
  /** Always `balance_transaction`. */
  object: 'balance_transaction'
  /** Always `live`: nothing is charged in test mode. */
  mode: 'live'
  /** `top_up`: money came into the wallet. `message_charge`: an accepted message took its price or one credit. `message_refund`: what a failed message had taken came back. `package_grant`: credits were granted. `package_expiry`: unused credits were written off. `adjustment`: a correction by the operator. */
  type: 'top_up' | 'message_charge' | 'message_refund' | 'package_grant' | 'package_expiry' | 'adjustment' | (string & {})
  /** Change of the wallet in micro-USD, negative for a charge; 0 when only credits moved. */
  amount_micros: number
  /** Amounts are in micro-USD: 1,000,000 are one US dollar. */
  currency: 'USD'
  /** Change of the credits of the package, negative when one was used; 0 when only money moved. */
  credits: number
  /** The package (`grant_`) whose credits changed, or null. */
  package_grant_id: string | null
  /** The message that was charged or refunded (`msg_`), or null. */
  message_id: string | null
  /** The top-up in the console that brought the money (`top_`), or null. */
  top_up_id: string | null
  /** The payment provider's id of its payment, such as Stripe's `pi_…`, or null. */
  payment_reference: string | null
  /** The operator's note on a top-up or correction, or null. */
  note: string | null
  /** The wallet balance after this transaction, in micro-USD. */
  balance_after_micros: number
  /** ISO 8601, UTC, with milliseconds. */
  created_at: string
}

/** A text with one to three buttons; the reply arrives as a `button_reply`. */
export interface ButtonContent {
  /** The header above the message. */
  header?: {
    /** Type of the header. */
    type: 'text' | 'image' | 'video' | 'document'
    /** The headline; for type `text`. */
    text?: string | null | undefined
    /** Where the picture, video or document is fetched from; for the other types. */
    url?: string | null | undefined
    /** The name under which a document is shown. */
    filename?: string | null | undefined
  } | null | undefined
  /** The main part of the message. */
  body: {
    /** The main text. */
    text: string
  }
  /** A line in small type under the message. */
  footer?: {
    /** The small text at the end. */
    text: string
  } | null | undefined
  /** The choices of the recipient. */
  action: {
    /** The buttons. */
    buttons: {
      /** The button. */
      reply: {
        /** Your ID for the button; returned in the `button_reply`. */
        id: string
        /** The label of the button. */
        title: string
      }
    }[]
  }
}

/** A text with one to three buttons; the reply arrives as a `button_reply`. */
export type ButtonMessage = MessageFields & {
  /** Always `button`, the discriminator of the variants. */
  type: 'button'
  /** The content, under the key `button`. */
  content: {
    button: ButtonContent
  }
}

/** The recipient tapped a button of a `button`, `carousel` or `template` message. */
export interface ButtonReplyContent {
  /** The `id` that you gave the button. */
  id: string
  /** The label of the button. */
  title: string
}

/** The recipient tapped a button of a `button`, `carousel` or `template` message. */
export type ButtonReplyMessage = MessageFields & {
  /** Always `button_reply`, the discriminator of the variants. */
  type: 'button_reply'
  /** The content, under the key `button_reply`. */
  content: {
    button_reply: ButtonReplyContent
  }
}

/** One message to many. */
export interface Campaign {
  /** Prefix `cmp_`. */
  id: string
  /** Always `campaign`. */
  object: 'campaign'
  /** Of the keys that see it: `live` delivers and bills, `test` is the sandbox. */
  mode: 'live' | 'test' | (string & {})
  /** For people: 1 to 120 characters. */
  name: string
  /** The channel (`ch_`) that it is sent on. */
  channel_id: string
  /** The kind of that channel. */
  channel_type: 'whatsapp' | 'sms' | 'telegram' | (string & {})
  /** `draft` may be changed and deleted. `scheduled` waits for `send_at`, `queued` for its turn. `sending` and `paused` may be cancelled. `completed`, `cancelled` and `failed` stay as they are. */
  status: 'draft' | 'scheduled' | 'queued' | 'sending' | 'paused' | 'completed' | 'cancelled' | 'failed' | (string & {})
  /** Why it is `paused`, else null. `channel_disconnected`: its channel is disabled, pending or without its link. */
  pause_reason: 'user' | 'insufficient_balance' | 'channel_disconnected' | 'template_paused' | 'messaging_limit_reached' | (string & {}) | null
  /** Why it is `failed`, otherwise null. Remaining recipients are `cancelled`. */
  failure_reason: 'channel_deleted' | 'channel_suspended' | 'audience_missing' | 'audience_too_large' | 'template_not_approved' | 'account_suspended' | 'internal_error' | (string & {}) | null
  audience: CampaignAudience
  message: CampaignMessage
  /** Merge tag name, without braces, to the text for recipients without a value. */
  merge_fallbacks: Record<string, string>
  /** Whether only contacts with the consent `opted_in` for the channel type receive it. */
  require_opt_in: boolean
  /** Whether it was declared that the recipients have agreed; a launch needs it. */
  consent_declared: boolean
  schedule: CampaignSchedule
  /** Messages a second at most. Where the channel's own rate is lower, that counts. */
  throttle_per_second: number
  /** Recipients by status; 0 before the snapshot. */
  counters: {
    /** Recipients of the snapshot: `queued` + `sent` + `failed` + `skipped` + `cancelled`. */
    total: number
    /** Not sent yet. */
    queued: number
    /** Accepted by the provider and not failed; includes delivered and read messages. */
    sent: number
    /** Those read count too. */
    delivered: number
    /** Read, where the channel reports it. */
    read: number
    /** Their messages failed, and were refunded. */
    failed: number
    /** Not sent to; see `skip_reasons`. */
    skipped: number
    /** Not written to because the campaign was cancelled or failed. */
    cancelled: number
    /** Reason to recipients. */
    skip_reasons: Record<string, number>
  }
  /** The expected cost, and the cost so far. */
  cost: {
    /** Amounts are in micro-USD: 1,000,000 are one US dollar. */
    currency: 'USD'
    /** Micro-USD; null for a segment that has not been looked up yet. */
    estimated_wallet_micros: number | null
    /** Package credits; null for a segment that has not been looked up yet. */
    estimated_credits: number | null
    /** Micro-USD charged so far, minus refunds. */
    wallet_micros: number
    /** Package credits used so far, minus refunds. */
    package_credits: number
  }
  /** ISO 8601, UTC, with milliseconds. */
  created_at: string
  /** ISO 8601, UTC, with milliseconds; null until then. */
  launched_at: string | null
  /** ISO 8601, UTC, with milliseconds; null until then. */
  started_at: string | null
  /** ISO 8601, UTC, with milliseconds; null until then. */
  paused_at: string | null
  /** ISO 8601, UTC, with milliseconds; null until then. */
  completed_at: string | null
  /** ISO 8601, UTC, with milliseconds; null until then. */
  cancelled_at: string | null
}

/** The recipients. */
export interface CampaignAudience {
  /** Which of the other fields count; those of other variants are left out. */
  type: 'segment' | 'list' | 'tags' | 'adhoc' | (string & {})
  /** `segment`: the segment (`seg_`); its rules are evaluated when sending starts. */
  segment_id?: string | undefined
  /** `list`: the contact list (`lst_`). */
  list_id?: string | undefined
  /** `tags`: what contacts are tagged with. */
  tags?: string[] | undefined
  /** `tags`: contacts with any of them, or with all. */
  match?: 'any' | 'all' | (string & {}) | undefined
  /** `adhoc`: left out of lists and events. */
  recipients?: ({
    /** As `to` of a message on this channel. */
    to: string
    /** Goes before the name of the contact, as `{{first_name}}`. */
    first_name?: string | null | undefined
    /** Goes before the name of the contact, as `{{last_name}}`. */
    last_name?: string | null | undefined
    /** Merge tag name to value: usable as `{{<key>}}` and as `{{attributes.<key>}}`. */
    variables?: Record<string, string | number | boolean | null> | null | undefined
  })[] | undefined
  /** `adhoc`: how many recipients were given. */
  recipients_count?: number | undefined
  /** `adhoc`: whether the recipients become contacts when sending starts. */
  save_as_contacts?: boolean | undefined
}

/** The recipients. */
export interface CampaignAudienceRequest {
  /** Which of the other fields count; those of other variants are left out. */
  type: 'segment' | 'list' | 'tags' | 'adhoc'
  /** `segment`: required. Its rules are evaluated when sending starts. */
  segment_id?: string | null | undefined
  /** `list`: required. */
  list_id?: string | null | undefined
  /** `tags`: required; 1 to 20, as contacts have them. */
  tags?: string[] | null | undefined
  /** `tags`: contacts with any of them, or with all. */
  match?: 'any' | 'all' | null | undefined
  /** `adhoc`: required. */
  recipients?: ({
    /** As `to` of a message on this channel. */
    to: string
    /** Goes before the name of the contact, as `{{first_name}}`. */
    first_name?: string | null | undefined
    /** Goes before the name of the contact, as `{{last_name}}`. */
    last_name?: string | null | undefined
    /** Merge tag name to value: usable as `{{<key>}}` and as `{{attributes.<key>}}`. */
    variables?: Record<string, string | number | boolean | null> | null | undefined
  })[] | null | undefined
  /** `adhoc`: the recipients become contacts when sending starts (phone channels). */
  save_as_contacts?: boolean | null | undefined
}

/** Sent when every recipient of a campaign was processed. */
export interface CampaignCompletedEvent {
  /** Prefix `evt_`; the same in every retry. Receivers deduplicate on it. */
  id: string
  /** Always `event`. */
  object: 'event'
  /** Always `campaign.completed`, the discriminator of the variants. */
  type: 'campaign.completed'
  /** Of the keys that see it: `live` delivers and bills, `test` is the sandbox. */
  mode: 'live' | 'test' | (string & {})
  /** When it occurred. */
  created_at: string
  /** The object of the event. */
  data: {
    object: Campaign
  }
}

/** A new campaign. */
export interface CampaignCreation {
  /** For people; need not be unique. */
  name: string
  /** Channel id; with a test key a sandbox channel such as `ch_test_whatsapp`. */
  channel: string
  audience: CampaignAudienceRequest
  message: CampaignMessage
  /** Merge tag name, without braces, to the text for recipients without a value. */
  merge_fallbacks?: Record<string, string> | null | undefined
  /** Only contacts whose consent for the channel type is `opted_in`. */
  require_opt_in?: boolean | undefined
  /** Confirms that the recipients consented; may also be sent at launch. */
  consent_declared?: boolean | undefined
  /** When it is sent; null: as soon as it is launched. */
  schedule?: {
    /** null starts when launched; so does a time that has passed. */
    send_at?: string | null | undefined
    /** IANA name. Default: that of the account. */
    timezone?: string | null | undefined
    /** Nothing is sent outside of it. An end that is not after the start lies on the next day; an equal one means the whole day. */
    send_window?: {
      /** HH:MM, inclusive. */
      start: string
      /** HH:MM, exclusive. */
      end: string
    } | null | undefined
    /** The window counts in each contact's own time zone, where it has one. */
    recipient_timezone?: boolean | undefined
  } | null | undefined
  /** Messages per second, as requested. A lower rate of the channel takes precedence. */
  throttle_per_second?: number | undefined
  /** Create and launch in one call; nothing is stored if the launch is refused. */
  launch?: boolean | undefined
  /** Launch although credits and wallet do not cover all recipients: the campaign pauses when they run out. */
  allow_insufficient_funds?: boolean | undefined
}

export interface CampaignDuplication {
  /** For people; need not be unique. */
  name?: string | undefined
  /** `failed`: an ad-hoc audience of those alone to whom it failed. */
  recipients?: 'all' | 'failed' | undefined
  /** `failed`: the first 10,000 of them behind the recipient with this id, for those who are more than an ad-hoc audience may have; `0` is before the first. */
  starting_after?: string | undefined
}

/** Sent when a campaign could not continue. */
export interface CampaignFailedEvent {
  /** Prefix `evt_`; the same in every retry. Receivers deduplicate on it. */
  id: string
  /** Always `event`. */
  object: 'event'
  /** Always `campaign.failed`, the discriminator of the variants. */
  type: 'campaign.failed'
  /** Of the keys that see it: `live` delivers and bills, `test` is the sandbox. */
  mode: 'live' | 'test' | (string & {})
  /** When it occurred. */
  created_at: string
  /** The object of the event. */
  data: {
    object: Campaign
  }
}

export interface CampaignLaunch {
  /** Replaces that of the campaign. */
  consent_declared?: boolean | undefined
  /** Launch although credits and wallet do not cover all recipients: the campaign pauses when they run out. */
  allow_insufficient_funds?: boolean | undefined
}

/** `type` and the content object under the key named by it. Every string of it may hold merge tags: `{{first_name}}`, `{{last_name}}`, `{{full_name}}`, `{{phone}}`, `{{email}}`, `{{locale}}`, `{{attributes.<key>}}`. */
export type CampaignMessage = TaggedTextMessage | TaggedAttachmentsMessage | TaggedTemplateMessage | TaggedButtonMessage | TaggedListMessage | TaggedCtaUrlMessage | TaggedLocationMessage | TaggedContactsMessage | TaggedFlowMessage | TaggedProductMessage | TaggedProductListMessage | TaggedCatalogMessage | TaggedCarouselMessage | TaggedLocationRequestMessage

/** Sent when a campaign stopped sending. */
export interface CampaignPausedEvent {
  /** Prefix `evt_`; the same in every retry. Receivers deduplicate on it. */
  id: string
  /** Always `event`. */
  object: 'event'
  /** Always `campaign.paused`, the discriminator of the variants. */
  type: 'campaign.paused'
  /** Of the keys that see it: `live` delivers and bills, `test` is the sandbox. */
  mode: 'live' | 'test' | (string & {})
  /** When it occurred. */
  created_at: string
  /** The object of the event. */
  data: {
    object: Campaign
  }
}

/** A recipient of a campaign. */
export interface CampaignRecipient {
  /** A number, counted from 1 in the order of the snapshot. */
  id: string
  /** Always `campaign_recipient`. */
  object: 'campaign_recipient'
  /** The contact (`ct_`); null for an ad-hoc recipient without a contact. */
  contact_id: string | null
  /** Empty where the contact has no identifier on the channel. */
  to: string
  /** The full name that merge tags fill in; null where none is known. */
  name: string | null
  /** `pending`: not sent yet. `skipped`: see `skip_reason`. The others as of the message. */
  status: 'pending' | 'sent' | 'delivered' | 'read' | 'failed' | 'skipped' | 'cancelled' | (string & {})
  /** Why a recipient was `skipped`, otherwise null. */
  skip_reason: 'unsubscribed' | 'not_opted_in' | 'no_identifier' | 'invalid_identifier' | 'duplicate' | 'contact_deleted' | (string & {}) | null
  /** The message (`msg_`) to them; null as long as there is none. */
  message_id: string | null
  /** Why it failed; null where it did not. */
  error: {
    /** Stable, to branch on: as of a failed message, or the error code of the refusal where the message was not taken. More may be added. */
    code: 'provider_error' | 'channel_not_connected' | 'recipient_blocked' | 'policy_violation' | 'upstream_rejected' | 'internal_error' | 'expired' | 'cancelled' | 'parameter_missing' | 'parameter_invalid' | 'unsupported_message_type' | 'invalid_json' | 'webhook_endpoint_limit_reached' | 'webhook_url_not_public' | 'integration_source_limit_reached' | 'automation_limit_reached' | 'contact_limit_reached' | 'campaign_limit_exceeded' | 'consent_required' | 'payload_too_large' | 'api_key_missing' | 'api_key_invalid' | 'api_key_revoked' | 'api_key_expired' | 'webhook_signature_invalid' | 'hook_token_invalid' | 'insufficient_balance' | 'scope_missing' | 'ip_not_allowed' | 'account_suspended' | 'live_mode_required' | 'test_mode_required' | 'source_disabled' | 'resource_missing' | 'idempotency_key_in_use' | 'idempotency_key_reused' | 'channel_identifier_taken' | 'contact_exists' | 'campaign_state_invalid' | 'message_state_invalid' | 'delivery_state_invalid' | 'template_not_approved' | 'rate_limit_exceeded' | 'upstream_unavailable' | (string & {})
    /** For people; the wording may change. */
    message: string
    /** The provider's own code; empty where the failure is not the provider's. */
    provider_code: string
  } | null
  /** Those of an ad-hoc recipient. */
  variables: Record<string, unknown>
  /** ISO 8601, UTC, with milliseconds; null until then. */
  sent_at: string | null
  /** ISO 8601, UTC, with milliseconds; null until then. */
  delivered_at: string | null
  /** ISO 8601, UTC, with milliseconds; null until then. */
  read_at: string | null
  /** ISO 8601, UTC, with milliseconds; null until then. */
  failed_at: string | null
}

/** The result of a launch at this time. */
export interface CampaignRehearsal {
  /** Always `campaign_rehearsal`. */
  object: 'campaign_rehearsal'
  /** The campaign (`cmp_`) that was rehearsed. */
  campaign_id: string
  /** Once the snapshot is taken: those who still wait. */
  recipients_count: number
  /** Recipients that would receive a message now. */
  would_send: number
  /** Reason to recipients: a `skip_reason`, or the code of the refusal by which a message of theirs would fail. */
  would_skip: Record<string, number>
  /** The expected cost. */
  cost: {
    /** Of the messages that are not charged yet. */
    package_credits: number
    /** Micro-USD; whether or not the wallet holds as much. */
    wallet_micros: number
  }
  /** When the first message would be sent; null if there is none. */
  starts_at: string | null
  /** When the last one would, by throttle, the channel's rate and windows; null where none would, or only in years. */
  ends_at: string | null
  /** All launch checks, in their order; once launched without that of the status. */
  checks: ({
    /** The error code of a launch while this check fails. */
    code: 'parameter_missing' | 'parameter_invalid' | 'unsupported_message_type' | 'invalid_json' | 'webhook_endpoint_limit_reached' | 'webhook_url_not_public' | 'integration_source_limit_reached' | 'automation_limit_reached' | 'contact_limit_reached' | 'campaign_limit_exceeded' | 'consent_required' | 'payload_too_large' | 'api_key_missing' | 'api_key_invalid' | 'api_key_revoked' | 'api_key_expired' | 'webhook_signature_invalid' | 'hook_token_invalid' | 'insufficient_balance' | 'scope_missing' | 'ip_not_allowed' | 'account_suspended' | 'live_mode_required' | 'test_mode_required' | 'source_disabled' | 'resource_missing' | 'idempotency_key_in_use' | 'idempotency_key_reused' | 'channel_identifier_taken' | 'contact_exists' | 'campaign_state_invalid' | 'message_state_invalid' | 'delivery_state_invalid' | 'channel_not_connected' | 'recipient_blocked' | 'policy_violation' | 'upstream_rejected' | 'template_not_approved' | 'rate_limit_exceeded' | 'internal_error' | 'upstream_unavailable' | (string & {})
    /** Whether it passes now. */
    ok: boolean
    /** The same for people. */
    message: string
  })[]
  /** The first three that would be sent, rendered. */
  samples: {
    /** The expected recipients. */
    to: string
    /** `type` and the content object under the key named by it, merge tags filled in. */
    message: Record<string, unknown>
  }[]
}

export interface CampaignSchedule {
  /** Nothing is sent before; null starts at launch. */
  send_at: string | null
  /** IANA name of the zone that `send_window` counts in. */
  timezone: string
  /** Nothing is sent outside of it. An end that is not after the start lies on the next day; an equal one means the whole day. */
  send_window: {
    /** HH:MM, inclusive. */
    start: string
    /** HH:MM, exclusive. */
    end: string
  } | null
  /** Whether the window counts in each contact's own time zone, where it has one. */
  recipient_timezone: boolean
}

/** Sent when a campaign began sending, or was resumed. */
export interface CampaignStartedEvent {
  /** Prefix `evt_`; the same in every retry. Receivers deduplicate on it. */
  id: string
  /** Always `event`. */
  object: 'event'
  /** Always `campaign.started`, the discriminator of the variants. */
  type: 'campaign.started'
  /** Of the keys that see it: `live` delivers and bills, `test` is the sandbox. */
  mode: 'live' | 'test' | (string & {})
  /** When it occurred. */
  created_at: string
  /** The object of the event. */
  data: {
    object: Campaign
  }
}

export interface CampaignTest {
  /** The recipient; E.164 on phone channels. */
  to: string
}

/** Changes of a draft; absent fields stay, objects are replaced completely. */
export interface CampaignUpdate {
  /** For people; need not be unique. */
  name?: string | undefined
  /** Channel id; the message is checked against what that channel can send. */
  channel?: string | undefined
  audience?: CampaignAudienceRequest | undefined
  message?: CampaignMessage | undefined
  /** Merge tag name, without braces, to the text for recipients without a value. */
  merge_fallbacks?: Record<string, string> | null | undefined
  /** Only contacts whose consent for the channel type is `opted_in`. */
  require_opt_in?: boolean | undefined
  /** Confirms that the recipients consented; may also be sent at launch. */
  consent_declared?: boolean | undefined
  /** When it is sent; null: as soon as it is launched. */
  schedule?: {
    /** null starts when launched; so does a time that has passed. */
    send_at?: string | null | undefined
    /** IANA name. Default: that of the account. */
    timezone?: string | null | undefined
    /** Nothing is sent outside of it. An end that is not after the start lies on the next day; an equal one means the whole day. */
    send_window?: {
      /** HH:MM, inclusive. */
      start: string
      /** HH:MM, exclusive. */
      end: string
    } | null | undefined
    /** The window counts in each contact's own time zone, where it has one. */
    recipient_timezone?: boolean | undefined
  } | null | undefined
  /** Messages per second, as requested. A lower rate of the channel takes precedence. */
  throttle_per_second?: number | undefined
}

/** Two to ten cards side by side, each with a picture or video and a button. */
export interface CarouselContent {
  /** The main part of the message. */
  body: {
    /** The main text. */
    text: string
  }
  /** The cards, from left to right. */
  cards: ({
    /** The picture or video of the card. */
    header: {
      /** Type of the media on the card. */
      type: 'image' | 'video'
      /** Where the picture or video is fetched from. */
      url: string
    }
    /** The text of the card. */
    body?: {
      /** The text of the card. */
      text: string
    } | null | undefined
    /** Either `parameters` or `buttons`. */
    action: {
      /** The button. */
      parameters?: {
        /** The label of the button. */
        display_text: string
        /** The address that the button opens. */
        url: string
      } | null | undefined
      /** The buttons. */
      buttons?: {
        /** The button. */
        reply: {
          /** Your ID for the button; returned in the `button_reply`. */
          id: string
          /** The label of the button. */
          title: string
        }
      }[] | null | undefined
    }
  })[]
}

/** Two to ten cards side by side, each with a picture or video and a button. */
export type CarouselMessage = MessageFields & {
  /** Always `carousel`, the discriminator of the variants. */
  type: 'carousel'
  /** The content, under the key `carousel`. */
  content: {
    carousel: CarouselContent
  }
}

/** A text with a button that opens the whole catalog. */
export interface CatalogContent {
  /** The main part of the message. */
  body: {
    /** The main text. */
    text: string
  }
  /** A line in small type under the message. */
  footer?: {
    /** The small text at the end. */
    text: string
  } | null | undefined
  /** The catalog. */
  action?: {
    /** How the catalog is shown. */
    parameters?: {
      /** The product whose picture is shown; by default the first one. */
      thumbnail_product_retailer_id?: string | null | undefined
    } | null | undefined
  } | null | undefined
}

/** A text with a button that opens the whole catalog. */
export type CatalogMessage = MessageFields & {
  /** Always `catalog`, the discriminator of the variants. */
  type: 'catalog'
  /** The content, under the key `catalog`. */
  content: {
    catalog: CatalogContent
  }
}

/** One of the account's senders. */
export interface Channel {
  /** Prefix `ch_`; sandbox channels are `ch_test_` and their type. */
  id: string
  /** Always `channel`. */
  object: 'channel'
  /** Of the keys that see it: `live` delivers and bills, `test` is the sandbox. */
  mode: 'live' | 'test' | (string & {})
  /** The channel type, which determines the form of recipient addresses and the price. */
  type: 'whatsapp' | 'sms' | 'telegram' | (string & {})
  /** The provider of the channel, such as `whatsapp_cloud` or `twilio`; `sandbox` in test mode. */
  provider: string
  /** For people: 1 to 120 characters. */
  name: string
  /** The sender that recipients see: an E.164 number, a short code or a name. Belongs to only one account. */
  identifier: string
  /** Only an `active` channel sends. While it is `disabled` by the account, accepted messages wait. */
  status: 'pending' | 'active' | 'suspended' | 'disabled' | (string & {})
  /** The connection to the provider. A lost connection is retried automatically, or immediately by `reconnect`. */
  connection_status: 'connecting' | 'connected' | 'disconnected' | (string & {})
  /** The types of message that it can send. */
  capabilities: ('text' | 'attachments' | 'template' | 'button' | 'list' | 'cta_url' | 'location' | 'contacts' | 'flow' | 'product' | 'product_list' | 'catalog' | 'carousel' | 'location_request' | (string & {}))[]
  /** `max_messages_per_second`, and data of the provider. Never contains credentials. */
  settings: Record<string, unknown>
  /** The address to register with the provider; null on sandbox channels. */
  webhook_url: string | null
  /** ISO 8601, UTC, with milliseconds. */
  created_at: string
}

/** Sent when a channel reached connection_status connected. */
export interface ChannelConnectedEvent {
  /** Prefix `evt_`; the same in every retry. Receivers deduplicate on it. */
  id: string
  /** Always `event`. */
  object: 'event'
  /** Always `channel.connected`, the discriminator of the variants. */
  type: 'channel.connected'
  /** Of the keys that see it: `live` delivers and bills, `test` is the sandbox. */
  mode: 'live' | 'test' | (string & {})
  /** When it occurred. */
  created_at: string
  /** The object of the event. */
  data: {
    object: Channel
  }
}

/** Sent when a channel lost its provider link. */
export interface ChannelDisconnectedEvent {
  /** Prefix `evt_`; the same in every retry. Receivers deduplicate on it. */
  id: string
  /** Always `event`. */
  object: 'event'
  /** Always `channel.disconnected`, the discriminator of the variants. */
  type: 'channel.disconnected'
  /** Of the keys that see it: `live` delivers and bills, `test` is the sandbox. */
  mode: 'live' | 'test' | (string & {})
  /** When it occurred. */
  created_at: string
  /** The object of the event. */
  data: {
    object: Channel
  }
}

/** A channel as answered when it is connected. */
export interface ConnectedChannel {
  /** Prefix `ch_`; sandbox channels are `ch_test_` and their type. */
  id: string
  /** Always `channel`. */
  object: 'channel'
  /** Of the keys that see it: `live` delivers and bills, `test` is the sandbox. */
  mode: 'live' | 'test' | (string & {})
  /** The channel type, which determines the form of recipient addresses and the price. */
  type: 'whatsapp' | 'sms' | 'telegram' | (string & {})
  /** The provider of the channel, such as `whatsapp_cloud` or `twilio`; `sandbox` in test mode. */
  provider: string
  /** For people: 1 to 120 characters. */
  name: string
  /** The sender that recipients see: an E.164 number, a short code or a name. Belongs to only one account. */
  identifier: string
  /** Only an `active` channel sends. While it is `disabled` by the account, accepted messages wait. */
  status: 'pending' | 'active' | 'suspended' | 'disabled' | (string & {})
  /** The connection to the provider. A lost connection is retried automatically, or immediately by `reconnect`. */
  connection_status: 'connecting' | 'connected' | 'disconnected' | (string & {})
  /** The types of message that it can send. */
  capabilities: ('text' | 'attachments' | 'template' | 'button' | 'list' | 'cta_url' | 'location' | 'contacts' | 'flow' | 'product' | 'product_list' | 'catalog' | 'carousel' | 'location_request' | (string & {}))[]
  /** `max_messages_per_second`, and data of the provider. Never contains credentials. */
  settings: Record<string, unknown>
  /** The address to register with the provider; null on sandbox channels. */
  webhook_url: string | null
  /** ISO 8601, UTC, with milliseconds. */
  created_at: string
  /** The word for the provider's handshake, where it has one and none was given. Shown only here: paste it where `webhook_url` is registered. */
  verify_token?: string | undefined
}

/** One change of a consent: the proof. */
export interface ConsentChange {
  /** Names this change; the cursor of the list. */
  id: string
  /** Always `consent_change`. */
  object: 'consent_change'
  /** The kind of channel; with `.marketing` behind it where the recipient spoke of marketing alone. */
  channel_type: 'whatsapp' | 'whatsapp.marketing' | 'sms' | 'sms.marketing' | 'telegram' | 'telegram.marketing' | 'messenger' | 'messenger.marketing' | 'instagram' | 'instagram.marketing' | 'viber' | 'viber.marketing' | 'rcs' | 'rcs.marketing' | 'email' | 'email.marketing' | (string & {})
  /** The new consent. */
  status: 'opted_in' | 'opted_out' | 'unknown' | (string & {})
  /** The source of the change; `keyword` is a word such as STOP that the recipient sent. */
  source: 'api' | 'import' | 'console' | 'keyword' | 'integration' | 'provider' | 'campaign' | 'form' | (string & {})
  /** The inbound message that caused it. */
  message_id: string | null
  /** The API request that caused it. */
  request_id: string | null
  /** ISO 8601, UTC, with milliseconds. */
  occurred_at: string
}

/** A status, or an object with details; null means `unknown`. */
export type ConsentInput = 'opted_in' | 'opted_out' | 'unknown' | {
  /** Nothing is sent to contacts that are `opted_out`. */
  status?: 'opted_in' | 'opted_out' | 'unknown' | undefined
  /** Where the recipient spoke of marketing alone. */
  marketing?: 'opted_in' | 'opted_out' | 'unknown' | undefined
  /** Where the consent was given or withdrawn. */
  source?: 'api' | 'import' | 'console' | 'keyword' | 'integration' | 'provider' | 'campaign' | 'form' | undefined
  /** When; not in the future. */
  occurred_at?: string | undefined
} | null

/** A person that the account may write to. */
export interface Contact {
  /** Prefix `ct_`. */
  id: string
  /** Always `contact`. */
  object: 'contact'
  /** Of the keys that see it: `live` delivers and bills, `test` is the sandbox. */
  mode: 'live' | 'test' | (string & {})
  /** E.164. Unique: national variants of one number count as the same. */
  phone: string | null
  /** Up to 254 characters; nothing is sent to it. */
  email: string | null
  /** Given name; the merge tag `{{first_name}}`. */
  first_name: string | null
  /** Family name; the merge tag `{{last_name}}`. */
  last_name: string | null
  /** First and last name together; derived. */
  full_name: string | null
  /** BCP 47, such as `de-AT`. */
  locale: string | null
  /** IANA name, such as `Europe/Vienna`. */
  timezone: string | null
  /** ISO 3166 alpha-2, derived from the phone number. */
  country: string | null
  /** Channel type to identifier, for kinds without phone numbers; under `whatsapp` a business-scoped id. Each is unique. */
  identifiers: Record<string, string>
  /** Channel type to consent. A type that is absent is `unknown`. */
  consent: Record<string, {
    /** Nothing is sent to contacts that are `opted_out`. */
    status: 'opted_in' | 'opted_out' | 'unknown' | (string & {})
    /** The source of the last change. */
    source: 'api' | 'import' | 'console' | 'keyword' | 'integration' | 'provider' | 'campaign' | 'form' | (string & {})
    /** When the change happened. */
    updated_at: string
    /** Set if the recipient's choice concerns only marketing: `opted_out` blocks marketing templates only. */
    marketing?: 'opted_in' | 'opted_out' | 'unknown' | (string & {}) | undefined
  }>
  /** Sorted; unique without regard to case. */
  tags: string[]
  /** Your own fields, usable as merge tags `{{attributes.<key>}}`. */
  attributes: Record<string, string | number | boolean>
  /** Your own data, returned unchanged. */
  metadata: Record<string, unknown>
  /** A blocked contact is written to on no channel (`recipient_blocked`). */
  blocked: boolean
  /** Your own id of this person; not unique. */
  external_id: string | null
  /** Channel id to the 24-hour service window of that channel: opened by each inbound message. A channel that is absent has none open. */
  windows: Record<string, {
    /** Until when free-form messages may be sent; null when closed. */
    window_expires_at: string | null
  }>
  /** When the last inbound message was received. */
  last_seen_at: string | null
  /** When the last message in either direction was stored, with a delay of a few seconds. Neither this nor `last_seen_at` changes `updated_at`. */
  last_message_at: string | null
  /** ISO 8601, UTC, with milliseconds. */
  created_at: string
  /** ISO 8601, UTC, with milliseconds. */
  updated_at: string
}

export interface ContactAttribute {
  /** Always `contact_attribute`. */
  object: 'contact_attribute'
  /** As in `attributes` of a contact; the merge tag is `{{attributes.<key>}}`. */
  key: string
  /** The type that most of its values have. */
  type: 'string' | 'number' | 'boolean' | (string & {})
  /** Contacts that have a value of it. */
  contacts_count: number
}

/** A new contact. One of `phone`, `email` or an identifier is required. */
export interface ContactCreation {
  /** E.164; spaces, dots, dashes and brackets are removed. */
  phone?: string | null | undefined
  /** Up to 254 characters. */
  email?: string | null | undefined
  /** Given name; the merge tag `{{first_name}}`. */
  first_name?: string | null | undefined
  /** Family name; the merge tag `{{last_name}}`. */
  last_name?: string | null | undefined
  /** BCP 47. */
  locale?: string | null | undefined
  /** IANA name. */
  timezone?: string | null | undefined
  /** Your own id of this person; not unique. */
  external_id?: string | null | undefined
  /** True: the contact is written to on no channel (`recipient_blocked`). */
  blocked?: boolean | undefined
  /** Channel type to identifier; merged by key, null removes. */
  identifiers?: Record<string, string | null> | null | undefined
  /** Channel type to `opted_in`, `opted_out` or `unknown`, or to {`status`, `source`, `occurred_at`}; merged by key. Every change is kept as history. `opted_out` stops messages at once, scheduled ones included, and outlives the contact; only an explicit `opted_in`, `unknown` or null lifts it. */
  consent?: {
    whatsapp?: ConsentInput | undefined
    sms?: ConsentInput | undefined
    telegram?: ConsentInput | undefined
    messenger?: ConsentInput | undefined
    instagram?: ConsentInput | undefined
    viber?: ConsentInput | undefined
    rcs?: ConsentInput | undefined
    email?: ConsentInput | undefined
  } | null | undefined
  /** Replaces the tags (upsert adds them): at most 50, each 1 to 64 characters, unique without regard to case. */
  tags?: string[] | null | undefined
  /** Keys `[a-z][a-z0-9_]{0,63}`; merged by key, null removes. An attribute becomes defined when a contact is first saved with it. */
  attributes?: Record<string, string | number | boolean | null> | null | undefined
  /** Up to 16 KB; replaced whole. */
  metadata?: Record<string, unknown> | null | undefined
}

/** The whole record of one contact. Its messages have a record of their own: those sent to it are listed by GET /v1/messages with `to`, those it wrote carry its `contact_id`. */
export interface ContactExport {
  /** Always `contact_export`. */
  object: 'contact_export'
  contact: Contact
  /** Every change, newest first. */
  consent_history: ConsentChange[]
  /** The contact lists that the contact is a member of. */
  lists: {
    /** Prefix `lst_`. */
    id: string
    /** Always `contact_list`. */
    object: 'contact_list'
    /** As the list is called now. */
    name: string
    /** ISO 8601, UTC, with milliseconds. */
    added_at: string
  }[]
  /** Rows of imports that name this contact and were not applied, or not wholly. */
  rejected_import_rows: {
    /** Prefix `imp_`. */
    import_id: string
    /** Its number in the file; the header is row 1. */
    row: number
    /** Why it was not applied, for people. */
    reason: string
    /** Values of its cells. */
    cells: string[]
    /** ISO 8601, UTC, with milliseconds. */
    created_at: string
  }[]
  /** ISO 8601, UTC, with milliseconds. */
  exported_at: string
}

/** An import of contacts from a CSV file. */
export interface ContactImport {
  /** Prefix `imp_`. */
  id: string
  /** Always `contact_import`. */
  object: 'contact_import'
  /** Of the keys that see it: `live` delivers and bills, `test` is the sandbox. */
  mode: 'live' | 'test' | (string & {})
  /** `pending` until the first rows are applied. */
  status: 'pending' | 'running' | 'completed' | 'failed' | (string & {})
  /** As it was sent; null where none was. */
  file_name: string | null
  /** The columns of the file, from left to right, and their mapping. */
  columns: ({
    /** The header of the column. */
    name: string
    /** The field that it is; null where it is left out. */
    field: string | null
  })[]
  /** ISO 3166 alpha-2: how phone numbers without a country code are read. */
  default_country: string | null
  /** Whether it was declared that the people in it have agreed to be contacted. */
  consent_declared: boolean
  /** Size of the file. */
  bytes: number
  /** Rows of the file, the header and blank rows not counted. */
  total: number
  /** Rows dealt with until now: `created`, `updated` and `rejected` together. */
  processed: number
  /** Rows that created a contact. */
  created: number
  /** Rows whose contact existed before, changed or not. */
  updated: number
  /** Rows that changed nothing; GET /v1/contact_imports/{id}/errors gives them back with reasons. */
  rejected: number
  /** Rows applied without some of their cells, such as an `opted_in` for a contact that opted out; they are listed among the errors, too. */
  warnings: number
  /** Why the import failed: {`code`, `message`}; else null. */
  error: Record<string, unknown> | null
  /** ISO 8601, UTC, with milliseconds. */
  created_at: string
  /** ISO 8601, UTC, with milliseconds. */
  updated_at: string
  /** ISO 8601, UTC, with milliseconds; null until then. */
  started_at: string | null
  /** ISO 8601, UTC, with milliseconds; null until then. */
  completed_at: string | null
}

/** Contacts put together by hand. */
export interface ContactList {
  /** Prefix `lst_`. */
  id: string
  /** Always `contact_list`. */
  object: 'contact_list'
  /** Of the keys that see it: `live` delivers and bills, `test` is the sandbox. */
  mode: 'live' | 'test' | (string & {})
  /** For people: 1 to 120 characters. */
  name: string
  /** For people; empty where there is none. */
  description: string
  /** Your own data, returned unchanged. */
  metadata: Record<string, unknown>
  /** Members now. */
  contacts_count: number
  /** ISO 8601, UTC, with milliseconds. */
  created_at: string
  /** ISO 8601, UTC, with milliseconds. */
  updated_at: string
}

export interface ContactListCreation {
  /** For people. */
  name: string
  /** For people; null is the empty text. */
  description?: string | null | undefined
  /** Up to 16 KB; replaced whole. */
  metadata?: Record<string, unknown> | null | undefined
}

export interface ContactListMembership {
  /** Contact ids. */
  contacts: string[]
}

export interface ContactListUpdate {
  /** For people. */
  name?: string | undefined
  /** For people; null is the empty text. */
  description?: string | null | undefined
  /** Up to 16 KB; replaced whole. */
  metadata?: Record<string, unknown> | null | undefined
}

export interface ContactTag {
  /** Always `contact_tag`. */
  object: 'contact_tag'
  /** As it was first written; unique without regard to case. */
  name: string
  /** Contacts that have it. */
  contacts_count: number
}

/** Either `contacts` or `phones` is required, and `add` or `remove`. */
export interface ContactTagging {
  /** Contact ids. */
  contacts?: string[] | undefined
  /** Phone numbers instead of ids. */
  phones?: string[] | undefined
  /** Tags to add. */
  add?: string[] | undefined
  /** Tags to remove. */
  remove?: string[] | undefined
}

/** Changes; absent fields stay. */
export interface ContactUpdate {
  /** E.164; spaces, dots, dashes and brackets are removed. */
  phone?: string | null | undefined
  /** Up to 254 characters. */
  email?: string | null | undefined
  /** Given name; the merge tag `{{first_name}}`. */
  first_name?: string | null | undefined
  /** Family name; the merge tag `{{last_name}}`. */
  last_name?: string | null | undefined
  /** BCP 47. */
  locale?: string | null | undefined
  /** IANA name. */
  timezone?: string | null | undefined
  /** Your own id of this person; not unique. */
  external_id?: string | null | undefined
  /** True: the contact is written to on no channel (`recipient_blocked`). */
  blocked?: boolean | undefined
  /** Channel type to identifier; merged by key, null removes. */
  identifiers?: Record<string, string | null> | null | undefined
  /** Channel type to `opted_in`, `opted_out` or `unknown`, or to {`status`, `source`, `occurred_at`}; merged by key. Every change is kept as history. `opted_out` stops messages at once, scheduled ones included, and outlives the contact; only an explicit `opted_in`, `unknown` or null lifts it. */
  consent?: {
    whatsapp?: ConsentInput | undefined
    sms?: ConsentInput | undefined
    telegram?: ConsentInput | undefined
    messenger?: ConsentInput | undefined
    instagram?: ConsentInput | undefined
    viber?: ConsentInput | undefined
    rcs?: ConsentInput | undefined
    email?: ConsentInput | undefined
  } | null | undefined
  /** Replaces the tags (upsert adds them): at most 50, each 1 to 64 characters, unique without regard to case. */
  tags?: string[] | null | undefined
  /** Keys `[a-z][a-z0-9_]{0,63}`; merged by key, null removes. An attribute becomes defined when a contact is first saved with it. */
  attributes?: Record<string, string | number | boolean | null> | null | undefined
  /** Up to 16 KB; replaced whole. */
  metadata?: Record<string, unknown> | null | undefined
}

/** A contact to create, or to update by its phone number. */
export interface ContactUpsert {
  /** E.164; spaces, dots, dashes and brackets are removed. Decides which contact is meant. */
  phone: string
  /** Up to 254 characters. */
  email?: string | null | undefined
  /** Given name; the merge tag `{{first_name}}`. */
  first_name?: string | null | undefined
  /** Family name; the merge tag `{{last_name}}`. */
  last_name?: string | null | undefined
  /** BCP 47. */
  locale?: string | null | undefined
  /** IANA name. */
  timezone?: string | null | undefined
  /** Your own id of this person; not unique. */
  external_id?: string | null | undefined
  /** True: the contact is written to on no channel (`recipient_blocked`). */
  blocked?: boolean | undefined
  /** Channel type to identifier; merged by key, null removes. */
  identifiers?: Record<string, string | null> | null | undefined
  /** Channel type to `opted_in`, `opted_out` or `unknown`, or to {`status`, `source`, `occurred_at`}; merged by key. Every change is kept as history. `opted_out` stops messages at once, scheduled ones included, and outlives the contact; only an explicit `opted_in`, `unknown` or null lifts it. */
  consent?: {
    whatsapp?: ConsentInput | undefined
    sms?: ConsentInput | undefined
    telegram?: ConsentInput | undefined
    messenger?: ConsentInput | undefined
    instagram?: ConsentInput | undefined
    viber?: ConsentInput | undefined
    rcs?: ConsentInput | undefined
    email?: ConsentInput | undefined
  } | null | undefined
  /** Replaces the tags (upsert adds them): at most 50, each 1 to 64 characters, unique without regard to case. */
  tags?: string[] | null | undefined
  /** Keys `[a-z][a-z0-9_]{0,63}`; merged by key, null removes. An attribute becomes defined when a contact is first saved with it. */
  attributes?: Record<string, string | number | boolean | null> | null | undefined
  /** Up to 16 KB; replaced whole. */
  metadata?: Record<string, unknown> | null | undefined
}

/** One to twenty address cards that the recipient can save. */
export type ContactsContent = ({
  /** The person. */
  name: {
    /** The whole name as it is shown. */
    formatted_name: string
    /** Given name. */
    first_name?: string | null | undefined
    /** Family name. */
    last_name?: string | null | undefined
  }
  /** Phone numbers. */
  phones?: ({
    /** The number. */
    phone: string
    /** The kind, such as `CELL`, `HOME` or `WORK`. */
    type?: string | null | undefined
    /** The WhatsApp id, which lets the recipient write directly. */
    wa_id?: string | null | undefined
  })[] | null | undefined
  /** E-mail addresses. */
  emails?: ({
    /** The address. */
    email: string
    /** The kind, such as `CELL`, `HOME` or `WORK`. */
    type?: string | null | undefined
  })[] | null | undefined
  /** Where the person works. */
  org?: {
    /** The company. */
    company?: string | null | undefined
    /** The department. */
    department?: string | null | undefined
    /** The job title. */
    title?: string | null | undefined
  } | null | undefined
  /** Web addresses. */
  urls?: ({
    /** The address. */
    url: string
    /** The kind, such as `CELL`, `HOME` or `WORK`. */
    type?: string | null | undefined
  })[] | null | undefined
  /** Postal addresses. */
  addresses?: ({
    /** Street and number. */
    street?: string | null | undefined
    /** Town. */
    city?: string | null | undefined
    /** State or province. */
    state?: string | null | undefined
    /** Postal code. */
    zip?: string | null | undefined
    /** Country in full. */
    country?: string | null | undefined
    /** Country in two letters. */
    country_code?: string | null | undefined
    /** The kind, such as `CELL`, `HOME` or `WORK`. */
    type?: string | null | undefined
  })[] | null | undefined
  /** Day of birth. */
  birthday?: string | null | undefined
})[]

/** One to twenty address cards that the recipient can save. */
export type ContactsMessage = MessageFields & {
  /** Always `contacts`, the discriminator of the variants. */
  type: 'contacts'
  /** The content, under the key `contacts`. */
  content: {
    contacts: ReceivedContactsContent
  }
}

/** A text with one button that opens a web address. */
export interface CtaUrlContent {
  /** The header above the message. */
  header?: {
    /** Type of the header. */
    type: 'text' | 'image' | 'video' | 'document'
    /** The headline; for type `text`. */
    text?: string | null | undefined
    /** Where the picture, video or document is fetched from; for the other types. */
    url?: string | null | undefined
    /** The name under which a document is shown. */
    filename?: string | null | undefined
  } | null | undefined
  /** The main part of the message. */
  body: {
    /** The main text. */
    text: string
  }
  /** A line in small type under the message. */
  footer?: {
    /** The small text at the end. */
    text: string
  } | null | undefined
  /** The link that the recipient can open. */
  action: {
    /** The button. */
    parameters: {
      /** The label of the button. */
      display_text: string
      /** The address that the button opens. */
      url: string
    }
  }
}

/** A text with one button that opens a web address. */
export type CtaUrlMessage = MessageFields & {
  /** Always `cta_url`, the discriminator of the variants. */
  type: 'cta_url'
  /** The content, under the key `cta_url`. */
  content: {
    cta_url: CtaUrlContent
  }
}

export interface ErrorBody {
  /** The category, which follows from the status. */
  type: 'invalid_request_error' | 'authentication_error' | 'billing_error' | 'permission_error' | 'not_found_error' | 'conflict_error' | 'channel_error' | 'rate_limit_error' | 'api_error' | (string & {})
  /** Stable; branch on it, never on `message`. More may be added. */
  code: 'parameter_missing' | 'parameter_invalid' | 'unsupported_message_type' | 'invalid_json' | 'webhook_endpoint_limit_reached' | 'webhook_url_not_public' | 'integration_source_limit_reached' | 'automation_limit_reached' | 'contact_limit_reached' | 'campaign_limit_exceeded' | 'consent_required' | 'payload_too_large' | 'api_key_missing' | 'api_key_invalid' | 'api_key_revoked' | 'api_key_expired' | 'webhook_signature_invalid' | 'hook_token_invalid' | 'insufficient_balance' | 'scope_missing' | 'ip_not_allowed' | 'account_suspended' | 'live_mode_required' | 'test_mode_required' | 'source_disabled' | 'resource_missing' | 'idempotency_key_in_use' | 'idempotency_key_reused' | 'channel_identifier_taken' | 'contact_exists' | 'campaign_state_invalid' | 'message_state_invalid' | 'delivery_state_invalid' | 'channel_not_connected' | 'recipient_blocked' | 'policy_violation' | 'upstream_rejected' | 'template_not_approved' | 'rate_limit_exceeded' | 'internal_error' | 'upstream_unavailable' | (string & {})
  /** For people; the wording may change. */
  message: string
  /** The request field, such as `text.body`. */
  param?: string | undefined
  /** Every failure of a validation round. */
  details?: ({
    /** The request field, such as `text.body`. */
    param: string
    /** The error code. */
    code: 'missing_field' | 'invalid_type' | 'invalid_format' | 'invalid_value' | 'too_short' | 'too_long' | 'too_few' | 'too_many' | 'unknown_field' | 'unknown_merge_tag' | (string & {})
    /** A sentence for people: what to do. */
    message: string
  })[] | undefined
  /** The same as the header `X-Request-Id`. */
  request_id: string
  /** The entry of `code` in the reference. */
  doc_url: string
}

/** An event of the account, delivered by webhooks and listed in the feed. */
export type Event = MessageSentEvent | MessageDeliveredEvent | MessageReadEvent | MessageFailedEvent | MessageReceivedEvent | ChannelConnectedEvent | ChannelDisconnectedEvent | BalanceLowEvent | PackageExhaustedEvent | PackageExpiringEvent | CampaignStartedEvent | CampaignPausedEvent | CampaignCompletedEvent | CampaignFailedEvent | WebhookTestEvent

/** A text with a button that opens a form inside the app; the response arrives as a `flow_reply`. */
export interface FlowContent {
  /** The header above the message. */
  header?: {
    /** Type of the header. */
    type: 'text' | 'image' | 'video' | 'document'
    /** The headline; for type `text`. */
    text?: string | null | undefined
    /** Where the picture, video or document is fetched from; for the other types. */
    url?: string | null | undefined
    /** The name under which a document is shown. */
    filename?: string | null | undefined
  } | null | undefined
  /** The main part of the message. */
  body: {
    /** The main text. */
    text: string
  }
  /** A line in small type under the message. */
  footer?: {
    /** The small text at the end. */
    text: string
  } | null | undefined
  /** The flow that the recipient can open. */
  action: {
    /** The flow and its button. */
    parameters: {
      /** The id of the flow; either this or `flow_name`. */
      flow_id?: string | null | undefined
      /** The name of the flow; either this or `flow_id`. */
      flow_name?: string | null | undefined
      /** The label of the button. */
      flow_cta: string
      /** Your own reference of this run of the flow. */
      flow_token?: string | null | undefined
      /** Which version of the flow opens; `published` when absent. */
      mode?: 'draft' | 'published' | undefined
      /** Whether a screen opens immediately or your endpoint is called first; by default `navigate`. */
      flow_action?: 'navigate' | 'data_exchange' | undefined
      /** The first screen and its data, for `navigate`. */
      flow_action_payload?: {
        [key: string]: unknown
      } | null | undefined
    }
  }
}

/** A text with a button that opens a form inside the app; the response arrives as a `flow_reply`. */
export type FlowMessage = MessageFields & {
  /** Always `flow`, the discriminator of the variants. */
  type: 'flow'
  /** The content, under the key `flow`. */
  content: {
    flow: FlowContent
  }
}

/** The recipient filled in the form of a `flow` message. */
export interface FlowReplyContent {
  /** The name that the provider gives the form. */
  name?: string | null | undefined
  /** The text that the recipient sees. */
  body?: string | null | undefined
  /** The submitted fields. */
  response: {
    [key: string]: unknown
  }
}

/** The recipient filled in the form of a `flow` message. */
export type FlowReplyMessage = MessageFields & {
  /** Always `flow_reply`, the discriminator of the variants. */
  type: 'flow_reply'
  /** The content, under the key `flow_reply`. */
  content: {
    flow_reply: FlowReplyContent
  }
}

/** One to ten files, fetched from their URLs. On a live WhatsApp channel each becomes a separate provider message, under one Message and one charge. */
export interface InboundAttachmentsMessage {
  /** A sandbox channel. */
  channel: string
  /** Sender of the message. */
  from: string
  /** Always `attachments`, the discriminator of the variants. */
  type: 'attachments'
  /** Name of the sender on the channel; used for a new contact. */
  profile_name?: string | null | undefined
  /** The message that this one answers. */
  reply_to?: string | null | undefined
  attachments: ReceivedAttachmentsContent
}

/** A text with one to three buttons; the reply arrives as a `button_reply`. */
export interface InboundButtonMessage {
  /** A sandbox channel. */
  channel: string
  /** Sender of the message. */
  from: string
  /** Always `button`, the discriminator of the variants. */
  type: 'button'
  /** Name of the sender on the channel; used for a new contact. */
  profile_name?: string | null | undefined
  /** The message that this one answers. */
  reply_to?: string | null | undefined
  button: ButtonContent
}

/** The recipient tapped a button of a `button`, `carousel` or `template` message. */
export interface InboundButtonReplyMessage {
  /** A sandbox channel. */
  channel: string
  /** Sender of the message. */
  from: string
  /** Always `button_reply`, the discriminator of the variants. */
  type: 'button_reply'
  /** Name of the sender on the channel; used for a new contact. */
  profile_name?: string | null | undefined
  /** The message that this one answers. */
  reply_to?: string | null | undefined
  button_reply: ButtonReplyContent
}

/** Two to ten cards side by side, each with a picture or video and a button. */
export interface InboundCarouselMessage {
  /** A sandbox channel. */
  channel: string
  /** Sender of the message. */
  from: string
  /** Always `carousel`, the discriminator of the variants. */
  type: 'carousel'
  /** Name of the sender on the channel; used for a new contact. */
  profile_name?: string | null | undefined
  /** The message that this one answers. */
  reply_to?: string | null | undefined
  carousel: CarouselContent
}

/** A text with a button that opens the whole catalog. */
export interface InboundCatalogMessage {
  /** A sandbox channel. */
  channel: string
  /** Sender of the message. */
  from: string
  /** Always `catalog`, the discriminator of the variants. */
  type: 'catalog'
  /** Name of the sender on the channel; used for a new contact. */
  profile_name?: string | null | undefined
  /** The message that this one answers. */
  reply_to?: string | null | undefined
  catalog: CatalogContent
}

/** One to twenty address cards that the recipient can save. */
export interface InboundContactsMessage {
  /** A sandbox channel. */
  channel: string
  /** Sender of the message. */
  from: string
  /** Always `contacts`, the discriminator of the variants. */
  type: 'contacts'
  /** Name of the sender on the channel; used for a new contact. */
  profile_name?: string | null | undefined
  /** The message that this one answers. */
  reply_to?: string | null | undefined
  contacts: ReceivedContactsContent
}

/** A text with one button that opens a web address. */
export interface InboundCtaUrlMessage {
  /** A sandbox channel. */
  channel: string
  /** Sender of the message. */
  from: string
  /** Always `cta_url`, the discriminator of the variants. */
  type: 'cta_url'
  /** Name of the sender on the channel; used for a new contact. */
  profile_name?: string | null | undefined
  /** The message that this one answers. */
  reply_to?: string | null | undefined
  cta_url: CtaUrlContent
}

/** A text with a button that opens a form inside the app; the response arrives as a `flow_reply`. */
export interface InboundFlowMessage {
  /** A sandbox channel. */
  channel: string
  /** Sender of the message. */
  from: string
  /** Always `flow`, the discriminator of the variants. */
  type: 'flow'
  /** Name of the sender on the channel; used for a new contact. */
  profile_name?: string | null | undefined
  /** The message that this one answers. */
  reply_to?: string | null | undefined
  flow: FlowContent
}

/** The recipient filled in the form of a `flow` message. */
export interface InboundFlowReplyMessage {
  /** A sandbox channel. */
  channel: string
  /** Sender of the message. */
  from: string
  /** Always `flow_reply`, the discriminator of the variants. */
  type: 'flow_reply'
  /** Name of the sender on the channel; used for a new contact. */
  profile_name?: string | null | undefined
  /** The message that this one answers. */
  reply_to?: string | null | undefined
  flow_reply: FlowReplyContent
}

/** A text with a button that opens a menu; the chosen row arrives as a `list_reply`. */
export interface InboundListMessage {
  /** A sandbox channel. */
  channel: string
  /** Sender of the message. */
  from: string
  /** Always `list`, the discriminator of the variants. */
  type: 'list'
  /** Name of the sender on the channel; used for a new contact. */
  profile_name?: string | null | undefined
  /** The message that this one answers. */
  reply_to?: string | null | undefined
  list: ListContent
}

/** The recipient chose a row of a `list` message. */
export interface InboundListReplyMessage {
  /** A sandbox channel. */
  channel: string
  /** Sender of the message. */
  from: string
  /** Always `list_reply`, the discriminator of the variants. */
  type: 'list_reply'
  /** Name of the sender on the channel; used for a new contact. */
  profile_name?: string | null | undefined
  /** The message that this one answers. */
  reply_to?: string | null | undefined
  list_reply: ListReplyContent
}

/** A place on the map. */
export interface InboundLocationMessage {
  /** A sandbox channel. */
  channel: string
  /** Sender of the message. */
  from: string
  /** Always `location`, the discriminator of the variants. */
  type: 'location'
  /** Name of the sender on the channel; used for a new contact. */
  profile_name?: string | null | undefined
  /** The message that this one answers. */
  reply_to?: string | null | undefined
  location: LocationContent
}

/** A text with a button that lets the recipient send a location; it arrives as a `location`. */
export interface InboundLocationRequestMessage {
  /** A sandbox channel. */
  channel: string
  /** Sender of the message. */
  from: string
  /** Always `location_request`, the discriminator of the variants. */
  type: 'location_request'
  /** Name of the sender on the channel; used for a new contact. */
  profile_name?: string | null | undefined
  /** The message that this one answers. */
  reply_to?: string | null | undefined
  location_request: LocationRequestContent
}

/** A message from a recipient, with its content object under the key named by `type`. */
export type InboundMessage = InboundTextMessage | InboundAttachmentsMessage | InboundButtonMessage | InboundListMessage | InboundCtaUrlMessage | InboundLocationMessage | InboundContactsMessage | InboundFlowMessage | InboundProductMessage | InboundProductListMessage | InboundCatalogMessage | InboundCarouselMessage | InboundLocationRequestMessage | InboundButtonReplyMessage | InboundListReplyMessage | InboundFlowReplyMessage | InboundOrderMessage | InboundReactionMessage | InboundUnsupportedMessage

/** The recipient ordered from a `product`, `product_list` or `catalog` message. */
export interface InboundOrderMessage {
  /** A sandbox channel. */
  channel: string
  /** Sender of the message. */
  from: string
  /** Always `order`, the discriminator of the variants. */
  type: 'order'
  /** Name of the sender on the channel; used for a new contact. */
  profile_name?: string | null | undefined
  /** The message that this one answers. */
  reply_to?: string | null | undefined
  order: OrderContent
}

/** Up to thirty products of a catalog, in sections. */
export interface InboundProductListMessage {
  /** A sandbox channel. */
  channel: string
  /** Sender of the message. */
  from: string
  /** Always `product_list`, the discriminator of the variants. */
  type: 'product_list'
  /** Name of the sender on the channel; used for a new contact. */
  profile_name?: string | null | undefined
  /** The message that this one answers. */
  reply_to?: string | null | undefined
  product_list: ProductListContent
}

/** One product of a catalog. */
export interface InboundProductMessage {
  /** A sandbox channel. */
  channel: string
  /** Sender of the message. */
  from: string
  /** Always `product`, the discriminator of the variants. */
  type: 'product'
  /** Name of the sender on the channel; used for a new contact. */
  profile_name?: string | null | undefined
  /** The message that this one answers. */
  reply_to?: string | null | undefined
  product: ProductContent
}

/** The recipient added or removed a reaction. */
export interface InboundReactionMessage {
  /** A sandbox channel. */
  channel: string
  /** Sender of the message. */
  from: string
  /** Always `reaction`, the discriminator of the variants. */
  type: 'reaction'
  /** Name of the sender on the channel; used for a new contact. */
  profile_name?: string | null | undefined
  /** The message that this one answers. */
  reply_to?: string | null | undefined
  reaction: ReactionContent
}

/** A plain text. */
export interface InboundTextMessage {
  /** A sandbox channel. */
  channel: string
  /** Sender of the message. */
  from: string
  /** Always `text`, the discriminator of the variants. */
  type?: 'text' | undefined
  /** Name of the sender on the channel; used for a new contact. */
  profile_name?: string | null | undefined
  /** The message that this one answers. */
  reply_to?: string | null | undefined
  text: ReceivedTextContent
}

/** An inbound message that the provider or Posthorn cannot show. */
export interface InboundUnsupportedMessage {
  /** A sandbox channel. */
  channel: string
  /** Sender of the message. */
  from: string
  /** Always `unsupported`, the discriminator of the variants. */
  type: 'unsupported'
  /** Name of the sender on the channel; used for a new contact. */
  profile_name?: string | null | undefined
  /** The message that this one answers. */
  reply_to?: string | null | undefined
  unsupported: UnsupportedContent
}

/** A shop or site that reports events. */
export interface IntegrationSource {
  /** Prefix `src_`. */
  id: string
  /** Always `integration_source`. */
  object: 'integration_source'
  /** Of the keys that see it: `live` delivers and bills, `test` is the sandbox. */
  mode: 'live' | 'test' | (string & {})
  /** The slug of the platform, in lower case. */
  platform: string
  /** The platform's stable id of the store or site. */
  external_id: string
  /** For people: up to 120 characters. */
  name: string
  /** The public address of the store or site. */
  url: string | null
  /** A `disabled` source reports nothing: 403 `source_disabled`. */
  status: 'active' | 'disabled' | (string & {})
  /** As the plugin reports it; null before it has. */
  plugin_version: string | null
  /** The version of the shop software, as the plugin reports it; null before it has. */
  platform_version: string | null
  /** The event types that the plugin can send. */
  emits: string[]
  /** The event types that the plugin should send: those with an active automation, or the single entry `*` with `store_all_events`. */
  enabled_events: string[]
  /** By event type: `delay_seconds`, the shortest delay of its active automations. */
  event_settings: Record<string, {
    /** Seconds; 0 where one of them sends at once. */
    delay_seconds: number
  }>
  /** How the events of the source are dealt with. */
  settings: {
    /** Whether each event's customer is saved as a contact. Default true. */
    contact_sync: boolean
    /** `implied` (default): transactional automations send unless the event says `consent.transactional` is false. `explicit`: they need it to be true. */
    consent_mode: 'implied' | 'explicit' | (string & {})
    /** Reports `enabled_events` as `*`, so that the plugin sends everything. Default false. */
    store_all_events: boolean
  }
  /** Where the source is edited. */
  console_url: string
  /** The page to create an automation for the source, with the placeholder `{event_type}`. */
  automation_url_template: string
  /** By platform: the address for native webhooks, signed with the signing secret. */
  ingest_urls: Record<string, string>
  /** Raised by every change but that of `last_event_at`. The ETag. */
  config_version: number
  /** ISO 8601, UTC, with milliseconds; null until then. */
  last_event_at: string | null
  /** ISO 8601, UTC, with milliseconds. */
  created_at: string
}

/** An integration source with its secrets, as answered when it is created and by roll_key. */
export interface IntegrationSourceWithSecrets {
  /** Prefix `src_`. */
  id: string
  /** Always `integration_source`. */
  object: 'integration_source'
  /** Of the keys that see it: `live` delivers and bills, `test` is the sandbox. */
  mode: 'live' | 'test' | (string & {})
  /** The slug of the platform, in lower case. */
  platform: string
  /** The platform's stable id of the store or site. */
  external_id: string
  /** For people: up to 120 characters. */
  name: string
  /** The public address of the store or site. */
  url: string | null
  /** A `disabled` source reports nothing: 403 `source_disabled`. */
  status: 'active' | 'disabled' | (string & {})
  /** As the plugin reports it; null before it has. */
  plugin_version: string | null
  /** The version of the shop software, as the plugin reports it; null before it has. */
  platform_version: string | null
  /** The event types that the plugin can send. */
  emits: string[]
  /** The event types that the plugin should send: those with an active automation, or the single entry `*` with `store_all_events`. */
  enabled_events: string[]
  /** By event type: `delay_seconds`, the shortest delay of its active automations. */
  event_settings: Record<string, {
    /** Seconds; 0 where one of them sends at once. */
    delay_seconds: number
  }>
  /** How the events of the source are dealt with. */
  settings: {
    /** Whether each event's customer is saved as a contact. Default true. */
    contact_sync: boolean
    /** `implied` (default): transactional automations send unless the event says `consent.transactional` is false. `explicit`: they need it to be true. */
    consent_mode: 'implied' | 'explicit' | (string & {})
    /** Reports `enabled_events` as `*`, so that the plugin sends everything. Default false. */
    store_all_events: boolean
  }
  /** Where the source is edited. */
  console_url: string
  /** The page to create an automation for the source, with the placeholder `{event_type}`. */
  automation_url_template: string
  /** By platform: the address for native webhooks, signed with the signing secret. */
  ingest_urls: Record<string, string>
  /** Raised by every change but that of `last_event_at`. The ETag. */
  config_version: number
  /** ISO 8601, UTC, with milliseconds; null until then. */
  last_event_at: string | null
  /** ISO 8601, UTC, with milliseconds. */
  created_at: string
  /** Prefix `svc_src_`. Shown only here; good for `GET` and `PATCH /v1/integration_sources/current`. */
  source_key: string
  /** Shown only here. Native webhooks are signed with it. */
  signing_secret: string
}

/** A text with a button that opens a menu; the chosen row arrives as a `list_reply`. */
export interface ListContent {
  /** The header above the message. */
  header?: {
    /** Type of the header. */
    type: 'text' | 'image' | 'video' | 'document'
    /** The headline; for type `text`. */
    text?: string | null | undefined
    /** Where the picture, video or document is fetched from; for the other types. */
    url?: string | null | undefined
    /** The name under which a document is shown. */
    filename?: string | null | undefined
  } | null | undefined
  /** The main part of the message. */
  body: {
    /** The main text. */
    text: string
  }
  /** A line in small type under the message. */
  footer?: {
    /** The small text at the end. */
    text: string
  } | null | undefined
  /** The menu. */
  action: {
    /** The label of the button that opens the menu. */
    button: string
    /** The groups of rows. */
    sections: ({
      /** The headline of the section; required when there are several. */
      title?: string | null | undefined
      /** The rows to choose from. */
      rows: ({
        /** Your ID for the row; returned in the `list_reply`. */
        id: string
        /** The visible text. */
        title: string
        /** A second line under the title. */
        description?: string | null | undefined
      })[]
    })[]
  }
}

/** A text with a button that opens a menu; the chosen row arrives as a `list_reply`. */
export type ListMessage = MessageFields & {
  /** Always `list`, the discriminator of the variants. */
  type: 'list'
  /** The content, under the key `list`. */
  content: {
    list: ListContent
  }
}

/** The recipient chose a row of a `list` message. */
export interface ListReplyContent {
  /** The `id` that you gave the row. */
  id: string
  /** The title of the row. */
  title: string
  /** The row's second line. */
  description?: string | null | undefined
}

/** The recipient chose a row of a `list` message. */
export type ListReplyMessage = MessageFields & {
  /** Always `list_reply`, the discriminator of the variants. */
  type: 'list_reply'
  /** The content, under the key `list_reply`. */
  content: {
    list_reply: ListReplyContent
  }
}

/** A place on the map. */
export interface LocationContent {
  /** Degrees north of the equator. */
  latitude: number
  /** Degrees east of Greenwich. */
  longitude: number
  /** The name of the place. */
  name?: string | null | undefined
  /** Its postal address, in one line. */
  address?: string | null | undefined
}

/** A place on the map. */
export type LocationMessage = MessageFields & {
  /** Always `location`, the discriminator of the variants. */
  type: 'location'
  /** The content, under the key `location`. */
  content: {
    location: LocationContent
  }
}

/** A text with a button that lets the recipient send a location; it arrives as a `location`. */
export interface LocationRequestContent {
  /** The main part of the message. */
  body: {
    /** The main text. */
    text: string
  }
}

/** A text with a button that lets the recipient send a location; it arrives as a `location`. */
export type LocationRequestMessage = MessageFields & {
  /** Always `location_request`, the discriminator of the variants. */
  type: 'location_request'
  /** The content, under the key `location_request`. */
  content: {
    location_request: LocationRequestContent
  }
}

/** A message, outbound or inbound. */
export type Message = TextMessage | AttachmentsMessage | TemplateMessage | ButtonMessage | ListMessage | CtaUrlMessage | LocationMessage | ContactsMessage | FlowMessage | ProductMessage | ProductListMessage | CatalogMessage | CarouselMessage | LocationRequestMessage | ButtonReplyMessage | ListReplyMessage | FlowReplyMessage | OrderMessage | ReactionMessage | UnsupportedMessage

/** Sent when an outbound message reached the recipient device. */
export interface MessageDeliveredEvent {
  /** Prefix `evt_`; the same in every retry. Receivers deduplicate on it. */
  id: string
  /** Always `event`. */
  object: 'event'
  /** Always `message.delivered`, the discriminator of the variants. */
  type: 'message.delivered'
  /** Of the keys that see it: `live` delivers and bills, `test` is the sandbox. */
  mode: 'live' | 'test' | (string & {})
  /** When it occurred. */
  created_at: string
  /** The object of the event. */
  data: {
    object: Message
  }
}

/** Sent when an outbound message could not be delivered; its charge is already refunded. */
export interface MessageFailedEvent {
  /** Prefix `evt_`; the same in every retry. Receivers deduplicate on it. */
  id: string
  /** Always `event`. */
  object: 'event'
  /** Always `message.failed`, the discriminator of the variants. */
  type: 'message.failed'
  /** Of the keys that see it: `live` delivers and bills, `test` is the sandbox. */
  mode: 'live' | 'test' | (string & {})
  /** When it occurred. */
  created_at: string
  /** The object of the event. */
  data: {
    object: Message
  }
}

/** The fields of all message types. */
export interface MessageFields {
  /** Prefix `msg_`. */
  id: string
  /** Always `message`. */
  object: 'message'
  /** Of the keys that see it: `live` delivers and bills, `test` is the sandbox. */
  mode: 'live' | 'test' | (string & {})
  /** The channel (`ch_`). */
  channel_id: string
  /** The kind of that channel. */
  channel_type: 'whatsapp' | 'sms' | 'telegram' | (string & {})
  /** `outbound`: sent by the account. `inbound`: written to it, with status `received`. */
  direction: 'outbound' | 'inbound' | (string & {})
  /** The recipient: E.164 on phone channels. For inbound messages the identifier of the channel. */
  to: string
  /** The sender: the identifier of the channel, or for inbound messages the person. */
  from: string
  /** `queued`: stored and charged. `sending`: a send attempt is in progress. `sent`: accepted by the provider. `delivered` and `read`: if the channel reports it. `failed`: see `error`; refunded. `received`: inbound. */
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
  /** Your own name of it, as sent; messages can be listed by it. */
  reference: string | null
  /** Your own data, returned unchanged. */
  metadata: Record<string, unknown>
  /** The charge. Test mode and inbound messages are free. */
  billing: {
    /** `package`: paid with a credit of a package; otherwise from the wallet. */
    source: 'package' | 'wallet' | (string & {})
    /** Micro-USD; 0 when paid by a package credit. */
    amount_micros: number
    /** The package (`grant_`) that paid for it; null if the wallet did. */
    package_grant_id: string | null
    /** True once the charge was refunded because the message failed. */
    refunded: boolean
  }
  /** Always null. */
  sender: Record<string, unknown> | null
  /** The contact (`ct_`) of the recipient or sender; null if there is none. */
  contact_id: string | null
  /** The origin. */
  origin: {
    /** The origin: a request, a campaign, an automation, or an inbound message. */
    type: 'api' | 'campaign' | 'automation' | 'console' | 'inbound' | (string & {})
    /** The key (`key_`), campaign (`cmp_`) or automation (`aut_`); null where there is none. */
    id: string | null
  }
  /** The message (`msg_`) that it answers; null where it answers none. */
  reply_to: string | null
  /** On sms the number of parts; otherwise null. */
  segments: number | null
  /** On sms: `gsm7` has 160 characters in one part, `ucs2` 70. Elsewhere null. */
  encoding: 'gsm7' | 'ucs2' | (string & {}) | null
  /** Priority among messages queued on the channel. */
  priority: 'high' | 'normal' | 'low' | (string & {})
  /** The message is not sent before this time. */
  send_at: string | null
  /** The message fails with `expired` and is refunded if it is not sent by this time. */
  expires_at: string | null
  /** ISO 8601, UTC, with milliseconds. */
  created_at: string
  /** ISO 8601, UTC, with milliseconds. */
  updated_at: string
  /** ISO 8601, UTC, with milliseconds; null until then. */
  sent_at: string | null
  /** ISO 8601, UTC, with milliseconds; null until then. */
  delivered_at: string | null
  /** ISO 8601, UTC, with milliseconds; null until then. */
  read_at: string | null
  /** ISO 8601, UTC, with milliseconds; null until then. */
  failed_at: string | null
}

/** Sent when the recipient opened an outbound message. */
export interface MessageReadEvent {
  /** Prefix `evt_`; the same in every retry. Receivers deduplicate on it. */
  id: string
  /** Always `event`. */
  object: 'event'
  /** Always `message.read`, the discriminator of the variants. */
  type: 'message.read'
  /** Of the keys that see it: `live` delivers and bills, `test` is the sandbox. */
  mode: 'live' | 'test' | (string & {})
  /** When it occurred. */
  created_at: string
  /** The object of the event. */
  data: {
    object: Message
  }
}

/** Sent when a message arrived on one of the account's channels. */
export interface MessageReceivedEvent {
  /** Prefix `evt_`; the same in every retry. Receivers deduplicate on it. */
  id: string
  /** Always `event`. */
  object: 'event'
  /** Always `message.received`, the discriminator of the variants. */
  type: 'message.received'
  /** Of the keys that see it: `live` delivers and bills, `test` is the sandbox. */
  mode: 'live' | 'test' | (string & {})
  /** When it occurred. */
  created_at: string
  /** The object of the event. */
  data: {
    object: Message
  }
}

/** Sent when the provider accepted an outbound message. */
export interface MessageSentEvent {
  /** Prefix `evt_`; the same in every retry. Receivers deduplicate on it. */
  id: string
  /** Always `event`. */
  object: 'event'
  /** Always `message.sent`, the discriminator of the variants. */
  type: 'message.sent'
  /** Of the keys that see it: `live` delivers and bills, `test` is the sandbox. */
  mode: 'live' | 'test' | (string & {})
  /** When it occurred. */
  created_at: string
  /** The object of the event. */
  data: {
    object: Message
  }
}

/** The recipient ordered from a `product`, `product_list` or `catalog` message. */
export interface OrderContent {
  /** The id of the catalog at the provider. */
  catalog_id: string
  /** The recipient's note. */
  text?: string | null | undefined
  /** The ordered products. */
  items: ({
    /** Your own article number. */
    product_retailer_id: string
    /** How many. */
    quantity?: number | null | undefined
    /** The price of one, a decimal number as the provider wrote it. */
    item_price?: string | null | undefined
    /** The currency of the price, in three letters. */
    currency?: string | null | undefined
  })[]
}

/** The recipient ordered from a `product`, `product_list` or `catalog` message. */
export type OrderMessage = MessageFields & {
  /** Always `order`, the discriminator of the variants. */
  type: 'order'
  /** The content, under the key `order`. */
  content: {
    order: OrderContent
  }
}

/** Prepaid credits. A message takes one from the applicable package that expires first (null last, ties by age). */
export interface Package {
  /** Prefix `grant_`; the `package_grant_id` of messages and transactions. */
  id: string
  /** Always `package`. */
  object: 'package'
  /** Always `live`: nothing is charged in test mode. */
  mode: 'live'
  /** As the operator called it when it was granted. */
  name: string
  /** Kinds of channel that its credits pay for; empty: all. */
  channel_types: ('whatsapp' | 'sms' | 'telegram' | (string & {}))[]
  /** Credits granted. */
  credits_total: number
  /** Unused credits. They are written off within a minute after expiry. */
  credits_remaining: number
  /** `active`: has credits. `exhausted`: has none; a refunded credit makes it active again. `expired`: `expires_at` has passed. */
  status: 'active' | 'exhausted' | 'expired' | (string & {})
  /** When unused credits end; null: never. */
  expires_at: string | null
  /** ISO 8601, UTC, with milliseconds. */
  created_at: string
}

/** Sent when the last credit of a package was consumed. */
export interface PackageExhaustedEvent {
  /** Prefix `evt_`; the same in every retry. Receivers deduplicate on it. */
  id: string
  /** Always `event`. */
  object: 'event'
  /** Always `package.exhausted`, the discriminator of the variants. */
  type: 'package.exhausted'
  /** Of the keys that see it: `live` delivers and bills, `test` is the sandbox. */
  mode: 'live' | 'test' | (string & {})
  /** When it occurred. */
  created_at: string
  /** The object of the event. */
  data: {
    object: Package
  }
}

/** Sent when a package with unused credits expires within 7 days. */
export interface PackageExpiringEvent {
  /** Prefix `evt_`; the same in every retry. Receivers deduplicate on it. */
  id: string
  /** Always `event`. */
  object: 'event'
  /** Always `package.expiring`, the discriminator of the variants. */
  type: 'package.expiring'
  /** Of the keys that see it: `live` delivers and bills, `test` is the sandbox. */
  mode: 'live' | 'test' | (string & {})
  /** When it occurred. */
  created_at: string
  /** The object of the event. */
  data: {
    object: Package
  }
}

export interface Price {
  /** Always `price`. */
  object: 'price'
  /** The kind of channel that it is the price of. */
  channel_type: 'whatsapp' | 'sms' | 'telegram' | (string & {})
  /** One accepted message, regardless of its number of parts. */
  unit: 'message'
  /** Micro-USD a message. A price of 0 needs no funds and uses no credits. */
  amount_micros: number
  /** Amounts are in micro-USD: 1,000,000 are one US dollar. */
  currency: 'USD'
}

/** One product of a catalog. */
export interface ProductContent {
  /** The main part of the message. */
  body?: {
    /** The main text. */
    text: string
  } | null | undefined
  /** A line in small type under the message. */
  footer?: {
    /** The small text at the end. */
    text: string
  } | null | undefined
  /** The article. */
  action: {
    /** The id of the catalog at the provider. */
    catalog_id: string
    /** Your own article number, as in the catalog. */
    product_retailer_id: string
  }
}

/** Up to thirty products of a catalog, in sections. */
export interface ProductListContent {
  /** The header above the message. */
  header: {
    /** Only `text`; may be left out. */
    type?: 'text' | undefined
    /** The headline. */
    text: string
  }
  /** The main part of the message. */
  body: {
    /** The main text. */
    text: string
  }
  /** A line in small type under the message. */
  footer?: {
    /** The small text at the end. */
    text: string
  } | null | undefined
  /** The articles. */
  action: {
    /** The id of the catalog at the provider. */
    catalog_id: string
    /** The groups of articles. */
    sections: ({
      /** The headline of the section; required when there are several. */
      title?: string | null | undefined
      /** The articles. */
      product_items: {
        /** Your own article number, as in the catalog. */
        product_retailer_id: string
      }[]
    })[]
  }
}

/** Up to thirty products of a catalog, in sections. */
export type ProductListMessage = MessageFields & {
  /** Always `product_list`, the discriminator of the variants. */
  type: 'product_list'
  /** The content, under the key `product_list`. */
  content: {
    product_list: ProductListContent
  }
}

/** One product of a catalog. */
export type ProductMessage = MessageFields & {
  /** Always `product`, the discriminator of the variants. */
  type: 'product'
  /** The content, under the key `product`. */
  content: {
    product: ProductContent
  }
}

/** The recipient added or removed a reaction. */
export interface ReactionContent {
  /** The id of the message, null when this service does not know it. */
  message_id?: string | null | undefined
  /** The emoji; null or empty if the reaction was removed. */
  emoji?: string | null | undefined
}

/** The recipient added or removed a reaction. */
export type ReactionMessage = MessageFields & {
  /** Always `reaction`, the discriminator of the variants. */
  type: 'reaction'
  /** The content, under the key `reaction`. */
  content: {
    reaction: ReactionContent
  }
}

/** One to ten files, fetched from their URLs. On a live WhatsApp channel each becomes a separate provider message, under one Message and one charge. Sent or received. */
export type ReceivedAttachmentsContent = ({
  /** The kind of file. */
  type: 'image' | 'video' | 'audio' | 'document' | 'sticker'
  /** A signed address of this service, which expires; 503 with `Retry-After` while the file is still being copied. */
  url: string
  /** The name under which a document is shown. */
  filename?: string | null | undefined
  /** Words shown with the file. */
  caption?: string | null | undefined
})[]

/** One to twenty address cards that the recipient can save. Sent or received. */
export type ReceivedContactsContent = ({
  /** The person. */
  name: {
    /** The whole name as it is shown. */
    formatted_name: string
    /** Given name. */
    first_name?: string | null | undefined
    /** Family name. */
    last_name?: string | null | undefined
  }
  /** Phone numbers. */
  phones?: ({
    /** The number. */
    phone: string
    /** The kind, such as `CELL`, `HOME` or `WORK`. */
    type?: string | null | undefined
    /** The WhatsApp id, which lets the recipient write directly. */
    wa_id?: string | null | undefined
  })[] | null | undefined
  /** E-mail addresses. */
  emails?: ({
    /** The address. */
    email: string
    /** The kind, such as `CELL`, `HOME` or `WORK`. */
    type?: string | null | undefined
  })[] | null | undefined
  /** Where the person works. */
  org?: {
    /** The company. */
    company?: string | null | undefined
    /** The department. */
    department?: string | null | undefined
    /** The job title. */
    title?: string | null | undefined
  } | null | undefined
  /** Web addresses. */
  urls?: ({
    /** The address. */
    url: string
    /** The kind, such as `CELL`, `HOME` or `WORK`. */
    type?: string | null | undefined
  })[] | null | undefined
  /** Postal addresses. */
  addresses?: ({
    /** Street and number. */
    street?: string | null | undefined
    /** Town. */
    city?: string | null | undefined
    /** State or province. */
    state?: string | null | undefined
    /** Postal code. */
    zip?: string | null | undefined
    /** Country in full. */
    country?: string | null | undefined
    /** Country in two letters. */
    country_code?: string | null | undefined
    /** The kind, such as `CELL`, `HOME` or `WORK`. */
    type?: string | null | undefined
  })[] | null | undefined
  /** Day of birth. */
  birthday?: string | null | undefined
})[]

/** A plain text. Sent or received. */
export interface ReceivedTextContent {
  /** The text. */
  body: string
}

/** The receipt as `GET /v1/automation_events/{id}` returns it, without `data.raw` of Shopify and WooCommerce. For the ping of WooCommerce only `ping`. */
export interface ReceivedWebhook {
  /** Prefix `aev_`. */
  id?: string | undefined
  /** Always `automation_event`. */
  object?: 'automation_event' | undefined
  /** Of the keys that see it: `live` delivers and bills, `test` is the sandbox. */
  mode?: 'live' | 'test' | (string & {}) | undefined
  /** The integration source (`src_`) that reported it. */
  source_id?: string | undefined
  /** As reported; `<platform>.<topic>` for a native webhook whose topic is no known event. */
  type?: string | undefined
  /** The source's own id of the event. */
  event_id?: string | undefined
  /** How it was received: by `POST /v1/automation_events`, or as a native webhook of the platform. */
  origin?: 'api' | 'native_webhook' | (string & {}) | undefined
  /** `accepted`: at least one automation runs. `ignored`: none is for it. `skipped`: those that are do nothing about it. `failed`: it could not be looked at. `duplicate` is only ever answered to who reports an event again. */
  status?: 'accepted' | 'ignored' | 'skipped' | 'duplicate' | 'failed' | (string & {}) | undefined
  /** Why nothing runs; null where something does. */
  reason?: 'no_automation' | 'unmapped_topic' | 'no_identifier' | 'consent_missing' | 'unsubscribed' | 'condition_not_met' | (string & {}) | null | undefined
  /** The contact that the customer is. */
  contact_id?: string | null | undefined
  /** One for each automation that is for the event. */
  runs?: ({
    /** Prefix `run_`. */
    id: string
    /** The automation (`aut_`) that runs. */
    automation_id: string
    /** `sent`: its message was accepted; see the message for its status. */
    status: 'scheduled' | 'sent' | 'skipped' | 'cancelled' | 'failed' | (string & {})
    /** When its message will be sent, ISO 8601, UTC, with milliseconds. */
    scheduled_for: string
    /** The message (`msg_`) that was accepted; null where none was, or not yet. */
    message_id: string | null
    /** Why it was skipped or cancelled, or failed. */
    reason: string | null
  })[] | undefined
  /** As it was reported. */
  data?: Record<string, unknown> | undefined
  /** ISO 8601, UTC, with milliseconds. */
  occurred_at?: string | undefined
  /** ISO 8601, UTC, with milliseconds. */
  created_at?: string | undefined
  /** Only if WooCommerce tested the address: no event was reported. */
  ping?: true | undefined
}

/** A condition on one field. */
export interface Rule {
  /** The field that is looked at. */
  field: string
  /** The comparison; the kind of field determines which ones are allowed. */
  operator: 'equals' | 'not_equals' | 'in' | 'not_in' | 'contains' | 'starts_with' | 'exists' | 'not_exists' | 'greater_than' | 'less_than' | 'before' | 'after' | 'within_days' | 'not_within_days' | 'contains_any' | 'contains_all' | 'contains_none'
  /** The value to compare with: an array for `in`, `not_in`, `contains_any`, `contains_all` and `contains_none`, absent for `exists` and `not_exists`. */
  value?: string | number | boolean | (string | number | boolean)[] | null | undefined
}

/** A group of conditions and of further groups, 3 deep, with 50 conditions in all. */
export interface Rules {
  /** Whether all of the conditions are to be met, or any of them. */
  match: 'all' | 'any'
  /** Conditions and groups. */
  conditions: (Rule | Rules)[]
}

/** Contacts that fit rules, looked up whenever they are needed. */
export interface Segment {
  /** Prefix `seg_`. */
  id: string
  /** Always `segment`. */
  object: 'segment'
  /** Of the keys that see it: `live` delivers and bills, `test` is the sandbox. */
  mode: 'live' | 'test' | (string & {})
  /** For people: 1 to 120 characters. */
  name: string
  /** For people; empty where there is none. */
  description: string
  /** A group {`match` `all`|`any`, `conditions`}; each condition is another group or {`field`, `operator`, `value`}. Groups nest 3 deep, 50 conditions in all. Fields: those of a contact, `tags`, `lists`, `identifiers.<channel type>`, `consent.<channel type>`, `attributes.<key>`. Operators: `equals`, `not_equals`, `in`, `not_in`, `contains`, `starts_with`, `exists`, `not_exists`, `greater_than`, `less_than`, `before`, `after`, `within_days`, `not_within_days`, `contains_any`, `contains_all`, `contains_none`. Text compares without regard to case. A missing value matches only the negations and `not_exists`. */
  rules: Rules
  /** ISO 8601, UTC, with milliseconds. */
  created_at: string
  /** ISO 8601, UTC, with milliseconds. */
  updated_at: string
}

export interface SegmentCreation {
  /** For people. */
  name: string
  /** For people; null is the empty text. */
  description?: string | null | undefined
  /** A group {`match` `all`|`any`, `conditions`}; each condition is another group or {`field`, `operator`, `value`}. Groups nest 3 deep, 50 conditions in all. Fields: those of a contact, `tags`, `lists`, `identifiers.<channel type>`, `consent.<channel type>`, `attributes.<key>`. Operators: `equals`, `not_equals`, `in`, `not_in`, `contains`, `starts_with`, `exists`, `not_exists`, `greater_than`, `less_than`, `before`, `after`, `within_days`, `not_within_days`, `contains_any`, `contains_all`, `contains_none`. Text compares without regard to case. A missing value matches only the negations and `not_exists`. */
  rules: Rules
}

export interface SegmentPreview {
  /** Always `segment_preview`. */
  object: 'segment_preview'
  /** The segment (`seg_`) that was looked up. */
  segment_id: string
  /** Contacts that fit the rules now. */
  count: number
  /** Channel type to those of them that can be written to there: with an identifier, and neither opted out nor blocked. */
  reachable: Record<string, number>
  /** ISO 8601, UTC, with milliseconds. */
  evaluated_at: string
}

export interface SegmentUpdate {
  /** For people. */
  name?: string | undefined
  /** For people; null is the empty text. */
  description?: string | null | undefined
  /** Replaced whole. A group {`match` `all`|`any`, `conditions`}; each condition is another group or {`field`, `operator`, `value`}. Groups nest 3 deep, 50 conditions in all. Fields: those of a contact, `tags`, `lists`, `identifiers.<channel type>`, `consent.<channel type>`, `attributes.<key>`. Operators: `equals`, `not_equals`, `in`, `not_in`, `contains`, `starts_with`, `exists`, `not_exists`, `greater_than`, `less_than`, `before`, `after`, `within_days`, `not_within_days`, `contains_any`, `contains_all`, `contains_none`. Text compares without regard to case. A missing value matches only the negations and `not_exists`. */
  rules?: Rules | undefined
}

/** One to ten files, fetched from their URLs. On a live WhatsApp channel each becomes a separate provider message, under one Message and one charge. */
export interface SendAttachmentsMessage {
  /** Channel id; with a test key a sandbox channel such as `ch_test_whatsapp`. */
  channel: string
  /** The recipient on the channel: E.164 on phone channels. */
  to: string
  /** Always `attachments`, the discriminator of the variants. */
  type: 'attachments'
  /** Your own name of it, to list messages by; need not be unique. */
  reference?: string | null | undefined
  /** Up to 16 KB, returned unchanged. */
  metadata?: Record<string, unknown> | null | undefined
  /** The message to reply to. */
  reply_to?: string | null | undefined
  /** Up to 35 days ahead. The message stays `queued` until then. */
  send_at?: string | null | undefined
  /** The message fails with `expired` and is refunded if it is not sent within this many seconds, counted from `send_at` if set. */
  expires_in_seconds?: number | null | undefined
  /** Priority among messages queued on the channel. */
  priority?: 'high' | 'normal' | 'low' | null | undefined
  attachments: AttachmentsContent
}

/** A text with one to three buttons; the reply arrives as a `button_reply`. */
export interface SendButtonMessage {
  /** Channel id; with a test key a sandbox channel such as `ch_test_whatsapp`. */
  channel: string
  /** The recipient on the channel: E.164 on phone channels. */
  to: string
  /** Always `button`, the discriminator of the variants. */
  type: 'button'
  /** Your own name of it, to list messages by; need not be unique. */
  reference?: string | null | undefined
  /** Up to 16 KB, returned unchanged. */
  metadata?: Record<string, unknown> | null | undefined
  /** The message to reply to. */
  reply_to?: string | null | undefined
  /** Up to 35 days ahead. The message stays `queued` until then. */
  send_at?: string | null | undefined
  /** The message fails with `expired` and is refunded if it is not sent within this many seconds, counted from `send_at` if set. */
  expires_in_seconds?: number | null | undefined
  /** Priority among messages queued on the channel. */
  priority?: 'high' | 'normal' | 'low' | null | undefined
  button: ButtonContent
}

/** Two to ten cards side by side, each with a picture or video and a button. */
export interface SendCarouselMessage {
  /** Channel id; with a test key a sandbox channel such as `ch_test_whatsapp`. */
  channel: string
  /** The recipient on the channel: E.164 on phone channels. */
  to: string
  /** Always `carousel`, the discriminator of the variants. */
  type: 'carousel'
  /** Your own name of it, to list messages by; need not be unique. */
  reference?: string | null | undefined
  /** Up to 16 KB, returned unchanged. */
  metadata?: Record<string, unknown> | null | undefined
  /** The message to reply to. */
  reply_to?: string | null | undefined
  /** Up to 35 days ahead. The message stays `queued` until then. */
  send_at?: string | null | undefined
  /** The message fails with `expired` and is refunded if it is not sent within this many seconds, counted from `send_at` if set. */
  expires_in_seconds?: number | null | undefined
  /** Priority among messages queued on the channel. */
  priority?: 'high' | 'normal' | 'low' | null | undefined
  carousel: CarouselContent
}

/** A text with a button that opens the whole catalog. */
export interface SendCatalogMessage {
  /** Channel id; with a test key a sandbox channel such as `ch_test_whatsapp`. */
  channel: string
  /** The recipient on the channel: E.164 on phone channels. */
  to: string
  /** Always `catalog`, the discriminator of the variants. */
  type: 'catalog'
  /** Your own name of it, to list messages by; need not be unique. */
  reference?: string | null | undefined
  /** Up to 16 KB, returned unchanged. */
  metadata?: Record<string, unknown> | null | undefined
  /** The message to reply to. */
  reply_to?: string | null | undefined
  /** Up to 35 days ahead. The message stays `queued` until then. */
  send_at?: string | null | undefined
  /** The message fails with `expired` and is refunded if it is not sent within this many seconds, counted from `send_at` if set. */
  expires_in_seconds?: number | null | undefined
  /** Priority among messages queued on the channel. */
  priority?: 'high' | 'normal' | 'low' | null | undefined
  catalog: CatalogContent
}

/** One to twenty address cards that the recipient can save. */
export interface SendContactsMessage {
  /** Channel id; with a test key a sandbox channel such as `ch_test_whatsapp`. */
  channel: string
  /** The recipient on the channel: E.164 on phone channels. */
  to: string
  /** Always `contacts`, the discriminator of the variants. */
  type: 'contacts'
  /** Your own name of it, to list messages by; need not be unique. */
  reference?: string | null | undefined
  /** Up to 16 KB, returned unchanged. */
  metadata?: Record<string, unknown> | null | undefined
  /** The message to reply to. */
  reply_to?: string | null | undefined
  /** Up to 35 days ahead. The message stays `queued` until then. */
  send_at?: string | null | undefined
  /** The message fails with `expired` and is refunded if it is not sent within this many seconds, counted from `send_at` if set. */
  expires_in_seconds?: number | null | undefined
  /** Priority among messages queued on the channel. */
  priority?: 'high' | 'normal' | 'low' | null | undefined
  contacts: ContactsContent
}

/** A text with one button that opens a web address. */
export interface SendCtaUrlMessage {
  /** Channel id; with a test key a sandbox channel such as `ch_test_whatsapp`. */
  channel: string
  /** The recipient on the channel: E.164 on phone channels. */
  to: string
  /** Always `cta_url`, the discriminator of the variants. */
  type: 'cta_url'
  /** Your own name of it, to list messages by; need not be unique. */
  reference?: string | null | undefined
  /** Up to 16 KB, returned unchanged. */
  metadata?: Record<string, unknown> | null | undefined
  /** The message to reply to. */
  reply_to?: string | null | undefined
  /** Up to 35 days ahead. The message stays `queued` until then. */
  send_at?: string | null | undefined
  /** The message fails with `expired` and is refunded if it is not sent within this many seconds, counted from `send_at` if set. */
  expires_in_seconds?: number | null | undefined
  /** Priority among messages queued on the channel. */
  priority?: 'high' | 'normal' | 'low' | null | undefined
  cta_url: CtaUrlContent
}

/** A text with a button that opens a form inside the app; the response arrives as a `flow_reply`. */
export interface SendFlowMessage {
  /** Channel id; with a test key a sandbox channel such as `ch_test_whatsapp`. */
  channel: string
  /** The recipient on the channel: E.164 on phone channels. */
  to: string
  /** Always `flow`, the discriminator of the variants. */
  type: 'flow'
  /** Your own name of it, to list messages by; need not be unique. */
  reference?: string | null | undefined
  /** Up to 16 KB, returned unchanged. */
  metadata?: Record<string, unknown> | null | undefined
  /** The message to reply to. */
  reply_to?: string | null | undefined
  /** Up to 35 days ahead. The message stays `queued` until then. */
  send_at?: string | null | undefined
  /** The message fails with `expired` and is refunded if it is not sent within this many seconds, counted from `send_at` if set. */
  expires_in_seconds?: number | null | undefined
  /** Priority among messages queued on the channel. */
  priority?: 'high' | 'normal' | 'low' | null | undefined
  flow: FlowContent
}

/** A text with a button that opens a menu; the chosen row arrives as a `list_reply`. */
export interface SendListMessage {
  /** Channel id; with a test key a sandbox channel such as `ch_test_whatsapp`. */
  channel: string
  /** The recipient on the channel: E.164 on phone channels. */
  to: string
  /** Always `list`, the discriminator of the variants. */
  type: 'list'
  /** Your own name of it, to list messages by; need not be unique. */
  reference?: string | null | undefined
  /** Up to 16 KB, returned unchanged. */
  metadata?: Record<string, unknown> | null | undefined
  /** The message to reply to. */
  reply_to?: string | null | undefined
  /** Up to 35 days ahead. The message stays `queued` until then. */
  send_at?: string | null | undefined
  /** The message fails with `expired` and is refunded if it is not sent within this many seconds, counted from `send_at` if set. */
  expires_in_seconds?: number | null | undefined
  /** Priority among messages queued on the channel. */
  priority?: 'high' | 'normal' | 'low' | null | undefined
  list: ListContent
}

/** A place on the map. */
export interface SendLocationMessage {
  /** Channel id; with a test key a sandbox channel such as `ch_test_whatsapp`. */
  channel: string
  /** The recipient on the channel: E.164 on phone channels. */
  to: string
  /** Always `location`, the discriminator of the variants. */
  type: 'location'
  /** Your own name of it, to list messages by; need not be unique. */
  reference?: string | null | undefined
  /** Up to 16 KB, returned unchanged. */
  metadata?: Record<string, unknown> | null | undefined
  /** The message to reply to. */
  reply_to?: string | null | undefined
  /** Up to 35 days ahead. The message stays `queued` until then. */
  send_at?: string | null | undefined
  /** The message fails with `expired` and is refunded if it is not sent within this many seconds, counted from `send_at` if set. */
  expires_in_seconds?: number | null | undefined
  /** Priority among messages queued on the channel. */
  priority?: 'high' | 'normal' | 'low' | null | undefined
  location: LocationContent
}

/** A text with a button that lets the recipient send a location; it arrives as a `location`. */
export interface SendLocationRequestMessage {
  /** Channel id; with a test key a sandbox channel such as `ch_test_whatsapp`. */
  channel: string
  /** The recipient on the channel: E.164 on phone channels. */
  to: string
  /** Always `location_request`, the discriminator of the variants. */
  type: 'location_request'
  /** Your own name of it, to list messages by; need not be unique. */
  reference?: string | null | undefined
  /** Up to 16 KB, returned unchanged. */
  metadata?: Record<string, unknown> | null | undefined
  /** The message to reply to. */
  reply_to?: string | null | undefined
  /** Up to 35 days ahead. The message stays `queued` until then. */
  send_at?: string | null | undefined
  /** The message fails with `expired` and is refunded if it is not sent within this many seconds, counted from `send_at` if set. */
  expires_in_seconds?: number | null | undefined
  /** Priority among messages queued on the channel. */
  priority?: 'high' | 'normal' | 'low' | null | undefined
  location_request: LocationRequestContent
}

/** A message to send, with its content object under the key named by `type`. Content objects of other types are ignored. */
export type SendMessage = SendTextMessage | SendAttachmentsMessage | SendTemplateMessage | SendButtonMessage | SendListMessage | SendCtaUrlMessage | SendLocationMessage | SendContactsMessage | SendFlowMessage | SendProductMessage | SendProductListMessage | SendCatalogMessage | SendCarouselMessage | SendLocationRequestMessage

/** Up to thirty products of a catalog, in sections. */
export interface SendProductListMessage {
  /** Channel id; with a test key a sandbox channel such as `ch_test_whatsapp`. */
  channel: string
  /** The recipient on the channel: E.164 on phone channels. */
  to: string
  /** Always `product_list`, the discriminator of the variants. */
  type: 'product_list'
  /** Your own name of it, to list messages by; need not be unique. */
  reference?: string | null | undefined
  /** Up to 16 KB, returned unchanged. */
  metadata?: Record<string, unknown> | null | undefined
  /** The message to reply to. */
  reply_to?: string | null | undefined
  /** Up to 35 days ahead. The message stays `queued` until then. */
  send_at?: string | null | undefined
  /** The message fails with `expired` and is refunded if it is not sent within this many seconds, counted from `send_at` if set. */
  expires_in_seconds?: number | null | undefined
  /** Priority among messages queued on the channel. */
  priority?: 'high' | 'normal' | 'low' | null | undefined
  product_list: ProductListContent
}

/** One product of a catalog. */
export interface SendProductMessage {
  /** Channel id; with a test key a sandbox channel such as `ch_test_whatsapp`. */
  channel: string
  /** The recipient on the channel: E.164 on phone channels. */
  to: string
  /** Always `product`, the discriminator of the variants. */
  type: 'product'
  /** Your own name of it, to list messages by; need not be unique. */
  reference?: string | null | undefined
  /** Up to 16 KB, returned unchanged. */
  metadata?: Record<string, unknown> | null | undefined
  /** The message to reply to. */
  reply_to?: string | null | undefined
  /** Up to 35 days ahead. The message stays `queued` until then. */
  send_at?: string | null | undefined
  /** The message fails with `expired` and is refunded if it is not sent within this many seconds, counted from `send_at` if set. */
  expires_in_seconds?: number | null | undefined
  /** Priority among messages queued on the channel. */
  priority?: 'high' | 'normal' | 'low' | null | undefined
  product: ProductContent
}

/** An approved template with its parameters; the only type that WhatsApp allows outside the 24-hour customer service window. */
export interface SendTemplateMessage {
  /** Channel id; with a test key a sandbox channel such as `ch_test_whatsapp`. */
  channel: string
  /** The recipient on the channel: E.164 on phone channels. */
  to: string
  /** Always `template`, the discriminator of the variants. */
  type: 'template'
  /** Your own name of it, to list messages by; need not be unique. */
  reference?: string | null | undefined
  /** Up to 16 KB, returned unchanged. */
  metadata?: Record<string, unknown> | null | undefined
  /** The message to reply to. */
  reply_to?: string | null | undefined
  /** Up to 35 days ahead. The message stays `queued` until then. */
  send_at?: string | null | undefined
  /** The message fails with `expired` and is refunded if it is not sent within this many seconds, counted from `send_at` if set. */
  expires_in_seconds?: number | null | undefined
  /** Priority among messages queued on the channel. */
  priority?: 'high' | 'normal' | 'low' | null | undefined
  template: TemplateContent
}

/** A plain text. */
export interface SendTextMessage {
  /** Channel id; with a test key a sandbox channel such as `ch_test_whatsapp`. */
  channel: string
  /** The recipient on the channel: E.164 on phone channels. */
  to: string
  /** Always `text`, the discriminator of the variants. */
  type: 'text'
  /** Your own name of it, to list messages by; need not be unique. */
  reference?: string | null | undefined
  /** Up to 16 KB, returned unchanged. */
  metadata?: Record<string, unknown> | null | undefined
  /** The message to reply to. */
  reply_to?: string | null | undefined
  /** Up to 35 days ahead. The message stays `queued` until then. */
  send_at?: string | null | undefined
  /** The message fails with `expired` and is refunded if it is not sent within this many seconds, counted from `send_at` if set. */
  expires_in_seconds?: number | null | undefined
  /** Priority among messages queued on the channel. */
  priority?: 'high' | 'normal' | 'low' | null | undefined
  text: TextContent
}

/** One to ten files, fetched from their URLs. On a live WhatsApp channel each becomes a separate provider message, under one Message and one charge. */
export type TaggedAttachmentsContent = ({
  /** The kind of file. */
  type: 'image' | 'video' | 'audio' | 'document' | 'sticker'
  /** Where the file is fetched from. */
  url: string
  /** The name under which a document is shown. */
  filename?: string | null | undefined
  /** Words shown with the file. */
  caption?: string | null | undefined
})[]

/** One to ten files, fetched from their URLs. On a live WhatsApp channel each becomes a separate provider message, under one Message and one charge. Its strings may hold merge tags. */
export interface TaggedAttachmentsMessage {
  /** Always `attachments`, the discriminator of the variants. */
  type: 'attachments'
  attachments: TaggedAttachmentsContent
}

/** A text with one to three buttons; the reply arrives as a `button_reply`. */
export interface TaggedButtonContent {
  /** The header above the message. */
  header?: {
    /** Type of the header. */
    type: 'text' | 'image' | 'video' | 'document'
    /** The headline; for type `text`. */
    text?: string | null | undefined
    /** Where the picture, video or document is fetched from; for the other types. */
    url?: string | null | undefined
    /** The name under which a document is shown. */
    filename?: string | null | undefined
  } | null | undefined
  /** The main part of the message. */
  body: {
    /** The main text. */
    text: string
  }
  /** A line in small type under the message. */
  footer?: {
    /** The small text at the end. */
    text: string
  } | null | undefined
  /** The choices of the recipient. */
  action: {
    /** The buttons. */
    buttons: {
      /** The button. */
      reply: {
        /** Your ID for the button; returned in the `button_reply`. */
        id: string
        /** The label of the button. */
        title: string
      }
    }[]
  }
}

/** A text with one to three buttons; the reply arrives as a `button_reply`. Its strings may hold merge tags. */
export interface TaggedButtonMessage {
  /** Always `button`, the discriminator of the variants. */
  type: 'button'
  button: TaggedButtonContent
}

/** Two to ten cards side by side, each with a picture or video and a button. */
export interface TaggedCarouselContent {
  /** The main part of the message. */
  body: {
    /** The main text. */
    text: string
  }
  /** The cards, from left to right. */
  cards: ({
    /** The picture or video of the card. */
    header: {
      /** Type of the media on the card. */
      type: 'image' | 'video'
      /** Where the picture or video is fetched from. */
      url: string
    }
    /** The text of the card. */
    body?: {
      /** The text of the card. */
      text: string
    } | null | undefined
    /** Either `parameters` or `buttons`. */
    action: {
      /** The button. */
      parameters?: {
        /** The label of the button. */
        display_text: string
        /** The address that the button opens. */
        url: string
      } | null | undefined
      /** The buttons. */
      buttons?: {
        /** The button. */
        reply: {
          /** Your ID for the button; returned in the `button_reply`. */
          id: string
          /** The label of the button. */
          title: string
        }
      }[] | null | undefined
    }
  })[]
}

/** Two to ten cards side by side, each with a picture or video and a button. Its strings may hold merge tags. */
export interface TaggedCarouselMessage {
  /** Always `carousel`, the discriminator of the variants. */
  type: 'carousel'
  carousel: TaggedCarouselContent
}

/** A text with a button that opens the whole catalog. */
export interface TaggedCatalogContent {
  /** The main part of the message. */
  body: {
    /** The main text. */
    text: string
  }
  /** A line in small type under the message. */
  footer?: {
    /** The small text at the end. */
    text: string
  } | null | undefined
  /** The catalog. */
  action?: {
    /** How the catalog is shown. */
    parameters?: {
      /** The product whose picture is shown; by default the first one. */
      thumbnail_product_retailer_id?: string | null | undefined
    } | null | undefined
  } | null | undefined
}

/** A text with a button that opens the whole catalog. Its strings may hold merge tags. */
export interface TaggedCatalogMessage {
  /** Always `catalog`, the discriminator of the variants. */
  type: 'catalog'
  catalog: TaggedCatalogContent
}

/** One to twenty address cards that the recipient can save. */
export type TaggedContactsContent = ({
  /** The person. */
  name: {
    /** The whole name as it is shown. */
    formatted_name: string
    /** Given name. */
    first_name?: string | null | undefined
    /** Family name. */
    last_name?: string | null | undefined
  }
  /** Phone numbers. */
  phones?: ({
    /** The number. */
    phone: string
    /** The kind, such as `CELL`, `HOME` or `WORK`. */
    type?: string | null | undefined
    /** The WhatsApp id, which lets the recipient write directly. */
    wa_id?: string | null | undefined
  })[] | null | undefined
  /** E-mail addresses. */
  emails?: ({
    /** The address. */
    email: string
    /** The kind, such as `CELL`, `HOME` or `WORK`. */
    type?: string | null | undefined
  })[] | null | undefined
  /** Where the person works. */
  org?: {
    /** The company. */
    company?: string | null | undefined
    /** The department. */
    department?: string | null | undefined
    /** The job title. */
    title?: string | null | undefined
  } | null | undefined
  /** Web addresses. */
  urls?: ({
    /** The address. */
    url: string
    /** The kind, such as `CELL`, `HOME` or `WORK`. */
    type?: string | null | undefined
  })[] | null | undefined
  /** Postal addresses. */
  addresses?: ({
    /** Street and number. */
    street?: string | null | undefined
    /** Town. */
    city?: string | null | undefined
    /** State or province. */
    state?: string | null | undefined
    /** Postal code. */
    zip?: string | null | undefined
    /** Country in full. */
    country?: string | null | undefined
    /** Country in two letters. */
    country_code?: string | null | undefined
    /** The kind, such as `CELL`, `HOME` or `WORK`. */
    type?: string | null | undefined
  })[] | null | undefined
  /** Day of birth. */
  birthday?: string | null | undefined
})[]

/** One to twenty address cards that the recipient can save. Its strings may hold merge tags. */
export interface TaggedContactsMessage {
  /** Always `contacts`, the discriminator of the variants. */
  type: 'contacts'
  contacts: TaggedContactsContent
}

/** A text with one button that opens a web address. */
export interface TaggedCtaUrlContent {
  /** The header above the message. */
  header?: {
    /** Type of the header. */
    type: 'text' | 'image' | 'video' | 'document'
    /** The headline; for type `text`. */
    text?: string | null | undefined
    /** Where the picture, video or document is fetched from; for the other types. */
    url?: string | null | undefined
    /** The name under which a document is shown. */
    filename?: string | null | undefined
  } | null | undefined
  /** The main part of the message. */
  body: {
    /** The main text. */
    text: string
  }
  /** A line in small type under the message. */
  footer?: {
    /** The small text at the end. */
    text: string
  } | null | undefined
  /** The link that the recipient can open. */
  action: {
    /** The button. */
    parameters: {
      /** The label of the button. */
      display_text: string
      /** The address that the button opens. */
      url: string
    }
  }
}

/** A text with one button that opens a web address. Its strings may hold merge tags. */
export interface TaggedCtaUrlMessage {
  /** Always `cta_url`, the discriminator of the variants. */
  type: 'cta_url'
  cta_url: TaggedCtaUrlContent
}

/** A text with a button that opens a form inside the app; the response arrives as a `flow_reply`. */
export interface TaggedFlowContent {
  /** The header above the message. */
  header?: {
    /** Type of the header. */
    type: 'text' | 'image' | 'video' | 'document'
    /** The headline; for type `text`. */
    text?: string | null | undefined
    /** Where the picture, video or document is fetched from; for the other types. */
    url?: string | null | undefined
    /** The name under which a document is shown. */
    filename?: string | null | undefined
  } | null | undefined
  /** The main part of the message. */
  body: {
    /** The main text. */
    text: string
  }
  /** A line in small type under the message. */
  footer?: {
    /** The small text at the end. */
    text: string
  } | null | undefined
  /** The flow that the recipient can open. */
  action: {
    /** The flow and its button. */
    parameters: {
      /** The id of the flow; either this or `flow_name`. */
      flow_id?: string | null | undefined
      /** The name of the flow; either this or `flow_id`. */
      flow_name?: string | null | undefined
      /** The label of the button. */
      flow_cta: string
      /** Your own reference of this run of the flow. */
      flow_token?: string | null | undefined
      /** Which version of the flow opens; `published` when absent. */
      mode?: 'draft' | 'published' | undefined
      /** Whether a screen opens immediately or your endpoint is called first; by default `navigate`. */
      flow_action?: 'navigate' | 'data_exchange' | undefined
      /** The first screen and its data, for `navigate`. */
      flow_action_payload?: {
        [key: string]: unknown
      } | null | undefined
    }
  }
}

/** A text with a button that opens a form inside the app; the response arrives as a `flow_reply`. Its strings may hold merge tags. */
export interface TaggedFlowMessage {
  /** Always `flow`, the discriminator of the variants. */
  type: 'flow'
  flow: TaggedFlowContent
}

/** A text with a button that opens a menu; the chosen row arrives as a `list_reply`. */
export interface TaggedListContent {
  /** The header above the message. */
  header?: {
    /** Type of the header. */
    type: 'text' | 'image' | 'video' | 'document'
    /** The headline; for type `text`. */
    text?: string | null | undefined
    /** Where the picture, video or document is fetched from; for the other types. */
    url?: string | null | undefined
    /** The name under which a document is shown. */
    filename?: string | null | undefined
  } | null | undefined
  /** The main part of the message. */
  body: {
    /** The main text. */
    text: string
  }
  /** A line in small type under the message. */
  footer?: {
    /** The small text at the end. */
    text: string
  } | null | undefined
  /** The menu. */
  action: {
    /** The label of the button that opens the menu. */
    button: string
    /** The groups of rows. */
    sections: ({
      /** The headline of the section; required when there are several. */
      title?: string | null | undefined
      /** The rows to choose from. */
      rows: ({
        /** Your ID for the row; returned in the `list_reply`. */
        id: string
        /** The visible text. */
        title: string
        /** A second line under the title. */
        description?: string | null | undefined
      })[]
    })[]
  }
}

/** A text with a button that opens a menu; the chosen row arrives as a `list_reply`. Its strings may hold merge tags. */
export interface TaggedListMessage {
  /** Always `list`, the discriminator of the variants. */
  type: 'list'
  list: TaggedListContent
}

/** A place on the map. */
export interface TaggedLocationContent {
  /** Degrees north of the equator. */
  latitude: number
  /** Degrees east of Greenwich. */
  longitude: number
  /** The name of the place. */
  name?: string | null | undefined
  /** Its postal address, in one line. */
  address?: string | null | undefined
}

/** A place on the map. Its strings may hold merge tags. */
export interface TaggedLocationMessage {
  /** Always `location`, the discriminator of the variants. */
  type: 'location'
  location: TaggedLocationContent
}

/** A text with a button that lets the recipient send a location; it arrives as a `location`. */
export interface TaggedLocationRequestContent {
  /** The main part of the message. */
  body: {
    /** The main text. */
    text: string
  }
}

/** A text with a button that lets the recipient send a location; it arrives as a `location`. Its strings may hold merge tags. */
export interface TaggedLocationRequestMessage {
  /** Always `location_request`, the discriminator of the variants. */
  type: 'location_request'
  location_request: TaggedLocationRequestContent
}

/** One product of a catalog. */
export interface TaggedProductContent {
  /** The main part of the message. */
  body?: {
    /** The main text. */
    text: string
  } | null | undefined
  /** A line in small type under the message. */
  footer?: {
    /** The small text at the end. */
    text: string
  } | null | undefined
  /** The article. */
  action: {
    /** The id of the catalog at the provider. */
    catalog_id: string
    /** Your own article number, as in the catalog. */
    product_retailer_id: string
  }
}

/** Up to thirty products of a catalog, in sections. */
export interface TaggedProductListContent {
  /** The header above the message. */
  header: {
    /** Only `text`; may be left out. */
    type?: 'text' | undefined
    /** The headline. */
    text: string
  }
  /** The main part of the message. */
  body: {
    /** The main text. */
    text: string
  }
  /** A line in small type under the message. */
  footer?: {
    /** The small text at the end. */
    text: string
  } | null | undefined
  /** The articles. */
  action: {
    /** The id of the catalog at the provider. */
    catalog_id: string
    /** The groups of articles. */
    sections: ({
      /** The headline of the section; required when there are several. */
      title?: string | null | undefined
      /** The articles. */
      product_items: {
        /** Your own article number, as in the catalog. */
        product_retailer_id: string
      }[]
    })[]
  }
}

/** Up to thirty products of a catalog, in sections. Its strings may hold merge tags. */
export interface TaggedProductListMessage {
  /** Always `product_list`, the discriminator of the variants. */
  type: 'product_list'
  product_list: TaggedProductListContent
}

/** One product of a catalog. Its strings may hold merge tags. */
export interface TaggedProductMessage {
  /** Always `product`, the discriminator of the variants. */
  type: 'product'
  product: TaggedProductContent
}

/** An approved template with its parameters; the only type that WhatsApp allows outside the 24-hour customer service window. */
export interface TaggedTemplateContent {
  /** The name under which the template was approved. */
  name: string
  /** Which translation is sent. */
  language: {
    /** The language of the template, for example `en_US`. */
    code: string
  }
  /** The parts of the template that have blanks. */
  components?: ({
    /** The part of the template, for example `header`, `body` or `button`. */
    type: string
    /** The parameters of this part, in order. */
    parameters?: ({
      /** The parameter value, for example `text`, `image` or `payload`. */
      type: string
      /** The words; required for type `text`. */
      text?: string | null | undefined
    })[] | null | undefined
  })[] | null | undefined
}

/** An approved template with its parameters; the only type that WhatsApp allows outside the 24-hour customer service window. Its strings may hold merge tags. */
export interface TaggedTemplateMessage {
  /** Always `template`, the discriminator of the variants. */
  type: 'template'
  template: TaggedTemplateContent
}

/** A plain text. */
export interface TaggedTextContent {
  /** The text; on `sms` channels at most 1600 characters. */
  body: string
}

/** A plain text. Its strings may hold merge tags. */
export interface TaggedTextMessage {
  /** Always `text`, the discriminator of the variants. */
  type: 'text'
  text: TaggedTextContent
}

export interface Template {
  /** Prefix `tpl_`. */
  id: string
  /** Always `template`. */
  object: 'template'
  /** The channel (`ch_`) that it may be sent on. */
  channel_id: string
  /** The value for `template.name` of a message. */
  name: string
  /** The value for `template.language.code` of a message, such as `en_US`. */
  language: string
  /** The provider's category, such as `MARKETING`, `UTILITY` or `AUTHENTICATION`. */
  category: string
  /** The provider's word. Only an `APPROVED` one can be sent. */
  status: 'APPROVED' | 'PENDING' | 'REJECTED' | 'PAUSED' | 'DISABLED' | (string & {})
  /** `POSITIONAL`: its blanks are numbered. `NAMED`: they have names. */
  parameter_format: string
  /** The parts reported by the provider: header, body, footer and buttons. */
  components: Record<string, unknown>[]
  /** Why the provider did not approve it; null where it gave no reason. */
  rejected_reason: string | null
  /** ISO 8601, UTC, with milliseconds. */
  updated_at: string
}

/** An approved template with its parameters; the only type that WhatsApp allows outside the 24-hour customer service window. */
export interface TemplateContent {
  /** The name under which the template was approved. */
  name: string
  /** Which translation is sent. */
  language: {
    /** The language of the template, for example `en_US`. */
    code: string
  }
  /** The parts of the template that have blanks. */
  components?: ({
    /** The part of the template, for example `header`, `body` or `button`. */
    type: string
    /** The parameters of this part, in order. */
    parameters?: ({
      /** The parameter value, for example `text`, `image` or `payload`. */
      type: string
      /** The words; required for type `text`. */
      text?: string | null | undefined
    })[] | null | undefined
  })[] | null | undefined
}

/** An approved template with its parameters; the only type that WhatsApp allows outside the 24-hour customer service window. */
export type TemplateMessage = MessageFields & {
  /** Always `template`, the discriminator of the variants. */
  type: 'template'
  /** The content, under the key `template`. */
  content: {
    template: TemplateContent
  }
}

/** A plain text. */
export interface TextContent {
  /** The text; on `sms` channels at most 1600 characters. */
  body: string
}

/** A plain text. */
export type TextMessage = MessageFields & {
  /** Always `text`, the discriminator of the variants. */
  type: 'text'
  /** The content, under the key `text`. */
  content: {
    text: ReceivedTextContent
  }
}

/** An inbound message that the provider or Posthorn cannot show. */
export interface UnsupportedContent {
  /** The provider's type. */
  provider_type: string
}

/** An inbound message that the provider or Posthorn cannot show. */
export type UnsupportedMessage = MessageFields & {
  /** Always `unsupported`, the discriminator of the variants. */
  type: 'unsupported'
  /** The content, under the key `unsupported`. */
  content: {
    unsupported: UnsupportedContent
  }
}

/** Gross figures, right to the message. Refunds count on the day of the refund, in columns of their own. */
export interface UsageRecord {
  /** Always `usage_record`. */
  object: 'usage_record'
  /** Start of the period, inclusive: midnight UTC. */
  period_start: string
  /** End of the period, exclusive: midnight UTC. */
  period_end: string
  /** The channel type if grouped by `channel_type` or `channel`, otherwise null (all types). */
  channel_type: 'whatsapp' | 'sms' | 'telegram' | (string & {}) | null
  /** The channel if grouped by `channel`, otherwise null (all channels). */
  channel_id: string | null
  /** Outbound messages accepted in the period, failed ones included. */
  messages: number
  /** Credits charged, before refunds. */
  package_credits: number
  /** Micro-USD charged to the wallet, before refunds. */
  wallet_micros: number
  /** Credits returned in the period, whenever the message was accepted. */
  refunded_credits: number
  /** Micro-USD returned in the period, whenever the message was accepted. */
  refunded_micros: number
  /** Amounts are in micro-USD: 1,000,000 are one US dollar. */
  currency: 'USD'
}

/** The delivery of one event to one endpoint. */
export interface WebhookDelivery {
  /** Prefix `whd_`. */
  id: string
  /** Always `webhook_delivery`. */
  object: 'webhook_delivery'
  /** Of the keys that see it: `live` delivers and bills, `test` is the sandbox. */
  mode: 'live' | 'test' | (string & {})
  /** The webhook endpoint (`we_`). */
  endpoint_id: string
  /** The event (`evt_`) that it carries. */
  event_id: string
  /** The type of that event. */
  event_type: 'message.sent' | 'message.delivered' | 'message.read' | 'message.failed' | 'message.received' | 'channel.connected' | 'channel.disconnected' | 'balance.low' | 'package.exhausted' | 'package.expiring' | 'campaign.started' | 'campaign.paused' | 'campaign.completed' | 'campaign.failed' | 'webhook.test' | (string & {})
  /** `pending`: another attempt follows. `failed`: none does, but by a retry. */
  status: 'pending' | 'delivered' | 'failed' | (string & {})
  /** The number of attempts so far. */
  attempts: number
  /** HTTP status of the last attempt, null when it got none. */
  response_status: number | null
  /** The duration of the last attempt in milliseconds. */
  duration_ms: number | null
  /** Why the last attempt failed: `dns_failed`, `tls_failed`, `connection_refused`, `connection_reset`, `host_unreachable`, `timeout`, `redirect`, `response_invalid`, `address_not_public`, `endpoint_disabled`, `event_expired`, or `status_` and the number that was answered, such as `status_500`, where it was no 2xx. Null after a success and before the first attempt. */
  error: string | null
  /** A sentence for engineers that explains `error`. */
  error_message: string | null
  /** When a pending delivery is attempted next; null during a test or a requested retry. */
  next_attempt_at: string | null
  /** ISO 8601, UTC, with milliseconds. */
  created_at: string
}

/** An address that receives signed events. */
export interface WebhookEndpoint {
  /** Prefix `we_`. */
  id: string
  /** Always `webhook_endpoint`. */
  object: 'webhook_endpoint'
  /** Of the keys that see it: `live` delivers and bills, `test` is the sandbox. */
  mode: 'live' | 'test' | (string & {})
  /** Where events are posted. */
  url: string
  /** For people; empty where there is none. */
  description: string
  /** Subscribed event types, or the single entry `*` for all. */
  events: ('message.sent' | 'message.delivered' | 'message.read' | 'message.failed' | 'message.received' | 'channel.connected' | 'channel.disconnected' | 'balance.low' | 'package.exhausted' | 'package.expiring' | 'campaign.started' | 'campaign.paused' | 'campaign.completed' | 'campaign.failed' | 'webhook.test' | '*' | (string & {}))[]
  /** `disabled` by a PATCH, or by the service after 50 failed attempts in a row. */
  status: 'active' | 'disabled' | (string & {})
  /** An event is delivered when it fits every key that is given (AND), by any of its values (OR). An event whose object a key does not speak of passes that key; an empty array restricts nothing. */
  filters: {
    /** Channel ids: of messages, channels and campaigns. */
    channels?: string[] | undefined
    /** Kinds of channel: of messages, channels and campaigns. */
    channel_types?: ('whatsapp' | 'sms' | 'telegram' | 'messenger' | 'instagram' | 'viber' | 'rcs' | 'email' | (string & {}))[] | undefined
    /** Of messages. */
    directions?: ('outbound' | 'inbound' | (string & {}))[] | undefined
    /** Of messages. */
    message_types?: ('text' | 'attachments' | 'template' | 'button' | 'list' | 'cta_url' | 'location' | 'contacts' | 'flow' | 'product' | 'product_list' | 'catalog' | 'carousel' | 'location_request' | 'button_reply' | 'list_reply' | 'flow_reply' | 'order' | 'reaction' | 'unsupported' | (string & {}))[] | undefined
    /** Campaign ids: of campaigns, and of messages that a campaign sent. */
    campaigns?: string[] | undefined
  }
  /** Your own data, returned unchanged. */
  metadata: Record<string, unknown>
  /** The integration source (`src_`) it was created for, otherwise null. */
  source: string | null
  /** The author. */
  created_by: {
    /** The actor type: an API key or a console user. More may be added. */
    type: 'api_key' | 'user' | (string & {})
    /** The key (`key_`) or the user (`usr_`). */
    id: string
  }
  /** True when deliveries carry the header `Service-Verification-Token`. */
  has_verification_token: boolean
  /** ISO 8601, UTC, with milliseconds. */
  created_at: string
}

/** A webhook endpoint with its signing secret, as answered at creation and by roll_secret. */
export interface WebhookEndpointWithSecret {
  /** Prefix `we_`. */
  id: string
  /** Always `webhook_endpoint`. */
  object: 'webhook_endpoint'
  /** Of the keys that see it: `live` delivers and bills, `test` is the sandbox. */
  mode: 'live' | 'test' | (string & {})
  /** Where events are posted. */
  url: string
  /** For people; empty where there is none. */
  description: string
  /** Subscribed event types, or the single entry `*` for all. */
  events: ('message.sent' | 'message.delivered' | 'message.read' | 'message.failed' | 'message.received' | 'channel.connected' | 'channel.disconnected' | 'balance.low' | 'package.exhausted' | 'package.expiring' | 'campaign.started' | 'campaign.paused' | 'campaign.completed' | 'campaign.failed' | 'webhook.test' | '*' | (string & {}))[]
  /** `disabled` by a PATCH, or by the service after 50 failed attempts in a row. */
  status: 'active' | 'disabled' | (string & {})
  /** An event is delivered when it fits every key that is given (AND), by any of its values (OR). An event whose object a key does not speak of passes that key; an empty array restricts nothing. */
  filters: {
    /** Channel ids: of messages, channels and campaigns. */
    channels?: string[] | undefined
    /** Kinds of channel: of messages, channels and campaigns. */
    channel_types?: ('whatsapp' | 'sms' | 'telegram' | 'messenger' | 'instagram' | 'viber' | 'rcs' | 'email' | (string & {}))[] | undefined
    /** Of messages. */
    directions?: ('outbound' | 'inbound' | (string & {}))[] | undefined
    /** Of messages. */
    message_types?: ('text' | 'attachments' | 'template' | 'button' | 'list' | 'cta_url' | 'location' | 'contacts' | 'flow' | 'product' | 'product_list' | 'catalog' | 'carousel' | 'location_request' | 'button_reply' | 'list_reply' | 'flow_reply' | 'order' | 'reaction' | 'unsupported' | (string & {}))[] | undefined
    /** Campaign ids: of campaigns, and of messages that a campaign sent. */
    campaigns?: string[] | undefined
  }
  /** Your own data, returned unchanged. */
  metadata: Record<string, unknown>
  /** The integration source (`src_`) it was created for, otherwise null. */
  source: string | null
  /** The author. */
  created_by: {
    /** The actor type: an API key or a console user. More may be added. */
    type: 'api_key' | 'user' | (string & {})
    /** The key (`key_`) or the user (`usr_`). */
    id: string
  }
  /** True when deliveries carry the header `Service-Verification-Token`. */
  has_verification_token: boolean
  /** ISO 8601, UTC, with milliseconds. */
  created_at: string
  /** Prefix `whsec_`. Shown only here; the whole text is the HMAC key. */
  secret: string
}

/** Sent when a test was requested for a webhook endpoint. */
export interface WebhookTestEvent {
  /** Prefix `evt_`; the same in every retry. Receivers deduplicate on it. */
  id: string
  /** Always `event`. */
  object: 'event'
  /** Always `webhook.test`, the discriminator of the variants. */
  type: 'webhook.test'
  /** Of the keys that see it: `live` delivers and bills, `test` is the sandbox. */
  mode: 'live' | 'test' | (string & {})
  /** When it occurred. */
  created_at: string
  /** The object of the event. */
  data: {
    object: WebhookEndpoint
  }
}
