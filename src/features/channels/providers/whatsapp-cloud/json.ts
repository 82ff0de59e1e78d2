/** Reads JSON that somebody else wrote: what has not the type that is asked for counts as absent. */
export type Json = Readonly<Record<string, unknown>>

export const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)

export const objectAt = (value: Json, key: string): Json | undefined => (isObject(value[key]) ? value[key] : undefined)

/** The text at a key; numbers count as one, for ids come as either. */
export function textAt(value: Json, key: string): string | undefined {
  const text = value[key]
  return typeof text === 'string' ? text : typeof text === 'number' ? String(text) : undefined
}

/** As `textAt`; an empty one names nothing. */
export const idAt = (value: Json, key: string): string | undefined => textAt(value, key) || undefined

/** The objects of the array at a key. */
export const objectsAt = (value: Json, key: string): Json[] => (Array.isArray(value[key]) ? (value[key] as unknown[]).filter(isObject) : [])

/** The same without the fields that are null or undefined, at any depth. */
export function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls)
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).flatMap(([key, field]) => (field === null || field === undefined ? [] : [[key, withoutNulls(field)]])))
}
