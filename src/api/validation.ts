/** Validates by JSON Schema, and reports every failure with a JavaScript path and a sentence. */
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import type { TSchema } from 'typebox'
import type { Detail, DetailCode } from './errors.ts'
import { limits } from './limits.ts'
import { cut, cutPath } from './refusal-size.ts'
import { didYouMean, nearest } from '../lib/text.ts'
import { isDay, parseDateTime, parseStrictDateTime } from './times.ts'

/** In schema order, at most `error_details_collected_max`; empty if valid. */
export type Validator = (value: unknown, basePath?: string) => Detail[]

/** Further failures get no suggestion. */
const hintsMax = 20

/** After the first item that fails: each error of an invalid item costs more than validating a hundred valid ones. */
const itemsAfterFailure = 1_000

let one: Ajv | undefined
let every: Ajv | undefined

/** Lengths count code points. */
export function validator(schema: TSchema): Validator {
  let check: ValidateFunction | undefined
  let checkAll: ValidateFunction | undefined
  return (value, basePath = '') => {
    check ??= (one ??= makeAjv(false)).compile(schema)
    if (check(value)) return []
    checkAll ??= (every ??= makeAjv(true)).compile(schema)
    const first = check.errors ?? []
    const all = checkAll(shortened(value, lastIndex(first) + itemsAfterFailure)) ? [] : (checkAll.errors ?? [])
    // an array that is too long is not too long any more
    const isLost = first.some((one) => !all.some((other) => isSame(one, other)))
    return detailsOf(isLost ? [...first, ...all] : all, basePath)
  }
}

/** The items before it are valid. */
const lastIndex = (errors: readonly ErrorObject[]): number =>
  Math.max(
    0,
    ...errors.flatMap(({ instancePath }) =>
      [...instancePath.matchAll(/\/(\d{1,9})(?=\/|$)/g)].map(([, index]) => Number(index)),
    ),
  )

const isSame = (one: ErrorObject, other: ErrorObject): boolean =>
  one.instancePath === other.instancePath && one.keyword === other.keyword

function shortened(value: unknown, items_max: number): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.slice(0, items_max).map((item) => shortened(item, items_max))
  return Object.fromEntries(Object.entries(value).map(([field, inner]) => [field, shortened(inner, items_max)]))
}

function detailsOf(errors: readonly ErrorObject[], basePath: string): Detail[] {
  const details: Detail[] = []
  const reported = new Set<string>()
  for (const error of errors) {
    if (details.length === limits.error_details_collected_max) break
    const detail = detailOf(error, basePath, details.length < hintsMax)
    // a value of the wrong type gets no further failures
    if (
      detail === null ||
      reported.has(`${detail.code} ${detail.param}`) ||
      reported.has(`invalid_type ${detail.param}`)
    )
      continue
    // skip the alternative `null` of a nullable value
    if (
      reported.has(detail.param) &&
      (error.keyword === 'anyOf' || (error.keyword === 'type' && error.params['type'] === 'null'))
    )
      continue
    reported.add(detail.param)
    reported.add(`${detail.code} ${detail.param}`)
    details.push(detail)
  }
  return details
}

function makeAjv(allErrors: boolean): Ajv {
  const ajv = new Ajv({
    allErrors,
    messages: false,
    strict: false,
    verbose: true,
    validateSchema: false,
    addUsedSchema: false,
    logger: false,
  })
  for (const [name, format] of Object.entries(formats)) ajv.addFormat(name, { type: 'string', validate: format.test })
  return ajv
}

const formats: Readonly<Record<string, { test: (text: string) => boolean; words: string }>> = {
  'date-time': {
    test: (text) => parseStrictDateTime(text) !== null,
    words: 'an RFC 3339 time with a zone, such as 2026-01-31T09:30:00Z',
  },
  'date-time-query': {
    test: (text) => parseDateTime(text) !== null,
    words: 'an RFC 3339 time or a date, such as 2026-01-31T09:30:00Z or 2026-01-31',
  },
  date: { test: isDay, words: 'a date, such as 2026-01-31' },
  uri: { test: (text) => URL.canParse(text), words: 'an absolute URL' },
  'http-url': { test: (text) => isUrl(text, ['http:', 'https:']), words: 'an http or https URL' },
  'https-url': { test: (text) => isUrl(text, ['https:']), words: 'an https URL' },
  email: { test: (text) => text.length <= 320 && /^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(text), words: 'an e-mail address' },
  timezone: { test: isTimezone, words: 'an IANA time zone name, such as Europe/Berlin' },
  locale: { test: isLocale, words: 'a BCP 47 language tag, such as en or pt-BR' },
  'wall-time': { test: (text) => /^([01]\d|2[0-3]):[0-5]\d$/.test(text), words: 'a time of day as HH:MM' },
}

const isUrl = (text: string, protocols: readonly string[]): boolean => {
  const url = URL.parse(text)
  return url !== null && protocols.includes(url.protocol) && url.hostname !== ''
}

/** Offsets such as +01:00 are not names. */
export function isTimezone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return true
  } catch {
    return false
  }
}

export function isLocale(tag: string): boolean {
  try {
    return Intl.getCanonicalLocales(tag).length === 1
  } catch {
    return false
  }
}

function detailOf(error: ErrorObject, basePath: string, hints: boolean): Detail | null {
  const path = jsPath(error.instancePath, basePath)
  const { keyword, params } = error
  if (keyword === 'required') return missingField(join(path, String(params['missingProperty'])))
  if (keyword === 'additionalProperties')
    return unknownField(join(path, String(params['additionalProperty'])), hints ? similarField(error) : undefined)
  if (keyword === 'if' || (keyword === 'propertyNames' && error.propertyName === undefined)) return null
  const rule = rules[keyword]
  const param = error.propertyName === undefined ? path : join(path, error.propertyName)
  if (rule === undefined)
    return { param, code: 'invalid_value', message: `${name(param)} has a value that is not allowed here.` }
  const [code, words] = rule(error)
  return { param, code, message: `${name(param)} ${words}.${hints ? similarValue(error) : ''}` }
}

const missingField = (param: string): Detail => ({
  param,
  code: 'missing_field',
  message: `${name(param)} is required. Add it.`,
})
const unknownField = (param: string, meant: string | undefined): Detail => ({
  param,
  code: 'unknown_field',
  message: `${name(param)} is not known here. ${meant === undefined ? 'Remove it or correct its spelling.' : `Did you mean \`${meant}\`?`}`,
})

function similarField({ params, parentSchema, data }: ErrorObject): string | undefined {
  const field = String(params['additionalProperty'])
  const { properties } = (parentSchema ?? {}) as { properties?: object }
  if (properties === undefined || field.length > stepLengthMax || !/[a-z0-9]/i.test(field)) return undefined
  return nearest(
    field,
    Object.keys(properties).filter((known) => !Object.hasOwn(data as object, known)),
  )
}

const similarValue = ({ keyword, params, data }: ErrorObject): string =>
  keyword === 'enum' && typeof data === 'string'
    ? didYouMean(
        data,
        (params['allowedValues'] as unknown[]).filter((value) => typeof value === 'string'),
      )
    : ''

const name = (param: string): string => (param === '' ? 'The value' : `\`${param}\``)

type Rule = (error: ErrorObject) => [DetailCode, string]

const rules: Readonly<Record<string, Rule>> = {
  type: ({ params }) => ['invalid_type', `must be ${typeWords(params['type'])}`],
  nullable: () => ['invalid_type', 'must not be null'],
  enum: ({ params }) => [
    'invalid_value',
    `must be one of ${(params['allowedValues'] as unknown[]).map(String).join(', ')}`,
  ],
  const: ({ params }) => ['invalid_value', `must be ${JSON.stringify(params['allowedValue'])}`],
  pattern: ({ parentSchema }) => [
    'invalid_format',
    typeof parentSchema?.['x-format'] === 'string'
      ? `must be ${parentSchema['x-format']}`
      : `must match ${String(parentSchema?.['pattern'])}`,
  ],
  format: ({ params }) => [
    'invalid_format',
    `must be ${formats[String(params['format'])]?.words ?? `of the format ${String(params['format'])}`}`,
  ],
  minLength: ({ params }) => [
    'too_short',
    params['limit'] === 1 ? 'must not be empty' : `must have at least ${String(params['limit'])} characters`,
  ],
  maxLength: ({ params }) => ['too_long', `must have at most ${String(params['limit'])} characters`],
  minItems: ({ params }) => ['too_few', `must have at least ${plural(params['limit'], 'item')}`],
  maxItems: ({ params }) => ['too_many', `must have at most ${plural(params['limit'], 'item')}`],
  minProperties: ({ params }) => ['too_few', `must have at least ${plural(params['limit'], 'field')}`],
  maxProperties: ({ params }) => ['too_many', `must have at most ${plural(params['limit'], 'field')}`],
  minimum: ({ params }) => ['invalid_value', `must be at least ${String(params['limit'])}`],
  maximum: ({ params }) => ['invalid_value', `must be at most ${String(params['limit'])}`],
  exclusiveMinimum: ({ params }) => ['invalid_value', `must be greater than ${String(params['limit'])}`],
  exclusiveMaximum: ({ params }) => ['invalid_value', `must be less than ${String(params['limit'])}`],
  multipleOf: ({ params }) => ['invalid_value', `must be a multiple of ${String(params['multipleOf'])}`],
  uniqueItems: ({ params }) => [
    'invalid_value',
    `must not repeat an item; items ${String(params['j'])} and ${String(params['i'])} are the same`,
  ],
}

const plural = (count: unknown, word: string): string => `${String(count)} ${word}${count === 1 ? '' : 's'}`

function typeWords(type: unknown): string {
  const words: Record<string, string> = {
    string: 'a string',
    integer: 'a whole number',
    number: 'a number',
    boolean: 'true or false',
    object: 'an object',
    array: 'an array',
    null: 'null',
  }
  const types = Array.isArray(type) ? type : String(type).split(',')
  return types.map((entry) => words[String(entry)] ?? String(entry)).join(' or ')
}

/** `button.action.buttons[0].reply.title` */
function jsPath(pointer: string, basePath: string): string {
  let path = basePath
  if (pointer === '') return path
  for (const part of pointer.slice(1).split('/')) path = join(path, part.replaceAll('~1', '/').replaceAll('~0', '~'))
  return path
}

const stepLengthMax = 80

/** Truncates long names. */
export function join(path: string, step: string): string {
  return cutPath(
    step.length > stepLengthMax ? `${path}[${JSON.stringify(cut(step, stepLengthMax))}]` : joined(path, step),
  )
}

function joined(path: string, step: string): string {
  if (/^\d+$/.test(step) && path !== '') return `${path}[${step}]`
  if (/^[A-Za-z_$][\w$-]*$/.test(step)) return path === '' ? step : `${path}.${step}`
  return `${path}[${JSON.stringify(step)}]`
}
