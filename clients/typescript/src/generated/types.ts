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
    /** As the key was called when it was made. */
    name: string
    /** What it may do: an operation that asks for another scope is 403 `scope_missing`. */
    scopes: ('messages:read' | 'messages:write' | 'channels:read' | 'channels:write' | 'webhooks:read' | 'webhooks:write' | 'contacts:read' | 'contacts:write' | 'campaigns:read' | 'campaigns:write' | 'integrations:read' | 'integrations:write' | 'automation_events:read' | 'automation_events:write' | 'events:read' | 'billing:read' | (string & {}))[]
  }
  /** Features that this version of the service has; more may be added. */
  capabilities: ('automation_events' | 'webhook_filters' | 'test_inbound' | 'events_feed' | (string & {}))[]
}

/** The error envelope. */
export interface ApiError {
  error: ErrorBody
}

/** One to ten files, fetched from their URLs. On a live WhatsApp channel each becomes a provider message of its own, under one Message and one charge. */
export type AttachmentsContent = ({
  /** What kind of file it is. */
  type: 'image' | 'video' | 'audio' | 'document' | 'sticker'
  /** Where the file is fetched from. */
  url: string
  /** The name under which a document is shown. */
  filename?: string | null | undefined
  /** Words shown with the file. */
  caption?: string | null | undefined
})[]

/** One to ten files, fetched from their URLs. On a live WhatsApp channel each becomes a provider message of its own, under one Message and one charge. */
export type AttachmentsMessage = MessageFields & {
  /** Always `attachments`: it tells the variants apart. */
  type: 'attachments'
  /** What it says, under the key `attachments`. */
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
  /** The integration source (`src_`) whose events it waits for. */
  source_id: string
  /** The type of event that it waits for. */
  event_type: string
  /** `paused`: nothing follows an event. */
  status: 'active' | 'paused' | (string & {})
  /** Rules as a segment has them, over the event: {`match` `all`|`any`, `conditions`} of {`field`, `operator`, `value`}. Fields: `data.<path>`, such as `data.order.total` or `data.order.items[0].name`, `customer.external_id`, `.phone`, `.email`, `.first_name`, `.last_name`, `.locale`, `.tags` and `customer.attributes.<path>`. A text in digits, such as `"59.99"`, compares with a number as a number. null: every event of the type. */
  conditions: Rules | null
  /** How long after the event it is sent. */
  delay_seconds: number
  /** Event types: one of them that is reported of the same customer cancels what waits. */
  cancel_on: string[]
  /** The channel (`ch_`) that its message is sent on. */
  channel_id: string
  /** `marketing` is not sent to who has not agreed to advertising. */
  category: 'transactional' | 'marketing' | (string & {})
  message: AutomationMessage
  /** Merge tag name, without braces, to the text that stands where nothing is known. */
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
  /** Event types: one of them that is reported of the same customer cancels what waits. */
  cancel_on?: string[] | null | undefined
  /** `marketing` is not sent to who has not agreed to advertising. `transactional` where it is new. */
  category?: 'transactional' | 'marketing' | undefined
  /** Merge tag name, without braces, to the text that stands where nothing is known. */
  merge_fallbacks?: Record<string, string> | null | undefined
}

/** The receipt of what a source reported. */
export interface AutomationEvent {
  /** Prefix `aev_`. */
  id: string
  /** Always `automation_event`. */
  object: 'automation_event'
  /** Of the keys that see it: `live` delivers and bills, `test` is the sandbox. */
  mode: 'live' | 'test' | (string & {})
  /** The integration source (`src_`) that reported it. */
  source_id: string
  /** As it was reported; `<platform>.<topic>` for a native webhook of a topic that stands for no event. */
  type: string
  /** The source's own id of the event. */
  event_id: string
  /** How it came in: by `POST /v1/automation_events`, or as a webhook in the form of the platform. */
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
    /** `sent`: its message was accepted, and tells the rest itself. */
    status: 'scheduled' | 'sent' | 'skipped' | 'cancelled' | 'failed' | (string & {})
    /** When its message is due, ISO 8601, UTC, with milliseconds. */
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

/** What an automation does about one event. */
export interface AutomationRun {
  /** Prefix `run_`. */
  id: string
  /** The automation (`aut_`) that runs. */
  automation_id: string
  /** `sent`: its message was accepted, and tells the rest itself. */
  status: 'scheduled' | 'sent' | 'skipped' | 'cancelled' | 'failed' | (string & {})
  /** When its message is due, ISO 8601, UTC, with milliseconds. */
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

/** What an automation would do about an event, and why. Nothing is stored or sent. */
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
  /** One that is made up, as `POST /v1/automation_events` takes it without `source`. */
  event?: {
    /** One of the catalogue, or `custom.<name>`. */
    type: string
    /** Has no effect. */
    event_id?: string | null | undefined
    /** Default: now. */
    occurred_at?: string | null | undefined
    /** Whom it happened to. */
    customer?: {
      /** The platform's id of the customer. */
      external_id?: string | null | undefined
      /** With its country code, such as +4915112345678; spaces, dots, dashes and brackets are fine. Without one that can be read nobody can be written to. */
      phone?: string | null | undefined
      /** Kept with the contact; nothing is sent to it. */
      email?: string | null | undefined
      /** Given name; the merge tag `{{first_name}}`. */
      first_name?: string | null | undefined
      /** Family name; the merge tag `{{last_name}}`. */
      last_name?: string | null | undefined
      /** Such as `de` or `de-AT`. */
      locale?: string | null | undefined
      /** Labels of the customer, for conditions on `customer.tags`. */
      tags?: string[] | null | undefined
      /** Whatever else is known of the customer, for conditions on `customer.attributes.<path>`. */
      attributes?: Record<string, unknown> | null | undefined
      [key: string]: unknown
    } | null | undefined
    /** What the customer has agreed to, as far as the source knows. */
    consent?: {
      /** To messages about what the customer has bought, booked or asked for. */
      transactional?: boolean | null | undefined
      /** To advertising. */
      marketing?: boolean | null | undefined
      [key: string]: unknown
    } | null | undefined
    /** What happened, such as `{ "order": { … } }`; conditions and merge tags read it as `data.<path>`. */
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
  /** Event types: one of them that is reported of the same customer cancels what waits. */
  cancel_on?: string[] | null | undefined
  /** `marketing` is not sent to who has not agreed to advertising. `transactional` where it is new. */
  category?: 'transactional' | 'marketing' | undefined
  /** Merge tag name, without braces, to the text that stands where nothing is known. */
  merge_fallbacks?: Record<string, string> | null | undefined
}

export interface Balance {
  /** Always `balance`. */
  object: 'balance'
  /** Of the keys that see it: `live` delivers and bills, `test` is the sandbox. */
  mode: 'live' | 'test' | (string & {})
  /** Amounts are in micro-USD: 1,000,000 are one US dollar. */
  currency: 'USD'
  /** What the wallet holds, in micro-USD. Never below zero. */
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
  /** Always `balance.low`: it tells the variants apart. */
  type: 'balance.low'
  /** Of the keys that see it: `live` delivers and bills, `test` is the sandbox. */
  mode: 'live' | 'test' | (string & {})
  /** When it occurred. */
  created_at: string
  /** What the event is about. */
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
  /** The package whose credits moved (`grant_`), or null. */
  package_grant_id: string | null
  /** The message that was charged or refunded (`msg_`), or null. */
  message_id: string | null
  /** The top-up in the console that brought the money (`top_`), or null. */
  top_up_id: string | null
  /** The payment provider's id of its payment, such as Stripe's `pi_…`, or null. */
  payment_reference: string | null
  /** What the operator noted with a top-up or a correction, or null. */
  note: string | null
  /** What the wallet held after this transaction, in micro-USD. */
  balance_after_micros: number
  /** ISO 8601, UTC, with milliseconds. */
  created_at: string
}

/** A text with one to three buttons; the answer comes in as a `button_reply`. */
export interface ButtonContent {
  /** What stands above the message. */
  header?: {
    /** What the header shows. */
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
  /** What the recipient can do. */
  action: {
    /** The answers to choose from. */
    buttons: {
      /** The button. */
      reply: {
        /** Your own name of the button; it comes back in the `button_reply`. */
        id: string
        /** What the recipient sees on the button. */
        title: string
      }
    }[]
  }
}

/** A text with one to three buttons; the answer comes in as a `button_reply`. */
export type ButtonMessage = MessageFields & {
  /** Always `button`: it tells the variants apart. */
  type: 'button'
  /** What it says, under the key `button`. */
  content: {
    button: ButtonContent
  }
}

/** The recipient tapped a button of a `button`, `carousel` or `template` message. */
export interface ButtonReplyContent {
  /** The `id` that you gave the button. */
  id: string
  /** What the button said. */
  title: string
}

/** The recipient tapped a button of a `button`, `carousel` or `template` message. */
export type ButtonReplyMessage = MessageFields & {
  /** Always `button_reply`: it tells the variants apart. */
  type: 'button_reply'
  /** What it says, under the key `button_reply`. */
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
  /** Why it is `failed`, else null. Who was not sent to is `cancelled`. */
  failure_reason: 'channel_deleted' | 'channel_suspended' | 'audience_missing' | 'audience_too_large' | 'template_not_approved' | 'account_suspended' | 'internal_error' | (string & {}) | null
  audience: CampaignAudience
  message: CampaignMessage
  /** Merge tag name, without braces, to the text that stands where a recipient has none. */
  merge_fallbacks: Record<string, string>
  /** Whether only contacts get it whose consent for the channel type is `opted_in`. */
  require_opt_in: boolean
  /** Whether it was declared that the recipients have agreed; a launch needs it. */
  consent_declared: boolean
  schedule: CampaignSchedule
  /** Messages a second at most. Where the channel's own rate is lower, that counts. */
  throttle_per_second: number
  /** How many recipients are how far, at the moment of `status`; 0 before the recipients are known. */
  counters: {
    /** Recipients of the snapshot: `queued` + `sent` + `failed` + `skipped` + `cancelled`. */
    total: number
    /** Not sent yet. */
    queued: number
    /** Taken by the provider and not failed; those delivered and read count too. */
    sent: number
    /** Those read count too. */
    delivered: number
    /** Opened, as far as the channel tells. */
    read: number
    /** Their messages failed, and were refunded. */
    failed: number
    /** Never written to; `skip_reasons` tells why. */
    skipped: number
    /** Not written to because the campaign was cancelled or failed. */
    cancelled: number
    /** Reason to recipients. */
    skip_reasons: Record<string, number>
  }
  /** What it is expected to cost, and what it has cost until now. */
  cost: {
    /** Amounts are in micro-USD: 1,000,000 are one US dollar. */
    currency: 'USD'
    /** Micro-USD; null for a segment that has not been looked up yet. */
    estimated_wallet_micros: number | null
    /** Package credits; null for a segment that has not been looked up yet. */
    estimated_credits: number | null
    /** Micro-USD charged until now, refunds taken off. */
    wallet_micros: number
    /** Package credits used until now, those given back taken off. */
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

/** Who gets the message. */
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

/** Who gets the message. */
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
  /** Always `campaign.completed`: it tells the variants apart. */
  type: 'campaign.completed'
  /** Of the keys that see it: `live` delivers and bills, `test` is the sandbox. */
  mode: 'live' | 'test' | (string & {})
  /** When it occurred. */
  created_at: string
  /** What the event is about. */
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
  /** Merge tag name, without braces, to the text that stands where a recipient has none. */
  merge_fallbacks?: Record<string, string> | null | undefined
  /** Only contacts whose consent for the channel type is `opted_in`. */
  require_opt_in?: boolean | undefined
  /** You hold the consent of the recipients; may also be sent at launch. */
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
  /** Messages a second. Where the channel's own rate is lower, that counts; what is shown is what was asked. */
  throttle_per_second?: number | undefined
  /** Create and launch in one call; nothing is kept where the launch is refused. */
  launch?: boolean | undefined
  /** Launch although credits and wallet do not cover everybody: the campaign pauses when they run out. */
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
  /** Always `campaign.failed`: it tells the variants apart. */
  type: 'campaign.failed'
  /** Of the keys that see it: `live` delivers and bills, `test` is the sandbox. */
  mode: 'live' | 'test' | (string & {})
  /** When it occurred. */
  created_at: string
  /** What the event is about. */
  data: {
    object: Campaign
  }
}

export interface CampaignLaunch {
  /** Replaces that of the campaign. */
  consent_declared?: boolean | undefined
  /** Launch although credits and wallet do not cover everybody: the campaign pauses when they run out. */
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
  /** Always `campaign.paused`: it tells the variants apart. */
  type: 'campaign.paused'
  /** Of the keys that see it: `live` delivers and bills, `test` is the sandbox. */
  mode: 'live' | 'test' | (string & {})
  /** When it occurred. */
  created_at: string
  /** What the event is about. */
  data: {
    object: Campaign
  }
}

/** Somebody to whom a campaign goes. */
export interface CampaignRecipient {
  /** A number, counted from 1 in the order of the snapshot. */
  id: string
  /** Always `campaign_recipient`. */
  object: 'campaign_recipient'
  /** The contact (`ct_`); null for an ad-hoc recipient who is none. */
  contact_id: string | null
  /** Empty where the contact has no identifier on the channel. */
  to: string
  /** The full name that merge tags fill in; null where none is known. */
  name: string | null
  /** `pending`: not sent yet. `skipped`: see `skip_reason`. The others as of the message. */
  status: 'pending' | 'sent' | 'delivered' | 'read' | 'failed' | 'skipped' | 'cancelled' | (string & {})
  /** Why nothing was sent to a `skipped` one, else null. */
  skip_reason: 'unsubscribed' | 'not_opted_in' | 'no_identifier' | 'invalid_identifier' | 'duplicate' | 'contact_deleted' | (string & {}) | null
  /** The message (`msg_`) to them; null as long as there is none. */
  message_id: string | null
  /** Why it failed; null where it did not. */
  error: {
    /** Stable, to branch on: as of a failed message, or the error code of the refusal where the message was not taken. More may be added. */
    code: 'provider_error' | 'channel_not_connected' | 'recipient_blocked' | 'policy_violation' | 'upstream_rejected' | 'expired' | 'cancelled' | 'parameter_missing' | 'parameter_invalid' | 'unsupported_message_type' | 'invalid_json' | 'webhook_endpoint_limit_reached' | 'webhook_url_not_public' | 'integration_source_limit_reached' | 'automation_limit_reached' | 'contact_limit_reached' | 'campaign_limit_exceeded' | 'consent_required' | 'payload_too_large' | 'api_key_missing' | 'api_key_invalid' | 'api_key_revoked' | 'api_key_expired' | 'webhook_signature_invalid' | 'hook_token_invalid' | 'insufficient_balance' | 'scope_missing' | 'ip_not_allowed' | 'account_suspended' | 'live_mode_required' | 'test_mode_required' | 'source_disabled' | 'resource_missing' | 'idempotency_key_in_use' | 'idempotency_key_reused' | 'channel_identifier_taken' | 'contact_exists' | 'campaign_state_invalid' | 'message_state_invalid' | 'delivery_state_invalid' | 'template_not_approved' | 'rate_limit_exceeded' | 'internal_error' | 'upstream_unavailable' | (string & {})
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

/** What a launch would do now. */
export interface CampaignRehearsal {
  /** Always `campaign_rehearsal`. */
  object: 'campaign_rehearsal'
  /** The campaign (`cmp_`) that was rehearsed. */
  campaign_id: string
  /** Once the snapshot is taken: those who still wait. */
  recipients_count: number
  /** Recipients who would get a message now. */
  would_send: number
  /** Reason to recipients: a `skip_reason`, or the code of the refusal by which a message of theirs would fail. */
  would_skip: Record<string, number>
  /** What the messages would cost. */
  cost: {
    /** Of the messages that are not charged yet. */
    package_credits: number
    /** Micro-USD; whether or not the wallet holds as much. */
    wallet_micros: number
  }
  /** When the first message would go out; null where none would. */
  starts_at: string | null
  /** When the last one would, by throttle, the channel's rate and windows; null where none would, or only in years. */
  ends_at: string | null
  /** All launch checks, in their order; once launched without that of the status. */
  checks: ({
    /** The error code that a launch would answer where the check fails. */
    code: 'parameter_missing' | 'parameter_invalid' | 'unsupported_message_type' | 'invalid_json' | 'webhook_endpoint_limit_reached' | 'webhook_url_not_public' | 'integration_source_limit_reached' | 'automation_limit_reached' | 'contact_limit_reached' | 'campaign_limit_exceeded' | 'consent_required' | 'payload_too_large' | 'api_key_missing' | 'api_key_invalid' | 'api_key_revoked' | 'api_key_expired' | 'webhook_signature_invalid' | 'hook_token_invalid' | 'insufficient_balance' | 'scope_missing' | 'ip_not_allowed' | 'account_suspended' | 'live_mode_required' | 'test_mode_required' | 'source_disabled' | 'resource_missing' | 'idempotency_key_in_use' | 'idempotency_key_reused' | 'channel_identifier_taken' | 'contact_exists' | 'campaign_state_invalid' | 'message_state_invalid' | 'delivery_state_invalid' | 'channel_not_connected' | 'recipient_blocked' | 'policy_violation' | 'upstream_rejected' | 'template_not_approved' | 'rate_limit_exceeded' | 'internal_error' | 'upstream_unavailable' | (string & {})
    /** Whether it passes now. */
    ok: boolean
    /** The same for people. */
    message: string
  })[]
  /** The first three that would be sent, rendered. */
  samples: {
    /** Who would get it. */
    to: string
    /** `type` and the content object under the key named by it, merge tags filled in. */
    message: Record<string, unknown>
  }[]
}

export interface CampaignSchedule {
  /** Nothing goes out before; null starts when launched. */
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
  /** Always `campaign.started`: it tells the variants apart. */
  type: 'campaign.started'
  /** Of the keys that see it: `live` delivers and bills, `test` is the sandbox. */
  mode: 'live' | 'test' | (string & {})
  /** When it occurred. */
  created_at: string
  /** What the event is about. */
  data: {
    object: Campaign
  }
}

export interface CampaignTest {
  /** Who gets it: on phone channels E.164. */
  to: string
}

/** What is to change of a draft; absent fields stay, objects are replaced whole. */
export interface CampaignUpdate {
  /** For people; need not be unique. */
  name?: string | undefined
  /** Channel id; the message is checked against what that channel can send. */
  channel?: string | undefined
  audience?: CampaignAudienceRequest | undefined
  message?: CampaignMessage | undefined
  /** Merge tag name, without braces, to the text that stands where a recipient has none. */
  merge_fallbacks?: Record<string, string> | null | undefined
  /** Only contacts whose consent for the channel type is `opted_in`. */
  require_opt_in?: boolean | undefined
  /** You hold the consent of the recipients; may also be sent at launch. */
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
  /** Messages a second. Where the channel's own rate is lower, that counts; what is shown is what was asked. */
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
      /** What the card shows. */
      type: 'image' | 'video'
      /** Where the picture or video is fetched from. */
      url: string
    }
    /** What the card says. */
    body?: {
      /** The text of the card. */
      text: string
    } | null | undefined
    /** Either `parameters` or `buttons`. */
    action: {
      /** The button. */
      parameters?: {
        /** What the recipient sees on the button. */
        display_text: string
        /** The address that the button opens. */
        url: string
      } | null | undefined
      /** The answers to choose from. */
      buttons?: {
        /** The button. */
        reply: {
          /** Your own name of the button; it comes back in the `button_reply`. */
          id: string
          /** What the recipient sees on the button. */
          title: string
        }
      }[] | null | undefined
    }
  })[]
}

/** Two to ten cards side by side, each with a picture or video and a button. */
export type CarouselMessage = MessageFields & {
  /** Always `carousel`: it tells the variants apart. */
  type: 'carousel'
  /** What it says, under the key `carousel`. */
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
      /** The article whose picture is shown; the first one when absent. */
      thumbnail_product_retailer_id?: string | null | undefined
    } | null | undefined
  } | null | undefined
}

/** A text with a button that opens the whole catalog. */
export type CatalogMessage = MessageFields & {
  /** Always `catalog`: it tells the variants apart. */
  type: 'catalog'
  /** What it says, under the key `catalog`. */
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
  /** The kind of channel, which decides what recipients are called by and what it costs. */
  type: 'whatsapp' | 'sms' | 'telegram' | (string & {})
  /** Who carries its messages, such as `whatsapp_cloud` or `twilio`; `sandbox` in test mode. */
  provider: string
  /** For people: 1 to 120 characters. */
  name: string
  /** What recipients see as the sender: an E.164 number, a short code or a name. Belongs to one account alone. */
  identifier: string
  /** Only an `active` one sends. `disabled` by the account: what was accepted before waits. */
  status: 'pending' | 'active' | 'suspended' | 'disabled' | (string & {})
  /** The link to the provider. A lost one is tried again by itself, and at once by `reconnect`. */
  connection_status: 'connecting' | 'connected' | 'disconnected' | (string & {})
  /** The types of message that it can send. */
  capabilities: ('text' | 'attachments' | 'template' | 'button' | 'list' | 'cta_url' | 'location' | 'contacts' | 'flow' | 'product' | 'product_list' | 'catalog' | 'carousel' | 'location_request' | (string & {}))[]
  /** `max_messages_per_second`, and what the provider knows. Never holds credentials. */
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
  /** Always `channel.connected`: it tells the variants apart. */
  type: 'channel.connected'
  /** Of the keys that see it: `live` delivers and bills, `test` is the sandbox. */
  mode: 'live' | 'test' | (string & {})
  /** When it occurred. */
  created_at: string
  /** What the event is about. */
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
  /** Always `channel.disconnected`: it tells the variants apart. */
  type: 'channel.disconnected'
  /** Of the keys that see it: `live` delivers and bills, `test` is the sandbox. */
  mode: 'live' | 'test' | (string & {})
  /** When it occurred. */
  created_at: string
  /** What the event is about. */
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
  /** The kind of channel, which decides what recipients are called by and what it costs. */
  type: 'whatsapp' | 'sms' | 'telegram' | (string & {})
  /** Who carries its messages, such as `whatsapp_cloud` or `twilio`; `sandbox` in test mode. */
  provider: string
  /** For people: 1 to 120 characters. */
  name: string
  /** What recipients see as the sender: an E.164 number, a short code or a name. Belongs to one account alone. */
  identifier: string
  /** Only an `active` one sends. `disabled` by the account: what was accepted before waits. */
  status: 'pending' | 'active' | 'suspended' | 'disabled' | (string & {})
  /** The link to the provider. A lost one is tried again by itself, and at once by `reconnect`. */
  connection_status: 'connecting' | 'connected' | 'disconnected' | (string & {})
  /** The types of message that it can send. */
  capabilities: ('text' | 'attachments' | 'template' | 'button' | 'list' | 'cta_url' | 'location' | 'contacts' | 'flow' | 'product' | 'product_list' | 'catalog' | 'carousel' | 'location_request' | (string & {}))[]
  /** `max_messages_per_second`, and what the provider knows. Never holds credentials. */
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
  /** What the consent was from then on. */
  status: 'opted_in' | 'opted_out' | 'unknown' | (string & {})
  /** Where the change came from; `keyword` is a word such as STOP that the recipient wrote. */
  source: 'api' | 'import' | 'console' | 'keyword' | 'integration' | 'provider' | 'campaign' | 'form' | (string & {})
  /** The inbound message that caused it. */
  message_id: string | null
  /** The API request that caused it. */
  request_id: string | null
  /** ISO 8601, UTC, with milliseconds. */
  occurred_at: string
}

/** A status alone, or with what is known of it; null takes it for `unknown`. */
export type ConsentInput = 'opted_in' | 'opted_out' | 'unknown' | {
  /** Nothing is sent to who has `opted_out`. */
  status?: 'opted_in' | 'opted_out' | 'unknown' | undefined
  /** Where the recipient spoke of marketing alone. */
  marketing?: 'opted_in' | 'opted_out' | 'unknown' | undefined
  /** Where it was given or withdrawn. */
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
    /** Nothing is sent to who has `opted_out`; `unknown` is neither. */
    status: 'opted_in' | 'opted_out' | 'unknown' | (string & {})
    /** Where the last change came from. */
    source: 'api' | 'import' | 'console' | 'keyword' | 'integration' | 'provider' | 'campaign' | 'form' | (string & {})
    /** When the change happened. */
    updated_at: string
    /** Where the recipient spoke of marketing alone: `opted_out` refuses marketing templates, everything else passes. */
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
  /** When the last inbound message came in. */
  last_seen_at: string | null
  /** When the last message either way was stored; may lag by a few seconds. Neither this nor `last_seen_at` moves `updated_at`. */
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
  /** E.164; spaces, dots, dashes and brackets are taken out. */
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
    /** What stood in it. */
    cells: string[]
    /** ISO 8601, UTC, with milliseconds. */
    created_at: string
  }[]
  /** ISO 8601, UTC, with milliseconds. */
  exported_at: string
}

/** A CSV file of contacts on its way in. */
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
  /** The columns of the file, from left to right, and what becomes of each. */
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
  /** Rows that made a contact. */
  created: number
  /** Rows whose contact was there before, changed or not. */
  updated: number
  /** Rows that changed nothing; GET /v1/contact_imports/{id}/errors gives them back with reasons. */
  rejected: number
  /** Rows applied without some of their cells, such as an `opted_in` for somebody who has opted out; they stand among the errors, too. */
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
  /** Tags to take off. */
  remove?: string[] | undefined
}

/** What is to change; absent fields stay. */
export interface ContactUpdate {
  /** E.164; spaces, dots, dashes and brackets are taken out. */
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
  /** E.164; spaces, dots, dashes and brackets are taken out. Decides which contact is meant. */
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
  /** Who it is. */
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
    /** What it is for, such as `CELL`, `HOME` or `WORK`. */
    type?: string | null | undefined
    /** Its WhatsApp id; with it the recipient can write at once. */
    wa_id?: string | null | undefined
  })[] | null | undefined
  /** E-mail addresses. */
  emails?: ({
    /** The address. */
    email: string
    /** What it is for, such as `CELL`, `HOME` or `WORK`. */
    type?: string | null | undefined
  })[] | null | undefined
  /** Where the person works. */
  org?: {
    /** The company. */
    company?: string | null | undefined
    /** The department. */
    department?: string | null | undefined
    /** The position held. */
    title?: string | null | undefined
  } | null | undefined
  /** Web addresses. */
  urls?: ({
    /** The address. */
    url: string
    /** What it is for, such as `CELL`, `HOME` or `WORK`. */
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
    /** What it is for, such as `CELL`, `HOME` or `WORK`. */
    type?: string | null | undefined
  })[] | null | undefined
  /** Day of birth. */
  birthday?: string | null | undefined
})[]

/** One to twenty address cards that the recipient can save. */
export type ContactsMessage = MessageFields & {
  /** Always `contacts`: it tells the variants apart. */
  type: 'contacts'
  /** What it says, under the key `contacts`. */
  content: {
    contacts: ReceivedContactsContent
  }
}

/** A text with one button that opens a web address. */
export interface CtaUrlContent {
  /** What stands above the message. */
  header?: {
    /** What the header shows. */
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
  /** What the recipient can do. */
  action: {
    /** The button. */
    parameters: {
      /** What the recipient sees on the button. */
      display_text: string
      /** The address that the button opens. */
      url: string
    }
  }
}

/** A text with one button that opens a web address. */
export type CtaUrlMessage = MessageFields & {
  /** Always `cta_url`: it tells the variants apart. */
  type: 'cta_url'
  /** What it says, under the key `cta_url`. */
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
    /** What is wrong with it. */
    code: 'missing_field' | 'invalid_type' | 'invalid_format' | 'invalid_value' | 'too_short' | 'too_long' | 'too_few' | 'too_many' | 'unknown_field' | 'unknown_merge_tag' | (string & {})
    /** What to do about it, for people. */
    message: string
  })[] | undefined
  /** The same as the header `X-Request-Id`. */
  request_id: string
  /** The entry of `code` in the reference. */
  doc_url: string
}

/** Something that happened in the account: what webhooks deliver and the feed lists. */
export type Event = MessageSentEvent | MessageDeliveredEvent | MessageReadEvent | MessageFailedEvent | MessageReceivedEvent | ChannelConnectedEvent | ChannelDisconnectedEvent | BalanceLowEvent | PackageExhaustedEvent | PackageExpiringEvent | CampaignStartedEvent | CampaignPausedEvent | CampaignCompletedEvent | CampaignFailedEvent | WebhookTestEvent

/** A text with a button that opens a form inside the app; what was filled in comes in as a `flow_reply`. */
export interface FlowContent {
  /** What stands above the message. */
  header?: {
    /** What the header shows. */
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
  /** What the recipient can do. */
  action: {
    /** The flow and its button. */
    parameters: {
      /** The id of the flow; either this or `flow_name`. */
      flow_id?: string | null | undefined
      /** The name of the flow; either this or `flow_id`. */
      flow_name?: string | null | undefined
      /** What the recipient sees on the button. */
      flow_cta: string
      /** Your own reference of this run of the flow. */
      flow_token?: string | null | undefined
      /** Which version of the flow opens; `published` when absent. */
      mode?: 'draft' | 'published' | undefined
      /** Whether a screen opens at once or your endpoint is asked first; `navigate` when absent. */
      flow_action?: 'navigate' | 'data_exchange' | undefined
      /** The first screen and its data, for `navigate`. */
      flow_action_payload?: {
        [key: string]: unknown
      } | null | undefined
    }
  }
}

/** A text with a button that opens a form inside the app; what was filled in comes in as a `flow_reply`. */
export type FlowMessage = MessageFields & {
  /** Always `flow`: it tells the variants apart. */
  type: 'flow'
  /** What it says, under the key `flow`. */
  content: {
    flow: FlowContent
  }
}

/** The recipient filled in the form of a `flow` message. */
export interface FlowReplyContent {
  /** The name that the provider gives the form. */
  name?: string | null | undefined
  /** What the recipient sees of the answer. */
  body?: string | null | undefined
  /** What was filled in, field by field. */
  response: {
    [key: string]: unknown
  }
}

/** The recipient filled in the form of a `flow` message. */
export type FlowReplyMessage = MessageFields & {
  /** Always `flow_reply`: it tells the variants apart. */
  type: 'flow_reply'
  /** What it says, under the key `flow_reply`. */
  content: {
    flow_reply: FlowReplyContent
  }
}

/** One to ten files, fetched from their URLs. On a live WhatsApp channel each becomes a provider message of its own, under one Message and one charge. */
export interface InboundAttachmentsMessage {
  /** A sandbox channel. */
  channel: string
  /** Who writes. */
  from: string
  /** Always `attachments`: it tells the variants apart. */
  type: 'attachments'
  /** The name that the writer has on the channel; a contact that is new gets it. */
  profile_name?: string | null | undefined
  /** The message that it answers. */
  reply_to?: string | null | undefined
  attachments: ReceivedAttachmentsContent
}

/** A text with one to three buttons; the answer comes in as a `button_reply`. */
export interface InboundButtonMessage {
  /** A sandbox channel. */
  channel: string
  /** Who writes. */
  from: string
  /** Always `button`: it tells the variants apart. */
  type: 'button'
  /** The name that the writer has on the channel; a contact that is new gets it. */
  profile_name?: string | null | undefined
  /** The message that it answers. */
  reply_to?: string | null | undefined
  button: ButtonContent
}

/** The recipient tapped a button of a `button`, `carousel` or `template` message. */
export interface InboundButtonReplyMessage {
  /** A sandbox channel. */
  channel: string
  /** Who writes. */
  from: string
  /** Always `button_reply`: it tells the variants apart. */
  type: 'button_reply'
  /** The name that the writer has on the channel; a contact that is new gets it. */
  profile_name?: string | null | undefined
  /** The message that it answers. */
  reply_to?: string | null | undefined
  button_reply: ButtonReplyContent
}

/** Two to ten cards side by side, each with a picture or video and a button. */
export interface InboundCarouselMessage {
  /** A sandbox channel. */
  channel: string
  /** Who writes. */
  from: string
  /** Always `carousel`: it tells the variants apart. */
  type: 'carousel'
  /** The name that the writer has on the channel; a contact that is new gets it. */
  profile_name?: string | null | undefined
  /** The message that it answers. */
  reply_to?: string | null | undefined
  carousel: CarouselContent
}

/** A text with a button that opens the whole catalog. */
export interface InboundCatalogMessage {
  /** A sandbox channel. */
  channel: string
  /** Who writes. */
  from: string
  /** Always `catalog`: it tells the variants apart. */
  type: 'catalog'
  /** The name that the writer has on the channel; a contact that is new gets it. */
  profile_name?: string | null | undefined
  /** The message that it answers. */
  reply_to?: string | null | undefined
  catalog: CatalogContent
}

/** One to twenty address cards that the recipient can save. */
export interface InboundContactsMessage {
  /** A sandbox channel. */
  channel: string
  /** Who writes. */
  from: string
  /** Always `contacts`: it tells the variants apart. */
  type: 'contacts'
  /** The name that the writer has on the channel; a contact that is new gets it. */
  profile_name?: string | null | undefined
  /** The message that it answers. */
  reply_to?: string | null | undefined
  contacts: ReceivedContactsContent
}

/** A text with one button that opens a web address. */
export interface InboundCtaUrlMessage {
  /** A sandbox channel. */
  channel: string
  /** Who writes. */
  from: string
  /** Always `cta_url`: it tells the variants apart. */
  type: 'cta_url'
  /** The name that the writer has on the channel; a contact that is new gets it. */
  profile_name?: string | null | undefined
  /** The message that it answers. */
  reply_to?: string | null | undefined
  cta_url: CtaUrlContent
}

/** A text with a button that opens a form inside the app; what was filled in comes in as a `flow_reply`. */
export interface InboundFlowMessage {
  /** A sandbox channel. */
  channel: string
  /** Who writes. */
  from: string
  /** Always `flow`: it tells the variants apart. */
  type: 'flow'
  /** The name that the writer has on the channel; a contact that is new gets it. */
  profile_name?: string | null | undefined
  /** The message that it answers. */
  reply_to?: string | null | undefined
  flow: FlowContent
}

/** The recipient filled in the form of a `flow` message. */
export interface InboundFlowReplyMessage {
  /** A sandbox channel. */
  channel: string
  /** Who writes. */
  from: string
  /** Always `flow_reply`: it tells the variants apart. */
  type: 'flow_reply'
  /** The name that the writer has on the channel; a contact that is new gets it. */
  profile_name?: string | null | undefined
  /** The message that it answers. */
  reply_to?: string | null | undefined
  flow_reply: FlowReplyContent
}

/** A text with a button that opens a menu; the chosen row comes in as a `list_reply`. */
export interface InboundListMessage {
  /** A sandbox channel. */
  channel: string
  /** Who writes. */
  from: string
  /** Always `list`: it tells the variants apart. */
  type: 'list'
  /** The name that the writer has on the channel; a contact that is new gets it. */
  profile_name?: string | null | undefined
  /** The message that it answers. */
  reply_to?: string | null | undefined
  list: ListContent
}

/** The recipient chose a row of a `list` message. */
export interface InboundListReplyMessage {
  /** A sandbox channel. */
  channel: string
  /** Who writes. */
  from: string
  /** Always `list_reply`: it tells the variants apart. */
  type: 'list_reply'
  /** The name that the writer has on the channel; a contact that is new gets it. */
  profile_name?: string | null | undefined
  /** The message that it answers. */
  reply_to?: string | null | undefined
  list_reply: ListReplyContent
}

/** A place on the map. */
export interface InboundLocationMessage {
  /** A sandbox channel. */
  channel: string
  /** Who writes. */
  from: string
  /** Always `location`: it tells the variants apart. */
  type: 'location'
  /** The name that the writer has on the channel; a contact that is new gets it. */
  profile_name?: string | null | undefined
  /** The message that it answers. */
  reply_to?: string | null | undefined
  location: LocationContent
}

/** A text with a button by which the recipient sends a place; it comes in as a `location`. */
export interface InboundLocationRequestMessage {
  /** A sandbox channel. */
  channel: string
  /** Who writes. */
  from: string
  /** Always `location_request`: it tells the variants apart. */
  type: 'location_request'
  /** The name that the writer has on the channel; a contact that is new gets it. */
  profile_name?: string | null | undefined
  /** The message that it answers. */
  reply_to?: string | null | undefined
  location_request: LocationRequestContent
}

/** What a recipient would write, with its content object under the key named by `type`. */
export type InboundMessage = InboundTextMessage | InboundAttachmentsMessage | InboundButtonMessage | InboundListMessage | InboundCtaUrlMessage | InboundLocationMessage | InboundContactsMessage | InboundFlowMessage | InboundProductMessage | InboundProductListMessage | InboundCatalogMessage | InboundCarouselMessage | InboundLocationRequestMessage | InboundButtonReplyMessage | InboundListReplyMessage | InboundFlowReplyMessage | InboundOrderMessage | InboundReactionMessage | InboundUnsupportedMessage

/** The recipient ordered from a `product`, `product_list` or `catalog` message. */
export interface InboundOrderMessage {
  /** A sandbox channel. */
  channel: string
  /** Who writes. */
  from: string
  /** Always `order`: it tells the variants apart. */
  type: 'order'
  /** The name that the writer has on the channel; a contact that is new gets it. */
  profile_name?: string | null | undefined
  /** The message that it answers. */
  reply_to?: string | null | undefined
  order: OrderContent
}

/** Up to thirty articles of a catalog, in sections. */
export interface InboundProductListMessage {
  /** A sandbox channel. */
  channel: string
  /** Who writes. */
  from: string
  /** Always `product_list`: it tells the variants apart. */
  type: 'product_list'
  /** The name that the writer has on the channel; a contact that is new gets it. */
  profile_name?: string | null | undefined
  /** The message that it answers. */
  reply_to?: string | null | undefined
  product_list: ProductListContent
}

/** One article of a catalog. */
export interface InboundProductMessage {
  /** A sandbox channel. */
  channel: string
  /** Who writes. */
  from: string
  /** Always `product`: it tells the variants apart. */
  type: 'product'
  /** The name that the writer has on the channel; a contact that is new gets it. */
  profile_name?: string | null | undefined
  /** The message that it answers. */
  reply_to?: string | null | undefined
  product: ProductContent
}

/** The recipient put an emoji on a message, or took it off. */
export interface InboundReactionMessage {
  /** A sandbox channel. */
  channel: string
  /** Who writes. */
  from: string
  /** Always `reaction`: it tells the variants apart. */
  type: 'reaction'
  /** The name that the writer has on the channel; a contact that is new gets it. */
  profile_name?: string | null | undefined
  /** The message that it answers. */
  reply_to?: string | null | undefined
  reaction: ReactionContent
}

/** A plain text. */
export interface InboundTextMessage {
  /** A sandbox channel. */
  channel: string
  /** Who writes. */
  from: string
  /** Always `text`: it tells the variants apart. */
  type?: 'text' | undefined
  /** The name that the writer has on the channel; a contact that is new gets it. */
  profile_name?: string | null | undefined
  /** The message that it answers. */
  reply_to?: string | null | undefined
  text: ReceivedTextContent
}

/** Something came in that the provider or this service cannot show. */
export interface InboundUnsupportedMessage {
  /** A sandbox channel. */
  channel: string
  /** Who writes. */
  from: string
  /** Always `unsupported`: it tells the variants apart. */
  type: 'unsupported'
  /** The name that the writer has on the channel; a contact that is new gets it. */
  profile_name?: string | null | undefined
  /** The message that it answers. */
  reply_to?: string | null | undefined
  unsupported: UnsupportedContent
}

/** A shop or site that reports what happened there. */
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
  /** Where an automation for the source is made, with the placeholder `{event_type}`. */
  automation_url_template: string
  /** By platform: the address that takes native webhooks, signed with the signing secret. */
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
  /** Where an automation for the source is made, with the placeholder `{event_type}`. */
  automation_url_template: string
  /** By platform: the address that takes native webhooks, signed with the signing secret. */
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

/** A text with a button that opens a menu; the chosen row comes in as a `list_reply`. */
export interface ListContent {
  /** What stands above the message. */
  header?: {
    /** What the header shows. */
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
    /** What the recipient sees on the button that opens the menu. */
    button: string
    /** The groups of rows. */
    sections: ({
      /** The headline of the section; required when there are several. */
      title?: string | null | undefined
      /** The rows to choose from. */
      rows: ({
        /** Your own name of the row; it comes back in the `list_reply`. */
        id: string
        /** What the recipient sees. */
        title: string
        /** A second line under the title. */
        description?: string | null | undefined
      })[]
    })[]
  }
}

/** A text with a button that opens a menu; the chosen row comes in as a `list_reply`. */
export type ListMessage = MessageFields & {
  /** Always `list`: it tells the variants apart. */
  type: 'list'
  /** What it says, under the key `list`. */
  content: {
    list: ListContent
  }
}

/** The recipient chose a row of a `list` message. */
export interface ListReplyContent {
  /** The `id` that you gave the row. */
  id: string
  /** What the row said. */
  title: string
  /** The row's second line. */
  description?: string | null | undefined
}

/** The recipient chose a row of a `list` message. */
export type ListReplyMessage = MessageFields & {
  /** Always `list_reply`: it tells the variants apart. */
  type: 'list_reply'
  /** What it says, under the key `list_reply`. */
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
  /** What the place is called. */
  name?: string | null | undefined
  /** Its postal address, in one line. */
  address?: string | null | undefined
}

/** A place on the map. */
export type LocationMessage = MessageFields & {
  /** Always `location`: it tells the variants apart. */
  type: 'location'
  /** What it says, under the key `location`. */
  content: {
    location: LocationContent
  }
}

/** A text with a button by which the recipient sends a place; it comes in as a `location`. */
export interface LocationRequestContent {
  /** The main part of the message. */
  body: {
    /** The main text. */
    text: string
  }
}

/** A text with a button by which the recipient sends a place; it comes in as a `location`. */
export type LocationRequestMessage = MessageFields & {
  /** Always `location_request`: it tells the variants apart. */
  type: 'location_request'
  /** What it says, under the key `location_request`. */
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
  /** Always `message.delivered`: it tells the variants apart. */
  type: 'message.delivered'
  /** Of the keys that see it: `live` delivers and bills, `test` is the sandbox. */
  mode: 'live' | 'test' | (string & {})
  /** When it occurred. */
  created_at: string
  /** What the event is about. */
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
  /** Always `message.failed`: it tells the variants apart. */
  type: 'message.failed'
  /** Of the keys that see it: `live` delivers and bills, `test` is the sandbox. */
  mode: 'live' | 'test' | (string & {})
  /** When it occurred. */
  created_at: string
  /** What the event is about. */
  data: {
    object: Message
  }
}

/** What every message has, whatever its type. */
export interface MessageFields {
  /** Prefix `msg_`. */
  id: string
  /** Always `message`. */
  object: 'message'
  /** Of the keys that see it: `live` delivers and bills, `test` is the sandbox. */
  mode: 'live' | 'test' | (string & {})
  /** The channel (`ch_`) that it goes or came through. */
  channel_id: string
  /** The kind of that channel. */
  channel_type: 'whatsapp' | 'sms' | 'telegram' | (string & {})
  /** `outbound`: sent by the account. `inbound`: written to it, with status `received`. */
  direction: 'outbound' | 'inbound' | (string & {})
  /** Who gets it: E.164 on phone channels. Of an inbound message the identifier of the channel. */
  to: string
  /** Who sends it: the identifier of the channel; of an inbound message who wrote. */
  from: string
  /** `queued`: stored and charged. `sending`: being handed to the provider. `sent`: the provider took it. `delivered` and `read`: as far as the channel tells. `failed`: see `error`; refunded. `received`: inbound. */
  status: 'queued' | 'sending' | 'sent' | 'delivered' | 'read' | 'failed' | 'received' | (string & {})
  /** Why it failed; null where it did not. */
  error: {
    /** Stable, to branch on: an error code, or `provider_error`, `expired` or `cancelled`. More may be added. */
    code: 'provider_error' | 'channel_not_connected' | 'recipient_blocked' | 'policy_violation' | 'upstream_rejected' | 'expired' | 'cancelled' | (string & {})
    /** For people; the wording may change. */
    message: string
    /** The provider's own code; empty where the failure is not the provider's. */
    provider_code: string
  } | null
  /** Your own name of it, as sent; messages can be listed by it. */
  reference: string | null
  /** Your own data, returned unchanged. */
  metadata: Record<string, unknown>
  /** What paid for it. Nothing is charged in test mode and for inbound messages. */
  billing: {
    /** `package`: a credit of a package paid for it; else the wallet did. */
    source: 'package' | 'wallet' | (string & {})
    /** Micro-USD; 0 when paid by a package credit. */
    amount_micros: number
    /** The package (`grant_`) whose credit it took; null where the wallet paid. */
    package_grant_id: string | null
    /** True once what it had taken was given back, because it failed. */
    refunded: boolean
  }
  /** Always null. */
  sender: Record<string, unknown> | null
  /** The contact (`ct_`) whose phone or identifier the other side is; null where there is none. */
  contact_id: string | null
  /** Where it comes from. */
  origin: {
    /** What made it: a request, a campaign, an automation, or what came in. */
    type: 'api' | 'campaign' | 'automation' | 'console' | 'inbound' | (string & {})
    /** The key (`key_`), campaign (`cmp_`) or automation (`aut_`); null where there is none. */
    id: string | null
  }
  /** The message (`msg_`) that it answers; null where it answers none. */
  reply_to: string | null
  /** On sms: the parts that the text takes. Elsewhere null. */
  segments: number | null
  /** On sms: `gsm7` has 160 characters in one part, `ucs2` 70. Elsewhere null. */
  encoding: 'gsm7' | 'ucs2' | (string & {}) | null
  /** Which goes first of what waits on the channel. */
  priority: 'high' | 'normal' | 'low' | (string & {})
  /** Not handed to the provider before then. */
  send_at: string | null
  /** Not handed over by then: failed, `expired`, refunded. */
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
  /** Always `message.read`: it tells the variants apart. */
  type: 'message.read'
  /** Of the keys that see it: `live` delivers and bills, `test` is the sandbox. */
  mode: 'live' | 'test' | (string & {})
  /** When it occurred. */
  created_at: string
  /** What the event is about. */
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
  /** Always `message.received`: it tells the variants apart. */
  type: 'message.received'
  /** Of the keys that see it: `live` delivers and bills, `test` is the sandbox. */
  mode: 'live' | 'test' | (string & {})
  /** When it occurred. */
  created_at: string
  /** What the event is about. */
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
  /** Always `message.sent`: it tells the variants apart. */
  type: 'message.sent'
  /** Of the keys that see it: `live` delivers and bills, `test` is the sandbox. */
  mode: 'live' | 'test' | (string & {})
  /** When it occurred. */
  created_at: string
  /** What the event is about. */
  data: {
    object: Message
  }
}

/** The recipient ordered from a `product`, `product_list` or `catalog` message. */
export interface OrderContent {
  /** The id of the catalog at the provider. */
  catalog_id: string
  /** What the recipient wrote with the order. */
  text?: string | null | undefined
  /** What was ordered. */
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
  /** Always `order`: it tells the variants apart. */
  type: 'order'
  /** What it says, under the key `order`. */
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
  /** Credits not used yet. What is left at expiry is written off within a minute. */
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
  /** Always `package.exhausted`: it tells the variants apart. */
  type: 'package.exhausted'
  /** Of the keys that see it: `live` delivers and bills, `test` is the sandbox. */
  mode: 'live' | 'test' | (string & {})
  /** When it occurred. */
  created_at: string
  /** What the event is about. */
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
  /** Always `package.expiring`: it tells the variants apart. */
  type: 'package.expiring'
  /** Of the keys that see it: `live` delivers and bills, `test` is the sandbox. */
  mode: 'live' | 'test' | (string & {})
  /** When it occurred. */
  created_at: string
  /** What the event is about. */
  data: {
    object: Package
  }
}

export interface Price {
  /** Always `price`. */
  object: 'price'
  /** The kind of channel that it is the price of. */
  channel_type: 'whatsapp' | 'sms' | 'telegram' | (string & {})
  /** One accepted message, however many parts the provider makes of it. */
  unit: 'message'
  /** Micro-USD a message. A price of 0 needs no funds and uses no credits. */
  amount_micros: number
  /** Amounts are in micro-USD: 1,000,000 are one US dollar. */
  currency: 'USD'
}

/** One article of a catalog. */
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

/** Up to thirty articles of a catalog, in sections. */
export interface ProductListContent {
  /** What stands above the message. */
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

/** Up to thirty articles of a catalog, in sections. */
export type ProductListMessage = MessageFields & {
  /** Always `product_list`: it tells the variants apart. */
  type: 'product_list'
  /** What it says, under the key `product_list`. */
  content: {
    product_list: ProductListContent
  }
}

/** One article of a catalog. */
export type ProductMessage = MessageFields & {
  /** Always `product`: it tells the variants apart. */
  type: 'product'
  /** What it says, under the key `product`. */
  content: {
    product: ProductContent
  }
}

/** The recipient put an emoji on a message, or took it off. */
export interface ReactionContent {
  /** The id of the message, null when this service does not know it. */
  message_id?: string | null | undefined
  /** The emoji; null or empty when it was taken off. */
  emoji?: string | null | undefined
}

/** The recipient put an emoji on a message, or took it off. */
export type ReactionMessage = MessageFields & {
  /** Always `reaction`: it tells the variants apart. */
  type: 'reaction'
  /** What it says, under the key `reaction`. */
  content: {
    reaction: ReactionContent
  }
}

/** One to ten files, fetched from their URLs. On a live WhatsApp channel each becomes a provider message of its own, under one Message and one charge. Sent or received. */
export type ReceivedAttachmentsContent = ({
  /** What kind of file it is. */
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
  /** Who it is. */
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
    /** What it is for, such as `CELL`, `HOME` or `WORK`. */
    type?: string | null | undefined
    /** Its WhatsApp id; with it the recipient can write at once. */
    wa_id?: string | null | undefined
  })[] | null | undefined
  /** E-mail addresses. */
  emails?: ({
    /** The address. */
    email: string
    /** What it is for, such as `CELL`, `HOME` or `WORK`. */
    type?: string | null | undefined
  })[] | null | undefined
  /** Where the person works. */
  org?: {
    /** The company. */
    company?: string | null | undefined
    /** The department. */
    department?: string | null | undefined
    /** The position held. */
    title?: string | null | undefined
  } | null | undefined
  /** Web addresses. */
  urls?: ({
    /** The address. */
    url: string
    /** What it is for, such as `CELL`, `HOME` or `WORK`. */
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
    /** What it is for, such as `CELL`, `HOME` or `WORK`. */
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

/** The receipt of what a webhook told, as `GET /v1/automation_events/{id}` has it, but for `data.raw` of Shopify and WooCommerce; for the ping of WooCommerce `ping` alone. */
export interface ReceivedWebhook {
  /** Prefix `aev_`. */
  id?: string | undefined
  /** Always `automation_event`. */
  object?: 'automation_event' | undefined
  /** Of the keys that see it: `live` delivers and bills, `test` is the sandbox. */
  mode?: 'live' | 'test' | (string & {}) | undefined
  /** The integration source (`src_`) that reported it. */
  source_id?: string | undefined
  /** As it was reported; `<platform>.<topic>` for a native webhook of a topic that stands for no event. */
  type?: string | undefined
  /** The source's own id of the event. */
  event_id?: string | undefined
  /** How it came in: by `POST /v1/automation_events`, or as a webhook in the form of the platform. */
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
    /** `sent`: its message was accepted, and tells the rest itself. */
    status: 'scheduled' | 'sent' | 'skipped' | 'cancelled' | 'failed' | (string & {})
    /** When its message is due, ISO 8601, UTC, with milliseconds. */
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
  /** Only where WooCommerce tried the address: nothing was reported. */
  ping?: true | undefined
}

/** What one field has to hold. */
export interface Rule {
  /** The field that is looked at. */
  field: string
  /** How the field and `value` compare. Which of them a field takes depends on its kind. */
  operator: 'equals' | 'not_equals' | 'in' | 'not_in' | 'contains' | 'starts_with' | 'exists' | 'not_exists' | 'greater_than' | 'less_than' | 'before' | 'after' | 'within_days' | 'not_within_days' | 'contains_any' | 'contains_all' | 'contains_none'
  /** What it compares with: an array for `in`, `not_in`, `contains_any`, `contains_all` and `contains_none`, absent for `exists` and `not_exists`. */
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

/** One to ten files, fetched from their URLs. On a live WhatsApp channel each becomes a provider message of its own, under one Message and one charge. */
export interface SendAttachmentsMessage {
  /** Channel id; with a test key a sandbox channel such as `ch_test_whatsapp`. */
  channel: string
  /** The recipient on the channel: E.164 on phone channels. */
  to: string
  /** Always `attachments`: it tells the variants apart. */
  type: 'attachments'
  /** Your own name of it, to list messages by; need not be unique. */
  reference?: string | null | undefined
  /** Up to 16 KB, returned unchanged. */
  metadata?: Record<string, unknown> | null | undefined
  /** The message that this one answers. */
  reply_to?: string | null | undefined
  /** Up to 35 days ahead. The message stays `queued` until then. */
  send_at?: string | null | undefined
  /** Seconds after which it is not handed over any more but `failed` with `expired`, and refunded; they count from `send_at` where there is one. */
  expires_in_seconds?: number | null | undefined
  /** Which goes first of what waits on the channel. */
  priority?: 'high' | 'normal' | 'low' | null | undefined
  attachments: AttachmentsContent
}

/** A text with one to three buttons; the answer comes in as a `button_reply`. */
export interface SendButtonMessage {
  /** Channel id; with a test key a sandbox channel such as `ch_test_whatsapp`. */
  channel: string
  /** The recipient on the channel: E.164 on phone channels. */
  to: string
  /** Always `button`: it tells the variants apart. */
  type: 'button'
  /** Your own name of it, to list messages by; need not be unique. */
  reference?: string | null | undefined
  /** Up to 16 KB, returned unchanged. */
  metadata?: Record<string, unknown> | null | undefined
  /** The message that this one answers. */
  reply_to?: string | null | undefined
  /** Up to 35 days ahead. The message stays `queued` until then. */
  send_at?: string | null | undefined
  /** Seconds after which it is not handed over any more but `failed` with `expired`, and refunded; they count from `send_at` where there is one. */
  expires_in_seconds?: number | null | undefined
  /** Which goes first of what waits on the channel. */
  priority?: 'high' | 'normal' | 'low' | null | undefined
  button: ButtonContent
}

/** Two to ten cards side by side, each with a picture or video and a button. */
export interface SendCarouselMessage {
  /** Channel id; with a test key a sandbox channel such as `ch_test_whatsapp`. */
  channel: string
  /** The recipient on the channel: E.164 on phone channels. */
  to: string
  /** Always `carousel`: it tells the variants apart. */
  type: 'carousel'
  /** Your own name of it, to list messages by; need not be unique. */
  reference?: string | null | undefined
  /** Up to 16 KB, returned unchanged. */
  metadata?: Record<string, unknown> | null | undefined
  /** The message that this one answers. */
  reply_to?: string | null | undefined
  /** Up to 35 days ahead. The message stays `queued` until then. */
  send_at?: string | null | undefined
  /** Seconds after which it is not handed over any more but `failed` with `expired`, and refunded; they count from `send_at` where there is one. */
  expires_in_seconds?: number | null | undefined
  /** Which goes first of what waits on the channel. */
  priority?: 'high' | 'normal' | 'low' | null | undefined
  carousel: CarouselContent
}

/** A text with a button that opens the whole catalog. */
export interface SendCatalogMessage {
  /** Channel id; with a test key a sandbox channel such as `ch_test_whatsapp`. */
  channel: string
  /** The recipient on the channel: E.164 on phone channels. */
  to: string
  /** Always `catalog`: it tells the variants apart. */
  type: 'catalog'
  /** Your own name of it, to list messages by; need not be unique. */
  reference?: string | null | undefined
  /** Up to 16 KB, returned unchanged. */
  metadata?: Record<string, unknown> | null | undefined
  /** The message that this one answers. */
  reply_to?: string | null | undefined
  /** Up to 35 days ahead. The message stays `queued` until then. */
  send_at?: string | null | undefined
  /** Seconds after which it is not handed over any more but `failed` with `expired`, and refunded; they count from `send_at` where there is one. */
  expires_in_seconds?: number | null | undefined
  /** Which goes first of what waits on the channel. */
  priority?: 'high' | 'normal' | 'low' | null | undefined
  catalog: CatalogContent
}

/** One to twenty address cards that the recipient can save. */
export interface SendContactsMessage {
  /** Channel id; with a test key a sandbox channel such as `ch_test_whatsapp`. */
  channel: string
  /** The recipient on the channel: E.164 on phone channels. */
  to: string
  /** Always `contacts`: it tells the variants apart. */
  type: 'contacts'
  /** Your own name of it, to list messages by; need not be unique. */
  reference?: string | null | undefined
  /** Up to 16 KB, returned unchanged. */
  metadata?: Record<string, unknown> | null | undefined
  /** The message that this one answers. */
  reply_to?: string | null | undefined
  /** Up to 35 days ahead. The message stays `queued` until then. */
  send_at?: string | null | undefined
  /** Seconds after which it is not handed over any more but `failed` with `expired`, and refunded; they count from `send_at` where there is one. */
  expires_in_seconds?: number | null | undefined
  /** Which goes first of what waits on the channel. */
  priority?: 'high' | 'normal' | 'low' | null | undefined
  contacts: ContactsContent
}

/** A text with one button that opens a web address. */
export interface SendCtaUrlMessage {
  /** Channel id; with a test key a sandbox channel such as `ch_test_whatsapp`. */
  channel: string
  /** The recipient on the channel: E.164 on phone channels. */
  to: string
  /** Always `cta_url`: it tells the variants apart. */
  type: 'cta_url'
  /** Your own name of it, to list messages by; need not be unique. */
  reference?: string | null | undefined
  /** Up to 16 KB, returned unchanged. */
  metadata?: Record<string, unknown> | null | undefined
  /** The message that this one answers. */
  reply_to?: string | null | undefined
  /** Up to 35 days ahead. The message stays `queued` until then. */
  send_at?: string | null | undefined
  /** Seconds after which it is not handed over any more but `failed` with `expired`, and refunded; they count from `send_at` where there is one. */
  expires_in_seconds?: number | null | undefined
  /** Which goes first of what waits on the channel. */
  priority?: 'high' | 'normal' | 'low' | null | undefined
  cta_url: CtaUrlContent
}

/** A text with a button that opens a form inside the app; what was filled in comes in as a `flow_reply`. */
export interface SendFlowMessage {
  /** Channel id; with a test key a sandbox channel such as `ch_test_whatsapp`. */
  channel: string
  /** The recipient on the channel: E.164 on phone channels. */
  to: string
  /** Always `flow`: it tells the variants apart. */
  type: 'flow'
  /** Your own name of it, to list messages by; need not be unique. */
  reference?: string | null | undefined
  /** Up to 16 KB, returned unchanged. */
  metadata?: Record<string, unknown> | null | undefined
  /** The message that this one answers. */
  reply_to?: string | null | undefined
  /** Up to 35 days ahead. The message stays `queued` until then. */
  send_at?: string | null | undefined
  /** Seconds after which it is not handed over any more but `failed` with `expired`, and refunded; they count from `send_at` where there is one. */
  expires_in_seconds?: number | null | undefined
  /** Which goes first of what waits on the channel. */
  priority?: 'high' | 'normal' | 'low' | null | undefined
  flow: FlowContent
}

/** A text with a button that opens a menu; the chosen row comes in as a `list_reply`. */
export interface SendListMessage {
  /** Channel id; with a test key a sandbox channel such as `ch_test_whatsapp`. */
  channel: string
  /** The recipient on the channel: E.164 on phone channels. */
  to: string
  /** Always `list`: it tells the variants apart. */
  type: 'list'
  /** Your own name of it, to list messages by; need not be unique. */
  reference?: string | null | undefined
  /** Up to 16 KB, returned unchanged. */
  metadata?: Record<string, unknown> | null | undefined
  /** The message that this one answers. */
  reply_to?: string | null | undefined
  /** Up to 35 days ahead. The message stays `queued` until then. */
  send_at?: string | null | undefined
  /** Seconds after which it is not handed over any more but `failed` with `expired`, and refunded; they count from `send_at` where there is one. */
  expires_in_seconds?: number | null | undefined
  /** Which goes first of what waits on the channel. */
  priority?: 'high' | 'normal' | 'low' | null | undefined
  list: ListContent
}

/** A place on the map. */
export interface SendLocationMessage {
  /** Channel id; with a test key a sandbox channel such as `ch_test_whatsapp`. */
  channel: string
  /** The recipient on the channel: E.164 on phone channels. */
  to: string
  /** Always `location`: it tells the variants apart. */
  type: 'location'
  /** Your own name of it, to list messages by; need not be unique. */
  reference?: string | null | undefined
  /** Up to 16 KB, returned unchanged. */
  metadata?: Record<string, unknown> | null | undefined
  /** The message that this one answers. */
  reply_to?: string | null | undefined
  /** Up to 35 days ahead. The message stays `queued` until then. */
  send_at?: string | null | undefined
  /** Seconds after which it is not handed over any more but `failed` with `expired`, and refunded; they count from `send_at` where there is one. */
  expires_in_seconds?: number | null | undefined
  /** Which goes first of what waits on the channel. */
  priority?: 'high' | 'normal' | 'low' | null | undefined
  location: LocationContent
}

/** A text with a button by which the recipient sends a place; it comes in as a `location`. */
export interface SendLocationRequestMessage {
  /** Channel id; with a test key a sandbox channel such as `ch_test_whatsapp`. */
  channel: string
  /** The recipient on the channel: E.164 on phone channels. */
  to: string
  /** Always `location_request`: it tells the variants apart. */
  type: 'location_request'
  /** Your own name of it, to list messages by; need not be unique. */
  reference?: string | null | undefined
  /** Up to 16 KB, returned unchanged. */
  metadata?: Record<string, unknown> | null | undefined
  /** The message that this one answers. */
  reply_to?: string | null | undefined
  /** Up to 35 days ahead. The message stays `queued` until then. */
  send_at?: string | null | undefined
  /** Seconds after which it is not handed over any more but `failed` with `expired`, and refunded; they count from `send_at` where there is one. */
  expires_in_seconds?: number | null | undefined
  /** Which goes first of what waits on the channel. */
  priority?: 'high' | 'normal' | 'low' | null | undefined
  location_request: LocationRequestContent
}

/** A message to send, with its content object under the key named by `type`. Content objects of other types are ignored. */
export type SendMessage = SendTextMessage | SendAttachmentsMessage | SendTemplateMessage | SendButtonMessage | SendListMessage | SendCtaUrlMessage | SendLocationMessage | SendContactsMessage | SendFlowMessage | SendProductMessage | SendProductListMessage | SendCatalogMessage | SendCarouselMessage | SendLocationRequestMessage

/** Up to thirty articles of a catalog, in sections. */
export interface SendProductListMessage {
  /** Channel id; with a test key a sandbox channel such as `ch_test_whatsapp`. */
  channel: string
  /** The recipient on the channel: E.164 on phone channels. */
  to: string
  /** Always `product_list`: it tells the variants apart. */
  type: 'product_list'
  /** Your own name of it, to list messages by; need not be unique. */
  reference?: string | null | undefined
  /** Up to 16 KB, returned unchanged. */
  metadata?: Record<string, unknown> | null | undefined
  /** The message that this one answers. */
  reply_to?: string | null | undefined
  /** Up to 35 days ahead. The message stays `queued` until then. */
  send_at?: string | null | undefined
  /** Seconds after which it is not handed over any more but `failed` with `expired`, and refunded; they count from `send_at` where there is one. */
  expires_in_seconds?: number | null | undefined
  /** Which goes first of what waits on the channel. */
  priority?: 'high' | 'normal' | 'low' | null | undefined
  product_list: ProductListContent
}

/** One article of a catalog. */
export interface SendProductMessage {
  /** Channel id; with a test key a sandbox channel such as `ch_test_whatsapp`. */
  channel: string
  /** The recipient on the channel: E.164 on phone channels. */
  to: string
  /** Always `product`: it tells the variants apart. */
  type: 'product'
  /** Your own name of it, to list messages by; need not be unique. */
  reference?: string | null | undefined
  /** Up to 16 KB, returned unchanged. */
  metadata?: Record<string, unknown> | null | undefined
  /** The message that this one answers. */
  reply_to?: string | null | undefined
  /** Up to 35 days ahead. The message stays `queued` until then. */
  send_at?: string | null | undefined
  /** Seconds after which it is not handed over any more but `failed` with `expired`, and refunded; they count from `send_at` where there is one. */
  expires_in_seconds?: number | null | undefined
  /** Which goes first of what waits on the channel. */
  priority?: 'high' | 'normal' | 'low' | null | undefined
  product: ProductContent
}

/** An approved template with its blanks filled; the one type that may be sent on WhatsApp outside the 24-hour customer service window. */
export interface SendTemplateMessage {
  /** Channel id; with a test key a sandbox channel such as `ch_test_whatsapp`. */
  channel: string
  /** The recipient on the channel: E.164 on phone channels. */
  to: string
  /** Always `template`: it tells the variants apart. */
  type: 'template'
  /** Your own name of it, to list messages by; need not be unique. */
  reference?: string | null | undefined
  /** Up to 16 KB, returned unchanged. */
  metadata?: Record<string, unknown> | null | undefined
  /** The message that this one answers. */
  reply_to?: string | null | undefined
  /** Up to 35 days ahead. The message stays `queued` until then. */
  send_at?: string | null | undefined
  /** Seconds after which it is not handed over any more but `failed` with `expired`, and refunded; they count from `send_at` where there is one. */
  expires_in_seconds?: number | null | undefined
  /** Which goes first of what waits on the channel. */
  priority?: 'high' | 'normal' | 'low' | null | undefined
  template: TemplateContent
}

/** A plain text. */
export interface SendTextMessage {
  /** Channel id; with a test key a sandbox channel such as `ch_test_whatsapp`. */
  channel: string
  /** The recipient on the channel: E.164 on phone channels. */
  to: string
  /** Always `text`: it tells the variants apart. */
  type: 'text'
  /** Your own name of it, to list messages by; need not be unique. */
  reference?: string | null | undefined
  /** Up to 16 KB, returned unchanged. */
  metadata?: Record<string, unknown> | null | undefined
  /** The message that this one answers. */
  reply_to?: string | null | undefined
  /** Up to 35 days ahead. The message stays `queued` until then. */
  send_at?: string | null | undefined
  /** Seconds after which it is not handed over any more but `failed` with `expired`, and refunded; they count from `send_at` where there is one. */
  expires_in_seconds?: number | null | undefined
  /** Which goes first of what waits on the channel. */
  priority?: 'high' | 'normal' | 'low' | null | undefined
  text: TextContent
}

/** One to ten files, fetched from their URLs. On a live WhatsApp channel each becomes a provider message of its own, under one Message and one charge. */
export type TaggedAttachmentsContent = ({
  /** What kind of file it is. */
  type: 'image' | 'video' | 'audio' | 'document' | 'sticker'
  /** Where the file is fetched from. */
  url: string
  /** The name under which a document is shown. */
  filename?: string | null | undefined
  /** Words shown with the file. */
  caption?: string | null | undefined
})[]

/** One to ten files, fetched from their URLs. On a live WhatsApp channel each becomes a provider message of its own, under one Message and one charge. Its strings may hold merge tags. */
export interface TaggedAttachmentsMessage {
  /** Always `attachments`: it tells the variants apart. */
  type: 'attachments'
  attachments: TaggedAttachmentsContent
}

/** A text with one to three buttons; the answer comes in as a `button_reply`. */
export interface TaggedButtonContent {
  /** What stands above the message. */
  header?: {
    /** What the header shows. */
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
  /** What the recipient can do. */
  action: {
    /** The answers to choose from. */
    buttons: {
      /** The button. */
      reply: {
        /** Your own name of the button; it comes back in the `button_reply`. */
        id: string
        /** What the recipient sees on the button. */
        title: string
      }
    }[]
  }
}

/** A text with one to three buttons; the answer comes in as a `button_reply`. Its strings may hold merge tags. */
export interface TaggedButtonMessage {
  /** Always `button`: it tells the variants apart. */
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
      /** What the card shows. */
      type: 'image' | 'video'
      /** Where the picture or video is fetched from. */
      url: string
    }
    /** What the card says. */
    body?: {
      /** The text of the card. */
      text: string
    } | null | undefined
    /** Either `parameters` or `buttons`. */
    action: {
      /** The button. */
      parameters?: {
        /** What the recipient sees on the button. */
        display_text: string
        /** The address that the button opens. */
        url: string
      } | null | undefined
      /** The answers to choose from. */
      buttons?: {
        /** The button. */
        reply: {
          /** Your own name of the button; it comes back in the `button_reply`. */
          id: string
          /** What the recipient sees on the button. */
          title: string
        }
      }[] | null | undefined
    }
  })[]
}

/** Two to ten cards side by side, each with a picture or video and a button. Its strings may hold merge tags. */
export interface TaggedCarouselMessage {
  /** Always `carousel`: it tells the variants apart. */
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
      /** The article whose picture is shown; the first one when absent. */
      thumbnail_product_retailer_id?: string | null | undefined
    } | null | undefined
  } | null | undefined
}

/** A text with a button that opens the whole catalog. Its strings may hold merge tags. */
export interface TaggedCatalogMessage {
  /** Always `catalog`: it tells the variants apart. */
  type: 'catalog'
  catalog: TaggedCatalogContent
}

/** One to twenty address cards that the recipient can save. */
export type TaggedContactsContent = ({
  /** Who it is. */
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
    /** What it is for, such as `CELL`, `HOME` or `WORK`. */
    type?: string | null | undefined
    /** Its WhatsApp id; with it the recipient can write at once. */
    wa_id?: string | null | undefined
  })[] | null | undefined
  /** E-mail addresses. */
  emails?: ({
    /** The address. */
    email: string
    /** What it is for, such as `CELL`, `HOME` or `WORK`. */
    type?: string | null | undefined
  })[] | null | undefined
  /** Where the person works. */
  org?: {
    /** The company. */
    company?: string | null | undefined
    /** The department. */
    department?: string | null | undefined
    /** The position held. */
    title?: string | null | undefined
  } | null | undefined
  /** Web addresses. */
  urls?: ({
    /** The address. */
    url: string
    /** What it is for, such as `CELL`, `HOME` or `WORK`. */
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
    /** What it is for, such as `CELL`, `HOME` or `WORK`. */
    type?: string | null | undefined
  })[] | null | undefined
  /** Day of birth. */
  birthday?: string | null | undefined
})[]

/** One to twenty address cards that the recipient can save. Its strings may hold merge tags. */
export interface TaggedContactsMessage {
  /** Always `contacts`: it tells the variants apart. */
  type: 'contacts'
  contacts: TaggedContactsContent
}

/** A text with one button that opens a web address. */
export interface TaggedCtaUrlContent {
  /** What stands above the message. */
  header?: {
    /** What the header shows. */
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
  /** What the recipient can do. */
  action: {
    /** The button. */
    parameters: {
      /** What the recipient sees on the button. */
      display_text: string
      /** The address that the button opens. */
      url: string
    }
  }
}

/** A text with one button that opens a web address. Its strings may hold merge tags. */
export interface TaggedCtaUrlMessage {
  /** Always `cta_url`: it tells the variants apart. */
  type: 'cta_url'
  cta_url: TaggedCtaUrlContent
}

/** A text with a button that opens a form inside the app; what was filled in comes in as a `flow_reply`. */
export interface TaggedFlowContent {
  /** What stands above the message. */
  header?: {
    /** What the header shows. */
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
  /** What the recipient can do. */
  action: {
    /** The flow and its button. */
    parameters: {
      /** The id of the flow; either this or `flow_name`. */
      flow_id?: string | null | undefined
      /** The name of the flow; either this or `flow_id`. */
      flow_name?: string | null | undefined
      /** What the recipient sees on the button. */
      flow_cta: string
      /** Your own reference of this run of the flow. */
      flow_token?: string | null | undefined
      /** Which version of the flow opens; `published` when absent. */
      mode?: 'draft' | 'published' | undefined
      /** Whether a screen opens at once or your endpoint is asked first; `navigate` when absent. */
      flow_action?: 'navigate' | 'data_exchange' | undefined
      /** The first screen and its data, for `navigate`. */
      flow_action_payload?: {
        [key: string]: unknown
      } | null | undefined
    }
  }
}

/** A text with a button that opens a form inside the app; what was filled in comes in as a `flow_reply`. Its strings may hold merge tags. */
export interface TaggedFlowMessage {
  /** Always `flow`: it tells the variants apart. */
  type: 'flow'
  flow: TaggedFlowContent
}

/** A text with a button that opens a menu; the chosen row comes in as a `list_reply`. */
export interface TaggedListContent {
  /** What stands above the message. */
  header?: {
    /** What the header shows. */
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
    /** What the recipient sees on the button that opens the menu. */
    button: string
    /** The groups of rows. */
    sections: ({
      /** The headline of the section; required when there are several. */
      title?: string | null | undefined
      /** The rows to choose from. */
      rows: ({
        /** Your own name of the row; it comes back in the `list_reply`. */
        id: string
        /** What the recipient sees. */
        title: string
        /** A second line under the title. */
        description?: string | null | undefined
      })[]
    })[]
  }
}

/** A text with a button that opens a menu; the chosen row comes in as a `list_reply`. Its strings may hold merge tags. */
export interface TaggedListMessage {
  /** Always `list`: it tells the variants apart. */
  type: 'list'
  list: TaggedListContent
}

/** A place on the map. */
export interface TaggedLocationContent {
  /** Degrees north of the equator. */
  latitude: number
  /** Degrees east of Greenwich. */
  longitude: number
  /** What the place is called. */
  name?: string | null | undefined
  /** Its postal address, in one line. */
  address?: string | null | undefined
}

/** A place on the map. Its strings may hold merge tags. */
export interface TaggedLocationMessage {
  /** Always `location`: it tells the variants apart. */
  type: 'location'
  location: TaggedLocationContent
}

/** A text with a button by which the recipient sends a place; it comes in as a `location`. */
export interface TaggedLocationRequestContent {
  /** The main part of the message. */
  body: {
    /** The main text. */
    text: string
  }
}

/** A text with a button by which the recipient sends a place; it comes in as a `location`. Its strings may hold merge tags. */
export interface TaggedLocationRequestMessage {
  /** Always `location_request`: it tells the variants apart. */
  type: 'location_request'
  location_request: TaggedLocationRequestContent
}

/** One article of a catalog. */
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

/** Up to thirty articles of a catalog, in sections. */
export interface TaggedProductListContent {
  /** What stands above the message. */
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

/** Up to thirty articles of a catalog, in sections. Its strings may hold merge tags. */
export interface TaggedProductListMessage {
  /** Always `product_list`: it tells the variants apart. */
  type: 'product_list'
  product_list: TaggedProductListContent
}

/** One article of a catalog. Its strings may hold merge tags. */
export interface TaggedProductMessage {
  /** Always `product`: it tells the variants apart. */
  type: 'product'
  product: TaggedProductContent
}

/** An approved template with its blanks filled; the one type that may be sent on WhatsApp outside the 24-hour customer service window. */
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
    /** What fills the blanks of this part, in order. */
    parameters?: ({
      /** What fills the blank, for example `text`, `image` or `payload`. */
      type: string
      /** The words; required for type `text`. */
      text?: string | null | undefined
    })[] | null | undefined
  })[] | null | undefined
}

/** An approved template with its blanks filled; the one type that may be sent on WhatsApp outside the 24-hour customer service window. Its strings may hold merge tags. */
export interface TaggedTemplateMessage {
  /** Always `template`: it tells the variants apart. */
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
  /** Always `text`: it tells the variants apart. */
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
  /** What `template.name` of a message names. */
  name: string
  /** What `template.language.code` of a message names, such as `en_US`. */
  language: string
  /** The provider's category, such as `MARKETING`, `UTILITY` or `AUTHENTICATION`. */
  category: string
  /** The provider's word. Only an `APPROVED` one can be sent. */
  status: 'APPROVED' | 'PENDING' | 'REJECTED' | 'PAUSED' | 'DISABLED' | (string & {})
  /** `POSITIONAL`: its blanks are numbered. `NAMED`: they have names. */
  parameter_format: string
  /** Its parts, as the provider tells them: header, body, footer and buttons. */
  components: Record<string, unknown>[]
  /** Why the provider did not approve it; null where it gave no reason. */
  rejected_reason: string | null
  /** ISO 8601, UTC, with milliseconds. */
  updated_at: string
}

/** An approved template with its blanks filled; the one type that may be sent on WhatsApp outside the 24-hour customer service window. */
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
    /** What fills the blanks of this part, in order. */
    parameters?: ({
      /** What fills the blank, for example `text`, `image` or `payload`. */
      type: string
      /** The words; required for type `text`. */
      text?: string | null | undefined
    })[] | null | undefined
  })[] | null | undefined
}

/** An approved template with its blanks filled; the one type that may be sent on WhatsApp outside the 24-hour customer service window. */
export type TemplateMessage = MessageFields & {
  /** Always `template`: it tells the variants apart. */
  type: 'template'
  /** What it says, under the key `template`. */
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
  /** Always `text`: it tells the variants apart. */
  type: 'text'
  /** What it says, under the key `text`. */
  content: {
    text: ReceivedTextContent
  }
}

/** Something came in that the provider or this service cannot show. */
export interface UnsupportedContent {
  /** What the provider calls it. */
  provider_type: string
}

/** Something came in that the provider or this service cannot show. */
export type UnsupportedMessage = MessageFields & {
  /** Always `unsupported`: it tells the variants apart. */
  type: 'unsupported'
  /** What it says, under the key `unsupported`. */
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
  /** The kind of channel when grouped by `channel_type` or `channel`, else null (all kinds). */
  channel_type: 'whatsapp' | 'sms' | 'telegram' | (string & {}) | null
  /** The channel when grouped by `channel`, else null (all channels). */
  channel_id: string | null
  /** Outbound messages accepted in the period, failed ones included. */
  messages: number
  /** Credits taken, gross. */
  package_credits: number
  /** Micro-USD taken from the wallet, gross. */
  wallet_micros: number
  /** Credits returned in the period, whenever the message was accepted. */
  refunded_credits: number
  /** Micro-USD returned in the period, whenever the message was accepted. */
  refunded_micros: number
  /** Amounts are in micro-USD: 1,000,000 are one US dollar. */
  currency: 'USD'
}

/** One event on its way to one endpoint. */
export interface WebhookDelivery {
  /** Prefix `whd_`. */
  id: string
  /** Always `webhook_delivery`. */
  object: 'webhook_delivery'
  /** Of the keys that see it: `live` delivers and bills, `test` is the sandbox. */
  mode: 'live' | 'test' | (string & {})
  /** The webhook endpoint (`we_`) that it goes to. */
  endpoint_id: string
  /** The event (`evt_`) that it carries. */
  event_id: string
  /** The type of that event. */
  event_type: 'message.sent' | 'message.delivered' | 'message.read' | 'message.failed' | 'message.received' | 'channel.connected' | 'channel.disconnected' | 'balance.low' | 'package.exhausted' | 'package.expiring' | 'campaign.started' | 'campaign.paused' | 'campaign.completed' | 'campaign.failed' | 'webhook.test' | (string & {})
  /** `pending`: another attempt follows. `failed`: none does, but by a retry. */
  status: 'pending' | 'delivered' | 'failed' | (string & {})
  /** Attempts made so far. */
  attempts: number
  /** HTTP status of the last attempt, null when it got none. */
  response_status: number | null
  /** How long the last attempt took. */
  duration_ms: number | null
  /** Why the last attempt failed: `dns_failed`, `tls_failed`, `connection_refused`, `connection_reset`, `host_unreachable`, `timeout`, `redirect`, `response_invalid`, `address_not_public`, `endpoint_disabled`, `event_expired`, or `status_` and the number that was answered, such as `status_500`, where it was no 2xx. Null after a success and before the first attempt. */
  error: string | null
  /** The same in a sentence, with what an engineer needs to act on it. */
  error_message: string | null
  /** When a pending delivery is attempted next; null while an attempt is made that was asked for, as a test or a retry is. */
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
  /** The integration source (`src_`) it was created for, else null. */
  source: string | null
  /** Who made it. */
  created_by: {
    /** Who it was: a program with a key, or somebody in the console. More may be added. */
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
  /** The integration source (`src_`) it was created for, else null. */
  source: string | null
  /** Who made it. */
  created_by: {
    /** Who it was: a program with a key, or somebody in the console. More may be added. */
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
  /** Always `webhook.test`: it tells the variants apart. */
  type: 'webhook.test'
  /** Of the keys that see it: `live` delivers and bills, `test` is the sandbox. */
  mode: 'live' | 'test' | (string & {})
  /** When it occurred. */
  created_at: string
  /** What the event is about. */
  data: {
    object: WebhookEndpoint
  }
}
