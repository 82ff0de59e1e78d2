/** Domain events that a module publishes for later modules, in its own transaction (ARCHITECTURE.md, Invariants). */
import type { Tenant } from './caller.ts'

/** Took effect for one recipient of one channel type. */
export interface ConsentEvent extends Tenant {
  readonly channel_type: string
  /** In the form that messages of the channel type use. */
  readonly address: string
  /** null: no contact has this address. */
  readonly contact_id: string | null
}

/** `message` is the Message object, stored in the same transaction. */
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

/** null where the account has reached its contact limit. */
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
  readonly failures: number
}

export interface DomainEventPayloads {
  opted_out: ConsentEvent
  inbound_stored: LinkedInboundEvent
  channel_deleted: ChannelDeletedEvent
  balance_low: BalanceLowEvent
  endpoint_disabled: EndpointDisabledEvent
  account_suspended: { readonly account_id: string }
  contact_deleted: ContactDeletedEvent
}
export type DomainEventType = keyof DomainEventPayloads
