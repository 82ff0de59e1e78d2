/** Domain events: what a module publishes for the modules after it, inside its own transaction (ARCHITECTURE.md, Invariants). */
import type { Tenant } from './caller.ts'

/** An opt-out or opt-in that has just become true for one recipient of one channel type. */
export interface ConsentEvent extends Tenant {
  readonly channel_type: string
  /** The recipient, in the form that messages of that channel type use. */
  readonly address: string
  /** Null: no contact has this address. */
  readonly contact_id: string | null
}

/** An inbound message that was stored in this transaction; `message` is the Message object. */
export interface InboundEvent extends Tenant {
  readonly message_id: string
  readonly channel_id: string
  readonly channel_type: string
  readonly from: string
  readonly profile_name: string | null
  readonly type: string
  readonly content: unknown
  readonly received_at: string
}

/** With the contact of the sender; null where the account has reached its contact limit. */
export interface LinkedInboundEvent extends InboundEvent {
  readonly contact_id: string | null
}

export interface ContactDeletedEvent extends Tenant {
  readonly contact_id: string
}

export interface ChannelDeletedEvent extends Tenant {
  readonly channel_id: string
}

export interface BalanceLowEvent {
  readonly account_id: string
  readonly balance_micros: number
  readonly low_balance_micros: number
}

export interface EndpointDisabledEvent extends Tenant {
  readonly endpoint_id: string
  readonly url: string
  readonly events: readonly string[]
  /** Consecutive failures. */
  readonly failures: number
}

export interface DomainEventPayloads {
  /** The recipient no longer accepts messages on this channel type. */
  opted_out: ConsentEvent
  inbound_stored: LinkedInboundEvent
  channel_deleted: ChannelDeletedEvent
  /** The wallet has just fallen below its threshold; at most once in 24 hours. */
  balance_low: BalanceLowEvent
  /** A webhook endpoint was disabled after too many failures in a row. */
  endpoint_disabled: EndpointDisabledEvent
  account_suspended: { readonly account_id: string }
  contact_deleted: ContactDeletedEvent
}
export type DomainEventType = keyof DomainEventPayloads
