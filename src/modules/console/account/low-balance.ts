/** The e-mail that tells owners that the wallet runs low, beside the event `balance.low` (behaviour: console-records 2.3). */
import type { Platform } from '../../../platform/platform.ts'
import type { DomainEventHandler } from '../../../platform/events/domain-events.ts'
import { mailOwners } from './owner-mail.ts'

const dollars = (micros: number): string => `USD ${(micros / 1_000_000).toFixed(2)}`

export const mailOfLowBalance =
  (platform: Platform): DomainEventHandler<'balance_low'> =>
  async (tx, events) => {
    for (const { account_id, balance_micros, low_balance_micros } of events) {
      const subject = `The balance is low: ${dollars(balance_micros)}`
      const body = [
        `The wallet of your account has ${dollars(balance_micros)} left, which is less than the ${dollars(low_balance_micros)} below which you asked to be told.`,
        'Messages are refused when nothing is left.',
        '',
        `Top it up: ${platform.settings.base_url}/console/${account_id}/live/billing`,
        '',
      ].join('\n')
      await mailOwners(tx, platform, { account_id, subject, body })
    }
  }
