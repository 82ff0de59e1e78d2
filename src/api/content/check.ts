/** Compiles content schemas to checks that report every failure with its path and a sentence. */
import type { TSchema } from 'typebox'
import { didYouMean } from '../../lib/text.ts'
import type { Detail, DetailCode } from '../errors.ts'
import { limits } from '../limits.ts'

export type Key = string | number
export type Check = (value: unknown, walk: Walk) => void

export interface Walk {
  readonly keys: Key[]
  details: Detail[] | null
}

export interface Shape {
  readonly type?: string | readonly string[]
  readonly properties?: Readonly<Record<string, Shape>>
  readonly required?: readonly string[]
  readonly items?: Shape
  readonly enum?: readonly string[]
  readonly minLength?: number
  readonly maxLength?: number
  readonly minItems?: number
  readonly maxItems?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly format?: string
  readonly pattern?: string
  readonly description?: string
}

export const shapeOf = (schema: TSchema): Shape => schema as Shape

export function fail(walk: Walk, code: DetailCode, sentence: (path: string) => string, ...keys: readonly Key[]): void {
  walk.details ??= []
  if (walk.details.length >= limits.error_details_collected_max) return
  const param = pathText(walk.keys, keys)
  walk.details.push({ param, code, message: sentence(`\`${param}\``) })
}

function pathText(keys: readonly Key[], more: readonly Key[]): string {
  let text = ''
  for (const key of [...keys, ...more]) text += typeof key === 'number' ? `[${key}]` : text === '' ? key : `.${key}`
  return text
}

/** Unknown fields pass. */
export function compile(shape: Shape): Check {
  const nullable = Array.isArray(shape.type) && shape.type.includes('null')
  const check = checkOfType(shape)
  return nullable
    ? (value, walk) => {
        if (value !== null) check(value, walk)
      }
    : check
}

export const typeOf = (shape: Shape): string =>
  typeof shape.type === 'string' ? shape.type : (shape.type?.find((type) => type !== 'null') ?? 'any')

function checkOfType(shape: Shape): Check {
  switch (typeOf(shape)) {
    case 'string':
      return stringCheck(shape)
    case 'number':
    case 'integer':
      return numberCheck(shape)
    case 'array':
      return arrayCheck(shape)
    case 'object':
      return objectCheck(shape)
    case 'boolean':
      return (value, walk) => {
        if (typeof value !== 'boolean') wrongType(value, shape, walk)
      }
    default:
      return () => undefined
  }
}

function stringCheck(shape: Shape): Check {
  const least = shape.minLength ?? 0
  const most = shape.maxLength ?? Infinity
  const pattern = shape.pattern === undefined ? null : new RegExp(shape.pattern, 'u')
  const { format } = shape
  const plain = pattern === null && format === undefined && shape.enum === undefined
  return (value, walk) => {
    if (typeof value !== 'string') return wrongType(value, shape, walk)
    if (value.length < least)
      return fail(walk, 'too_short', (path) =>
        value === '' ? `${path} is empty; send ${wordsFor(shape)}.` : `${path} is too short; send ${wordsFor(shape)}.`,
      )
    if (value.length > most && codePoints(value) > most)
      return fail(
        walk,
        'too_long',
        (path) => `${path} has ${codePoints(value)} characters; shorten it to at most ${most}.`,
      )
    if (plain) return
    if (shape.enum !== undefined && !shape.enum.includes(value))
      return fail(
        walk,
        'invalid_value',
        (path) => `${path} must be ${wordsFor(shape)}.${didYouMean(value, shape.enum!)}`,
      )
    if ((pattern !== null && !pattern.test(value)) || (format !== undefined && !hasFormat(format, value)))
      fail(walk, 'invalid_format', (path) => `${path} must be ${wordsFor(shape)}.`)
  }
}

function numberCheck(shape: Shape): Check {
  const { minimum = -Infinity, maximum = Infinity } = shape
  const whole = typeOf(shape) === 'integer'
  return (value, walk) => {
    if (typeof value !== 'number' || Number.isNaN(value)) return wrongType(value, shape, walk)
    if (value < minimum || value > maximum || !Number.isFinite(value))
      return fail(walk, 'invalid_value', (path) => `${path} must be ${wordsFor(shape)}.`)
    if (whole && !Number.isInteger(value)) wrongType(value, shape, walk)
  }
}

function arrayCheck(shape: Shape): Check {
  const { minItems = 0, maxItems = Infinity } = shape
  const item = shape.items === undefined ? null : compile(shape.items)
  return (value, walk) => {
    if (!Array.isArray(value)) return wrongType(value, shape, walk)
    if (value.length < minItems)
      return fail(walk, 'too_few', (path) => `${path} has ${itemsText(value.length)}; send ${wordsFor(shape)}.`)
    if (value.length > maxItems)
      fail(walk, 'too_many', (path) => `${path} has ${itemsText(value.length)}; send at most ${maxItems}.`)
    if (item === null) return
    const count = Math.min(value.length, maxItems)
    for (let i = 0; i < count; i++) {
      walk.keys.push(i)
      item(value[i], walk)
      walk.keys.pop()
    }
  }
}

function objectCheck(shape: Shape): Check {
  const fields = Object.entries(shape.properties ?? {}).map(([name, field]) => ({
    name,
    field,
    check: compile(field),
    required: shape.required?.includes(name) ?? false,
  }))
  return (value, walk) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return wrongType(value, shape, walk)
    for (let i = 0; i < fields.length; i++) {
      const { name, field, check, required } = fields[i]!
      const inner = (value as Record<string, unknown>)[name]
      if (inner === undefined) {
        if (required) missing(field, walk, name)
        continue
      }
      walk.keys.push(name)
      check(inner, walk)
      walk.keys.pop()
    }
  }
}

function missing(field: Shape, walk: Walk, name: string): void {
  const meaning =
    field.description === undefined
      ? '.'
      : `: ${field.description.charAt(0).toLowerCase()}${field.description.slice(1)}`
  fail(walk, 'missing_field', (path) => `Add ${path}, ${wordsFor(field)}${meaning}`, name)
}

function wrongType(value: unknown, shape: Shape, walk: Walk): void {
  fail(walk, 'invalid_type', (path) => `${path} must be ${wordsFor(shape)}, not ${typeWords(value)}.`)
}

function typeWords(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'an array'
  const type = typeof value
  return type === 'object' ? 'an object' : `a ${type}`
}

/** (behaviour: conventions 6.5) */
function codePoints(text: string): number {
  let count = text.length
  for (let i = 0; i < text.length - 1; i++) {
    if ((text.charCodeAt(i) & 0xfc00) === 0xd800 && (text.charCodeAt(i + 1) & 0xfc00) === 0xdc00) {
      count -= 1
      i += 1
    }
  }
  return count
}

function hasFormat(format: string, text: string): boolean {
  if (format === 'uri') return !/\s/.test(text) && URL.canParse(text)
  if (format === 'date') return isDate(text)
  return true
}

function isDate(text: string): boolean {
  const parts = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text)
  if (parts === null) return false
  const [year, month, day] = [Number(parts[1]), Number(parts[2]), Number(parts[3])]
  const leap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0
  const days = [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
  return day >= 1 && day <= (days[month - 1] ?? 0)
}

const itemsText = (count: number): string => `${count} item${count === 1 ? '' : 's'}`

/** "a string of 1 to 20 characters" */
export function wordsFor(shape: Shape): string {
  switch (typeOf(shape)) {
    case 'string':
      return stringWords(shape)
    case 'number':
    case 'integer':
      return `a ${typeOf(shape) === 'integer' ? 'whole number' : 'number'}${shape.minimum === undefined ? '' : ` between ${shape.minimum} and ${shape.maximum}`}`
    case 'array':
      return `an array${rangeWords(shape.minItems ?? 0, shape.maxItems, 'item')}`
    case 'object':
      return shape.required === undefined || shape.required.length === 0
        ? 'an object'
        : `an object with ${shape.required.map((name) => `\`${name}\``).join(', ')}`
    case 'boolean':
      return 'true or false'
    default:
      return 'a value'
  }
}

function stringWords(shape: Shape): string {
  if (shape.enum !== undefined)
    return shape.enum.length === 1
      ? `\`${shape.enum[0]}\``
      : `one of ${shape.enum.map((value) => `\`${value}\``).join(', ')}`
  if (shape.format === 'date') return 'a date written YYYY-MM-DD'
  if (shape.format === 'uri')
    return shape.pattern?.includes('?') ? 'an absolute http or https URL' : 'an absolute https URL'
  return `a string${rangeWords(shape.minLength ?? 0, shape.maxLength, 'character')}`
}

function rangeWords(least: number, most: number | undefined, unit: string): string {
  if (most !== undefined) return least === 0 ? ` of at most ${most} ${unit}s` : ` of ${least} to ${most} ${unit}s`
  if (least === 0) return ''
  return ` of at least ${least} ${unit}${least === 1 ? '' : 's'}`
}
