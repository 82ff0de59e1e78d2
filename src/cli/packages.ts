/** `posthorn packages …`: prepaid message credits of an account. */
import type { Command } from 'commander'
import type { App } from '../app.ts'
import { printable } from '../lib/printable.ts'
import { positiveNumber, someWords, time } from './arguments.ts'
import type { Register } from './program.ts'

type Package = Awaited<ReturnType<App['services']['billing']['grantPackage']>>

interface GrantOptions {
  account: string
  credits: number
  channelTypes?: string[]
  expiresAt?: string
  name?: string
}

function line(one: Package): string {
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
    .option('--channel-types <types>', 'comma-separated; all where left out', someWords)
    .option('--expires-at <time>', 'what is left then is written off; never where left out', time)
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
      cli.print(command, { json: { account_id, ...granted }, text: line(granted) })
    })

  packages
    .command('list')
    .description('list the packages of an account in the order of their use; ended ones stay for 30 days')
    .requiredOption('--account <account>', 'its id')
    .action(async (options: { account: string }, command: Command) => {
      const { packages: listed } = await cli.withApp((app) =>
        app.services.billing.liveBalance(app.platform.pool, options.account),
      )
      cli.print(command, {
        json: listed,
        text: listed.length === 0 ? 'The account has no packages.' : listed.map(line).join('\n'),
      })
    })
}
