/**
 * The conditions of an automation: the rules of segments over what an event holds (behaviour: integrations 5). Pure. Texts and numbers compare as segments compare those
 * of contacts, and besides a decimal text compares with a number as a number: shops send `"59.99"`.
 */
import type { Detail } from '../../../contract/errors.ts'
import type { EventCustomer } from '../../../contract/resources/automation-event.ts'
import {
  conditionHolds,
  fits,
  isGroup,
  negations,
  parseRules,
  phoneText,
  rulesFailures,
  type Condition,
  type Field,
  type Fields,
  type Group,
  type Scalar,
} from '../../contacts/service.ts'
import { readPath, valuesAt } from './event-paths.ts'

/** What conditions look at. */
export interface ConditionEvent {
  readonly customer: EventCustomer
  readonly data: Readonly<Record<string, unknown>>
}

const customerTexts = ['external_id', 'phone', 'email', 'first_name', 'last_name', 'locale'] as const

/** The fields of an event. */
const eventFields: Fields = {
  find: eventField,
  names: ['data.<path>', ...customerTexts.map((key) => `customer.${key}`), 'customer.tags', 'customer.attributes.<path>'].join(', '),
}

function eventField(name: string): Field | null {
  if (name === 'customer.tags') return { name, kind: 'tags', root: 'customer', key: 'tags' }
  const text = customerTexts.find((key) => name === `customer.${key}`)
  if (text !== undefined) return { name, kind: 'text', root: 'customer', key: text }
  for (const root of ['data', 'customer.attributes']) if (readPath(name, root) !== null) return { name, kind: 'any', root, key: name.slice(root.length + 1) }
  return null
}

/** Characters of the JSON of conditions. */
const conditionsLengthMax = 20_000

/** Everything that is wrong with conditions as they are written. */
export function conditionsFailures(conditions: unknown): readonly Detail[] {
  if (JSON.stringify(conditions).length <= conditionsLengthMax) return rulesFailures(conditions, 'conditions', eventFields)
  return [{ param: 'conditions', code: 'too_long', message: `\`conditions\` may have at most ${conditionsLengthMax} characters of JSON.` }]
}

/** A condition of an automation, and whether an event meets it. */
export interface ConditionResult {
  readonly field: string
  readonly met: boolean
}

/** Whether the event meets the conditions, which were checked when they were saved; null is met by every event. `now`: milliseconds since 1970. */
export const conditionsMet = (conditions: object | null, event: ConditionEvent, now: number): boolean =>
  conditions === null || fits(rulesOf(conditions), (condition) => holds(condition, event, now))

/** Each condition by itself, in the order in which they are written. */
export const conditionResults = (conditions: object | null, event: ConditionEvent, now: number): ConditionResult[] =>
  conditions === null ? [] : leavesOf(rulesOf(conditions)).map((condition) => ({ field: condition.field.name, met: holds(condition, event, now) }))

const read = new WeakMap<object, Group>()

/** Conditions are read once, and this forgotten with them. */
function rulesOf(conditions: object): Group {
  let known = read.get(conditions)
  if (known === undefined) read.set(conditions, (known = parseRules(conditions, 'conditions', eventFields).root))
  return known
}

const leavesOf = (node: Group | Condition): Condition[] => (isGroup(node) ? node.conditions.flatMap(leavesOf) : [node])

function holds(condition: Condition, event: ConditionEvent, now: number): boolean {
  const { kind, key } = condition.field
  if (kind === 'any') return anyHolds(condition, valuesOf(condition.field, event), now)
  const held: unknown = event.customer[key as keyof EventCustomer]
  if (kind === 'tags') return conditionHolds(condition, Array.isArray(held) ? held.filter((tag) => typeof tag === 'string') : null, now)
  if (typeof held !== 'string' || held.trim() === '') return conditionHolds(condition, null, now)
  return conditionHolds(condition, shortened(key === 'phone' ? phoneText(held) : held), now)
}

const found = new WeakMap<ConditionEvent, Map<string, readonly unknown[]>>()

/** What an event holds in a field is looked up once, for all automations. */
function valuesOf({ name, root }: Field, event: ConditionEvent): readonly unknown[] {
  let known = found.get(event)
  if (known === undefined) found.set(event, (known = new Map()))
  let values = known.get(name)
  if (values === undefined) known.set(name, (values = valuesAt(root === 'data' ? event.data : event.customer.attributes, readPath(name, root) ?? [])))
  return values
}

/** What each negation denies. */
const denied: Readonly<Partial<Record<Condition['operator'], Condition['operator']>>> = {
  not_equals: 'equals',
  not_in: 'in',
  not_exists: 'exists',
  not_within_days: 'within_days',
  contains_none: 'contains_any',
}

/** Of several values one must fit; a negation denies that, so that none may. */
function anyHolds(condition: Condition, held: readonly unknown[], now: number): boolean {
  const { operator } = condition
  if (negations.has(operator)) return !anyHolds({ ...condition, operator: denied[operator]! }, held, now)
  if (operator === 'exists') return held.length > 0
  const values = held.filter(isScalar).map((value) => (typeof value === 'string' ? shortened(value) : value))
  if (operator === 'greater_than' || operator === 'less_than') return values.some((value) => conditionHolds(condition, asNumber(value), now))
  if (operator !== 'equals' && operator !== 'in' && operator !== 'contains_any' && operator !== 'contains_all')
    return values.some((value) => conditionHolds(condition, value, now))
  const keys = new Set(values.flatMap(heldKeysOf))
  const wanted = Array.isArray(condition.value) ? (condition.value as readonly Scalar[]) : [condition.value as Scalar]
  const isHeld = (value: Scalar): boolean => wantedKeysOf(value).some((each) => keys.has(each))
  return operator === 'contains_all' ? wanted.every(isHeld) : wanted.some(isHeld)
}

const isScalar = (value: unknown): value is Scalar => typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'

/** As far as a text is compared: further than any text of a condition reaches. */
const shortened = (text: string): string => text.slice(0, 10_000)

/** A number in digits, as shops write amounts; null for any other text. */
const decimalOf = (text: string): number | null => (/^-?\d{1,40}(?:\.\d{1,40})?$/.test(text.trim()) ? Number(text) : null)

const asNumber = (value: Scalar): Scalar => (typeof value === 'string' ? (decimalOf(value) ?? value) : value)

/** What a value is equal to, of both sides: a text to the same text without regard to case, a number to that number, and a decimal text to a number, but not to another text. */
function heldKeysOf(value: Scalar): string[] {
  if (typeof value !== 'string') return [`${typeof value} ${value}`]
  const decimal = decimalOf(value)
  return [`text ${value.toLowerCase()}`, ...(decimal === null ? [] : [`decimal ${decimal}`])]
}

function wantedKeysOf(value: Scalar): string[] {
  if (typeof value === 'number') return [`number ${value}`, `decimal ${value}`]
  if (typeof value === 'boolean') return [`boolean ${value}`]
  const decimal = decimalOf(value)
  return [`text ${value.toLowerCase()}`, ...(decimal === null ? [] : [`number ${decimal}`])]
}
