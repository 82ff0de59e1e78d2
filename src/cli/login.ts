/** `posthorn login` and `logout` (behaviour: command-line 8). */
import type { Command } from 'commander'
import type { Account } from '../api/resources/account.ts'
import { printable } from '../lib/text.ts'
import { UsageError } from '../lib/operator-error.ts'
import { apiKey, baseUrlOf, isKey, keyOf, type AccessOptions, loginFile, removeLogin, writeLogin } from './access.ts'
import { httpUrl } from './arguments.ts'
import type { Register } from './program.ts'
import type { Terminal } from './terminal.ts'

export const registerLogin: Register = (program, cli) => {
  program
    .command('login')
    .description('store an API key for the commands that call the service')
    .option('--api-key <key>', 'the key; default: POSTHORN_API_KEY, otherwise a prompt', apiKey)
    .option('--base-url <url>', 'URL of the service; default: POSTHORN_BASE_URL, else http://HOST:PORT', httpUrl)
    .addHelpText('after', '\nExamples:\n  $ posthorn login\n  $ posthorn login --base-url https://messages.example.com')
    .action(async (options: AccessOptions, command: Command) => {
      const { env } = cli.terminal
      const base_url = await baseUrlOf(options, env)
      const access = { base_url, key: options.apiKey ?? keyOf(env) ?? (await promptForKey(cli.terminal, base_url)) }
      const { serviceApi } = await import('./service-api.ts')
      const account = await serviceApi(access).get<Account>('/v1/me')
      const file = loginFile(env)
      await writeLogin(file, access)
      cli.print(command, {
        json: {
          object: 'login',
          base_url,
          account_id: account.id,
          account_name: account.name,
          mode: account.mode,
          scopes: account.api_key.scopes,
          file,
        },
        text: `Logged in to ${printable(account.name)} (${account.id}) at ${base_url}, ${account.mode} mode. The key is stored in ${file}.`,
      })
    })

  program
    .command('logout')
    .description('delete the stored API key; it stays valid')
    .action(async (_options: unknown, command: Command) => {
      const file = loginFile(cli.terminal.env)
      const removed = await removeLogin(file)
      cli.print(command, {
        json: { object: 'logout', file, removed },
        text: removed ? `Logged out: ${file} was deleted.` : 'You were not logged in.',
      })
    })
}

async function promptForKey({ ask }: Terminal, base_url: string): Promise<string> {
  if (ask === undefined)
    throw new UsageError('An API key is required. Without a terminal, set POSTHORN_API_KEY or give --api-key.')
  const key = (await ask({ text: `API key for ${base_url}: `, hidden: true })).trim()
  if (!isKey(key)) throw new UsageError('This is not an API key. Enter a key such as svc_test_….')
  return key
}
