/**
 * Conditions of automations: segment rules over an event (behaviour: integrations 5.3, 5.4). Decimal texts also compare
 * with numbers, because shops send `"59.99"`. Pure.
 */
import type { Detail } from '../../api/errors.ts'
import { isoTime } from '../../lib/clock.ts'
import { substringFinder } from '../../lib/text.ts'
import { type ConditionEvent, type FieldContent, fieldContent, wantedKeysOf } from './condition-values.ts'
import { customerTexts, readPath } from './event-paths.ts'
import {
  comparedValues,
  type Condition,
  type Field,
  type Fields,
  fits,
  type Group,
  isGroup,
  parseRules,
  rulesFailures,
  type Scalar,
} from '../contacts/service.ts'

const eventFields: Fields = {
  find: eventField,
  names: [
    'data.<path>',
    ...customerTexts.map((key) => `customer.${key}`),
    'customer.tags',
    'customer.attributes.<path>',
  ].join(', '),
}

function eventField(name: string): Field | null {
  if (name === 'customer.tags') return { name, kind: 'tags', root: 'customer', key: 'tags' }
  const text = customerTexts.find((key) => name === `customer.${key}`)
  if (text !== undefined) return { name, kind: 'text', root: 'customer', key: text }
  for (const root of ['data', 'customer.attributes'])
    if (readPath(name, root) !== null) return { name, kind: 'any', root, key: name.slice(root.length + 1) }
  return null
}

const conditionsLengthMax = 20_000

export function conditionsFailures(conditions: unknown): readonly Detail[] {
  if (JSON.stringify(conditions).length <= conditionsLengthMax)
    return rulesFailures(conditions, 'conditions', eventFields)
  return [
    {
      param: 'conditions',
      code: 'too_long',
      message: `\`conditions\` may have at most ${conditionsLengthMax} characters of JSON.`,
    },
  ]
}

export interface ConditionResult {
  readonly field: string
  readonly met: boolean
}

/** null: every event. */
export const conditionsMet = (conditions: object | null, event: ConditionEvent, now: number): boolean =>
  conditions === null || fits(rulesOf(conditions), (condition) => holds(condition, event, now))

export const conditionResults = (conditions: object | null, event: ConditionEvent, now: number): ConditionResult[] =>
  conditions === null
    ? []
    : leavesOf(rulesOf(conditions)).map((condition) => ({
        field: condition.field.name,
        met: holds(condition, event, now),
      }))

/** Parsing takes longer than evaluating. Least recently used first. */
const recentRules = new Map<string, Group>()
const recentRulesMax = 500

function rulesOf(conditions: object): Group {
  const text = JSON.stringify(conditions)
  const rules = recentRules.get(text) ?? parseRules(conditions, 'conditions', eventFields).root
  recentRules.delete(text)
  recentRules.set(text, rules)
  for (const oldest of recentRules.keys()) {
    if (recentRules.size <= recentRulesMax) break
    recentRules.delete(oldest)
  }
  return rules
}

const leavesOf = (node: Group | Condition): Condition[] => (isGroup(node) ? node.conditions.flatMap(leavesOf) : [node])

/** A negation holds if no value matches the inverted operator. */
const positiveOperators: Readonly<Partial<Record<Condition['operator'], Condition['operator']>>> = {
  not_equals: 'equals',
  not_in: 'in',
  not_exists: 'exists',
  not_within_days: 'within_days',
  contains_none: 'contains_any',
}

function holds(condition: Condition, event: ConditionEvent, now: number): boolean {
  const actual = fieldContent(event, condition.field)
  const positive = positiveOperators[condition.operator]
  return positive === undefined
    ? fitsOne(condition, condition.operator, actual, now)
    : !fitsOne(condition, positive, actual, now)
}

const dayMs = 86_400_000

function fitsOne(condition: Condition, operator: Condition['operator'], actual: FieldContent, now: number): boolean {
  const value = condition.value as Scalar
  switch (operator) {
    case 'exists':
      return actual.exists
    case 'greater_than':
      return actual.most > (value as number)
    case 'less_than':
      return actual.least < (value as number)
    case 'before':
      return actual.times.some((time) => time < (value as string))
    case 'after':
      return actual.times.some((time) => time > (value as string))
    case 'within_days': {
      const [from, until] = [isoTime(now - (value as number) * dayMs), isoTime(now)]
      return actual.times.some((time) => time >= from && time <= until)
    }
    case 'starts_with':
      return actual.texts.some((text) => text.startsWith(wantedOf(condition).texts[0]!))
    case 'contains':
      if (condition.field.kind !== 'tags') return actual.texts.some(wantedOf(condition).finds)
      return isAmong(actual, wantedOf(condition).keys)
    case 'contains_all':
      return wantedOf(condition).each.every((keys) => keys.some((key) => actual.keys.has(key)))
    default:
      return isAmong(actual, wantedOf(condition).keys)
  }
}

function isAmong({ keys }: FieldContent, wanted: ReadonlySet<string>): boolean {
  for (const key of keys) if (wanted.has(key)) return true
  return false
}

interface Wanted {
  readonly texts: readonly string[]
  readonly finds: (text: string) => boolean
  readonly keys: ReadonlySet<string>
  readonly each: readonly string[][]
}

const wanted = new WeakMap<Condition, Wanted>()

function wantedOf(condition: Condition): Wanted {
  let known = wanted.get(condition)
  if (known === undefined) {
    const values = [...new Set(comparedValues(condition))]
    const texts = values.map(String)
    const each = values.map((value) => wantedKeysOf(condition.field, value))
    wanted.set(condition, (known = { texts, finds: substringFinder(texts[0] ?? ''), keys: new Set(each.flat()), each }))
  }
  return known
}
