/** The fields of rules, their kinds, and the operators of each kind (behaviour: segments 2.2). */
import { consentTypes } from '../../../api/resources/contact.ts'
import type { RuleOperator } from '../../../api/resources/rules.ts'
import { normalisePhone } from '../../../lib/phone.ts'
import { parseDateTime } from '../../../api/times.ts'

/**
 * `value`: an attribute, whose type may differ between contacts. `any`: only in rules over other data than contacts.
 * `tags` and `lists` are sets.
 */
export type FieldKind = 'text' | 'boolean' | 'time' | 'consent' | 'value' | 'tags' | 'lists' | 'any'

export interface Field {
  /** `first_name`, `attributes.plan` */
  readonly name: string
  readonly kind: FieldKind
  readonly root: string
  readonly key: string | undefined
}

const existence = ['exists', 'not_exists'] as const
const equality = ['equals', 'not_equals', 'in', 'not_in', ...existence] as const
const set = ['contains', 'contains_any', 'contains_all', 'contains_none', 'in', 'not_in', ...existence] as const
const time = ['before', 'after', 'within_days', 'not_within_days', ...existence] as const
const value = [
  ...equality,
  'contains',
  'starts_with',
  'greater_than',
  'less_than',
  'before',
  'after',
  'within_days',
  'not_within_days',
] as const

export const operatorsOf: Readonly<Record<FieldKind, readonly RuleOperator[]>> = {
  text: [...equality, 'contains', 'starts_with'],
  boolean: ['equals', 'not_equals', ...existence],
  time,
  consent: equality,
  value,
  tags: set,
  lists: set,
  any: [...value, 'contains_any', 'contains_all', 'contains_none'],
}

/** They match a missing value (behaviour: segments 3.2). */
export const negations: ReadonlySet<RuleOperator> = new Set([
  'not_equals',
  'not_in',
  'not_exists',
  'not_within_days',
  'contains_none',
])

const plainFields: Readonly<Record<string, FieldKind>> = {
  id: 'text',
  phone: 'text',
  email: 'text',
  first_name: 'text',
  last_name: 'text',
  full_name: 'text',
  locale: 'text',
  timezone: 'text',
  country: 'text',
  external_id: 'text',
  blocked: 'boolean',
  last_seen_at: 'time',
  last_message_at: 'time',
  created_at: 'time',
  updated_at: 'time',
  tags: 'tags',
  lists: 'lists',
}

export const ruleFields: Readonly<Record<string, FieldKind>> = {
  ...plainFields,
  ...Object.fromEntries(
    consentTypes.flatMap((type) => [[`consent.${type}`, 'consent'] as const, [`identifiers.${type}`, 'text'] as const]),
  ),
  'attributes.': 'value',
}

const attributeKey = /^[a-z][a-z0-9_]{0,63}$/

export interface Fields {
  readonly find: (name: string) => Field | null
  readonly names: string
}

export const contactFields: Fields = {
  find: contactField,
  names: [...Object.keys(plainFields), 'identifiers.<channel type>', 'consent.<channel type>', 'attributes.<key>'].join(
    ', ',
  ),
}

function contactField(name: string): Field | null {
  if (Object.hasOwn(plainFields, name)) return { name, kind: plainFields[name]!, root: name, key: undefined }
  const dot = name.indexOf('.')
  const [root, key] = [name.slice(0, dot), name.slice(dot + 1)]
  if (root === 'attributes' && attributeKey.test(key)) return { name, kind: 'value', root, key }
  if (root === 'consent' && consentTypes.includes(key)) return { name, kind: 'consent', root, key }
  if (root === 'identifiers' && consentTypes.includes(key)) return { name, kind: 'text', root, key }
  return null
}

/** Compared without their formatting. */
export const isPhone = ({ name, kind }: Field): boolean =>
  kind === 'text' && (name === 'phone' || name.endsWith('.phone'))

export const phoneText = (text: string): string => normalisePhone(text) ?? text.replace(/[\s().-]/g, '')

const withTime =
  /^(?!9999)[1-9]\d{3}-\d\d-\d\d[Tt]([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,9})?)?([Zz]|[+-](0\d|1[0-4]):?[0-5]\d)?$/

/**
 * null if invalid. Without a zone it is UTC. `rule_time` in SQL parses the same texts. Usual forms are not checked
 * further, for speed.
 */
export function comparableTime(text: string): string | null {
  if (text < ':') {
    if (/^....-..-..$/su.test(text)) return `${text}T00:00:00.000Z`
    if (/^....-..-..T..:..:..Z$/su.test(text)) return `${[...text].slice(0, 19).join('')}.000Z`
    if (/^....-..-..T..:..:..\....Z$/su.test(text)) return text
  }
  return withTime.test(text) ? parseDateTime(text) : null
}
