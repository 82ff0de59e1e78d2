/** Makes JSON that somebody else wrote fit for PostgreSQL, whose texts and JSON hold less than JavaScript's. */

/** The value without NUL characters, halves of surrogate pairs, infinite numbers, and what is nested deeper than `depth_max`. */
export function storable(value: unknown, depth_max: number): unknown {
  if (typeof value === 'string') return value.toWellFormed().replaceAll('\0', '\uFFFD')
  if (typeof value === 'number') return Number.isFinite(value) ? value : null
  if (typeof value !== 'object' || value === null) return value
  if (depth_max < 1) return null
  if (Array.isArray(value)) return value.map((item) => storable(item, depth_max - 1))
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [storable(key, depth_max), storable(field, depth_max - 1)]))
}
