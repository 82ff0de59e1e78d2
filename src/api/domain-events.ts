/** Typed facts: what one feature tells those to its right, inside its own transaction (ARCHITECTURE.md, Invariants). */
import type { Tenant } from './caller.ts'

/** An opt-out or opt-in that has just become true for one recipient of one channel type. */
export interface ConsentFact extends Tenant {
  readonly channel_type: string
  /** The recipient as written on messages of that channel type. */
  readonly address: string
  /** The contact that has it; null: a stranger. */
  readonly contact_id: string | null
}

/** An inbound message that was stored in this transaction; `message` is the Message object. */
export interface InboundFact extends Tenant {
  readonly message_id: string
  readonly channel_id: string
  readonly channel_type: string
  readonly from: string
  readonly profile_name: string | null
  readonly type: string
  readonly content: unknown
  readonly received_at: string
}

/** With the contact that wrote; null where the account is at its contact cap. */
export interface LinkedInboundFact extends InboundFact {
  readonly contact_id: string | null
}

export interface ContactDeletedFact extends Tenant {
  readonly contact_id: string
}

export interface ChannelDeletedFact extends Tenant {
  readonly channel_id: string
}

export interface BalanceLowFact {
  readonly account_id: string
  readonly balance_micros: number
  readonly low_balance_micros: number
}

export interface EndpointDisabledFact extends Tenant {
  readonly endpoint_id: string
  readonly url: string
  readonly events: readonly string[]
  /** In a row. */
  readonly failures: number
}

export interface FactPayloads {
  /** The recipient may no longer be written to on this channel type. */
  opted_out: ConsentFact
  inbound_stored: LinkedInboundFact
  channel_deleted: ChannelDeletedFact
  /** The wallet has just fallen below its threshold; at most once in 24 hours. */
  balance_low: BalanceLowFact
  /** A webhook endpoint was disabled, for it failed too often in a row. */
  endpoint_disabled: EndpointDisabledFact
  account_suspended: { readonly account_id: string }
  contact_deleted: ContactDeletedFact
}
export type FactType = keyof FactPayloads
