/** Nullable schemas in the form that serializes fast: `type: [T, 'null']`. */
import { Type } from 'typebox'

export const NullableString = (options: object = {}) =>
  Type.Unsafe<string | null>({ type: ['string', 'null'], ...options })
export const NullableInteger = (options: object = {}) =>
  Type.Unsafe<number | null>({ type: ['integer', 'null'], ...options })
export const Timestamp = (options: object = {}) =>
  Type.String({ description: 'ISO 8601, UTC, with milliseconds.', ...options })
export const NullableTimestamp = (options: object = {}) =>
  NullableString({ description: 'ISO 8601, UTC, with milliseconds; null until then.', ...options })
export const AnyObject = (options: object = {}) =>
  Type.Unsafe<Record<string, unknown>>({ type: 'object', additionalProperties: true, ...options })
export const NullableObject = (options: object = {}) =>
  Type.Unsafe<Record<string, unknown> | null>({ type: ['object', 'null'], additionalProperties: true, ...options })
