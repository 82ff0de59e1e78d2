/** The values of an event's fields, prepared for comparison with conditions (behaviour: integrations 5.4). */
import type { EventCustomer } from '../../api/resources/automation-event.ts'
import { readPath, valuesAt } from './event-paths.ts'
import { comparableTime, type Field, foldText, phoneText, type Scalar } from '../contacts/service.ts'

export interface ConditionEvent {
  readonly customer: EventCustomer
  readonly data: Readonly<Record<string, unknown>>
}

export interface FieldContent {
  readonly exists: boolean
  /** In lower case. */
  readonly texts: readonly string[]
  readonly keys: ReadonlySet<string>
  readonly least: number
  readonly most: number
  readonly times: readonly string[]
}

const charactersMax = 10_000

const known = new WeakMap<ConditionEvent, Map<string, FieldContent>>()

export function fieldContent(event: ConditionEvent, field: Field): FieldContent {
  let fields = known.get(event)
  if (fields === undefined) known.set(event, (fields = new Map()))
  let content = fields.get(field.name)
  if (content === undefined) fields.set(field.name, (content = read(event, field)))
  return content
}

function read({ customer, data }: ConditionEvent, { kind, root, name, key }: Field): FieldContent {
  if (kind === 'any')
    return contentOf(valuesAt(root === 'data' ? data : customer.attributes, readPath(name, root) ?? []), decimalKeysOf)
  const value: unknown = customer[key as keyof EventCustomer]
  if (kind === 'tags')
    return contentOf(Array.isArray(value) ? value.filter(isText) : [], (tag) => [
      `text ${foldText(String(tag).trim())}`,
    ])
  if (!isText(value)) return contentOf([], decimalKeysOf)
  return contentOf([key === 'phone' ? phoneText(value) : value], (text) => [`text ${String(text).toLowerCase()}`])
}

const isText = (value: unknown): value is string => typeof value === 'string' && value.trim() !== ''
const isScalar = (value: unknown): value is Scalar =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'

function contentOf(values: readonly unknown[], keysOf: (value: Scalar) => string[]): FieldContent {
  const [texts, numbers, times, keys] = [[] as string[], [] as number[], [] as string[], new Set<string>()]
  let left = charactersMax
  for (const value of values.filter(isScalar)) {
    if (typeof value === 'string') {
      const isWhole = value.length <= left
      if (!isWhole && left < charactersMax) continue
      left -= Math.min(value.length, left)
      texts.push(value.slice(0, charactersMax).toLowerCase())
      if (!isWhole) continue
      const time = comparableTime(value)
      if (time !== null) times.push(time)
    }
    const number = typeof value === 'string' ? decimalOf(value) : value
    if (typeof number === 'number') numbers.push(number)
    for (const key of keysOf(value)) keys.add(key)
  }
  return { exists: values.length > 0, texts, keys, least: Math.min(...numbers), most: Math.max(...numbers), times }
}

const decimalOf = (text: string): number | null =>
  /^-?\d{1,40}(?:\.\d{1,40})?$/.test(text.trim()) ? Number(text) : null

/** Texts are equal regardless of case; a decimal text equals a number, but not another text. */
function decimalKeysOf(value: Scalar): string[] {
  if (typeof value !== 'string') return [`${typeof value} ${value}`]
  const decimal = decimalOf(value)
  return [`text ${value.toLowerCase()}`, ...(decimal === null ? [] : [`decimal ${decimal}`])]
}

export function wantedKeysOf({ kind }: Field, value: Scalar): string[] {
  if (kind !== 'any') return [`text ${value}`]
  if (typeof value === 'number') return [`number ${value}`, `decimal ${value}`]
  if (typeof value === 'boolean') return [`boolean ${value}`]
  const decimal = decimalOf(value)
  return [`text ${value}`, ...(decimal === null ? [] : [`number ${decimal}`])]
}
