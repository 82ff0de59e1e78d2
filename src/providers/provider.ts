/** The interface between Posthorn and a messaging provider. A provider gets data and returns data: it uses no database and no HTTP server (docs/decisions/adapter-contract.md). */
import type { TObject } from 'typebox'
import type { Detail, ErrorCode } from '../api/errors.ts'
import type { ChannelType } from '../api/resources/channel.ts'
import type { MessageErrorCode } from '../api/resources/message.ts'
import type { SteadyClock } from '../lib/clock.ts'
import type { HttpClient } from '../lib/http-client.ts'
import type { Dial } from '../lib/sockets.ts'

/** A message to send. `content` is the value of the field named by `type`. */
export interface OutboundMessage {
  readonly id: string
  readonly channel_id: string
  readonly to: string
  readonly from: string
  readonly type: string
  readonly content: unknown
  /** The provider's id of the message that this one replies to, if known. */
  readonly reply_to: string | null
  /** 1 for the first send attempt. */
  readonly attempt: number
  /** ISO 8601 time of the first send attempt; null if none was recorded before this one. */
  readonly first_sent_at: string | null
  /** Provider ids of the parts accepted in earlier attempts, in order. Only the remaining parts are sent. */
  readonly already_accepted: readonly string[]
  /** ISO 8601; null means that it never expires. */
  readonly expires_at: string | null
}

/** A provider's later report on a message that it accepted. */
export interface DeliveryReceipt {
  readonly kind: 'delivery_receipt'
  readonly provider_id: string
  /** Our message id, if the provider returns what it was given. It identifies a message whose send attempt was never answered. */
  readonly message_id?: string
  /** With `message_id`, for a message sent in several parts: which part, from 1, of how many. It proves that the provider accepted this part. */
  readonly part?: { readonly number: number; readonly total: number }
  /** Other ids that the provider may mean. They are tried in order if `provider_id` is unknown on the second look. */
  readonly also_known_as?: readonly string[]
  /**
   * Set when another channel of the same provider account (`accountKey`) may have sent the message: the message's recipient (`from`) and its sender (`to`), as the provider
   * writes them. The channel whose identifier is `to` is tried first, and a message to a different number never matches.
   */
  readonly addresses?: { readonly from: string; readonly to: string }
  /** The resulting status change (`modules/messages/states.ts`). */
  readonly transition: 'accept' | 'deliver' | 'open' | 'fail'
  /** Set for `fail`. */
  readonly error?: { readonly code: MessageErrorCode; readonly message: string; readonly provider_code: string | null }
}

/** A message from a recipient. */
export interface InboundMessage {
  readonly kind: 'inbound'
  /** Unique per channel: a message that arrives twice is stored once. */
  readonly provider_id: string
  readonly from: string
  readonly profile_name: string | null
  readonly type: string
  /** Items of `attachments` have no `url` yet: it is added when the file has been copied. */
  readonly content: unknown
  /** The provider's id of our message that this one replies to, if known. */
  readonly reply_to: string | null
  /** For a `button_reply` whose button could not carry its id: the button's position in the message that it belongs to, from 0. Id and title are looked up there. */
  readonly button_index?: number
  /** Position in a longer text. Parts with the same reference are joined as they arrive. */
  readonly part?: { readonly reference: string; readonly total: number; /** From 1. */ readonly number: number }
  /**
   * The destination, in every form that a channel identifier may have, if it may be another number of the same provider account. The message goes to the account's channel
   * with one of these identifiers; otherwise to this channel (`ours`) or to none (`ignored`).
   */
  readonly to?: { readonly identifiers: readonly string[]; readonly otherwise: 'ours' | 'ignored' }
  /** References to the files of `attachments`, by position. */
  readonly media?: readonly { readonly index: number; readonly reference: MediaReference }[]
}

/** What `fetchMedia` needs to download a file. Stored until the file has been copied. */
export type MediaReference = Readonly<Record<string, string>>

/** A recipient stopped marketing messages, or allowed them again (behaviour: consent 2.3, 4.4). */
export interface MarketingPreference {
  readonly kind: 'preference'
  readonly provider_id: string
  readonly from: string
  readonly marketing: 'stop' | 'resume'
  /** The recipient stopped all messages. Set it only for callbacks that cannot be replayed: a replay would repeat the stop. */
  readonly everything?: true
  /** ISO 8601, if the provider reports it. A preference older than the last one is ignored. */
  readonly occurred_at?: string
}

/** The channel can no longer send, or can send again. */
export interface ConnectionStatus {
  readonly kind: 'connection_status'
  readonly provider_id: string
  readonly connected: boolean
  /** A sentence for the log. */
  readonly message: string
}

/** Templates changed at the provider, so our copies are refreshed. */
export interface TemplatesChanged {
  readonly kind: 'templates'
  readonly provider_id: string
}

/** One item of a provider callback. For items that are not messages, `provider_id` is the provider's id for the event, or any text if it has none. */
export type CallbackItem = DeliveryReceipt | InboundMessage | MarketingPreference | ConnectionStatus | TemplatesChanged

/**
 * What a provider's rate limit applies to. `channel`: the whole channel pauses, then sends more slowly. `recipient`: only messages to this recipient wait. `unspecified`: the
 * provider does not say; the channel pauses after two throttled attempts in a row to different recipients.
 */
export type LimitOn = 'channel' | 'recipient' | 'unspecified'

/** The result of one send attempt. */
export type Outcome =
  /** One id for each message that the provider created, including those of earlier attempts. `later_items` are applied after `after_ms`, for providers without callbacks (the sandbox). */
  | {
      readonly kind: 'accepted'
      readonly provider_ids: readonly [string, ...string[]]
      readonly later_items?: readonly { readonly after_ms: number; readonly item: DeliveryReceipt | InboundMessage }[]
    }
  /** Not sent, and not repeated. */
  | ({
      readonly kind: 'refused'
      readonly code: MessageErrorCode
      readonly provider_code: string | null
      readonly message: string
      /** The channel cannot send until it is reconnected. */
      readonly channel_lost?: boolean
      /** The template was refused although our copy allows it, so the copy is refreshed. */
      readonly template_refused?: true
      /** The recipient has opted out at the provider. It is recorded as an opt-out here. */
      readonly opted_out?: 'everything' | 'marketing'
    } & PartialAcceptance)
  /** Not sent; repeated later. */
  | ({
      readonly kind: 'throttled'
      readonly limit_on: LimitOn
      /** The wait that the provider asks for; at most one minute is honoured. Absent: exponential backoff. */
      readonly retry_after_ms?: number
      readonly provider_code: string | null
      readonly message: string
      /** After eight attempts the message fails with this error. Absent: it is repeated until it expires. */
      readonly if_lasting?: {
        readonly code: MessageErrorCode
        readonly provider_code: string | null
        readonly message: string
      }
    } & PartialAcceptance)
  /** Certainly not sent; repeated. */
  | ({
      readonly kind: 'unavailable'
      readonly provider_code: string | null
      readonly message: string
    } & PartialAcceptance)
  /** Possibly sent, so a repetition could send it twice. */
  | ({ readonly kind: 'unknown'; readonly message: string } & PartialAcceptance)

/** For a message sent in several parts: ids of the parts accepted before the outcome, which is that of the next part. `already_accepted` comes first. */
interface PartialAcceptance {
  readonly provider_ids?: readonly string[]
}

/**
 * Called and awaited after every accepted part but the last, with all ids so far, so that they are stored before the next part is sent. Resolves to the signal that limits the
 * next part, or to null if the rest must wait for the next attempt: the outcome is then `restLater` of `outcomes.ts`. Never rejects.
 */
export type OnPartAccepted = (provider_ids: readonly string[]) => Promise<AbortSignal | null>

/** A message whose send attempt got no answer. */
export interface UnconfirmedMessage extends OutboundMessage {
  /** ISO 8601: the last send attempt had ended by then. */
  readonly last_attempt_ended_at: string
}

/** What the provider knows about a message whose send attempt got no answer. Only `not_found` and `no_information` allow the message to be sent again. */
export type StatusQueryResult =
  /** Found by our own id. */
  | ({ readonly kind: 'found' } & FoundMessage)
  /**
   * Messages with the same recipient, sender and text from the time of the attempt, the most likely first. The caller skips ids that belong to other messages; if none is left,
   * the provider never had the message.
   */
  | { readonly kind: 'candidates'; readonly found: readonly [FoundMessage, ...FoundMessage[]] }
  /** The provider has searched and has no such message. */
  | { readonly kind: 'not_found' }
  /** The provider refused the message, or failed to deliver it. */
  | {
      readonly kind: 'refused'
      readonly code: MessageErrorCode
      readonly provider_code: string | null
      readonly message: string
    }
  /** The provider answered that it cannot look the message up. */
  | { readonly kind: 'no_information' }
  /** No answer from the provider itself; the query is repeated. */
  | { readonly kind: 'no_answer'; readonly message: string }
  /** Too many queries. The channel pauses as after a throttled send attempt, and the query is repeated. */
  | { readonly kind: 'throttled'; readonly retry_after_ms?: number; readonly message: string }

/** A message found at the provider. `receipt` is its status there, if that is more than accepted. */
export interface FoundMessage {
  readonly provider_ids: readonly [string, ...string[]]
  readonly receipt?: DeliveryReceipt
}

export interface TemplateRecord {
  /** The provider's own id. */
  readonly provider_id: string
  readonly name: string
  readonly language: string
  readonly category: string
  readonly status: string
  readonly parameter_format: string
  readonly components: readonly Record<string, unknown>[]
  readonly rejected_reason: string | null
  /** ISO 8601; null if the provider does not report it. */
  readonly updated_at: string | null
}

/** A provider's HTTP callback as received. */
export interface Callback {
  readonly method: string
  /** The full address including the query, for signatures that cover it: `{base_url}/hooks/channels/{id}?…`. */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

/** The items of a callback, and the response that the provider expects (behaviour: channels 7). */
export interface CallbackResult {
  readonly items: readonly CallbackItem[]
  readonly response?: CallbackResponse
  /** What was skipped and why, for the log. It must not contain anything that people wrote. */
  readonly ignored?: string
}

export interface CallbackResponse {
  readonly content_type: string
  readonly body: string
}

/** A connected channel as its provider sees it. `credentials` and `settings` match the provider's schemas. */
export interface Connection {
  readonly channel_id: string
  readonly type: ChannelType
  readonly identifier: string
  readonly credentials: Readonly<Record<string, unknown>>
  readonly settings: Readonly<Record<string, unknown>>
  /** The callback address: `{base_url}/hooks/channels/{id}`. */
  readonly webhook_url: string
}

/** The result of testing credentials. */
export type ConnectOutcome =
  | { readonly kind: 'connected'; readonly identifier?: string }
  | { readonly kind: 'refused'; readonly message: string }
  /** `session_limit_reached`: the account already has as many sessions as it may. If one of them is ours, the channel is connected. */
  | { readonly kind: 'unavailable'; readonly message: string; readonly session_limit_reached?: true }

/** A long-lived connection to a provider, held by one process per channel: SMPP sockets, Telegram long polling. */
export interface Session {
  /** Sends through the session. Absent: any process sends through the adapter. */
  send?(message: OutboundMessage, signal: AbortSignal, onPartAccepted?: OnPartAccepted): Promise<Outcome>
  /** The most send attempts that are useful at once; absent means no limit. */
  readonly max_concurrent_sends?: number
  /** Resolves when the session has ended by itself, with a sentence; `refused` means that the credentials are no longer valid. */
  readonly ended: Promise<{ readonly refused: boolean; readonly message: string }>
  /** Closes it in order: sends nothing more and awaits what is in progress until `signal` aborts, then closes at once. */
  close(signal: AbortSignal): Promise<void>
}

/** Stores what arrived on a session; `ignored` as in `CallbackResult`. Acknowledge it to the provider only after this resolves. */
export type StoreItems = (items: readonly CallbackItem[], raw: Uint8Array, ignored?: string) => Promise<void>

/** What a session is opened with. */
export interface SessionContext {
  readonly store: StoreItems
  /** Aborts the opening. An open session ends through `close`. */
  readonly signal: AbortSignal
  /** False once another process may open the session. Check it before every send and every acknowledgement. */
  readonly hasLease: () => boolean
}

/** The tools that every provider gets. */
export interface ProviderTools {
  readonly clock: SteadyClock
  /** Calls public addresses only, and the provider's own `url` whatever it is. */
  readonly http: HttpClient
  /** Opens sockets to public addresses only. */
  readonly dial: Dial
  /** The provider's `url` as the operator set it, without a trailing slash; empty for a provider without one. */
  readonly url: string
}

/**
 * What a provider does. Every call stops when its signal aborts. Only `fetchMedia` and `listTemplates` throw; everything else reports failures as values.
 * Callers remove the channel's secrets from all texts (`modules/channels/secret-redaction.ts`).
 */
export interface ProviderAdapter {
  /** Sends without a network, so `sending` is not stored as a separate status. */
  readonly instant?: boolean
  /** Absent if messages are sent through a session. */
  send?(
    message: OutboundMessage,
    connection: Connection,
    signal: AbortSignal,
    onPartAccepted?: OnPartAccepted,
  ): Promise<Outcome>
  /** Asks what became of a message whose send attempt got no answer. */
  queryStatus?(message: UnconfirmedMessage, connection: Connection, signal: AbortSignal): Promise<StatusQueryResult>
  /** Refuses what the provider would certainly refuse, when a message is accepted. Uses no network. */
  validate?(message: {
    readonly to: string
    readonly type: string
    readonly content: unknown
    readonly settings: Readonly<Record<string, unknown>>
  }): { readonly code: ErrorCode; readonly message: string; readonly param?: string } | null
  /** Tests the credentials when a channel is created or reconnected. It must change nothing at the provider, since the sender may belong to another channel. */
  connect?(connection: Connection, signal: AbortSignal): Promise<ConnectOutcome>
  /** Registers the callback address at the provider, after `connect` succeeded and the sender is known to be free. */
  register?(connection: Connection, signal: AbortSignal): Promise<ConnectOutcome>
  /** Undoes `register`: the channel was deleted or never created. `register` may have failed before. */
  disconnect?(connection: Connection, signal: AbortSignal): Promise<void>
  /** Answers the GET request by which the provider verifies the callback address; null if the verify token is wrong. */
  handshake?(callback: Callback, connection: Connection): CallbackResponse | null
  /** Reads a callback; null if its signature is wrong. One callback may hold several items in any order. */
  receiveCallback?(callback: Callback, connection: Connection): CallbackResult | null
  /** All templates, or those with one name. Rejects with a sentence if they cannot be read. Absent if any template may be sent. */
  listTemplates?(connection: Connection, signal: AbortSignal, name?: string): Promise<readonly TemplateRecord[]>
  /**
   * Downloads an inbound file as a stream. Rejects with a PermanentError (`lib/permanent-error.ts`) if the file is gone, refused, larger than `bytes_max` or at an address that
   * may not be called. After any other error the download is repeated.
   */
  fetchMedia?(
    reference: MediaReference,
    connection: Connection,
    bytes_max: number,
    signal: AbortSignal,
  ): Promise<{ readonly content_type: string; readonly chunks: AsyncIterable<Uint8Array> }>
  /** Whether the channel needs a session. Requires `openSession`. */
  needsSession?(connection: Connection): boolean
  /** Identifies the provider account, if each of its sessions may receive the delivery receipts of every channel of that account. */
  accountKey?(connection: Connection): string
  /** A process passes the same `connection` object for every session of a channel while it holds the lease, so that state can be kept per object. */
  openSession?(
    connection: Connection,
    context: SessionContext,
  ): Promise<
    | { readonly kind: 'open'; readonly session: Session }
    | { readonly kind: 'refused' | 'unavailable'; readonly message: string }
  >
}

/** The channels that exist in every account's test mode: one of each type, with the id `ch_test_<type>`. */
export interface TestMode {
  readonly channels: Readonly<
    Record<
      ChannelType,
      { readonly name: string; readonly identifier: string; readonly templates: readonly TemplateRecord[] }
    >
  >
  /** Recipients that cause a fixed outcome, with the outcome in words, for the reference. */
  readonly recipients: readonly (readonly [to: string, outcome: string])[]
}

/** A provider's description, used by the API checks, the reference and the console. No code outside its folder names it. */
export interface Provider {
  /** The value of a channel's `provider`. */
  readonly name: string
  /** The name as people write it. */
  readonly title: string
  /** One sentence. */
  readonly about: string
  readonly types: readonly ChannelType[]
  /** `for_tests`: only if POSTHORN_SIMULATOR is set. `never`: its channels exist without being connected (`test_mode`). */
  readonly offered: 'always' | 'for_tests' | 'never'
  /** Set for the one provider that serves test mode. */
  readonly test_mode?: TestMode
  /**
   * Each property has a `title` (its label) and a `description` that says where to find the value; secrets have `format: 'password'`.
   * A `verify_token` that is left out is generated and shown once.
   */
  readonly credentials: TObject
  /** Settings besides those of every channel, each with `title`, `description` and `default`. */
  readonly settings?: TObject
  /** `from_provider`: `connect` returns the identifier, so it may be left out. */
  readonly identifier: 'given' | 'from_provider'
  /** The address of the provider's API, and the setting that replaces it. */
  readonly url?: { readonly setting: `POSTHORN_${string}_URL`; readonly fallback: string; readonly about: string }
  /** A page under `docs/guides`, without `.md`. */
  readonly guide?: string
  /** Limits of the provider that users ask about, one sentence each. */
  readonly limits?: readonly string[]
  /** The content types that this provider can send on a channel of `type`. */
  capabilities(type: ChannelType, settings: Readonly<Record<string, unknown>>): readonly string[]
  /** Checks that schemas cannot express, such as whether an address is public. Each `param` begins with `credentials.` or `settings.`. */
  check?(given: {
    readonly type: ChannelType
    readonly credentials: Readonly<Record<string, unknown>>
    readonly allowed_hosts: readonly string[]
  }): Detail[]
  adapter(tools: ProviderTools): ProviderAdapter
}
