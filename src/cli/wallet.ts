/** `posthorn wallet …`: the prepaid money of an account. */
import type { Command } from 'commander'
import type { App } from '../app.ts'
import { positiveNumber } from './arguments.ts'
import type { Register } from './program.ts'

type Balance = Awaited<ReturnType<App['services']['billing']['liveBalance']>>

interface CreditOptions {
  account: string
  amountMicros: number
  note?: string
}

/** Micro-USD as dollars, without rounding. */
export const dollars = (micros: number): string =>
  `${Math.trunc(micros / 1_000_000)}.${String(micros % 1_000_000)
    .padStart(6, '0')
    .replace(/0{1,4}$/, '')} USD`

const line = (balance: Balance): string =>
  `${dollars(balance.wallet_micros)} in the wallet, ${balance.credits_remaining} credits in packages`

export const registerWallet: Register = (program, cli) => {
  const wallet = program.command('wallet').description('put money into the wallet of an account, and look at it')

  wallet
    .command('credit')
    .description('put money into a wallet')
    .requiredOption('--account <account>', 'its id')
    .requiredOption('--amount-micros <amount>', 'in micro-USD: 1 USD is 1000000', positiveNumber)
    .option('--note <text>', 'shown with the transaction')
    .action(async (options: CreditOptions, command: Command) => {
      const { account: account_id, amountMicros: amount_micros, note = null } = options
      const balance = await cli.withApp(({ services: { billing, operators } }) =>
        operators.byCommand(
          { command: 'wallet credit', action: 'wallet.credit' },
          (tx) => billing.creditWallet(tx, account_id, amount_micros, note),
          () => ({ account_id, object_id: account_id, changes: { amount_micros, note } }),
        ),
      )
      cli.print(command, {
        json: { account_id: options.account, ...balance },
        text: `${dollars(options.amountMicros)} put in: now ${line(balance)}.`,
      })
    })

  wallet
    .command('show')
    .description('show the balance of an account')
    .requiredOption('--account <account>', 'its id')
    .action(async (options: { account: string }, command: Command) => {
      const shown = await cli.withApp(async ({ platform, services: { billing } }) => ({
        balance: await billing.liveBalance(platform.pool, options.account),
        low_balance_micros: await billing.lowBalance(platform.pool, options.account),
      }))
      const text = `${line(shown.balance)}; balance.low below ${dollars(shown.low_balance_micros)}.`
      cli.print(command, {
        json: { account_id: options.account, ...shown.balance, low_balance_micros: shown.low_balance_micros },
        text,
      })
    })
}
