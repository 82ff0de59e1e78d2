/** Reads JSON that somebody else wrote: what has not the type that is asked for counts as absent. */
import { isObject, type Fields } from '../../lib/json-fields.ts'

export const objectAt = (value: Fields, key: string): Fields | undefined =>
  isObject(value[key]) ? value[key] : undefined

/** The text at a key; numbers count as one, for ids come as either. */
export function textAt(value: Fields, key: string): string | undefined {
  const text = value[key]
  return typeof text === 'string' ? text : typeof text === 'number' ? String(text) : undefined
}

/** As `textAt`; an empty one names nothing. */
export const idAt = (value: Fields, key: string): string | undefined => textAt(value, key) || undefined

/** The objects of the array at a key. */
export const objectsAt = (value: Fields, key: string): Fields[] =>
  Array.isArray(value[key]) ? (value[key] as unknown[]).filter(isObject) : []

/** The same without the fields that are null or undefined, at any depth. */
export function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls)
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, field]) =>
      field === null || field === undefined ? [] : [[key, withoutNulls(field)]],
    ),
  )
}
