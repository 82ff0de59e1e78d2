/** Validates content objects: reports every failure with its path, code and a sentence. */
import { contentSizeFailures } from '../body-sizes.ts'
import type { Detail } from '../errors.ts'
import { compile, fail, shapeOf, wordsFor, type Check, type Walk } from './check.ts'
import type { ContentType } from './content-type.ts'
import { contentTypes, isContentType } from './registry.ts'
import type { Rule } from './rules.ts'

interface Checks {
  readonly outbound: Check
  readonly by_channel: ReadonlyMap<string, Check> | null
  readonly inbound: Check
  readonly rules: readonly Rule[]
  readonly words: string
}

const checks: ReadonlyMap<string, Checks> = new Map(
  Object.entries<ContentType>(contentTypes).map(([name, type]) => {
    const outbound = compile(shapeOf(type.schema))
    const inbound = type.inbound_schema === undefined ? outbound : compile(shapeOf(type.inbound_schema))
    const by_channel =
      type.channel_schemas === undefined
        ? null
        : new Map(Object.entries(type.channel_schemas).map(([channel, schema]) => [channel, compile(shapeOf(schema))]))
    return [
      name,
      {
        outbound,
        by_channel,
        inbound,
        rules: type.rules.map((rule) => rule.check),
        words: wordsFor(shapeOf(type.schema)),
      },
    ]
  }),
)

const none: readonly Detail[] = Object.freeze([])

/** Checks are synchronous, so that one walk serves all calls. */
const walk: Walk = { keys: [], details: null }

export interface ContentPlace {
  readonly channel_type: string
  /** Where the content object is, if not at its type's name: `message.text` in a campaign. */
  readonly path?: string
}

/** Empty: valid (behaviour: content 2). Unknown fields pass. */
export function validateContent(type: string, value: unknown, place: ContentPlace): readonly Detail[] {
  const found = checks.get(type)
  if (found === undefined || !isContentType(type) || contentTypes[type].direction === 'inbound')
    return unknownType(type)
  const path = place.path ?? type
  const tooLarge = contentSizeFailures(value, path)
  if (tooLarge.length > 0) return tooLarge
  begin(path)
  if (value === undefined) {
    missingContent(type, found)
  } else {
    const check =
      found.by_channel === null ? found.outbound : (found.by_channel.get(place.channel_type) ?? found.outbound)
    check(value, walk)
    runRules(found.rules, value)
  }
  return end()
}

/** Without the limits on size and media addresses of sent messages. */
export function validateInboundContent(
  type: string,
  value: unknown,
  place: { readonly path?: string } = {},
): readonly Detail[] {
  const found = checks.get(type)
  if (found === undefined) return unknownType(type)
  begin(place.path ?? type)
  if (value === undefined) {
    missingContent(type, found)
  } else {
    found.inbound(value, walk)
    runRules(found.rules, value)
  }
  return end()
}

function begin(path: string): void {
  walk.keys.length = 0
  walk.keys.push(path)
  walk.details = null
}

function end(): readonly Detail[] {
  const { details } = walk
  walk.details = null
  return details ?? none
}

/** The schema has refused other values. */
function runRules(rules: readonly Rule[], value: unknown): void {
  if (rules.length === 0 || typeof value !== 'object' || value === null) return
  for (let i = 0; i < rules.length; i++) rules[i]!(value, walk)
}

function missingContent(type: string, found: Checks): void {
  fail(
    walk,
    'missing_field',
    (path) =>
      `Add ${path}: the content of a message of type \`${type}\` stands under the key of that name and is ${found.words}.`,
  )
}

const unknownType = (type: string): readonly Detail[] => [
  {
    param: 'type',
    code: 'invalid_value',
    message: `\`type\` ${JSON.stringify(type.slice(0, 40))} is no type of message that can be sent; choose one of the channel's \`capabilities\`.`,
  },
]
