/** E-mail to the owners of an account about a low balance or a disabled webhook endpoint. */
import type { Db } from '../../../platform/database/sql.ts'
import type { DomainEventHandler } from '../../../platform/events/domain-events.ts'
import type { Platform } from '../../../platform/platform.ts'
import { type NewEmail, enqueueEmail } from '../../mail/service.ts'
import { ownersOf } from '../people/repository.ts'

/** Without owners, to the address that the operator set. */
async function mailOwners(
  tx: Db,
  platform: Platform,
  email: NewEmail & { readonly account_id: string },
): Promise<void> {
  const owners = await ownersOf(tx, email.account_id)
  if (owners.length === 0) await enqueueEmail(tx, platform, email)
  for (const recipient of owners) await enqueueEmail(tx, platform, { ...email, recipient })
}

const dollars = (micros: number): string => `USD ${(micros / 1_000_000).toFixed(2)}`

/** (behaviour: console-records 2.3) */
export const mailOfLowBalance =
  (platform: Platform): DomainEventHandler<'balance_low'> =>
  async (tx, events) => {
    for (const { account_id, balance_micros, low_balance_micros } of events) {
      const subject = `The balance is low: ${dollars(balance_micros)}`
      const body = [
        `The wallet of your account has ${dollars(balance_micros)} left, which is less than your warning threshold of ${dollars(low_balance_micros)}.`,
        'Messages are refused when nothing is left.',
        '',
        `Top it up: ${platform.settings.base_url}/console/${account_id}/live/billing`,
        '',
      ].join('\n')
      await mailOwners(tx, platform, { account_id, subject, body })
    }
  }

/** (behaviour: webhooks 5.2) */
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
