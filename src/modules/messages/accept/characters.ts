/** How long a JSON value is, closely enough to bound what is held of many: a message may be a megabyte, and most have a hundred characters. */

/** What a key, a number or a bracket counts. */
const eachOther = 8

/** The characters of its texts, and a little for everything else in it. */
export function charactersOf(value: unknown): number {
  if (typeof value === 'string') return value.length
  if (typeof value !== 'object' || value === null) return eachOther
  let sum = eachOther
  if (Array.isArray(value)) for (const item of value) sum += charactersOf(item)
  else for (const key in value) sum += key.length + charactersOf((value as Record<string, unknown>)[key])
  return sum
}
