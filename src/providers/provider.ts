/** The contract between Posthorn and a provider: data in, data out. A provider touches no database and no HTTP server (docs/decisions/adapter-contract.md). */
import type { TObject } from 'typebox'
import type { Detail, ErrorCode } from '../api/errors.ts'
import type { ChannelType } from '../api/resources/channel.ts'
import type { MessageErrorCode } from '../api/resources/message.ts'
import type { SteadyClock } from '../lib/clock.ts'
import type { HttpClient } from '../lib/http-client.ts'
import type { Dial } from '../lib/dial.ts'

/** What a provider is given to send. `content` is what stands under the key named by `type`. */
export interface OutboundMessage {
  readonly id: string
  readonly channel_id: string
  readonly to: string
  readonly from: string
  readonly type: string
  readonly content: unknown
  /** The provider's id of the message that this one answers, where known. */
  readonly reply_to: string | null
  /** 1 for the first hand-over. */
  readonly attempt: number
  /** ISO 8601: when it was handed over first, or may have been; null at a first hand-over of which nothing is written yet. */
  readonly first_sent_at: string | null
  /** The provider's ids of what it took of the message at earlier hand-overs (`provider_ids` of an outcome that was not `accepted`), in order: only the rest is sent. */
  readonly already_accepted: readonly string[]
  /** ISO 8601; null: it never expires. */
  readonly expires_at: string | null
}

/** What a provider tells later about a message that it took. */
export interface DeliveryReceipt {
  readonly kind: 'delivery_receipt'
  readonly provider_id: string
  /** Ours, where the provider gives back what it was told at the hand-over: it finds a message whose hand-over had no answer. */
  readonly message_id?: string
  /**
   * With `message_id`, of a message that becomes several at the provider: which of them it is, from 1, and of how many. It proves that this part was taken, whatever
   * was heard of its hand-over.
   */
  readonly part?: { readonly number: number; readonly total: number }
  /** By which other ids the provider may mean it: looked up in order where the first one is not known when it is tried again. */
  readonly also_known_as?: readonly string[]
  /**
   * Where another channel of the account at the provider (`accountOf`) may have sent the message: `from` whom the receipt comes, the message's recipient, and `to` whom, its sender, as the
   * provider writes them. The channel that is called so is looked at first, and a message to another number is not taken for the one that is meant.
   */
  readonly addresses?: { readonly from: string; readonly to: string }
  /** What it says of the message (`modules/messages/states.ts`). */
  readonly transition: 'accept' | 'deliver' | 'open' | 'fail'
  /** For `fail`. */
  readonly error?: { readonly code: MessageErrorCode; readonly message: string; readonly provider_code: string | null }
}

/** A message from a recipient. */
export interface InboundMessage {
  readonly kind: 'inbound'
  /** Unique per channel: a message told twice is stored once. */
  readonly provider_id: string
  readonly from: string
  readonly profile_name: string | null
  readonly type: string
  /** Of `attachments` each item may leave out its `url`: it is ours, and made when the file is copied. */
  readonly content: unknown
  /** The provider's id of our message that it answers, where told. */
  readonly reply_to: string | null
  /** Of a `button_reply` whose button could not carry its id: its place in the message that it answers, from 0. Id and title are then that button's. */
  readonly button_index?: number
  /** Which part of a longer text it is: parts of one text have its reference, and are joined as they come. */
  readonly part?: { readonly reference: string; readonly total: number; /** From 1. */ readonly number: number }
  /**
   * Where it was written to, in the ways in which it may be an identifier, where that is not surely the channel's own: an account at the provider may have
   * several. It is for the account's channel that is called so, else `ours`, or nobody's.
   */
  readonly to?: { readonly identifiers: readonly string[]; readonly otherwise: 'ours' | 'ignored' }
  /** Where the files of `attachments` are, by their place in it. */
  readonly media?: readonly { readonly index: number; readonly reference: MediaReference }[]
}

/** Where a provider keeps a file: what `media` of its adapter needs to fetch it. Stored for minutes. */
export type MediaReference = Readonly<Record<string, string>>

/** A recipient stopped marketing alone, or takes it again; everything else passes (behaviour: consent 2.3, 4.4). */
export interface MarketingPreference {
  readonly kind: 'preference'
  readonly provider_id: string
  readonly from: string
  readonly marketing: 'stop' | 'resume'
  /** Not marketing alone is meant. Only for what cannot be played back: what was told once may be told again. */
  readonly everything?: true
  /** ISO 8601, where the provider tells it: what is older than the last word is too late to count. */
  readonly occurred_at?: string
}

/** The provider says that the channel cannot send any more, or can again. */
export interface ConnectionStatus {
  readonly kind: 'connection_status'
  readonly provider_id: string
  readonly connected: boolean
  /** A sentence for the log. */
  readonly message: string
}

/** Templates changed: ours are read anew. */
export interface TemplatesChanged {
  readonly kind: 'templates'
  readonly provider_id: string
}

/** `provider_id` of what is no message is unique per channel where the provider gives one, else any text. */
export type CallbackItem = DeliveryReceipt | InboundMessage | MarketingPreference | ConnectionStatus | TemplatesChanged

/**
 * What a provider's limit is on. `channel`: on all that it sends, so the channel pauses and then goes on slower. `recipient`: on messages to this one, which
 * waits by itself. `unspecified`: the provider does not say; the channel pauses once it throttles two in a row that go to different recipients.
 */
export type LimitOn = 'channel' | 'recipient' | 'unspecified'

/**
 * A provider's answer to one hand-over. `unavailable`: certainly not sent, repeat. `unknown`: perhaps sent, so repeating may
 * send twice. `accepted` carries one id per provider message that was made, those of earlier hand-overs included, and, for providers
 * that never call back (the sandbox), the reports to come after so many milliseconds.
 */
export type Outcome =
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
      /** What it refuses is the template of the message, which our copy has otherwise: that is read anew. */
      readonly template_refused?: true
      /** The provider says that the recipient has stopped everything from this sender, or marketing alone: it counts as an opt-out of that. */
      readonly opted_out?: 'everything' | 'marketing'
    } & PartialAcceptance)
  | ({
      readonly kind: 'throttled'
      readonly limit_on: LimitOn
      /** How long the provider asks for, where it says so; a minute at most is heeded. Absent: growing waits. */
      readonly retry_after_ms?: number
      readonly provider_code: string | null
      readonly message: string
      /** What it amounts to where it does not end: after eight hand-overs the message is refused with it. Absent: repeated while the message is valid. */
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
  | ({ readonly kind: 'unknown'; readonly message: string } & PartialAcceptance)

/**
 * Of a message that becomes several at the provider: the ids of those that it took before the outcome, which is that of the next one; `already_accepted`
 * comes first. They are kept with the attempt, and what is repeated is the rest alone.
 */
interface PartialAcceptance {
  readonly provider_ids?: readonly string[]
}

/**
 * Told after each part that the provider took of a message which becomes several there, the last one excepted, with all ids so far (`provider_ids` of `PartlyTaken`), and
 * awaited before the next part goes: they are kept by then, and the signal that it resolves to gives the next part its own time. null: the rest is not handed over now, and the outcome
 * is `restLater` of `providers/rest-later.ts`. Never rejects.
 */
export type OnPartAccepted = (provider_ids: readonly string[]) => Promise<AbortSignal | null>

/** A message whose hand-over had no answer, as it is asked about. */
export interface UnconfirmedMessage extends OutboundMessage {
  /** ISO 8601: its last hand-over had ended by then. */
  readonly last_attempt_ended_at: string
}

/**
 * What a provider tells when it is asked what became of a hand-over that had no answer. Unlike an `Outcome` it is about the past: after `not_found` and
 * `no_information` the message is handed over again, and nothing else lets it be.
 */
export type StatusQueryResult =
  /** It has the message, found by an id of ours. */
  | ({ readonly kind: 'found' } & FoundMessage)
  /**
   * It has messages like it, made around its hand-over, the likeliest first: found by what they say, so that each may be another of ours. Those are passed over by
   * whoever asked, who knows the ids of other messages; where none is left, it never had it.
   */
  | { readonly kind: 'candidates'; readonly found: readonly [FoundMessage, ...FoundMessage[]] }
  /** The provider has looked, and certainly has no such message. */
  | { readonly kind: 'not_found' }
  /** It refused the message, or failed it. */
  | {
      readonly kind: 'refused'
      readonly code: MessageErrorCode
      readonly provider_code: string | null
      readonly message: string
    }
  /** It answers, and cannot tell. */
  | { readonly kind: 'no_information' }
  /** No answer of the provider's came, whether the question reached it or not: it is asked again. */
  | { readonly kind: 'no_answer'; readonly message: string }
  /** The channel asks too much at once: it pauses as after a hand-over that was throttled, and the question is put again. */
  | { readonly kind: 'throttled'; readonly retry_after_ms?: number; readonly message: string }

/** A message as the provider has it; `receipt`: what it tells of it beyond that it was taken. */
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
  /** ISO 8601; null: the provider does not tell it. */
  readonly updated_at: string | null
}

/** A provider's callback as it came. */
export interface Callback {
  readonly method: string
  /** As it was called: `{base_url}/hooks/channels/{id}` with its query, for signatures over the address. */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

/** What was read from a callback, and what the provider expects in answer (behaviour: channels 7). */
export interface CallbackResult {
  readonly items: readonly CallbackItem[]
  readonly response?: CallbackResponse
  /** What was left out, and why, for the log; without anything that people wrote. */
  readonly ignored?: string
}

export interface CallbackResponse {
  readonly content_type: string
  readonly body: string
}

/** A connected channel as its provider's code sees it; `credentials` and `settings` have the shapes of the provider's schemas. */
export interface Connection {
  readonly channel_id: string
  readonly type: ChannelType
  readonly identifier: string
  readonly credentials: Readonly<Record<string, unknown>>
  readonly settings: Readonly<Record<string, unknown>>
  /** Where the provider calls back: `{base_url}/hooks/channels/{id}`. */
  readonly webhook_url: string
}

/** What trying the credentials told. */
export type ConnectOutcome =
  | { readonly kind: 'connected'; readonly identifier?: string }
  | { readonly kind: 'refused'; readonly message: string }
  /** `session_limit_reached`: the provider answers that the account has as many sessions open as it may. Where one of them is ours, that is the link wanted. */
  | { readonly kind: 'unavailable'; readonly message: string; readonly session_limit_reached?: true }

/** A standing connection with a provider that one process holds for each channel: SMPP's sockets, Telegram's polling. */
export interface Session {
  /** Where hand-overs need the session; else they go through `send` of the adapter, from any process. */
  send?(message: OutboundMessage, signal: AbortSignal, took?: OnPartAccepted): Promise<Outcome>
  /** How many hand-overs it has use for at once; absent: as many as come. */
  readonly max_concurrent_sends?: number
  /** Resolves when the session has ended by itself, with a sentence; `refused`: its credentials are not taken any more. */
  readonly ended: Promise<{ readonly refused: boolean; readonly message: string }>
  /** Ends it in an orderly way: nothing more is sent, and what is under way is awaited for as long as `signal` lets it; then the link ends at once. */
  close(signal: AbortSignal): Promise<void>
}

/** What a session tells, and what of it was left out (`ignored` of `Received`). Resolves once it is stored: only then may the provider be told that it was taken. */
export type StoreItems = (reports: readonly CallbackItem[], raw: Uint8Array, ignored?: string) => Promise<void>

/** What a session is opened with. */
export interface SessionContext {
  readonly store: StoreItems
  /** Gives the opening up; an open session is ended by `close`. */
  readonly signal: AbortSignal
  /** Asked before anything is sent, and before the provider is told that something was taken: false once another process may open the session. */
  readonly hasLease: () => boolean
}

/** What every provider is made with. */
export interface ProviderTools {
  readonly clock: SteadyClock
  /** Calls public addresses alone, and the provider's own `url` whatever it is. */
  readonly http: HttpClient
  /** Opens sockets, to public addresses alone. */
  readonly dial: Dial
  /** `url` of the provider as the operator set it, without a slash at its end; empty for a provider without one. */
  readonly url: string
}

/**
 * What a provider does. Every call may be given up by its signal, and none throws: what went wrong is a value. What it says for people is cleared of the channel's
 * secrets by its callers (`hidden-secrets.ts`).
 */
export interface ProviderAdapter {
  /** Hand-overs answer at once, without a network: `sending` is not written on its own. */
  readonly instant?: boolean
  /** Absent where hand-overs go through a session. */
  send?(message: OutboundMessage, connection: Connection, signal: AbortSignal, took?: OnPartAccepted): Promise<Outcome>
  /** What became of a message whose hand-over had no answer. */
  queryStatus?(message: UnconfirmedMessage, connection: Connection, signal: AbortSignal): Promise<StatusQueryResult>
  /** What is known beforehand to be refused, asked at acceptance; without a network. */
  validate?(message: {
    readonly to: string
    readonly type: string
    readonly content: unknown
    readonly settings: Readonly<Record<string, unknown>>
  }): { readonly code: ErrorCode; readonly message: string; readonly param?: string } | null
  /** Tries the credentials, at creation and reconnect, and changes nothing with the provider: the sender may turn out to be another channel's. */
  connect?(connection: Connection, signal: AbortSignal): Promise<ConnectOutcome>
  /** Tells the provider where to call back, once the credentials are good and the sender is known to be free: at creation and reconnect. */
  register?(connection: Connection, signal: AbortSignal): Promise<ConnectOutcome>
  /** The channel was deleted, or never came to be, perhaps since `register` failed: takes back what that set up with the provider. */
  disconnect?(connection: Connection, signal: AbortSignal): Promise<void>
  /** A GET at the channel's address by which the provider makes sure of it; null: it does not know our word. */
  handshake?(callback: Callback, connection: Connection): CallbackResponse | null
  /** null: the signature is wrong. Several reports may come in one callback, in any order. */
  receiveCallback?(callback: Callback, connection: Connection): CallbackResult | null
  /** All of them, or those of one name; rejects with a sentence where they cannot be read. Absent where any template may be sent. */
  listTemplates?(connection: Connection, signal: AbortSignal, name?: string): Promise<readonly TemplateRecord[]>
  /**
   * Fetches a file that came in, piece by piece. Rejects with a PermanentError (`lib/permanent-error.ts`) where it can never be had: it is gone, refused, larger than `bytes_max`, or at an
   * address that is not called. Any other error says that it may be had later: it is asked for again.
   */
  fetchMedia?(
    reference: MediaReference,
    connection: Connection,
    bytes_max: number,
    signal: AbortSignal,
  ): Promise<{ readonly content_type: string; readonly chunks: AsyncIterable<Uint8Array> }>
  /** Whether a channel needs a session, and `open` with it. */
  needsSession?(connection: Connection): boolean
  /** By what the account at the provider is known, where any session of it may get the receipts of every channel that is connected with it. */
  accountKey?(connection: Connection): string
  /** Given the same `connection`, not one like it, from one session of a channel to the next for as long as this process holds them: what is remembered of it ends with that. */
  openSession?(
    connection: Connection,
    opening: SessionContext,
  ): Promise<
    | { readonly kind: 'open'; readonly session: Session }
    | { readonly kind: 'refused' | 'unavailable'; readonly message: string }
  >
}

/** What stands in every account's test mode without being connected: one channel of each type, by the id `ch_test_<type>`. */
export interface TestMode {
  readonly channels: Readonly<
    Record<
      ChannelType,
      { readonly name: string; readonly identifier: string; readonly templates: readonly TemplateRecord[] }
    >
  >
  /** Recipients that bring about an outcome, and the outcome: for the reference. */
  readonly recipients: readonly (readonly [to: string, outcome: string])[]
}

/** A provider as it describes itself: to the connecting, the reference and the console. Nothing outside its folder knows its name. */
export interface Provider {
  /** As in `provider` of a channel. */
  readonly name: string
  /** As people write it. */
  readonly title: string
  /** One sentence. */
  readonly about: string
  readonly types: readonly ChannelType[]
  /** `for_tests`: only where POSTHORN_SIMULATOR is set. `never`: its channels stand by themselves (`test_mode`). */
  readonly offered: 'always' | 'for_tests' | 'never'
  /** Of the one provider whose channels stand in every account's test mode. */
  readonly test_mode?: TestMode
  /**
   * Each property has a `title`, a label, and a `description` that tells where to find it; `format: 'password'` where it is secret.
   * A property `verify_token` that is left out is made, and shown once.
   */
  readonly credentials: TObject
  /** Its own settings, besides those that every channel has; each with `title`, `description` and `default`. */
  readonly settings?: TObject
  /** `told`: the provider tells it, so that it may be left out. */
  readonly identifier: 'given' | 'from_provider'
  /** The address of its API, which a setting can replace. */
  readonly url?: { readonly setting: `POSTHORN_${string}_URL`; readonly fallback: string; readonly about: string }
  /** A page under `docs/guides`, without `.md`. */
  readonly guide?: string
  /** Limits of the provider that a user would ask for: a sentence each. */
  readonly limits?: readonly string[]
  /** Of the channel's type, narrowed by what this provider can carry. */
  capabilities(type: ChannelType, settings: Readonly<Record<string, unknown>>): readonly string[]
  /** What schemas cannot say: `param`s begin with `credentials.` or `settings.`. Addresses that must be public are looked at here too. */
  check?(given: {
    readonly type: ChannelType
    readonly credentials: Readonly<Record<string, unknown>>
    readonly allowed_hosts: readonly string[]
  }): Detail[]
  adapter(tools: ProviderTools): ProviderAdapter
}
