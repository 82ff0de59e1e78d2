/** An event as a source reports it, whichever way it came: what receivers make of a webhook, and `POST /v1/automation_events` of its body. */
import type { Tenant } from '../../../api/caller.ts'
import { invalid } from '../../../api/problem.ts'
import {
  isAutomationEventType,
  type AutomationEvent,
  type EventCustomer,
  type ReportedEvent,
  type ReportOrigin,
} from '../../../api/resources/automation-event.ts'
import { parseStrictDateTime } from '../../../api/times.ts'
import { isoTime } from '../../../lib/clock.ts'
import type { Transaction } from '../../../platform/database/sql.ts'

/** What the customer has agreed to; null where the source does not say. */
export interface EventConsent {
  readonly transactional: boolean | null
  readonly marketing: boolean | null
}

/** What happened, without the source that tells it. */
export interface EventFacts {
  readonly type: string
  /** The source's own id of the event, 1 to 255 characters: the same one again is a duplicate. */
  readonly event_id: string
  /** ISO 8601. */
  readonly occurred_at: string
  readonly customer: EventCustomer
  readonly consent: EventConsent
  readonly data: Record<string, unknown>
}

export interface ReportedBySource extends EventFacts {
  /** A row of a source, or what is known of it before it is read. */
  readonly source: Tenant & { readonly id: string }
  readonly origin: ReportOrigin
  /** `data` as JSON on one line, where that is known. */
  readonly data_json?: string
  /**
   * What else makes it the same event, whatever its id: a status of one order, such as `order.shipped 1001`, which several topics of a platform
   * tell (behaviour: integrations 3.4). At most 300 characters.
   */
  readonly once_key?: string
  /** What its consent says of marketing holds for this event alone, and changes nothing of the contact. */
  readonly consent_passing?: true
  /** Its topic stands for no event: the receipt is `ignored`, `unmapped_topic`. */
  readonly unmapped?: true
}

/** What a report comes to. */
export interface Reported {
  readonly receipt: AutomationEvent
  /** The event had been reported before: this is the first receipt. */
  readonly duplicate: boolean
}

/** What keeps the answer of a request beside its effect; may throw the Problem that refuses the request. */
export type KeepReported = (tx: Transaction, reported: Reported) => Promise<void>

/** One that waits to be accepted. */
export interface Report {
  readonly event: ReportedBySource
  /** The id that its receipt gets, and the moment that it came at (ISO 8601). */
  readonly id: string
  readonly at: string
  /** The event's `data` as JSON. */
  readonly data_json: string
  readonly keep: KeepReported | undefined
}

/** The facts of a body whose schema has passed, at `now` (milliseconds). Throws parameter_invalid for a type that nobody knows. */
export function factsOf(body: ReportedEvent, now: number): EventFacts {
  if (!isAutomationEventType(body.type)) {
    throw invalid(
      'type',
      'invalid_value',
      `${JSON.stringify(body.type)} is no type of event. Use one of the catalogue, such as order.paid, or custom.<name> with a name of your own.`,
    )
  }
  return {
    type: body.type,
    event_id: body.event_id,
    occurred_at: (typeof body.occurred_at === 'string' ? parseStrictDateTime(body.occurred_at) : null) ?? isoTime(now),
    customer: body.customer ?? {},
    consent: { transactional: body.consent?.transactional ?? null, marketing: body.consent?.marketing ?? null },
    data: body.data ?? {},
  }
}
