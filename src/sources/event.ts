/** Events as sources report them. */
import { invalid } from '../api/problem.ts'
import { isAutomationEventType, type EventCustomer, type ReportedEvent } from '../api/resources/automation-event.ts'
import { parseStrictDateTime } from '../api/times.ts'
import { isoTime } from '../lib/clock.ts'

export interface EventConsent {
  readonly transactional: boolean | null
  readonly marketing: boolean | null
}

export interface EventContent {
  readonly type: string
  /** 1 to 255 characters; a repeated ID is a duplicate. */
  readonly event_id: string
  readonly occurred_at: string
  readonly customer: EventCustomer
  readonly consent: EventConsent
  readonly data: Record<string, unknown>
}

export interface ShopCustomer {
  readonly external_id?: string
  readonly phone?: string
  readonly email?: string
  readonly first_name?: string
  readonly last_name?: string
  readonly locale?: string
  readonly tags?: string[]
}

/** The platform asks to delete this customer's data. */
export interface Redaction {
  readonly external_id: string | null
  readonly phone: string | null
  readonly email: string | null
  readonly order_ids: readonly string[]
}

export interface SourceEvent extends Omit<EventContent, 'occurred_at' | 'customer'> {
  /** null: the time of arrival counts. */
  readonly occurred_at: string | null
  readonly customer: EventCustomer
  /** Each status of an order counts once per source (behaviour: integrations 3.4). */
  readonly order_id?: string | null
  /** The buyer is taken from earlier events of the order. */
  readonly buyer_unknown?: true
  /** `consent.marketing` does not change the contact. */
  readonly consent_this_event_only?: true
  readonly unmapped?: true
  readonly redaction?: Redaction
}

/** Throws `parameter_invalid`. */
export function eventContent(body: ReportedEvent, now: number): EventContent {
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
