/** `posthorn keys …`: API keys. A key's text is shown only when it is created. */
import { InvalidArgumentError, type Command } from 'commander'
import type { App } from '../app.ts'
import type { Mode } from '../api/caller.ts'
import { scopes as allScopes, type Scope } from '../api/scopes.ts'
import { systemClock } from '../lib/clock.ts'
import { printable } from '../lib/text.ts'
import { oneOfWords, nonEmptyWords, time } from './arguments.ts'
import type { Register } from './program.ts'

type Key = Awaited<ReturnType<App['services']['accounts']['listKeys']>>[number]

const shown = (key: Key) => ({
  id: key.id,
  object: 'api_key',
  account_id: key.account_id,
  mode: key.mode,
  name: key.name,
  prefix: `svc_${key.mode}_`,
  last_four: key.last_four,
  scopes: key.scopes,
  ip_allowlist: key.ip_allowlist,
  expires_at: key.expires_at,
  revoked_at: key.revoked_at,
  created_at: key.created_at,
})

const stateOf = (key: Key, now_ms: number): string =>
  key.revoked_at !== null
    ? 'revoked'
    : key.expires_at !== null && Date.parse(key.expires_at) <= now_ms
      ? 'expired'
      : 'usable '
const line = (key: Key, now_ms: number): string =>
  `${key.id}  svc_${key.mode}_…${key.last_four}  ${stateOf(key, now_ms)}  ${printable(key.name ?? '')}`

function scopeList(text: string): Scope[] {
  const named = nonEmptyWords(text)
  if (named.includes('all')) return [...allScopes]
  return named.map((word) => {
    const scope = allScopes.find((known) => known === word)
    if (scope === undefined) throw new InvalidArgumentError(`Unknown scope ${word}. Use all, ${allScopes.join(', ')}.`)
    return scope
  })
}

interface CreateOptions {
  account: string
  mode: Mode
  name?: string
  scopes?: Scope[]
  expiresAt?: string
  ipAllowlist?: string[]
}

export const registerKeys: Register = (program, cli) => {
  const clock = systemClock()
  const keys = program.command('keys').description('create, list and revoke API keys')

  keys
    .command('create')
    .description('create an API key and show it once')
    .requiredOption('--account <account>', 'the id of its account')
    .requiredOption('--mode <mode>', 'live or test', oneOfWords(['live', 'test']))
    .option('--name <name>', 'what it is for')
    .option('--scopes <scopes>', 'comma-separated, or all (the default)', scopeList)
    .option('--expires-at <time>', 'when it expires', time)
    .option('--ip-allowlist <addresses>', 'comma-separated addresses and CIDR ranges that may use it', nonEmptyWords)
    .action(async (options: CreateOptions, command: Command) => {
      const wanted = {
        account_id: options.account,
        mode: options.mode,
        ...(options.name === undefined ? {} : { name: options.name }),
        ...(options.scopes === undefined ? {} : { scopes: options.scopes }),
        ...(options.expiresAt === undefined ? {} : { expires_at: options.expiresAt }),
        ...(options.ipAllowlist === undefined ? {} : { ip_allowlist: options.ipAllowlist }),
      }
      const created = await cli.withApp(({ services: { accounts, operators } }) =>
        operators.byCommand(
          { command: 'keys create', action: 'api_keys.create' },
          (tx) => accounts.createKey(wanted, tx),
          ({ account_id, id, name, mode, scopes }) => ({ account_id, object_id: id, changes: { name, mode, scopes } }),
        ),
      )
      cli.print(command, {
        json: { ...shown(created), key: created.key },
        text: `${line(created, clock.now())}\n\n  ${created.key}\n\nStore it now: it is not shown again.`,
      })
    })

  keys
    .command('list')
    .description('list the keys of an account')
    .requiredOption('--account <account>', 'its id')
    .action(async (options: { account: string }, command: Command) => {
      const rows = await cli.withApp((app) => app.services.accounts.listKeys(options.account))
      cli.print(command, {
        json: rows.map(shown),
        text: rows.length === 0 ? 'The account has no keys.' : rows.map((row) => line(row, clock.now())).join('\n'),
      })
    })

  keys
    .command('revoke')
    .description('revoke a key')
    .argument('<key>', 'its id')
    .action(async (id: string, _options: unknown, command: Command) => {
      const row = await cli.withApp(({ services: { accounts, operators } }) =>
        operators.byCommand(
          { command: 'keys revoke', action: 'api_keys.revoke' },
          (tx) => accounts.revokeKey(id, tx),
          ({ account_id }) => ({ account_id, object_id: id, changes: {} }),
        ),
      )
      cli.print(command, { json: shown(row), text: line(row, clock.now()) })
    })
}
