/** What an automation does about an event: by its conditions, by whom it can write to, and by what that person has agreed to (behaviour: integrations 3.11, 3.12). Pure: a simulation decides by it, too. */
import type { AutomationCategory } from '../../../api/resources/automation.ts'
import type { ReceiptReason } from '../../../api/resources/automation-event.ts'
import type { ConsentMode } from '../../../api/resources/integration-source.ts'
import { isoTime } from '../../../lib/clock.ts'
import type { EventConsent } from './reported.ts'

/** Why an automation does nothing about an event that is for it. */
export type SkipReason = Exclude<ReceiptReason, 'no_automation' | 'unmapped_topic'>

/** Whom a message of the automation would go to. */
export interface Recipient {
  /** As messages write it on the automation's channel; null where event and contact name nobody. */
  readonly to: string | null
  /** Opted out of the channel type, suppressed or blocked. */
  readonly blocked: boolean
  /** Has stopped marketing on the channel type. */
  readonly stopped_marketing: boolean
}

export interface Matched {
  readonly source: { readonly consent_mode: ConsentMode }
  readonly automation: { readonly category: AutomationCategory; readonly delay_seconds: number }
  readonly consent: EventConsent
  readonly conditions_met: boolean
  readonly recipient: Recipient
}

export interface Verdict {
  readonly status: 'scheduled' | 'skipped'
  readonly reason: SkipReason | null
  /** ISO 8601: when its message goes, or would go. */
  readonly scheduled_for: string
}

/** `now`: when the event came, in milliseconds since 1970; the delay begins there. */
export function verdictOf(matched: Matched, now: number): Verdict {
  const reason = reasonOf(matched)
  return {
    status: reason === null ? 'scheduled' : 'skipped',
    reason,
    scheduled_for: isoTime(now + matched.automation.delay_seconds * 1000),
  }
}

function reasonOf({ source, automation, consent, conditions_met, recipient }: Matched): SkipReason | null {
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
