/** `posthorn users …`. Passwords are set by a link, never here. */
import type { Command } from 'commander'
import type { App } from '../app.ts'
import { OperatorError } from '../lib/operator-error.ts'
import { printable } from '../lib/text.ts'
import { accountOf, oneOfWords } from './arguments.ts'
import type { Register } from './program.ts'

type Linked = Awaited<ReturnType<App['services']['operators']['people']['create']>>
type Role = NonNullable<Parameters<App['services']['operators']['people']['create']>[0]['membership']>['role']

const roleNames: readonly Role[] = ['owner', 'admin', 'developer', 'marketer', 'agent', 'finance', 'viewer']

interface CreateOptions {
  email: string
  name: string
  account?: string
  role?: Role
  admin?: boolean
}

const printed = ({ user, link }: Linked, before: string) => ({
  json: {
    id: user.id,
    object: 'user',
    email: user.email,
    name: user.name,
    admin: user.admin,
    two_factor: user.two_factor,
    link,
  },
  text: `${user.id}  ${printable(user.email)}  ${printable(user.name)}\n\n${before}\n\n  ${link}\n\nThe link works once, within an hour.`,
})

export const registerUsers: Register = (program, cli) => {
  const users = program.command('users').description('manage the people who sign in to the console')

  users
    .command('create')
    .description('create a user and print a link to choose their password')
    .requiredOption('--email <email>', 'their sign-in address')
    .requiredOption('--name <name>', 'their name')
    .option('--account <account>', 'the id of their account')
    .option('--role <role>', `what they may do there: ${roleNames.join(', ')}`, oneOfWords(roleNames))
    .option('--admin', 'make them a platform administrator')
    .action(async ({ email, name, account, role, admin }: CreateOptions, command: Command) => {
      if (account !== undefined && role === undefined)
        throw new OperatorError('The role in the account is missing. Add --role.')
      const made = await cli.withApp(async (app) =>
        app.services.operators.people.create({
          email,
          name,
          admin: admin === true,
          membership: role === undefined ? null : { account_id: await accountOf(app, account), role },
        }),
      )
      cli.print(command, printed(made, 'They choose a password here:'))
    })

  users
    .command('reset-password')
    .description('print a link to choose a new password')
    .requiredOption('--email <email>', 'their sign-in address')
    .action(async ({ email }: { email: string }, command: Command) => {
      cli.print(
        command,
        printed(
          await cli.withApp((app) => app.services.operators.people.resetPassword(email)),
          'They choose a new password here:',
        ),
      )
    })

  users
    .command('verify-email')
    .description('print a link that confirms a new e-mail address, where no mail server sends it')
    .requiredOption('--email <email>', 'their sign-in address, or the new one')
    .action(async ({ email }: { email: string }, command: Command) => {
      const { user, link } = await cli.withApp((app) => app.services.operators.people.verifyEmail(email))
      const next = user.pending_email ?? ''
      const { json } = printed({ user, link }, '')
      cli.print(command, {
        json: { ...json, pending_email: next },
        text: `${user.id}  ${printable(user.email)}  ${printable(user.name)}\n\nOnly the owner of ${printable(next)} may open this link. It makes it their sign-in address:\n\n  ${link}\n\nThe link works once, within a day.`,
      })
    })

  users
    .command('reset-two-factor')
    .description(
      'take away the second factor of somebody who has lost it, end their sessions, and print a link to choose a new password',
    )
    .requiredOption('--email <email>', 'their sign-in address')
    .action(async ({ email }: { email: string }, command: Command) => {
      const made = await cli.withApp((app) => app.services.operators.people.resetTwoFactor(email))
      cli.print(command, printed(made, 'Two-factor sign-in is off for them. They choose a new password here:'))
    })
}
