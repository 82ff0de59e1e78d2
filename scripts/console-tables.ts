/** Data for the console's forms: provider fields and content examples. */
import type { TObject } from 'typebox'
import { messageTypes } from '../src/api/resources/channel.ts'
import { EndpointFilters } from '../src/api/resources/webhook-endpoint.ts'
import { contentTypes } from '../src/api/content/registry.ts'
import { providers } from '../src/providers/registry.ts'

interface Field {
  readonly name: string
  readonly label: string
  readonly hint: string
  readonly kind: 'text' | 'secret' | 'number' | 'flag' | 'choice'
  readonly required: boolean
  readonly choices: readonly string[]
  readonly fallback: string
}

interface Schema {
  readonly type?: string
  readonly anyOf?: readonly Schema[]
  readonly enum?: readonly string[]
  readonly format?: string
  readonly description?: string
  readonly default?: unknown
}

export const providerFields = () =>
  providers
    .filter(({ offered }) => offered === 'always')
    .map(({ name, title, about, types, identifier, guide, credentials, settings, limits }) => ({
      name,
      title,
      about,
      types,
      identifier,
      guide: guide ?? null,
      limits: limits ?? [],
      credentials: fieldsOf(credentials),
      settings: settings === undefined ? [] : fieldsOf(settings),
    }))

export const contentExamples = (): Record<string, unknown> =>
  Object.fromEntries(messageTypes.map((type) => [type, contentTypes[type].example]))

export const endpointFilterValues = (): Record<string, readonly string[]> =>
  Object.fromEntries(
    Object.entries(EndpointFilters.properties).flatMap(([name, { items }]) => {
      const { enum: values } = items as Schema
      return values === undefined ? [] : [[name, values]]
    }),
  )

const fieldsOf = (object: TObject): Field[] =>
  Object.entries(object.properties).map(([name, schema]) => fieldOf(name, schema, new Set(object.required).has(name)))

function fieldOf(name: string, schema: Schema, required: boolean): Field {
  const { description = '', default: fallback } = schema
  return {
    name,
    label: labelOf(name),
    hint: description.replaceAll('`', ''),
    kind: kindOf(schema),
    required,
    choices: schema.enum ?? [],
    fallback: fallback === undefined || fallback === null ? '' : String(fallback),
  }
}

function kindOf({ type, anyOf, enum: choices, format }: Schema): Field['kind'] {
  if (choices !== undefined) return 'choice'
  if (format === 'password') return 'secret'
  const held = type ?? anyOf?.find((option) => option.type !== 'null')?.type
  return held === 'boolean' ? 'flag' : held === 'integer' || held === 'number' ? 'number' : 'text'
}

const abbreviations = new Set(['id', 'sid', 'api', 'url', 'tls', 'mms', 'ton', 'npi'])

function labelOf(name: string): string {
  const words = name.split('_').map((word) => (abbreviations.has(word) ? word.toUpperCase() : word))
  return words.map((word, at) => (at === 0 ? word.charAt(0).toUpperCase() + word.slice(1) : word)).join(' ')
}
