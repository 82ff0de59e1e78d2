/** `posthorn prices …`: what a message costs, for everybody or for one account. */
import type { Command } from 'commander'
import type { App } from '../app.ts'
import { wholeNumber } from './arguments.ts'
import type { Register } from './program.ts'
import { dollars } from './wallet.ts'

type SetPrice = Awaited<ReturnType<App['services']['billing']['prices']['setPrice']>>

interface SetOptions {
  channelType: string
  amountMicros: number
  account?: string
}

const line = (price: SetPrice): string =>
  `${price.channel_type.padEnd(10)}  ${dollars(price.amount_micros)} a message, ${price.account_id ?? 'every account without a price of its own'}`
const json = (price: SetPrice) => ({ object: 'price', ...price, unit: 'message', currency: 'USD' })

export const registerPrices: Register = (program, cli) => {
  const prices = program.command('prices').description('set and list what a message costs')

  prices
    .command('set')
    .description('set the price of a message; in force within five seconds')
    .requiredOption('--channel-type <type>', 'whatsapp, sms or telegram')
    .requiredOption('--amount-micros <amount>', 'in micro-USD: 1 USD is 1000000; 0 is free', wholeNumber)
    .option('--account <account>', 'for this account alone; for all others where left out')
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
      cli.print(command, { json: json(price), text: line(price) })
    })

  prices
    .command('list')
    .description('list the prices: all that there are, or those that one account pays')
    .option('--account <account>', 'its id')
    .action(async (options: { account?: string }, command: Command) => {
      const listed = await cli.withApp((app) =>
        app.services.billing.prices.listPrices(app.platform.pool, options.account),
      )
      cli.print(command, { json: listed.map(json), text: listed.map(line).join('\n') })
    })
}
