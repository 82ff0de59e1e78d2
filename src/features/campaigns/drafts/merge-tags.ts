/**
 * Merge tags, `{{name}}` in any string of a campaign's message: found when it is saved, filled in for each recipient (behaviour: campaigns 3). What is filled in is
 * text and nothing else: it changes no structure, and brings in no other tag.
 */
import type { Detail } from '../../../contract/errors.ts'
import { join } from '../../../contract/validation.ts'

/** The fields of a contact that tags may name. */
const contactTags = ['first_name', 'last_name', 'full_name', 'phone', 'email', 'locale'] as const
const attributePrefix = 'attributes.'

/** A tag: the shortest text between double braces that holds none. */
const tag = /\{\{([^{}]*)\}\}/g

/** Texts by the names of tags: what a recipient has, without those that are null or empty. */
export type MergeValues = ReadonlyMap<string, string>

/** Every tag of a message's strings, at any depth, with the path of the string. */
export function tagsOf(value: unknown, path: string): { readonly name: string; readonly param: string }[] {
  if (typeof value === 'string') return [...value.matchAll(tag)].map((match) => ({ name: match[1]!.trim(), param: path }))
  if (Array.isArray(value)) return value.flatMap((item, i) => tagsOf(item, `${path}[${i}]`))
  if (typeof value === 'object' && value !== null) return Object.entries(value).flatMap(([key, item]) => tagsOf(item, join(path, key)))
  return []
}

/** What a campaign's tags may name: fields of contacts, defined attributes, and the variables of its ad-hoc recipients, bare or as attributes. */
export interface KnownTags {
  readonly attributes: ReadonlySet<string>
  readonly variables: ReadonlySet<string>
}

function isKnownTag(name: string, { attributes, variables }: KnownTags): boolean {
  if ((contactTags as readonly string[]).includes(name) || variables.has(name)) return true
  const key = name.startsWith(attributePrefix) ? name.slice(attributePrefix.length) : null
  return key !== null && (attributes.has(key) || variables.has(key))
}

const names = contactTags.map((name) => `{{${name}}}`).join(', ')

/** A failure for each tag that names nothing, of the message and of its fallbacks. */
export function unknownTags(message: unknown, fallbacks: Readonly<Record<string, string>>, known: KnownTags): Detail[] {
  const inMessage = tagsOf(message, 'message').filter(({ name }) => !isKnownTag(name, known))
  const inFallbacks = Object.keys(fallbacks).filter((name) => !isKnownTag(name, known))
  return [
    ...inMessage.map(({ name, param }): Detail => {
      return {
        param,
        code: 'invalid_value',
        message: `\`{{${name}}}\` names no contact field and no attribute. Use ${names} or {{attributes.<key>}} with a key that some contact has.`,
      }
    }),
    ...inFallbacks.map((name): Detail => {
      return {
        param: join('merge_fallbacks', name),
        code: 'invalid_value',
        message: `\`${name}\` names no merge tag. Its keys are tag names without braces, such as \`first_name\` or \`attributes.city\`.`,
      }
    }),
  ]
}

/** The message with its tags filled in: the recipient's own value, else the fallback, else nothing. */
export function render<T>(message: T, values: MergeValues, fallbacks: Readonly<Record<string, string>>): T {
  return mapStrings(message, (text) => replaceTags(text, (name) => valueOf(name, values, fallbacks))) as T
}

/** A text with each of its tags replaced by what `of` makes of its name. */
export const replaceTags = (text: string, of: (name: string) => string): string => text.replaceAll(tag, (_, written: string) => of(written.trim()))

function valueOf(name: string, values: MergeValues, fallbacks: Readonly<Record<string, string>>): string {
  return values.get(name) ?? (Object.hasOwn(fallbacks, name) ? fallbacks[name]! : '')
}

/** The same value with each string in it, at any depth, put through `of`; keys stay. */
export function mapStrings(value: unknown, of: (text: string) => string): unknown {
  if (typeof value === 'string') return of(value)
  if (Array.isArray(value)) return value.map((item) => mapStrings(item, of))
  if (typeof value === 'object' && value !== null) return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, mapStrings(item, of)]))
  return value
}

/** What tags are filled in with for a recipient: variables first, then what is known of the contact. */
export interface MergeSource {
  readonly variables: Readonly<Record<string, unknown>> | null
  readonly fields: Readonly<Partial<Record<(typeof contactTags)[number], string | null>>>
  readonly attributes: Readonly<Record<string, unknown>>
}

export function mergeValues({ variables, fields, attributes }: MergeSource): MergeValues {
  const values = new Map<string, string>()
  const set = (name: string, value: unknown) => {
    if (value !== null && value !== undefined && value !== '') values.set(name, String(value))
  }
  for (const [key, value] of Object.entries(attributes)) set(attributePrefix + key, value)
  for (const [key, value] of Object.entries(fields)) set(key, value)
  for (const [key, value] of Object.entries(variables ?? {})) {
    set(key, value)
    set(attributePrefix + key, value)
  }
  return values
}
