/**
 * The component schemas of the OpenAPI document. Requests are closed (`additionalProperties: false`), so that a typed
 * client finds misspelt fields; enumerations in responses are open (`x-extensible-enum`), because later versions may
 * add values; some flat schemas become unions (`unions.ts`).
 */
import type { TSchema } from 'typebox'
import { contentSchemaId } from '../api/content/documented.ts'
import { contentTypes } from '../api/content/registry.ts'
import { documentedRules } from '../api/resources/rules.ts'
import { propertyExample } from './property-examples.ts'
import { documented } from './unions.ts'

export type Json = Record<string, unknown>

/** The writer of the value: the client, the service, or either for content. A form is shown unchanged. */
type Side = 'request' | 'response' | 'content' | 'form'

/** Read back as sent. */
const contentIds = new Set([
  'CampaignMessage',
  'AutomationMessage',
  'Rule',
  ...Object.keys(contentTypes).flatMap((type) =>
    ['', 'Tagged', 'Received'].map((prefix) => prefix + contentSchemaId(type)),
  ),
])

/** Keywords whose value is no schema. */
const plainKeywords = new Set(['examples', 'default', 'enum', 'const', 'required', 'discriminator'])

export class Components {
  readonly #schemas = new Map<string, Json>()
  readonly #sides = new Map<string, Side>()

  /** Closed at its top level. */
  request(schema: TSchema): unknown {
    const { additionalProperties, ...rest } = schema as unknown as Json
    return this.#walk(additionalProperties === true && rest['properties'] !== undefined ? rest : schema, 'request')
  }

  /** Shown unchanged: a parameter, a form, the payload of another service. */
  parameter(schema: unknown): unknown {
    return this.#walk(schema, 'form')
  }

  response(schema: unknown): unknown {
    return this.#walk(schema, 'response')
  }

  all(): Json {
    return Object.fromEntries([...this.#schemas].toSorted(([a], [b]) => (a < b ? -1 : 1)))
  }

  #walk(value: unknown, side: Side): unknown {
    if (Array.isArray(value)) return value.map((entry) => this.#walk(entry, side))
    if (typeof value !== 'object' || value === null) return value
    const { $id, ...rest } = value as Json
    if ($id === 'Rules') return this.#rules(value as Json)
    if (typeof $id !== 'string' || [rest['type']].flat().includes('null')) return this.#plain(rest, side)
    return this.#named($id, contentIds.has($id) ? 'content' : side, value as Json)
  }

  /** Registers the schema if it is new. */
  #named($id: string, side: Side, schema: Json): Json {
    const known = this.#sides.get($id)
    if (known !== undefined && known !== side)
      throw new Error(`${$id} stands in requests and in answers: give them an $id each`)
    if (known === undefined) {
      this.#sides.set($id, side)
      this.#schemas.set($id, {})
      const { $id: _, ...shown } = documented(schema)
      this.#schemas.set($id, this.#plain(shown, side))
    }
    return { $ref: `#/components/schemas/${$id}` }
  }

  /** Without fields, which differ. */
  #rules({ type, description, examples }: Json): Json {
    const group = this.#named('Rules', 'content', documentedRules)
    return { description, examples, ...([type].flat().includes('null') ? { anyOf: [group, { type: 'null' }] } : group) }
  }

  #plain(schema: Json, side: Side): Json {
    const shown: Json = {}
    for (const [key, value] of Object.entries(sided(schema, side))) {
      if (key === 'properties') shown[key] = this.#properties(value as Json, side)
      else shown[key] = plainKeywords.has(key) || key.startsWith('x-') ? value : this.#walk(value, side)
    }
    return shown
  }

  #properties(properties: Json, side: Side): Json {
    return Object.fromEntries(
      Object.entries(properties).map(([name, schema]) => [
        name,
        this.#walk(side === 'content' ? schema : described(name, schema as Json, side), side),
      ]),
    )
  }
}

function sided(schema: Json, side: Side): Json {
  const { format, enum: values, ...rest } = schema
  const shown: Json = rest
  if (format !== undefined && format !== 'date-time-query') shown['format'] = format
  if (values !== undefined && side === 'response')
    shown['x-extensible-enum'] = (values as unknown[]).filter((value) => value !== null)
  else if (values !== undefined) shown['enum'] = values
  if (side === 'request' && rest['properties'] !== undefined && rest['additionalProperties'] === undefined)
    shown['additionalProperties'] = false
  return shown
}

function described(name: string, schema: Json, side: Side): Json {
  const types = [schema['type']].flat()
  const format =
    side === 'response' && name.endsWith('_at') && schema['format'] === undefined && types.includes('string')
      ? { format: 'date-time' }
      : {}
  const speaks = ['$id', 'examples', 'const', 'enum', 'default', 'properties', 'oneOf', 'anyOf'].some(
    (keyword) => schema[keyword] !== undefined,
  )
  const scalar = types.find((type) => type !== 'null')
  const needless =
    speaks ||
    scalar === 'boolean' ||
    scalar === 'object' ||
    (schema['items'] as Json | undefined)?.['properties'] !== undefined
  return {
    ...schema,
    ...format,
    ...(needless ? {} : { examples: [propertyExample(name, { ...schema, type: scalar })] }),
  }
}
