/** `posthorn wallet …`, `packages …` and `prices …`. */
import type { Command } from 'commander'
import type { App } from '../app.ts'
import { positiveNumber, nonEmptyWords, time, wholeNumber } from './arguments.ts'
import type { Register } from './program.ts'
import { printable } from '../lib/text.ts'

type Balance = Awaited<ReturnType<App['services']['billing']['liveBalance']>>

interface CreditOptions {
  account: string
  amountMicros: number
  note?: string
}

/** Micro-USD, without rounding. */
export const dollars = (micros: number): string =>
  `${Math.trunc(micros / 1_000_000)}.${String(micros % 1_000_000)
    .padStart(6, '0')
    .replace(/0{1,4}$/, '')} USD`

const balanceText = (balance: Balance): string =>
  `${dollars(balance.wallet_micros)} in the wallet, ${balance.credits_remaining} credits in packages`

export const registerWallet: Register = (program, cli) => {
  const wallet = program.command('wallet').description('credit the wallet of an account, and show it')

  wallet
    .command('credit')
    .description('credit a wallet')
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
        text: `${dollars(options.amountMicros)} credited. New balance: ${balanceText(balance)}.`,
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
      const text = `${balanceText(shown.balance)}; balance.low below ${dollars(shown.low_balance_micros)}.`
      cli.print(command, {
        json: { account_id: options.account, ...shown.balance, low_balance_micros: shown.low_balance_micros },
        text,
      })
    })
}

type Package = Awaited<ReturnType<App['services']['billing']['grantPackage']>>

interface GrantOptions {
  account: string
  credits: number
  channelTypes?: string[]
  expiresAt?: string
  name?: string
}

function packageText(one: Package): string {
  const kinds = one.channel_types.length === 0 ? 'every channel' : one.channel_types.join(', ')
  const end = one.expires_at === null ? 'never expires' : `expires ${one.expires_at}`
  return `${one.id}  ${one.status.padEnd(9)}  ${one.credits_remaining} of ${one.credits_total} credits for ${kinds}, ${end}  ${printable(one.name)}`.trimEnd()
}

export const registerPackages: Register = (program, cli) => {
  const packages = program.command('packages').description('grant message credits to an account, and list them')

  packages
    .command('grant')
    .description('grant a package of credits; each pays for one message')
    .requiredOption('--account <account>', 'its id')
    .requiredOption('--credits <number>', 'how many messages it pays for', positiveNumber)
    .option('--channel-types <types>', 'comma-separated; default: all', nonEmptyWords)
    .option('--expires-at <time>', 'when unused credits expire; default: never', time)
    .option('--name <name>', 'what it is called')
    .action(async (options: GrantOptions, command: Command) => {
      const {
        account: account_id,
        credits,
        channelTypes: channel_types = [],
        expiresAt: expires_at = null,
        name = `${options.credits} messages`,
      } = options
      const wanted = { credits, channel_types, expires_at, name }
      const granted = await cli.withApp(({ services: { billing, operators } }) =>
        operators.byCommand(
          { command: 'packages grant', action: 'packages.grant' },
          (tx) => billing.grantPackage(tx, { account_id, ...wanted }),
          ({ id }) => ({ account_id, object_id: id, changes: wanted }),
        ),
      )
      cli.print(command, { json: { account_id, ...granted }, text: packageText(granted) })
    })

  packages
    .command('list')
    .description(
      'list the packages of an account in the order in which they are used; ended ones are listed for 30 days',
    )
    .requiredOption('--account <account>', 'its id')
    .action(async (options: { account: string }, command: Command) => {
      const { packages: listed } = await cli.withApp((app) =>
        app.services.billing.liveBalance(app.platform.pool, options.account),
      )
      cli.print(command, {
        json: listed,
        text: listed.length === 0 ? 'The account has no packages.' : listed.map(packageText).join('\n'),
      })
    })
}

type SetPrice = Awaited<ReturnType<App['services']['billing']['prices']['setPrice']>>

interface SetOptions {
  channelType: string
  amountMicros: number
  account?: string
}

const priceText = (price: SetPrice): string =>
  `${price.channel_type.padEnd(10)}  ${dollars(price.amount_micros)} a message, ${price.account_id ?? 'default'}`
const priceObject = (price: SetPrice) => ({ object: 'price', ...price, unit: 'message', currency: 'USD' })

export const registerPrices: Register = (program, cli) => {
  const prices = program.command('prices').description('set and list what a message costs')

  prices
    .command('set')
    .description('set the price of a message; it applies within five seconds')
    .requiredOption('--channel-type <type>', 'whatsapp, sms or telegram')
    .requiredOption('--amount-micros <amount>', 'in micro-USD: 1 USD is 1000000; 0 is free', wholeNumber)
    .option('--account <account>', 'for this account only; default: all accounts without a price of their own')
    .action(async (options: SetOptions, command: Command) => {
      const { account = null, channelType: channel_type, amountMicros: amount_micros } = options
      const price = await cli.withApp(({ services: { billing, operators } }) =>
        operators.byCommand(
          { command: 'prices set', action: 'prices.set' },
          (tx) => billing.prices.setPrice(tx, account, channel_type, amount_micros),
          () =>
            account === null
              ? null
              : { account_id: account, object_id: account, changes: { channel_type, amount_micros } },
        ),
      )
      cli.print(command, { json: priceObject(price), text: priceText(price) })
    })

  prices
    .command('list')
    .description('list all prices, or those of one account')
    .option('--account <account>', 'its id')
    .action(async (options: { account?: string }, command: Command) => {
      const listed = await cli.withApp((app) =>
        app.services.billing.prices.listPrices(app.platform.pool, options.account),
      )
      cli.print(command, { json: listed.map(priceObject), text: listed.map(priceText).join('\n') })
    })
}
