/** Merge tags: `{{name}}` in any string of a message (behaviour: campaigns 3). */
import type { Detail } from '../../../api/errors.ts'
import { join } from '../../../api/validation.ts'

const contactTags = ['first_name', 'last_name', 'full_name', 'phone', 'email', 'locale'] as const
const attributePrefix = 'attributes.'

/** Null unless the tag names an attribute. */
export const attributeKeyOf = (name: string): string | null =>
  name.startsWith(attributePrefix) ? name.slice(attributePrefix.length) : null

/** The shortest text between double braces, without braces inside. */
export const tag = /\{\{([^{}]*)\}\}/g

/** Without empty values. */
export type MergeValues = Pick<ReadonlyMap<string, string>, 'get'>

/** `param`: path of the string. */
export interface WrittenTag {
  readonly name: string
  readonly param: string
}

/** Once per string. */
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

/** Counts repeated tags. */
export function countTags(value: unknown): number {
  if (typeof value === 'string') return value.split(tag).length >> 1
  if (typeof value !== 'object' || value === null) return 0
  return Object.values(value).reduce((sum: number, item) => sum + countTags(item), 0)
}

export function isContactTag(name: string, attributes: ReadonlySet<string>): boolean {
  const key = attributeKeyOf(name)
  return (contactTags as readonly string[]).includes(name) || (key !== null && attributes.has(key))
}

export function isVariableTag(name: string, variables: ReadonlySet<string>): boolean {
  return variables.has(name) || variables.has(attributeKeyOf(name) ?? name)
}

export const contactTagNames = `${contactTags.map((name) => `{{${name}}}`).join(', ')} or {{attributes.<key>}} with a key that some contact has`

export function unknownTags(
  message: unknown,
  fallbacks: Readonly<Record<string, string>>,
  isKnown: (name: string) => boolean,
  hint = `names no contact field and no attribute. Use ${contactTagNames}.`,
): Detail[] {
  const inMessage = tagsOf(message, 'message').filter(({ name }) => !isKnown(name))
  const inFallbacks = Object.keys(fallbacks).filter((name) => !isKnown(name))
  return [
    ...inMessage.map(({ name, param }): Detail => ({
      param,
      code: 'unknown_merge_tag',
      message: `\`{{${name}}}\` ${hint}`,
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

export const replaceTags = (text: string, of: (name: string) => string): string =>
  text.replaceAll(tag, (_, written: string) => of(written.trim()))

/** Keys stay. */
export function mapStrings(value: unknown, path: string, of: (text: string, path: string) => string): unknown {
  if (typeof value === 'string') return of(value, path)
  if (Array.isArray(value)) return value.map((item, i) => mapStrings(item, `${path}[${i}]`, of))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, mapStrings(item, join(path, key), of)]))
}

export interface MergeSource {
  readonly variables: Readonly<Record<string, unknown>> | null
  readonly fields: Readonly<Partial<Record<(typeof contactTags)[number], string | null>>>
  readonly attributes: Readonly<Record<string, unknown>>
}

/** Looked up on demand: a recipient may have far more values than a message has tags. */
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
