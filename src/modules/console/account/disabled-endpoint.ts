/** The e-mail that tells owners of a disabled webhook endpoint (behaviour: webhooks 5.2). */
import type { Platform } from '../../../platform/platform.ts'
import type { DomainEventHandler } from '../../../platform/events/domain-events.ts'
import { mailOwners } from './owner-mail.ts'

export const mailOfDisabledEndpoint =
  (platform: Platform): DomainEventHandler<'endpoint_disabled'> =>
  async (tx, disabled) => {
    const api = `${platform.settings.base_url}/v1/webhook_endpoints`
    for (const { account_id, mode, endpoint_id, url, events, failures } of disabled) {
      const subject = `A webhook endpoint was disabled: ${new URL(url).host}`
      const body = [
        `The webhook endpoint ${endpoint_id} (${mode} mode) failed ${failures} times in a row and was disabled.`,
        '',
        `URL: ${url}`,
        `Events: ${events.join(', ')}`,
        '',
        'Nothing more is sent to it. Events that happen while it is disabled are not sent later; read them with GET /v1/events.',
        `To enable it again: PATCH ${api}/${endpoint_id} with {"status": "active"}.`,
        `Its latest deliveries and their errors: GET ${api}/${endpoint_id}/deliveries.`,
        '',
      ].join('\n')
      await mailOwners(tx, platform, { account_id, subject, body })
    }
  }
