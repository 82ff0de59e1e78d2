/** What a channel is connected with: read from options and a file, and what is missing asked for by the provider's own description of its fields. */
import { readFile } from 'node:fs/promises'
import type { TSchema } from 'typebox'
import type { Provider } from '../providers/provider.ts'
import { OperatorError, UsageError } from '../lib/operator-error.ts'
import type { Terminal } from './program.ts'

export interface Given {
  readonly provider?: string
  readonly type?: string
  readonly name?: string
  readonly identifier?: string
  /** JSON: the credentials, or the body of `POST /v1/channels` as a whole. */
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

/** Options win over the file. Throws an OperatorError for what is missing where nobody can be asked. */
export async function creationOf(given: Given, offered: readonly Provider[], ask: Terminal['ask']): Promise<Creation> {
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
  const credentials = (file['credentials'] as Fields | undefined) ?? (await askedCredentials(provider, interactive))
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
    `${path} holds no JSON object. It is to hold the credentials, such as {"token": "…"}; \`posthorn channels providers\` lists them.`,
  )
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    throw refused // what the parser says would show a part of the file
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
  if (offered.length === 0) throw new OperatorError('This version connects no provider.')
  const chosen = name ?? (await ask?.({ text: `Provider (${names}): `, hidden: false }))?.trim()
  if (chosen === undefined) throw new UsageError(`Say which provider: --provider ${names}.`)
  const provider = offered.find((one) => one.name === chosen)
  if (provider === undefined)
    throw new UsageError(`There is no provider ${JSON.stringify(chosen.slice(0, 40))}. Use one of ${names}.`)
  return provider
}

async function typeOf(type: string | undefined, provider: Provider, ask: Terminal['ask']): Promise<string> {
  if (type !== undefined) return type
  if (provider.types.length === 1) return provider.types[0]!
  const chosen = (await ask?.({ text: `Kind of channel (${provider.types.join(', ')}): `, hidden: false }))?.trim()
  if (chosen === undefined || chosen === '')
    throw new UsageError(`Say which kind of channel: --type ${provider.types.join('|')}.`)
  return chosen
}

async function identifierOf({ identifier, title }: Provider, ask: Terminal['ask']): Promise<string | undefined> {
  const text =
    identifier === 'given'
      ? 'Sender (the number or name that recipients see): '
      : `Sender (leave it empty: ${title} tells it): `
  return (await ask?.({ text, hidden: false }))?.trim()
}

async function askedCredentials(provider: Provider, ask: Terminal['ask']): Promise<Fields> {
  if (ask === undefined)
    throw new UsageError('Give the credentials: --file credentials.json. Without it they are asked for on a terminal.')
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

export const isSecret = (schema: TSchema): boolean => (schema as { format?: string }).format === 'password'

function helpOf(name: string, schema: TSchema): string {
  const { title, description } = schema as { title?: string; description?: string }
  return [title ?? name, description].filter((part) => part !== undefined).join(': ')
}

/** As the schema wants it; what does not fit is left for the check of all fields. */
function valueOf(schema: TSchema, answer: string): unknown {
  const { type } = schema as { type?: string }
  if (type === 'boolean')
    return /^(y|yes|true|1)$/i.test(answer) ? true : /^(n|no|false|0)$/i.test(answer) ? false : answer
  if (type === 'integer' || type === 'number') return Number.isFinite(Number(answer)) ? Number(answer) : answer
  return answer
}
