/** An event on its way from a source to its receipt, whether it came by webhook or by `POST /v1/automation_events`. */
import type { Tenant } from '../../../api/caller.ts'
import type { AutomationEvent, ReportOrigin } from '../../../api/resources/automation-event.ts'
import type { Transaction } from '../../../platform/database/sql.ts'
import type { EventContent } from '../../../sources/event.ts'

export interface IncomingEvent extends EventContent {
  /** As the caller knows the source: its row is read when the event is accepted. */
  readonly source: Tenant & { readonly id: string }
  readonly origin: ReportOrigin
  /**
   * Identifies the event beside its ID: a status of one order, such as `order.shipped 1001`, which several topics of a platform report
   * (behaviour: integrations 3.4). At most 300 characters.
   */
  readonly once_key?: string
  /** `consent.marketing` applies to this event alone and does not change the contact. */
  readonly consent_this_event_only?: true
  /** The catalogue has no event for its topic: the receipt is `ignored`, `unmapped_topic`. */
  readonly unmapped?: true
}

export interface AcceptedEvent {
  readonly receipt: AutomationEvent
  /** The event had been accepted before: this is the first receipt. */
  readonly duplicate: boolean
}

/** Runs in the transaction that accepts the event, for example to store the answer of a request. May throw the Problem that refuses the request. */
export type BeforeCommit = (tx: Transaction, accepted: AcceptedEvent) => Promise<void>

/** An event that waits to be accepted. */
export interface PendingEvent {
  readonly event: IncomingEvent
  /** The ID of its receipt. */
  readonly id: string
  /** Time of arrival, ISO 8601. */
  readonly at: string
  /** The event's `data` as JSON. */
  readonly data_json: string
  readonly before_commit: BeforeCommit | undefined
}
