/**
 * Merge tags, `{{name}}` in any string of a campaign's or an automation's message: found when it is saved, looked up for each recipient (behaviour: campaigns 3).
 */
import type { Detail } from '../../../api/errors.ts'
import { join } from '../../../api/validation.ts'

/** The fields of a contact that tags may name. */
const contactTags = ['first_name', 'last_name', 'full_name', 'phone', 'email', 'locale'] as const
const attributePrefix = 'attributes.'

/** The key of the attribute that a tag of this name asks for; null where it asks for none. */
export const attributeKeyOf = (name: string): string | null =>
  name.startsWith(attributePrefix) ? name.slice(attributePrefix.length) : null

/** A tag: the shortest text between double braces that holds none. */
export const tag = /\{\{([^{}]*)\}\}/g

/** Texts by the names of tags: what a recipient has, without those that are null or empty. */
export type MergeValues = Pick<ReadonlyMap<string, string>, 'get'>

/** A tag in a string of a message: what it names, and the path of the string. */
export interface WrittenTag {
  readonly name: string
  readonly param: string
}

/** Every tag of a message's strings, at any depth; once where a string has it several times. */
export function tagsOf(value: unknown, path: string): WrittenTag[] {
  if (typeof value === 'string')
    return [...new Set([...value.matchAll(tag)].map((match) => match[1]!.trim()))].map((name) => ({
      name,
      param: path,
    }))
  if (Array.isArray(value)) return value.flatMap((item, i) => tagsOf(item, `${path}[${i}]`))
  if (typeof value === 'object' && value !== null)
    return Object.entries(value).flatMap(([key, item]) => tagsOf(item, join(path, key)))
  return []
}

/** How many tags a message's strings have, each as often as it stands there. */
export function countTags(value: unknown): number {
  if (typeof value === 'string') return value.split(tag).length >> 1
  if (typeof value !== 'object' || value === null) return 0
  return Object.values(value).reduce((sum: number, item) => sum + countTags(item), 0)
}

/** Whether a tag names a field of contacts, or one of these attributes. */
export function isContactTag(name: string, attributes: ReadonlySet<string>): boolean {
  const key = attributeKeyOf(name)
  return (contactTags as readonly string[]).includes(name) || (key !== null && attributes.has(key))
}

/** Whether a tag names one of the variables that recipients bring along, bare or as an attribute. */
export function isVariableTag(name: string, variables: ReadonlySet<string>): boolean {
  return variables.has(name) || variables.has(attributeKeyOf(name) ?? name)
}

/** The tags of contacts, for the sentences of refusals. */
export const contactTagNames = `${contactTags.map((name) => `{{${name}}}`).join(', ')} or {{attributes.<key>}} with a key that some contact has`

/** A failure for each tag that names nothing, of the message and of its fallbacks. `told` ends the sentence about a tag: what it does not name, and what it may. */
export function unknownTags(
  message: unknown,
  fallbacks: Readonly<Record<string, string>>,
  isKnown: (name: string) => boolean,
  told = `names no contact field and no attribute. Use ${contactTagNames}.`,
): Detail[] {
  const inMessage = tagsOf(message, 'message').filter(({ name }) => !isKnown(name))
  const inFallbacks = Object.keys(fallbacks).filter((name) => !isKnown(name))
  return [
    ...inMessage.map(({ name, param }): Detail => ({
      param,
      code: 'unknown_merge_tag',
      message: `\`{{${name}}}\` ${told}`,
    })),
    ...inFallbacks.map((name): Detail => {
      return {
        param: join('merge_fallbacks', name),
        code: 'unknown_merge_tag',
        message: `\`${name}\` names no merge tag. Its keys are tag names without braces, such as \`first_name\` or \`attributes.city\`.`,
      }
    }),
  ]
}

/** A text with each of its tags replaced by what `of` makes of its name. */
export const replaceTags = (text: string, of: (name: string) => string): string =>
  text.replaceAll(tag, (_, written: string) => of(written.trim()))

/** The same value with each string in it, at any depth, put through `of` with its path; keys stay. */
export function mapStrings(value: unknown, path: string, of: (text: string, path: string) => string): unknown {
  if (typeof value === 'string') return of(value, path)
  if (Array.isArray(value)) return value.map((item, i) => mapStrings(item, `${path}[${i}]`, of))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, mapStrings(item, join(path, key), of)]))
}

/** What tags are filled in with for a recipient: variables first, then what is known of the contact. */
export interface MergeSource {
  readonly variables: Readonly<Record<string, unknown>> | null
  readonly fields: Readonly<Partial<Record<(typeof contactTags)[number], string | null>>>
  readonly attributes: Readonly<Record<string, unknown>>
}

/** Looks values up as they are asked for: a recipient may have far more of them than a message has tags. */
export function mergeValues({ variables, fields, attributes }: MergeSource): MergeValues {
  return {
    get(name) {
      const key = attributeKeyOf(name)
      return (
        textOf(variables, name) ??
        (key === null ? undefined : textOf(variables, key)) ??
        textOf(fields, name) ??
        (key === null ? undefined : textOf(attributes, key))
      )
    },
  }
}

function textOf(values: Readonly<Record<string, unknown>> | null, name: string): string | undefined {
  const value = values !== null && Object.hasOwn(values, name) ? values[name] : undefined
  return value === null || value === undefined || value === '' ? undefined : String(value)
}
