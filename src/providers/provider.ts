/**
 * The interface of a messaging provider, which uses no database and no HTTP server
 * (docs/decisions/adapter-contract.md).
 */
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
  readonly reply_to: string | null
  /** From 1. */
  readonly attempt: number
  /** null if none was recorded. */
  readonly first_sent_at: string | null
  /** Provider ids of the parts accepted in earlier attempts, in order. */
  readonly already_accepted: readonly string[]
  /** null: never. */
  readonly expires_at: string | null
}

/** A provider's later report on a message. */
export interface DeliveryReceipt {
  readonly kind: 'delivery_receipt'
  readonly provider_id: string
  /** Our message id, if the provider returns it. Matches a message whose send attempt was never answered. */
  readonly message_id?: string
  /** With `message_id`: the accepted part of a message sent in several parts, from 1. */
  readonly part?: { readonly number: number; readonly total: number }
  /** Tried in order if `provider_id` is unknown on the second look. */
  readonly also_known_as?: readonly string[]
  /**
   * Set if another channel with the same `accountKey` may have sent the message. A different recipient (`from`) or
   * sender (`to`) never matches.
   */
  readonly addresses?: { readonly from: string; readonly to: string }
  /** See `transitions` in `modules/messages/message.ts`. */
  readonly transition: 'accept' | 'deliver' | 'open' | 'fail'
  readonly error?: { readonly code: MessageErrorCode; readonly message: string; readonly provider_code: string | null }
}

export interface InboundMessage {
  readonly kind: 'inbound'
  /** Unique per channel: a repeated message is stored once. */
  readonly provider_id: string
  readonly from: string
  readonly profile_name: string | null
  readonly type: string
  /** `attachments` have no `url` until the file has been copied. */
  readonly content: unknown
  readonly reply_to: string | null
  /** For a `button_reply` without an id: the button's position, from 0, in the message that it belongs to. */
  readonly button_index?: number
  readonly part?: { readonly reference: string; readonly total: number; readonly number: number }
  /**
   * All spellings of the destination, if it may be another number of the account. Without a channel for it, the message
   * goes to this channel (`ours`) or to none (`ignored`).
   */
  readonly to?: { readonly identifiers: readonly string[]; readonly otherwise: 'ours' | 'ignored' }
  readonly media?: readonly { readonly index: number; readonly reference: MediaReference }[]
}

/** Input of `fetchMedia`, stored until the file has been copied. */
export type MediaReference = Readonly<Record<string, string>>

/** (behaviour: consent 2.3, 4.4) */
export interface MarketingPreference {
  readonly kind: 'preference'
  readonly provider_id: string
  readonly from: string
  readonly marketing: 'stop' | 'resume'
  /** All messages, not only marketing. Only for callbacks that cannot be replayed. */
  readonly everything?: true
  /** A preference older than the last one is ignored. */
  readonly occurred_at?: string
}

export interface ConnectionStatus {
  readonly kind: 'connection_status'
  readonly provider_id: string
  readonly connected: boolean
  readonly message: string
}

export interface TemplatesChanged {
  readonly kind: 'templates'
  readonly provider_id: string
}

/** Without a message: the provider's id for the event, or any text. */
export type CallbackItem = DeliveryReceipt | InboundMessage | MarketingPreference | ConnectionStatus | TemplatesChanged

/** `unspecified`: the channel pauses after two throttled attempts in a row to different recipients. */
export type LimitOn = 'channel' | 'recipient' | 'unspecified'

export type Outcome =
  /** Includes ids of earlier attempts. `later_items` are applied after `after_ms`. */
  | {
      readonly kind: 'accepted'
      readonly provider_ids: readonly [string, ...string[]]
      readonly later_items?: readonly { readonly after_ms: number; readonly item: DeliveryReceipt | InboundMessage }[]
    }
  | ({
      readonly kind: 'refused'
      readonly code: MessageErrorCode
      readonly provider_code: string | null
      readonly message: string
      readonly channel_lost?: boolean
      /** Our copy allows the template, so it is refreshed. */
      readonly template_refused?: true
      readonly opted_out?: 'everything' | 'marketing'
    } & PartialAcceptance)
  | ({
      readonly kind: 'throttled'
      readonly limit_on: LimitOn
      /** Requested by the provider; the core waits one minute at most. Absent: exponential backoff. */
      readonly retry_after_ms?: number
      readonly provider_code: string | null
      readonly message: string
      /** The message fails with this error after eight attempts. Absent: repeated until it expires. */
      readonly if_lasting?: {
        readonly code: MessageErrorCode
        readonly provider_code: string | null
        readonly message: string
      }
    } & PartialAcceptance)
  | ({
      readonly kind: 'unavailable'
      readonly provider_code: string | null
      readonly message: string
    } & PartialAcceptance)
  /** Possibly sent, so a repetition could send it twice. */
  | ({ readonly kind: 'unknown'; readonly message: string } & PartialAcceptance)

/** Of all parts accepted before the outcome; `already_accepted` comes first. */
interface PartialAcceptance {
  readonly provider_ids?: readonly string[]
}

/**
 * Awaited after every accepted part but the last, with all ids so far. null: the rest must wait (`restLater` of
 * `outcomes.ts`). Never rejects.
 */
export type OnPartAccepted = (provider_ids: readonly string[]) => Promise<AbortSignal | null>

export interface UnconfirmedMessage extends OutboundMessage {
  readonly last_attempt_ended_at: string
}

/** Only `not_found` and `no_information` allow the message to be sent again. */
export type StatusQueryResult =
  | ({ readonly kind: 'found' } & FoundMessage)
  /** The most likely first. The caller skips ids of other messages; if none is left, the message was never accepted. */
  | { readonly kind: 'candidates'; readonly found: readonly [FoundMessage, ...FoundMessage[]] }
  | { readonly kind: 'not_found' }
  | {
      readonly kind: 'refused'
      readonly code: MessageErrorCode
      readonly provider_code: string | null
      readonly message: string
    }
  /** The provider answered that it cannot look the message up. */
  | { readonly kind: 'no_information' }
  /** The query is repeated. */
  | { readonly kind: 'no_answer'; readonly message: string }
  | { readonly kind: 'throttled'; readonly retry_after_ms?: number; readonly message: string }

export interface FoundMessage {
  readonly provider_ids: readonly [string, ...string[]]
  readonly receipt?: DeliveryReceipt
}

export interface TemplateRecord {
  readonly provider_id: string
  readonly name: string
  readonly language: string
  readonly category: string
  readonly status: string
  readonly parameter_format: string
  readonly components: readonly Record<string, unknown>[]
  readonly rejected_reason: string | null
  readonly updated_at: string | null
}

export interface Callback {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

/** The response is the one that the provider expects (behaviour: channels 7). */
export interface CallbackResult {
  readonly items: readonly CallbackItem[]
  readonly response?: CallbackResponse
  /** Skipped items and the reasons, for the log; no personal data. */
  readonly ignored?: string
}

export interface CallbackResponse {
  readonly content_type: string
  readonly body: string
}

export interface Connection {
  readonly channel_id: string
  readonly type: ChannelType
  readonly identifier: string
  readonly credentials: Readonly<Record<string, unknown>>
  readonly settings: Readonly<Record<string, unknown>>
  readonly webhook_url: string
}

export type ConnectOutcome =
  | { readonly kind: 'connected'; readonly identifier?: string }
  | { readonly kind: 'refused'; readonly message: string }
  /**
   * `session_limit_reached`: the account has as many sessions open as it may. If one is ours, the channel is connected.
   */
  | { readonly kind: 'unavailable'; readonly message: string; readonly session_limit_reached?: true }

/** A long-lived connection (SMPP, Telegram long polling), owned by one process per channel. */
export interface Session {
  /** Absent: any process sends through the adapter. */
  send?(message: OutboundMessage, signal: AbortSignal, onPartAccepted?: OnPartAccepted): Promise<Outcome>
  readonly max_concurrent_sends?: number
  /** Resolves when the session has ended by itself. `refused`: the credentials are no longer valid. */
  readonly ended: Promise<{ readonly refused: boolean; readonly message: string }>
  /** Sends nothing more and awaits open attempts until `signal` aborts. */
  close(signal: AbortSignal): Promise<void>
}

/** Acknowledge items to the provider only after this resolves. `ignored` as in `CallbackResult`. */
export type StoreItems = (items: readonly CallbackItem[], raw: Uint8Array, ignored?: string) => Promise<void>

export interface SessionContext {
  readonly store: StoreItems
  readonly signal: AbortSignal
  /** False once another process may open the session. Check it before every send and acknowledgement. */
  readonly hasLease: () => boolean
}

export interface ProviderTools {
  readonly clock: SteadyClock
  readonly http: HttpClient
  readonly dial: Dial
  /** Without a trailing slash; empty if the provider has none. */
  readonly url: string
}

/** Only `fetchMedia` and `listTemplates` throw. */
export interface ProviderAdapter {
  /** Sends without a network: `sending` is not stored. */
  readonly instant?: boolean
  send?(
    message: OutboundMessage,
    connection: Connection,
    signal: AbortSignal,
    onPartAccepted?: OnPartAccepted,
  ): Promise<Outcome>
  queryStatus?(message: UnconfirmedMessage, connection: Connection, signal: AbortSignal): Promise<StatusQueryResult>
  /** Refuses, without a network, only what the provider would certainly refuse. */
  validate?(message: {
    readonly to: string
    readonly type: string
    readonly content: unknown
    readonly settings: Readonly<Record<string, unknown>>
  }): { readonly code: ErrorCode; readonly message: string; readonly param?: string } | null
  /** Must change nothing at the provider: the sender may belong to another channel. */
  connect?(connection: Connection, signal: AbortSignal): Promise<ConnectOutcome>
  /** Called after `connect` succeeded. */
  register?(connection: Connection, signal: AbortSignal): Promise<ConnectOutcome>
  /** Undoes `register`, which may have failed. */
  disconnect?(connection: Connection, signal: AbortSignal): Promise<void>
  /** null if the verify token is wrong. */
  handshake?(callback: Callback, connection: Connection): CallbackResponse | null
  /** null if the signature is wrong. */
  receiveCallback?(callback: Callback, connection: Connection): CallbackResult | null
  /** Rejects with a sentence. Absent if any template may be sent. */
  listTemplates?(connection: Connection, signal: AbortSignal, name?: string): Promise<readonly TemplateRecord[]>
  /** A PermanentError (`lib/http-client.ts`) ends the download; any other error repeats it. */
  fetchMedia?(
    reference: MediaReference,
    connection: Connection,
    bytes_max: number,
    signal: AbortSignal,
  ): Promise<{ readonly content_type: string; readonly chunks: AsyncIterable<Uint8Array> }>
  needsSession?(connection: Connection): boolean
  /** Set if each session of this provider account may receive the receipts of all its channels. */
  accountKey?(connection: Connection): string
  /** `connection` is the same object while a process holds the lease. */
  openSession?(
    connection: Connection,
    context: SessionContext,
  ): Promise<
    | { readonly kind: 'open'; readonly session: Session }
    | { readonly kind: 'refused' | 'unavailable'; readonly message: string }
  >
}

export interface TestMode {
  readonly channels: Readonly<
    Record<
      ChannelType,
      { readonly name: string; readonly identifier: string; readonly templates: readonly TemplateRecord[] }
    >
  >
  readonly recipients: readonly (readonly [to: string, outcome: string])[]
}

/** A provider's description. No code outside its folder names it. */
export interface Provider {
  readonly name: string
  readonly title: string
  readonly about: string
  readonly types: readonly ChannelType[]
  /** `for_tests`: only if POSTHORN_SIMULATOR is set. `never`: only in `test_mode`. */
  readonly offered: 'always' | 'for_tests' | 'never'
  readonly test_mode?: TestMode
  /**
   * With `title` and `description`; secrets have `format: 'password'`. A missing `verify_token` is generated and shown
   * once.
   */
  readonly credentials: TObject
  /** Each with `title`, `description` and `default`. */
  readonly settings?: TObject
  /** `from_provider`: `connect` returns it. */
  readonly identifier: 'required' | 'from_provider'
  /** The provider's API, and the setting that replaces it. */
  readonly url?: { readonly setting: `POSTHORN_${string}_URL`; readonly fallback: string; readonly about: string }
  /** A page under `docs/guides`, without `.md`. */
  readonly guide?: string
  readonly limits?: readonly string[]
  capabilities(type: ChannelType, settings: Readonly<Record<string, unknown>>): readonly string[]
  /** `param` begins with `credentials.` or `settings.`. */
  check?(entered: {
    readonly type: ChannelType
    readonly credentials: Readonly<Record<string, unknown>>
    readonly allowed_hosts: readonly string[]
  }): Detail[]
  adapter(tools: ProviderTools): ProviderAdapter
}
