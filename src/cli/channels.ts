/** `posthorn channels …` (behaviour: command-line 6). */
import { readFile } from 'node:fs/promises'
import type { Command } from 'commander'
import type { App } from '../app.ts'
import type { Tenant } from '../api/caller.ts'
import { Problem } from '../api/problem.ts'
import type { Channel, ConnectedChannel } from '../api/resources/channel.ts'
import type { Provider } from '../providers/provider.ts'
import { printable } from '../lib/text.ts'
import { OperatorError, UsageError } from '../lib/operator-error.ts'
import { accountOf } from './arguments.ts'
import type { Cli, Register } from './program.ts'
import type { Terminal } from './terminal.ts'
import { sendTestMessage, type TestMessage } from './test-message.ts'
import type { TSchema } from 'typebox'

interface ConnectOptions extends Given {
  account?: string
  testTo?: string
}

const line = (channel: Channel): string =>
  `${channel.id}  ${channel.type.padEnd(8)}  ${channel.provider.padEnd(14)}  ${(channel.status === 'disabled' ? channel.status : channel.connection_status).padEnd(12)}  ${printable(`${channel.identifier}  ${channel.name}`)}`

export const registerChannels: Register = (program, cli) => {
  const channels = program.command('channels').description('connect and list senders')

  channels
    .command('connect')
    .description('connect a sender: prompts for its credentials, or reads them from a file')
    .option('--provider <provider>', 'the provider; `channels providers` lists them')
    .option('--type <type>', 'the kind of channel, where the provider has several')
    .option('--file <path>', 'a JSON file with the credentials, or with the body of POST /v1/channels')
    .option('--name <name>', 'display name; default: the name of the provider')
    .option('--identifier <sender>', 'the number or name that recipients see, where the provider does not report it')
    .option('--account <account>', 'the id of its account; optional if there is only one')
    .option('--test-to <recipient>', 'send a test message to this recipient, and follow it')
    .action((options: ConnectOptions, command: Command) => connect(cli, options, command))

  channels
    .command('list')
    .description('list the senders of an account')
    .option('--account <account>', 'its id; optional if there is only one')
    .action(async (options: { account?: string }, command: Command) => {
      const { rows, pauses } = await cli.withApp(async (app) => {
        const tenant = await tenantOf(app, options.account)
        return {
          rows: await listChannels(app, tenant),
          pauses: await app.services.messages.pauses(app.platform.pool, tenant),
        }
      })
      const paused = new Map(pauses.map((pause) => [pause.channel_id, pause]))
      const lines = rows.map((row) => `${line(row)}${pauseText(paused.get(row.id))}`)
      cli.print(command, {
        json: rows.map((row) => ({ ...row, throttled: pauseObject(paused.get(row.id)) })),
        text:
          rows.length === 0
            ? 'The account has no channels. Connect one with `posthorn channels connect`.'
            : lines.join('\n'),
      })
    })

  channels
    .command('providers')
    .description('list the providers, and the fields that each needs')
    .action(async (_options: unknown, command: Command) => {
      const offered = await cli.withApp(async (app) =>
        app.services.channels.offered().map((provider) => described(app, provider)),
      )
      cli.print(command, { json: offered.map(({ json }) => json), text: offered.map(({ text }) => text).join('\n\n') })
    })
}

async function connect(cli: Cli, options: ConnectOptions, command: Command): Promise<void> {
  const json = command.optsWithGlobals()['json'] === true
  const say = (text: string) => (json ? cli.terminal.err : cli.terminal.out)(`${text}\n`)
  const test = await cli.withApp(async (app) => {
    const tenant = await tenantOf(app, options.account)
    const creation = await creationOf(options, app.services.channels.offered(), cli.terminal.ask)
    const channel = await app.services.channels
      .create(app.platform.pool, tenant, creation, async () => undefined)
      .catch(everyFailure)
    const guide = guideUrl(app, app.services.channels.offered().find(({ name }) => name === channel.provider)?.guide)
    const { channels } = app.services
    const hasSession = channels.needsSession(await channels.get(tenant, channel.id))
    if (!json) say(connectedText(channel, guide, hasSession))
    if (options.testTo === undefined) return { channel, guide, test: null }
    const sent = await sendTestMessage(app, tenant, channel, options.testTo, (seen) => say(`  test message: ${seen}`))
    return { channel, guide, test: sent }
  })
  if (json) cli.print(command, { json: { ...test.channel, guide: test.guide, test_message: test.test }, text: '' })
  if (test.test === null) return
  if (test.test.error === null) {
    if (!json) say(testText(test.test))
    return
  }
  cli.terminal.err(`${testText(test.test)}\n`)
  cli.exit(1)
}

function everyFailure(error: unknown): never {
  if (error instanceof Problem && (error.details?.length ?? 0) > 1)
    throw new OperatorError(
      [
        'The channel cannot be connected. Correct these fields:',
        ...error.details!.map(({ message }) => `  ${message}`),
      ].join('\n'),
    )
  throw error
}

const tenantOf = async (app: App, account: string | undefined): Promise<Tenant> => ({
  account_id: await accountOf(app, account),
  mode: 'live',
})

async function listChannels(app: App, tenant: Tenant): Promise<Channel[]> {
  const rows: Channel[] = []
  for (;;) {
    const page = await app.services.channels.list(app.platform.pool, tenant, {
      limit: 100,
      starting_after: rows.at(-1)?.id,
    })
    rows.push(...page.slice(0, 100))
    if (page.length <= 100) return rows
  }
}

type Pause = Awaited<ReturnType<App['services']['messages']['pauses']>>[number]

const pauseObject = (pause: Pause | undefined) =>
  pause === undefined ? null : { since: pause.paused_at, next_try_at: pause.paused_until, times: pause.times }

const pauseText = (pause: Pause | undefined): string =>
  pause === undefined
    ? ''
    : `\n  throttled by its provider since ${pause.paused_at}, ${pause.times} times in a row; its messages wait, and one goes at ${pause.paused_until}`

const guideUrl = (app: App, guide: string | undefined): string | null =>
  guide === undefined ? null : `${app.platform.settings.base_url}/docs/guides/${guide}`

function connectedText(channel: ConnectedChannel, guide: string | null, hasSession: boolean): string {
  const { verify_token } = channel
  return [
    line(channel),
    '',
    `  webhook_url   ${channel.webhook_url}`,
    ...(verify_token === undefined
      ? []
      : [`  verify_token  ${verify_token}`, '', 'Store the verify_token now: it is not shown again.']),
    '',
    hasSession
      ? 'Next: run `posthorn serve`, if it is not running yet. It opens a session with the provider, and nothing has to be configured there.'
      : `Next: enter webhook_url at the provider, unless that is done already${guide === null ? '.' : ` (${guide}).`}`,
    `Send:  POST /v1/messages {"channel": "${channel.id}", "to": "…", "type": "text", "text": {"body": "Hello"}}`,
  ].join('\n')
}

const testText = ({ status, error, next }: TestMessage): string =>
  [
    error === null
      ? `The test message is ${status}.`
      : `The test message ${status === null ? 'was refused' : 'failed'}: ${error.message}`,
    next,
  ].join(' ')

const described = (app: App, provider: Provider) => ({
  json: providerObject(app, provider),
  text: providerText(provider),
})

const providerObject = (app: App, provider: Provider) => ({
  object: 'provider',
  name: provider.name,
  title: provider.title,
  about: provider.about,
  types: provider.types,
  identifier: provider.identifier,
  credentials: provider.credentials,
  settings: provider.settings ?? null,
  limits: provider.limits ?? [],
  guide: guideUrl(app, provider.guide),
})

function providerText(provider: Provider): string {
  const required = new Set(provider.credentials.required)
  const fields = Object.entries(provider.credentials.properties).map(([name, schema]) => {
    const { title, description } = schema as { title?: string; description?: string }
    const marks = [required.has(name) ? [] : ['optional'], isSecret(schema) ? ['secret'] : []].flat()
    return `    ${name}${marks.length === 0 ? '' : ` (${marks.join(', ')})`}: ${[title, description].filter((part) => part !== undefined).join('. ')}`
  })
  return [`${provider.name}  ${provider.types.join(', ')}  ${provider.about}`, ...fields].join('\n')
}

export interface Given {
  readonly provider?: string
  readonly type?: string
  readonly name?: string
  readonly identifier?: string
  /** JSON: the credentials, or the whole body of `POST /v1/channels`. */
  readonly file?: string
}

export interface Creation {
  type: string
  provider: string
  name: string
  identifier?: string
  credentials: Record<string, unknown>
  settings?: Record<string, unknown>
}

type Fields = Record<string, unknown>

/** Options win over the file. Throws an OperatorError for missing fields without a terminal. */
async function creationOf(given: Given, offered: readonly Provider[], ask: Terminal['ask']): Promise<Creation> {
  const file = given.file === undefined ? {} : await readCreation(given.file)
  const interactive = given.file === undefined ? ask : undefined
  const provider = await providerOf(given.provider ?? textOf(file, 'provider'), offered, interactive)
  const type = await typeOf(given.type ?? textOf(file, 'type'), provider, interactive)
  const known = given.identifier ?? textOf(file, 'identifier')
  const identifier = known ?? (await identifierOf(provider, interactive))
  const name =
    given.name ??
    textOf(file, 'name') ??
    (await interactive?.({ text: `Name of the channel [${provider.title}]: `, hidden: false }))?.trim()
  const credentials = (file['credentials'] as Fields | undefined) ?? (await promptForCredentials(provider, interactive))
  const settings = file['settings'] as Fields | undefined
  return {
    type,
    provider: provider.name,
    name: name === undefined || name === '' ? provider.title : name,
    ...(identifier === undefined || identifier === '' ? {} : { identifier }),
    credentials,
    ...(settings === undefined ? {} : { settings }),
  }
}

async function readCreation(path: string): Promise<Fields> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new OperatorError(`${path} cannot be read: ${error.code ?? error.message}.`)
  })
  const refused = new OperatorError(
    `${path} does not contain a JSON object. It must contain the credentials that \`posthorn channels providers\` lists, such as {"token": "…"}.`,
  )
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    throw refused // the parser's message would show a part of the file
  }
  if (!isFields(parsed)) throw refused
  if (!('credentials' in parsed)) return { credentials: parsed }
  if (!isFields(parsed['credentials']) || !isFields(parsed['settings'] ?? {}))
    throw new OperatorError(`\`credentials\` and \`settings\` in ${path} are to be JSON objects.`)
  return parsed
}

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const textOf = (fields: Fields, name: string): string | undefined =>
  typeof fields[name] === 'string' ? fields[name] : undefined

async function providerOf(
  name: string | undefined,
  offered: readonly Provider[],
  ask: Terminal['ask'],
): Promise<Provider> {
  const names = offered.map((provider) => provider.name).join(', ')
  if (offered.length === 0) throw new OperatorError('This version has no providers.')
  const chosen = name ?? (await ask?.({ text: `Provider (${names}): `, hidden: false }))?.trim()
  if (chosen === undefined) throw new UsageError(`The provider is missing. Add --provider with one of ${names}.`)
  const provider = offered.find((one) => one.name === chosen)
  if (provider === undefined)
    throw new UsageError(`Unknown provider ${JSON.stringify(chosen.slice(0, 40))}. Use one of ${names}.`)
  return provider
}

async function typeOf(type: string | undefined, provider: Provider, ask: Terminal['ask']): Promise<string> {
  if (type !== undefined) return type
  if (provider.types.length === 1) return provider.types[0]!
  const chosen = (await ask?.({ text: `Kind of channel (${provider.types.join(', ')}): `, hidden: false }))?.trim()
  if (chosen === undefined || chosen === '')
    throw new UsageError(`The channel type is missing. Add --type ${provider.types.join('|')}.`)
  return chosen
}

async function identifierOf({ identifier, title }: Provider, ask: Terminal['ask']): Promise<string | undefined> {
  const text =
    identifier === 'required'
      ? 'Sender (the number or name that recipients see): '
      : `Sender (leave empty: ${title} reports it): `
  return (await ask?.({ text, hidden: false }))?.trim()
}

async function promptForCredentials(provider: Provider, ask: Terminal['ask']): Promise<Fields> {
  if (ask === undefined)
    throw new UsageError('The credentials are missing. Add --file credentials.json, or run the command on a terminal.')
  const required = new Set(provider.credentials.required)
  const credentials: Fields = {}
  for (const [name, schema] of Object.entries(provider.credentials.properties)) {
    const answer = (
      await ask({
        text: `\n${helpOf(name, schema)}\n${name}${required.has(name) ? '' : ' (optional)'}: `,
        hidden: isSecret(schema),
      })
    ).trim()
    if (answer !== '') credentials[name] = valueOf(schema, answer)
  }
  return credentials
}

const isSecret = (schema: TSchema): boolean => (schema as { format?: string }).format === 'password'

function helpOf(name: string, schema: TSchema): string {
  const { title, description } = schema as { title?: string; description?: string }
  return [title ?? name, description].filter((part) => part !== undefined).join(': ')
}

/** Invalid answers are left for the check of all fields. */
function valueOf(schema: TSchema, answer: string): unknown {
  const { type } = schema as { type?: string }
  if (type === 'boolean')
    return /^(y|yes|true|1)$/i.test(answer) ? true : /^(n|no|false|0)$/i.test(answer) ? false : answer
  if (type === 'integer' || type === 'number') return Number.isFinite(Number(answer)) ? Number(answer) : answer
  return answer
}
