/** Parses segment rules into a typed tree, or reports every failure with its path (behaviour: segments 2). Pure. */
import type { Detail, DetailCode } from '../../../api/errors.ts'
import { isId } from '../../../api/ids.ts'
import { limits } from '../../../api/limits.ts'
import { throwFailures } from '../../../api/problem.ts'
import { ruleLimits, ruleOperators, type RuleOperator } from '../../../api/resources/rules.ts'
import { contactFields, isPhone, operatorsOf, phoneText, type Field, type FieldKind, type Fields } from './fields.ts'
import { parseDateTime } from '../../../api/times.ts'

export type Scalar = string | number | boolean

export interface Condition {
  readonly field: Field
  readonly operator: RuleOperator
  /** Times are ISO 8601 in UTC. Undefined for `exists` and `not_exists`. */
  readonly value: Scalar | readonly Scalar[] | undefined
}

export interface Group {
  readonly match: 'all' | 'any'
  readonly conditions: readonly (Group | Condition)[]
}

export interface ListMention {
  readonly list_id: string
  readonly param: string
}

export interface ParsedRules {
  readonly root: Group
  readonly lists: readonly ListMention[]
}

export const isGroup = (node: Group | Condition): node is Group => 'match' in node

/** Throws one Problem with every failure. `param`: the path of the rules in the request. */
export function parseRules(input: unknown, param = 'rules', fields: Fields = contactFields): ParsedRules {
  const { root, reading } = readRules(input, param, fields)
  throwFailures(reading.failures)
  return { root: root!, lists: reading.lists }
}

export const rulesFailures = (input: unknown, param = 'rules', fields: Fields = contactFields): readonly Detail[] =>
  readRules(input, param, fields).reading.failures

function readRules(input: unknown, param: string, fields: Fields) {
  const reading: Reading = { failures: [], lists: [], conditions: 0, fields }
  const root = readGroup(input, param, 1, reading)
  if (reading.conditions > ruleLimits.conditions) {
    fail(
      reading,
      param,
      'too_many',
      `${param} holds ${reading.conditions} conditions; write at most ${ruleLimits.conditions}.`,
    )
  }
  return { root, reading }
}

interface Reading {
  readonly failures: Detail[]
  readonly lists: ListMention[]
  conditions: number
  readonly fields: Fields
}

function fail(reading: Reading, param: string, code: DetailCode, message: string): undefined {
  if (reading.failures.length < limits.error_details_collected_max) reading.failures.push({ param, code, message })
  return undefined
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function readGroup(input: unknown, path: string, depth: number, reading: Reading): Group | undefined {
  if (!isObject(input))
    return fail(
      reading,
      path,
      input === undefined ? 'missing_field' : 'invalid_type',
      `${path} must be an object with match and conditions.`,
    )
  if (depth > ruleLimits.depth)
    return fail(
      reading,
      path,
      'invalid_value',
      `${path} is a group at depth ${depth}; groups may be nested ${ruleLimits.depth} deep, the outermost counted.`,
    )
  refuseOthers(input, ['match', 'conditions'], path, reading)
  const { match, conditions } = input
  if (match !== 'all' && match !== 'any')
    fail(reading, `${path}.match`, codeFor(match, 'string'), `${path}.match must be all or any.`)
  if (!Array.isArray(conditions))
    return fail(
      reading,
      `${path}.conditions`,
      codeFor(conditions, 'array'),
      `${path}.conditions must be an array of conditions and groups.`,
    )
  if (conditions.length === 0)
    return fail(reading, `${path}.conditions`, 'too_few', `${path}.conditions is empty; write at least one condition.`)
  if (conditions.length > ruleLimits.conditions) {
    return fail(
      reading,
      `${path}.conditions`,
      'too_many',
      `${path}.conditions has ${conditions.length} entries; write at most ${ruleLimits.conditions}.`,
    )
  }
  const read = conditions.map((node: unknown, i) => {
    const here = `${path}.conditions[${i}]`
    const grouped = isObject(node) && ('match' in node || 'conditions' in node)
    return grouped ? readGroup(node, here, depth + 1, reading) : readCondition(node, here, reading)
  })
  return { match: match === 'any' ? 'any' : 'all', conditions: read.filter((node) => node !== undefined) }
}

function readCondition(input: unknown, path: string, reading: Reading): Condition | undefined {
  reading.conditions += 1
  if (!isObject(input))
    return fail(
      reading,
      path,
      'invalid_type',
      `${path} must be a condition {field, operator, value} or a group {match, conditions}.`,
    )
  refuseOthers(input, ['field', 'operator', 'value'], path, reading)
  const field = readField(input['field'], `${path}.field`, reading)
  const operator = readOperator(input['operator'], `${path}.operator`, field, reading)
  if (field === undefined || operator === undefined) return undefined
  const value = readValue(input['value'], `${path}.value`, field, operator, reading)
  return value === undefined && takesValue(operator) ? undefined : { field, operator, value }
}

function readField(input: unknown, path: string, reading: Reading): Field | undefined {
  if (typeof input !== 'string') return fail(reading, path, codeFor(input, 'string'), `${path} must name a field.`)
  const field = reading.fields.find(input)
  return (
    field ??
    fail(
      reading,
      path,
      'invalid_value',
      `${path} ${JSON.stringify(input.slice(0, 80))} is no field. Fields are ${reading.fields.names}.`,
    )
  )
}

function readOperator(
  input: unknown,
  path: string,
  field: Field | undefined,
  reading: Reading,
): RuleOperator | undefined {
  if (typeof input !== 'string') return fail(reading, path, codeFor(input, 'string'), `${path} must be an operator.`)
  const operator = ruleOperators.find((known) => known === input)
  if (operator === undefined)
    return fail(
      reading,
      path,
      'invalid_value',
      `${path} ${JSON.stringify(input.slice(0, 80))} is no operator. Operators are ${ruleOperators.join(', ')}.`,
    )
  if (field === undefined || operatorsOf[field.kind].includes(operator)) return operator
  return fail(
    reading,
    path,
    'invalid_value',
    `${path} ${operator} does not apply to ${field.name}, which takes ${operatorsOf[field.kind].join(', ')}.`,
  )
}

const several: ReadonlySet<RuleOperator> = new Set(['in', 'not_in', 'contains_any', 'contains_all', 'contains_none'])
const takesValue = (operator: RuleOperator): boolean => operator !== 'exists' && operator !== 'not_exists'

function readValue(
  input: unknown,
  path: string,
  field: Field,
  operator: RuleOperator,
  reading: Reading,
): Condition['value'] {
  if (!takesValue(operator)) {
    return input === undefined || input === null
      ? undefined
      : fail(reading, path, 'invalid_value', `${operator} takes no value; leave ${path} out.`)
  }
  if (input === undefined || input === null)
    return fail(reading, path, 'missing_field', `${path} is missing; ${operator} needs one.`)
  const kind = isPhone(field) ? 'phone' : valueKind(field.kind, operator)
  if (!several.has(operator)) return readScalar(input, path, kind, reading)
  if (!Array.isArray(input))
    return fail(
      reading,
      path,
      'invalid_type',
      `${path} must be an array; ${operator} compares with each of its values.`,
    )
  if (input.length === 0) return fail(reading, path, 'too_few', `${path} is empty; give at least one value.`)
  if (input.length > ruleLimits.values)
    return fail(reading, path, 'too_many', `${path} has ${input.length} values; give at most ${ruleLimits.values}.`)
  const values = input.map((item: unknown, i) => readScalar(item, `${path}[${i}]`, kind, reading))
  return values.every((value) => value !== undefined) ? values : undefined
}

type ValueKind = 'text' | 'phone' | 'number' | 'boolean' | 'scalar' | 'instant' | 'days' | 'status' | 'list'

function valueKind(kind: FieldKind, operator: RuleOperator): ValueKind {
  if (operator === 'within_days' || operator === 'not_within_days') return 'days'
  if (operator === 'before' || operator === 'after') return 'instant'
  if (operator === 'greater_than' || operator === 'less_than') return 'number'
  if (kind === 'boolean') return 'boolean'
  if (kind === 'consent') return 'status'
  if (kind === 'lists') return 'list'
  return (kind === 'value' || kind === 'any') && operator !== 'contains' && operator !== 'starts_with'
    ? 'scalar'
    : 'text'
}

const statuses = ['opted_in', 'opted_out', 'unknown']

function readScalar(input: unknown, path: string, kind: ValueKind, reading: Reading): Scalar | undefined {
  switch (kind) {
    case 'text':
      return readText(input, path, reading)
    case 'phone':
      return readPhone(input, path, reading)
    case 'scalar':
      if (typeof input === 'string') return readText(input, path, reading)
      if (typeof input === 'boolean' || isFinite(input)) return input
      return fail(reading, path, 'invalid_type', `${path} must be a string, a number or a boolean.`)
    case 'number':
      return isFinite(input) ? input : fail(reading, path, 'invalid_type', `${path} must be a number.`)
    case 'boolean':
      return typeof input === 'boolean' ? input : fail(reading, path, 'invalid_type', `${path} must be true or false.`)
    case 'days':
      if (isFinite(input) && Number.isInteger(input) && input >= 1 && input <= ruleLimits.days) return input
      return fail(
        reading,
        path,
        typeof input === 'number' ? 'invalid_value' : 'invalid_type',
        `${path} must be a whole number of days from 1 to ${ruleLimits.days}.`,
      )
    case 'instant':
      return (
        (typeof input === 'string' ? parseDateTime(input) : null) ??
        fail(
          reading,
          path,
          typeof input === 'string' ? 'invalid_format' : 'invalid_type',
          `${path} must be a time such as 2026-01-31T09:30:00Z, or a date.`,
        )
      )
    case 'status':
      return typeof input === 'string' && statuses.includes(input)
        ? input
        : fail(
            reading,
            path,
            typeof input === 'string' ? 'invalid_value' : 'invalid_type',
            `${path} must be one of ${statuses.join(', ')}.`,
          )
    case 'list':
      return readList(input, path, reading)
  }
}

const isFinite = (input: unknown): input is number => typeof input === 'number' && Number.isFinite(input)

function readText(input: unknown, path: string, reading: Reading): string | undefined {
  if (typeof input !== 'string') return fail(reading, path, 'invalid_type', `${path} must be a string.`)
  if (input.trim() === '')
    return fail(
      reading,
      path,
      'too_short',
      `${path} is empty; use exists or not_exists to ask whether there is a value.`,
    )
  if ([...input].length > ruleLimits.text_length)
    return fail(reading, path, 'too_long', `${path} is longer than ${ruleLimits.text_length} characters.`)
  if (input.includes('\0') || !input.isWellFormed())
    return fail(reading, path, 'invalid_value', `${path} holds a NUL character or half of a surrogate pair.`)
  return input
}

function readPhone(input: unknown, path: string, reading: Reading): string | undefined {
  const text = readText(input, path, reading)
  if (text === undefined || phoneText(text) !== '') return text
  return fail(
    reading,
    path,
    'invalid_value',
    `${path} holds no digit of a phone number; write one such as +4915112345678, or a part of one.`,
  )
}

function readList(input: unknown, path: string, reading: Reading): string | undefined {
  if (typeof input !== 'string') return fail(reading, path, 'invalid_type', `${path} must be the id of a contact list.`)
  if (!isId('lst', input))
    return fail(
      reading,
      path,
      'invalid_value',
      `${path} ${JSON.stringify(input.slice(0, 80))} is not the id of a contact list (lst_…).`,
    )
  reading.lists.push({ list_id: input, param: path })
  return input
}

/** A misspelt key would change the audience. */
function refuseOthers(input: Record<string, unknown>, known: readonly string[], path: string, reading: Reading): void {
  for (const key of Object.keys(input)
    .filter((name) => !known.includes(name))
    .slice(0, 10)) {
    fail(
      reading,
      `${path}.${key.slice(0, 80)}`,
      'unknown_field',
      `${path} has no ${JSON.stringify(key.slice(0, 80))}; it takes ${known.join(', ')}.`,
    )
  }
}

const codeFor = (input: unknown, wanted: 'string' | 'array'): DetailCode => {
  if (input === undefined) return 'missing_field'
  return wanted === 'string' && typeof input === 'string' ? 'invalid_value' : 'invalid_type'
}
