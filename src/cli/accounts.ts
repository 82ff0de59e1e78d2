/** `posthorn accounts …`. */
import type { Command } from 'commander'
import type { App } from '../app.ts'
import { printable } from '../lib/text.ts'
import type { Cli, Register } from './program.ts'
import { wholeNumber } from './arguments.ts'

type Account = Awaited<ReturnType<App['services']['accounts']['list']>>[number]

interface UpdateOptions {
  name?: string
  timezone?: string
  lowBalanceMicros?: number
  ownerEmail?: string
  defaultCountry?: string
}

const countryOption = [
  '--default-country <country>',
  'country of national phone numbers, such as DE: errors then suggest the number in E.164 form',
] as const

const line = (account: Account): string =>
  `${account.id}  ${account.suspended_at === null ? 'active   ' : 'suspended'}  ${printable(account.name)}${account.default_country === null ? '' : `  ${account.default_country}`}`

export const registerAccounts: Register = (program, cli) => {
  const accounts = program.command('accounts').description('create, list and change accounts')

  accounts
    .command('create')
    .description('create an account')
    .requiredOption('--name <name>', 'its name')
    .option('--owner-email <address>', 'address for notices to the owner')
    .option(...countryOption)
    .action(async ({ name, ownerEmail, defaultCountry }: UpdateOptions & { name: string }, command: Command) => {
      const account = await cli.withApp((app) =>
        createAccount(app, { name, owner_email: ownerEmail ?? null, default_country: defaultCountry ?? null }),
      )
      cli.print(command, { json: account, text: line(account) })
    })

  accounts
    .command('list')
    .description('list every account')
    .action(async (_options: unknown, command: Command) => {
      const rows = await cli.withApp((app) => app.services.accounts.list())
      cli.print(command, {
        json: rows,
        text:
          rows.length === 0
            ? 'There are no accounts. Create one with `posthorn accounts create --name N`.'
            : rows.map(line).join('\n'),
      })
    })

  registerSuspension(accounts, cli)

  accounts
    .command('update')
    .description('change an account')
    .argument('<account>', 'its id')
    .option('--name <name>', 'its name')
    .option('--timezone <zone>', 'an IANA time zone name, such as Europe/Berlin')
    .option('--low-balance-micros <amount>', 'wallet balance below which balance.low is emitted', wholeNumber)
    .option('--owner-email <address>', 'address for notices to the owner')
    .option(...countryOption)
    .action(async (id: string, options: UpdateOptions, command: Command) => {
      const account = await cli.withApp((app) => updateAccount(app, id, options))
      cli.print(command, { json: account, text: line(account) })
    })

  registerTransfer(accounts, cli)
}

function registerSuspension(accounts: Command, cli: Cli): void {
  for (const [name, verb] of [
    ['suspend', 'suspend an account: all its keys are refused'],
    ['reinstate', 'reinstate a suspended account'],
  ] as const) {
    accounts
      .command(name)
      .description(verb)
      .argument('<account>', 'its id')
      .action(async (id: string, _options: unknown, command: Command) => {
        const account = await cli.withApp(({ services: { accounts: service, operators } }) =>
          operators.byCommand(
            { command: `accounts ${name}`, action: `account.${name}` },
            (tx) => service[name](id, tx),
            () => ({ account_id: id, object_id: id, changes: {} }),
          ),
        )
        cli.print(command, { json: account, text: line(account) })
      })
  }
}

function registerTransfer(accounts: Command, cli: Cli): void {
  accounts
    .command('export')
    .description('write one account to a file, for another installation with the same secret key')
    .argument('<account>', 'its id')
    .argument('<file>', 'path of the new file')
    .action(async (id: string, file: string, _options: unknown, command: Command) =>
      (await import('./account-transfer.ts')).exportAccount(cli, command, id, file),
    )

  accounts
    .command('import')
    .description('import an account that another installation exported')
    .argument('<file>', 'a file from `accounts export`')
    .action(async (file: string, _options: unknown, command: Command) =>
      (await import('./account-transfer.ts')).importAccount(cli, command, file),
    )
}

async function createAccount(
  { services: { accounts, operators } }: App,
  given: { name: string; owner_email: string | null; default_country: string | null },
): Promise<Account> {
  return await operators.byCommand(
    { command: 'accounts create', action: 'account.create' },
    (tx) => accounts.create(given, tx),
    ({ id }) => ({ account_id: id, object_id: id, changes: given }),
  )
}

async function updateAccount(
  app: App,
  id: string,
  options: UpdateOptions,
): Promise<Account & { low_balance_micros: number }> {
  const { accounts, billing, operators } = app.services
  const { lowBalanceMicros: low_balance_micros } = options
  const changes = {
    ...(options.name === undefined ? {} : { name: options.name }),
    ...(options.timezone === undefined ? {} : { timezone: options.timezone }),
    ...(options.ownerEmail === undefined ? {} : { owner_email: options.ownerEmail }),
    ...(options.defaultCountry === undefined ? {} : { default_country: options.defaultCountry }),
  }
  return await operators.byCommand(
    { command: 'accounts update', action: 'account.update' },
    async (tx) => {
      const account = await accounts.update(id, changes, tx)
      if (low_balance_micros !== undefined) await billing.setLowBalance(tx, id, low_balance_micros)
      return { ...account, low_balance_micros: await billing.lowBalance(tx, id) }
    },
    () => ({
      account_id: id,
      object_id: id,
      changes: { ...changes, ...(low_balance_micros === undefined ? {} : { low_balance_micros }) },
    }),
  )
}
