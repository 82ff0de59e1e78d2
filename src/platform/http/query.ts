/**
 * Query strings: refuses unknown, repeated and empty parameters, and converts the others (behaviour: conventions 5).
 */
import type { TObject, TSchema } from 'typebox'
import type { Detail } from '../../api/errors.ts'
import { limits } from '../../api/limits.ts'
import { parseDateTime } from '../../api/times.ts'
import { validator } from '../../api/validation.ts'
import { checkText } from './body.ts'
import { meantField } from './hints.ts'

export type RawQuery = Readonly<Record<string, string | string[]>>

export type QueryReader = (raw: RawQuery, url: string, details: Detail[]) => Record<string, unknown>

type Coerce = (text: string) => unknown

const none: Record<string, unknown> = Object.freeze({})

export function queryReader(schema: TObject | undefined): QueryReader {
  const fields = new Map<string, Coerce>(
    Object.entries(schema?.properties ?? {}).map(([name, property]) => [name, coercion(name, property)]),
  )
  const required = (schema as { required?: readonly string[] } | undefined)?.required ?? []
  const validate = schema === undefined ? undefined : validator(schema)
  const names = [...fields.keys()]
  // invalid UTF-8 in parameters of other services passes
  const open = (schema as { additionalProperties?: unknown } | undefined)?.additionalProperties === true
  return (raw, url, details) => {
    const present = Object.keys(raw)
    if (present.length === 0 && required.length === 0) return none
    const values: Record<string, unknown> = {}
    for (const name of present)
      if (!open || fields.has(name)) readParameter(name, raw[name]!, fields.get(name), names, values, details)
    for (const param of new Set(undecodable(url))) {
      const message = `The query parameter \`${param}\` is not percent-encoded UTF-8. Encode its value, a percent sign as %25.`
      if (fields.has(param)) details.push({ param, code: 'invalid_format', message })
    }
    const refused = new Set(details.map((detail) => detail.param))
    for (const detail of validate?.(values) ?? []) if (!refused.has(detail.param)) details.push(detail)
    if (details.length === 0) normalise(schema, values)
    return values
  }
}

const hintsMax = 10

function hintOf(name: string, names: readonly string[]): string {
  const meant = meantField(name, names)
  return meant === undefined ? '' : `Did you mean \`${meant}\`? `
}

const knownAre = (names: readonly string[]): string =>
  names.length === 0 ? 'This operation takes none.' : `Known are: ${names.join(', ')}.`

function readParameter(
  name: string,
  text: string | string[],
  coerce: Coerce | undefined,
  names: readonly string[],
  values: Record<string, unknown>,
  details: Detail[],
): void {
  const param = name.toWellFormed().replaceAll('\0', '\uFFFD').slice(0, 80)
  if (details.length >= limits.error_details_collected_max) return
  if (coerce === undefined) {
    details.push({
      param,
      code: 'unknown_field',
      message: `The query parameter \`${param}\` is not known here. ${details.length < hintsMax ? hintOf(name, names) : ''}${knownAre(names)}`,
    })
  } else if (typeof text !== 'string') {
    details.push({
      param,
      code: 'invalid_value',
      message: `The query parameter \`${param}\` occurs more than once. Send it once.`,
    })
  } else if (text === '') {
    details.push({
      param,
      code: 'invalid_value',
      message: `The query parameter \`${param}\` is empty. Give it a value or leave it out.`,
    })
  } else {
    checkText(text, param, details)
    values[name] = coerce(text)
  }
}

/** Query parsers leave them undecoded. */
function undecodable(url: string): string[] {
  const start = url.indexOf('?')
  if (start === -1 || !url.includes('%', start)) return []
  const pairs = url.slice(start + 1).split('&')
  const names = pairs.filter((pair) => !isDecodable(pair)).map((pair) => pair.split('=', 1)[0]!)
  return names.map((name) => (isDecodable(name) ? decodeURIComponent(name) : name))
}

export function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}

function coercion(name: string, schema: TSchema): Coerce {
  const { type } = schema as { type?: string | string[] }
  if (type === 'integer' || type === 'number')
    return (text) => (/^-?\d{1,15}(\.\d+)?$/.test(text) ? Number(text) : text)
  if (type === 'boolean') return (text) => (text === 'true' ? true : text === 'false' ? false : text)
  if (type === 'array') return (text) => text.split(',')
  if (isDateTime(schema)) return (text) => parseDateTime(text, name.endsWith('_before') ? 'up' : 'down') ?? text
  return (text) => text
}

const isDateTime = (schema: TSchema): boolean => (schema as { format?: string }).format === 'date-time-query'

function normalise(schema: TObject | undefined, values: Record<string, unknown>): void {
  for (const [name, property] of Object.entries(schema?.properties ?? {})) {
    const { default: fallback } = property as { default?: unknown }
    if (fallback !== undefined && values[name] === undefined) values[name] = fallback
  }
}
