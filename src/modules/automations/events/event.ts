/** An event on its way from a source to its receipt. */
import type { Tenant } from '../../../api/caller.ts'
import type { AutomationEvent, ReportOrigin } from '../../../api/resources/automation-event.ts'
import type { Transaction } from '../../../platform/database/sql.ts'
import type { EventContent } from '../../../sources/event.ts'

export interface IncomingEvent extends EventContent {
  readonly source: Tenant & { readonly id: string }
  readonly origin: ReportOrigin
  /**
   * A status of one order, such as `order.shipped 1001`, which several topics report (behaviour: integrations 3.4). At
   * most 300 characters.
   */
  readonly dedup_key?: string
  readonly consent_this_event_only?: true
  /** The receipt is `ignored`, `unmapped_topic`. */
  readonly unmapped?: true
}

export interface AcceptedEvent {
  readonly receipt: AutomationEvent
  readonly duplicate: boolean
}

/** May throw the Problem that refuses the request. */
export type BeforeCommit = (tx: Transaction, accepted: AcceptedEvent) => Promise<void>

export interface PendingEvent {
  readonly event: IncomingEvent
  readonly id: string
  /** Time of arrival. */
  readonly at: string
  readonly data_json: string
  readonly before_commit: BeforeCommit | undefined
}
