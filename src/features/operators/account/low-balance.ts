/** The e-mail that tells owners that the wallet runs low, beside the event `balance.low` (behaviour: console-records 2.3). */
import type { Platform } from '../../../platform/platform.ts'
import type { Reaction } from '../../../platform/reactions.ts'
import { writeEmail } from '../../mail/service.ts'
import { ownersOf } from '../people/store.ts'

const dollars = (micros: number): string => `USD ${(micros / 1_000_000).toFixed(2)}`

export const mailOwners =
  (platform: Platform): Reaction<'balance_low'> =>
  async (tx, facts) => {
    for (const { account_id, balance_micros, low_balance_micros } of facts) {
      const subject = `The balance is low: ${dollars(balance_micros)}`
      const body = [
        `The wallet of your account has ${dollars(balance_micros)} left, which is less than the ${dollars(low_balance_micros)} below which you asked to be told.`,
        'Messages are refused when nothing is left.',
        '',
        `Top it up: ${platform.settings.base_url}/console/${account_id}/live/billing`,
        '',
      ].join('\n')
      const owners = await ownersOf(tx, account_id)
      // an account of programs alone has the address that its operator gave it
      for (const recipient of owners.length === 0 ? [undefined] : owners)
        await writeEmail(tx, platform, { account_id, subject, body, ...(recipient === undefined ? {} : { recipient }) })
    }
  }
