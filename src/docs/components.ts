/**
 * The schemas of the document: those with an `$id` stand among its components, once, and the rest refers to them. What validates and serialises stays as it is;
 * the document alone says more about requests, and less about answers:
 *
 * - requests are closed (`additionalProperties: false`), so that a typed client finds a misspelt field, which the server ignores and names;
 * - an enumeration in an answer is open: `{ "type": "string", "x-extensible-enum": ["queued", "sent"] }`, for a later version may add a value. A client types it as
 *   the values it knows, or any other string. Answers that are written with `const` stay as they are;
 * - `SendMessage`, `Message`, `Event` and the like, flat for the server, are unions there (`unions.ts`).
 */
import type { TSchema } from 'typebox'
import { contentSchemaId } from '../api/content/documented.ts'
import { contentTypes } from '../api/content/registry.ts'
import { documentedRules } from '../api/resources/rules.ts'
import { propertyExample } from './property-examples.ts'
import { documented } from './unions.ts'

export type Json = Record<string, unknown>

/** Who writes the value: the client, the service, for content whoever sends the message, so that it is the same in both; a form is shown as it is. */
type Side = 'request' | 'response' | 'content' | 'form'

/** The schemas of content: read back as it was sent. */
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

  /** The body of a request. Its top level is closed although its flat schema lets unknown fields pass. */
  request(schema: TSchema): unknown {
    const { additionalProperties, ...rest } = schema as unknown as Json
    return this.#walk(additionalProperties === true && rest['properties'] !== undefined ? rest : schema, 'request')
  }

  /** A part of a request that is taken as it is: a parameter, a form, what another service sends. */
  parameter(schema: unknown): unknown {
    return this.#walk(schema, 'form')
  }

  response(schema: unknown): unknown {
    return this.#walk(schema, 'response')
  }

  /** By name, in its order. */
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

  /** Puts it among the components where it is new, and refers to it. */
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

  /** A reference that keeps what is said where it stands: which fields there are differs. */
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
        this.#walk(side === 'content' ? schema : told(name, schema as Json, side), side),
      ]),
    )
  }
}

/** The schema with what the document says beyond it. */
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

/** A property with what the document says beyond its schema: an example, and that a moment of an answer is a date and time. */
function told(name: string, schema: Json, side: Side): Json {
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
