/** Whether an automation schedules a message for an event (behaviour: integrations 3.11, 3.12). Pure. */
import type { ReceiptReason } from '../../../api/resources/automation-event.ts'
import type { AutomationCategory } from '../../../api/resources/automation.ts'
import type { ConsentMode } from '../../../api/resources/integration-source.ts'
import { isoTime } from '../../../lib/clock.ts'
import type { EventConsent } from '../../../sources/event.ts'

export type SkipReason = Exclude<ReceiptReason, 'no_automation' | 'unmapped_topic'>

export interface Recipient {
  /** null if neither event nor contact has one. */
  readonly to: string | null
  /** Opted out of the channel type, suppressed or blocked. */
  readonly blocked: boolean
  readonly stopped_marketing: boolean
}

export interface Candidate {
  readonly source: { readonly consent_mode: ConsentMode }
  readonly automation: { readonly category: AutomationCategory; readonly delay_seconds: number }
  readonly consent: EventConsent
  readonly conditions_met: boolean
  readonly recipient: Recipient
}

export interface Schedule {
  readonly status: 'scheduled' | 'skipped'
  readonly reason: SkipReason | null
  /** When the message is sent, or would be. */
  readonly scheduled_for: string
}

/** `now`: the arrival of the event, where the delay starts. */
export function scheduleOf(candidate: Candidate, now: number): Schedule {
  const reason = skipReasonOf(candidate)
  return {
    status: reason === null ? 'scheduled' : 'skipped',
    reason,
    scheduled_for: isoTime(now + candidate.automation.delay_seconds * 1000),
  }
}

function skipReasonOf({ source, automation, consent, conditions_met, recipient }: Candidate): SkipReason | null {
  const marketing = automation.category === 'marketing'
  if (!conditions_met) return 'condition_not_met'
  if (recipient.to === null) return 'no_identifier'
  if (marketing ? consent.marketing === false : lacksTransactional(source.consent_mode, consent))
    return 'consent_missing'
  return recipient.blocked || (marketing && recipient.stopped_marketing) ? 'unsubscribed' : null
}

/** `implied`: unless the event says no. `explicit`: unless it says yes. */
const lacksTransactional = (mode: ConsentMode, { transactional }: EventConsent): boolean =>
  mode === 'explicit' ? transactional !== true : transactional === false
