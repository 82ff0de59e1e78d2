/** Evaluates rules in memory. Property tests compare it with the SQL of `predicate-repository.ts`. */
import { foldText } from '../contact.ts'
import { isPhone, negations, phoneText, type Field, comparableTime } from './fields.ts'
import { isoTime } from '../../../lib/clock.ts'
import { isGroup, type Condition, type Group, type Scalar } from './rules.ts'

/** null and undefined: empty. */
export type FieldValue = Scalar | readonly string[] | null | undefined

export const matches = (node: Group | Condition, valueOf: (field: Field) => FieldValue, now: number): boolean =>
  fits(node, (condition) => conditionHolds(condition, valueOf(condition.field), now))

export function fits(node: Group | Condition, holds: (condition: Condition) => boolean): boolean {
  if (!isGroup(node)) return holds(node)
  return node.match === 'all'
    ? node.conditions.every((each) => fits(each, holds))
    : node.conditions.some((each) => fits(each, holds))
}

const fold = (text: string, kind: Field['kind']): string =>
  kind === 'tags' ? foldText(text.trim()) : kind === 'lists' ? text : text.toLowerCase()

const comparable = (field: Field, value: Scalar): Scalar => {
  if (typeof value !== 'string') return value
  return fold(isPhone(field) ? phoneText(value) : value, field.kind)
}

export const comparedValues = ({ field, value }: Condition): readonly Scalar[] =>
  (Array.isArray(value) ? (value as readonly Scalar[]) : [value as Scalar]).map((each) => comparable(field, each))

function conditionHolds(condition: Condition, actual: FieldValue, now: number): boolean {
  const { field, operator, value } = condition
  const isSet = field.kind === 'tags' || field.kind === 'lists'
  if (field.kind === 'consent' && operator !== 'exists' && operator !== 'not_exists') actual ??= 'unknown'
  const missing = actual === null || actual === undefined || (isSet && (actual as readonly string[]).length === 0)
  if (missing) return negations.has(operator)
  if (operator === 'exists') return true
  if (operator === 'not_exists') return false
  if (operator === 'before' || operator === 'after' || operator.endsWith('within_days'))
    return timeHolds(operator, actual as Scalar, value as Scalar, field.kind === 'value', now)
  const wanted = comparedValues(condition)
  if (isSet)
    return setHolds(
      operator,
      (actual as readonly string[]).map((each) => fold(each, field.kind)),
      wanted as string[],
    )
  return valueHolds(operator, actual as Scalar, wanted)
}

function setHolds(operator: Condition['operator'], actual: readonly string[], wanted: readonly string[]): boolean {
  const one = wanted.some((value) => actual.includes(value))
  if (operator === 'contains_none' || operator === 'not_in') return !one
  return operator === 'contains_all' ? wanted.every((value) => actual.includes(value)) : one
}

function valueHolds(operator: Condition['operator'], actual: Scalar, wanted: readonly Scalar[]): boolean {
  const text = typeof actual === 'string' ? actual.toLowerCase() : null
  const first = wanted[0]!
  switch (operator) {
    case 'equals':
    case 'in':
      return wanted.includes(text ?? actual)
    case 'contains':
      return text !== null && text.includes(first as string)
    case 'starts_with':
      return text !== null && text.startsWith(first as string)
    case 'greater_than':
      return typeof actual === 'number' && actual > (first as number)
    case 'less_than':
      return typeof actual === 'number' && actual < (first as number)
    default:
      return !wanted.includes(text ?? actual)
  }
}

const dayMs = 86_400_000

/** An attribute without a time matches only the negation. */
function timeHolds(
  operator: Condition['operator'],
  actual: Scalar,
  wanted: Scalar,
  isAttribute: boolean,
  now: number,
): boolean {
  const time = typeof actual === 'string' ? comparableTime(actual) : null
  if (time === null) return operator === 'not_within_days'
  if (operator === 'before') return time < (wanted as string)
  if (operator === 'after') return time > (wanted as string)
  const within = time >= isoTime(now - (wanted as number) * dayMs) && (!isAttribute || time <= isoTime(now))
  return operator === 'within_days' ? within : !within
}
