/** Makes JSON that somebody else wrote fit for PostgreSQL, whose texts and JSON hold less than JavaScript's. */

/**
 * The value without NUL characters, halves of surrogate pairs, infinite numbers, and what is nested deeper than `depth_max`. A value that has none of them,
 * as almost all have, is itself the answer.
 */
export const storable = (value: unknown, depth_max: number): unknown =>
  isStorable(value, depth_max) ? value : madeStorable(value, depth_max)

function isStorable(value: unknown, depth_max: number): boolean {
  if (typeof value === 'string') return value.isWellFormed() && !value.includes('\0')
  if (typeof value === 'number') return Number.isFinite(value)
  if (typeof value !== 'object' || value === null) return true
  if (depth_max < 1) return false
  if (Array.isArray(value)) return value.every((item) => isStorable(item, depth_max - 1))
  for (const key in value)
    if (!isStorable(key, depth_max) || !isStorable((value as Record<string, unknown>)[key], depth_max - 1)) return false
  return true
}

function madeStorable(value: unknown, depth_max: number): unknown {
  if (typeof value === 'string') return value.toWellFormed().replaceAll('\0', '\uFFFD')
  if (typeof value === 'number') return Number.isFinite(value) ? value : null
  if (typeof value !== 'object' || value === null) return value
  if (depth_max < 1) return null
  if (Array.isArray(value)) return value.map((item) => madeStorable(item, depth_max - 1))
  return Object.fromEntries(
    Object.entries(value).map(([key, field]) => [madeStorable(key, depth_max), madeStorable(field, depth_max - 1)]),
  )
}
