/** Posthorn's own webhook format, the body of `POST /v1/automation_events` (behaviour: integrations 4.7). */
import { throwFailures } from '../../api/problem.ts'
import { ReportedEvent } from '../../api/resources/automation-event.ts'
import { validator } from '../../api/validation.ts'
import { signatureHeaderFault } from '../../lib/hmac.ts'
import { eventContent } from '../event.ts'
import type { SignatureCheck, Source } from '../source.ts'
import { headerText } from '../webhook.ts'

export const custom: Source = {
  platform: 'custom',
  signatureCheck,
  read(webhook) {
    const body = webhook.json()
    throwFailures(failuresOf(body))
    return eventContent(body as unknown as ReportedEvent, webhook.arrived_at)
  },
  stores_payload: false,
}

// unknown top-level fields are ignored (behaviour: conventions 4.4)
const failuresOf = validator({ ...ReportedEvent, additionalProperties: true })

const toleranceMs = 5 * 60_000

/** Format `t=<unix seconds>,v1=<hex>` (behaviour: webhooks 4.2). One of several `v1` must match. */
function signatureCheck(secret: string): SignatureCheck {
  return ({ headers, body, arrived_at }) => {
    const header = headerText(headers, 'service-signature')
    if (header === undefined)
      return 'The header Service-Signature is missing. Send `t=<unix seconds>,v1=<hex HMAC-SHA256 of "<t>.<body>">`, made with the signing secret of the source.'
    const fault = signatureHeaderFault(secret, header, body, arrived_at, toleranceMs)
    return fault === null ? null : faults[fault]
  }
}

const faults = {
  form: 'The header Service-Signature has another form than `t=<unix seconds>,v1=<hex>`. Sign as the guide for plugins shows.',
  time: `The time in Service-Signature is more than ${toleranceMs / 60_000} minutes off. Sign each attempt anew, and set the clock of the sender.`,
  signature:
    'The header Service-Signature does not fit the body. Sign the raw bytes with the current signing secret of the source.',
} as const
