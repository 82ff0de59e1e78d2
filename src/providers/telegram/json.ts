/** Reads fields of what Telegram writes: nothing is known of them. */
import { isObject, type Fields } from '../../lib/json-fields.ts'

/** The object under this name; null where there is none. */
export const objectAt = (fields: Fields, name: string): Fields | null => (isObject(fields[name]) ? fields[name] : null)

/** The text under this name; null where there is none, or an empty one. */
export const textAt = (fields: Fields, name: string): string | null =>
  typeof fields[name] === 'string' && fields[name] !== '' ? fields[name] : null

/** The whole number under this name; null where there is none. */
export const integerAt = (fields: Fields, name: string): number | null =>
  Number.isSafeInteger(fields[name]) ? (fields[name] as number) : null
