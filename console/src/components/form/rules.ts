/** Rules as a form edits them (reference: segments). */
import { ruleFields, type ruleOperators } from '../../api/generated/tables.ts'
import type { components } from '../../api/generated/v1.ts'

type Rules = components['schemas']['Rules']

export type FieldKind = keyof typeof ruleOperators

/** `group`: a nested rule as JSON. */
export interface RuleDraft {
  readonly field: string
  readonly operator: string
  readonly value: string
  readonly group?: string
}

export interface RulesDraft {
  readonly match: 'all' | 'any'
  readonly rules: readonly RuleDraft[]
}

interface Condition {
  readonly field: string
  readonly operator: string
  readonly value?: unknown
}

const several: ReadonlySet<string> = new Set(['in', 'not_in', 'contains_any', 'contains_all', 'contains_none'])
const withoutValue: ReadonlySet<string> = new Set(['exists', 'not_exists'])

export const firstRules: RulesDraft = { match: 'all', rules: [{ field: 'tags', operator: 'contains', value: '' }] }

export type ValueKind = 'text' | 'number' | 'days' | 'instant' | 'boolean' | 'status' | 'list' | 'value'

export const takesValue = (operator: string): boolean => !withoutValue.has(operator)
export const takesSeveral = (operator: string): boolean => several.has(operator)

export function kindOf(field: string, kinds: Readonly<Record<string, FieldKind>> = ruleFields): FieldKind {
  const known = Object.entries(kinds).find(([name]) => name === field || (name.endsWith('.') && field.startsWith(name)))
  return known?.[1] ?? 'any'
}

export function valueKind(kind: FieldKind, operator: string): ValueKind {
  if (operator === 'within_days' || operator === 'not_within_days') return 'days'
  if (operator === 'before' || operator === 'after') return 'instant'
  if (operator === 'greater_than' || operator === 'less_than') return 'number'
  if (kind === 'boolean') return 'boolean'
  if (kind === 'consent') return 'status'
  if (kind === 'lists') return 'list'
  return (kind === 'value' || kind === 'any') && operator !== 'contains' && operator !== 'starts_with'
    ? 'value'
    : 'text'
}

/** Invalid values are sent as typed: the API reports them at their field. */
export const rulesOf = ({ match, rules }: RulesDraft, kinds?: Readonly<Record<string, FieldKind>>): Rules =>
  ({
    match,
    conditions: rules.map((rule) => (rule.group === undefined ? conditionOf(rule, kinds) : parsed(rule.group))),
  }) as Rules

function conditionOf({ field, operator, value }: RuleDraft, kinds?: Readonly<Record<string, FieldKind>>): Condition {
  if (!takesValue(operator)) return { field, operator }
  const kind = valueKind(kindOf(field, kinds), operator)
  if (!takesSeveral(operator)) return { field, operator, value: scalarOf(value, kind) }
  const values = value
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '')
  return { field, operator, value: values.map((item) => scalarOf(item, kind)) }
}

function scalarOf(typed: string, kind: ValueKind): unknown {
  const value = typed.trim()
  if (kind === 'number' || kind === 'days')
    return value !== '' && Number.isFinite(Number(value)) ? Number(value) : value
  if (kind === 'boolean') return value === 'true'
  // quotes make a string
  if (kind === 'value' && /^(-?\d+(\.\d+)?|true|false|".*")$/.test(value)) return parsed(value)
  return kind === 'text' ? typed : value
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json) as unknown
  } catch {
    return json
  }
}

export function draftOf(stored: unknown): RulesDraft {
  const { match, conditions } = stored as { match?: string; conditions?: readonly unknown[] }
  return { match: match === 'any' ? 'any' : 'all', rules: (conditions ?? []).map(ruleOf) }
}

function ruleOf(stored: unknown): RuleDraft {
  const { field, operator, value } = stored as Partial<Condition>
  if (field === undefined || operator === undefined)
    return { field: '', operator: '', value: '', group: JSON.stringify(stored, null, 2) }
  const kind = valueKind(kindOf(field), operator)
  const write = (one: unknown) =>
    typeof one === 'string' && kind === 'value' && /^(-?\d+(\.\d+)?|true|false)$/.test(one)
      ? JSON.stringify(one)
      : String(one)
  return {
    field,
    operator,
    value: value === undefined ? '' : Array.isArray(value) ? value.map(write).join(', ') : write(value),
  }
}
