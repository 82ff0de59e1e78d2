/** What a shop's own webhook tells, in the words of the event catalogue (behaviour: integrations 4). */
import type { IncomingHttpHeaders } from 'node:http'
import type { Fields } from '../lib/json-fields.ts'

/** A webhook as its platform sent it: its signature is good, its body is a JSON object. */
export interface NativeCall {
  readonly headers: IncomingHttpHeaders
  /** Names what is in the body, for want of anything better: the same bytes have the same one. */
  digest(): string
  readonly payload: Fields
}

/** Whom it happened to, as far as the payload tells. Only what a contact can hold. */
export interface NativeCustomer {
  readonly external_id?: string
  /** E.164. */
  readonly phone?: string
  readonly email?: string
  readonly first_name?: string
  readonly last_name?: string
  readonly locale?: string
  readonly tags?: string[]
}

/** Whose data the platform wants deleted: everything it names him by. */
export interface Redaction {
  readonly external_id: string | null
  readonly phone: string | null
  readonly email: string | null
  readonly order_ids: readonly string[]
}

/** What a payload means, by its topic. */
export interface Meaning {
  readonly type: string
  /** The order of which it tells a status; null for anything else. */
  readonly order_id: string | null
  readonly customer: NativeCustomer
  /** It tells of an order, but not whose that is: earlier events of the order do. */
  readonly buyer_untold?: true
  /** null: the payload does not say. */
  readonly marketing: boolean | null
  /** `marketing` holds for this event alone. */
  readonly consent_passing?: true
  /** Normalised; the original comes beside it. */
  readonly data: Fields
}

export interface NativeEvent {
  readonly type: string
  readonly event_id: string
  /** ISO 8601; null where the payload does not say. */
  readonly occurred_at: string | null
  /** As `Meaning`. */
  readonly order_id: string | null
  readonly customer: NativeCustomer
  readonly buyer_untold?: true
  readonly consent_passing?: true
  readonly consent: { readonly transactional: boolean | null; readonly marketing: boolean | null }
  readonly data: Record<string, unknown>
  /** The catalogue has nothing for its topic. */
  readonly unmapped?: true
  readonly redaction?: Redaction
}
