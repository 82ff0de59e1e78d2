/** The contract between Posthorn and a provider: data in, data out. A provider touches no database and no HTTP server. */
import type { TObject } from 'typebox'
import type { MessageErrorCode } from '../../contract/resources/message.ts'
import type { ErrorCode } from '../../contract/errors.ts'
import type { ChannelType } from '../../contract/resources/channel.ts'

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
}

/** What a provider tells later about a message that it took. */
export interface Receipt {
  readonly kind: 'receipt'
  readonly provider_id: string
  /** What it says of the message (`features/messages/states.ts`). */
  readonly transition: 'accept' | 'deliver' | 'open' | 'fail'
  /** For `fail`. */
  readonly error?: { readonly code: MessageErrorCode; readonly message: string; readonly provider_code: string | null }
  /** ISO 8601, where the provider tells it. */
  readonly occurred_at?: string
}

/** A message from a recipient. */
export interface InboundMessage {
  readonly kind: 'inbound'
  /** Unique per channel: a message told twice is stored once. */
  readonly provider_id: string
  readonly from: string
  readonly profile_name: string | null
  readonly type: string
  readonly content: unknown
  /** The provider's id of our message that it answers, where told. */
  readonly reply_to: string | null
}

export type Report = Receipt | InboundMessage

/**
 * A provider's answer to one hand-over. `unavailable`: certainly not sent, repeat. `unknown`: perhaps sent, so repeating may
 * send twice. `accepted` carries one id per provider message that was made, and, for providers that never call back
 * (the sandbox), the reports to come after so many milliseconds.
 */
export type Outcome =
  | {
      readonly kind: 'accepted'
      readonly provider_ids: readonly [string, ...string[]]
      readonly reports?: readonly { readonly after_ms: number; readonly report: Report }[]
    }
  | {
      readonly kind: 'refused'
      readonly code: MessageErrorCode
      readonly provider_code: string | null
      readonly message: string
      readonly channel_lost?: boolean
    }
  | { readonly kind: 'throttled'; readonly retry_after_ms?: number; readonly provider_code: string | null; readonly message: string }
  | { readonly kind: 'unavailable'; readonly provider_code: string | null; readonly message: string }
  | { readonly kind: 'unknown'; readonly message: string }

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
  readonly updated_at: string
}

/** A provider's callback as it came: verified and parsed by the adapter, stored raw before. */
export interface Callback {
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

/** A connected channel as its provider's code sees it; `credentials` have the shape of the adapter's schema. */
export interface Connection {
  readonly channel_id: string
  readonly identifier: string
  readonly credentials: Readonly<Record<string, unknown>>
  readonly settings: Readonly<Record<string, unknown>>
}

/** An open session with a provider whose receipts arrive on a socket (SMPP); one process holds it per channel. */
export interface Session {
  send(message: OutboundMessage): Promise<Outcome>
  close(): Promise<void>
}

export interface Adapter {
  readonly provider: string
  readonly types: readonly ChannelType[]
  /** Of the channel's type, narrowed by what this provider can carry. */
  capabilities(type: ChannelType, settings: Readonly<Record<string, unknown>>): readonly string[]
  readonly credentials: TObject
  /** Hand-overs answer at once, without a network: `sending` is not written on its own. */
  readonly instant?: boolean
  /** Names `sandbox` and `simulator` are for tests and never carry a real message. */
  readonly real: boolean
  send(message: OutboundMessage, connection: Connection, signal: AbortSignal): Promise<Outcome>
  /** What is known beforehand to be refused, asked at acceptance. */
  refuses?(message: { readonly to: string; readonly type: string; readonly content: unknown }): { readonly code: ErrorCode; readonly message: string } | null
  /** Whether a template is known to be marketing, which a recipient may have stopped alone; asked without a network. */
  isMarketing?(template: string): boolean
  /** Tries the credentials: at creation and reconnect. */
  connect?(
    connection: Connection,
    signal: AbortSignal,
  ): Promise<{ readonly kind: 'connected'; readonly identifier?: string } | { readonly kind: 'refused' | 'unavailable'; readonly message: string }>
  /** null: the signature is wrong. Several reports may come in one callback, in any order. */
  receive?(callback: Callback, connection: Connection): { readonly reports: readonly Report[]; readonly answer?: string } | null
  templates?(connection: Connection, signal: AbortSignal): Promise<readonly TemplateRecord[]>
  open?(connection: Connection, tell: (reports: readonly Report[]) => Promise<void>, signal: AbortSignal): Promise<Session>
}
