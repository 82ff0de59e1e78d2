/** Reads JSON of unknown shape, and makes it safe for PostgreSQL and JavaScript numbers. */

export type Fields = Readonly<Record<string, unknown>>

export const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** null for other or invalid JSON. */
export function parsedObject(text: Uint8Array): Fields | null {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(text).toString('utf8'))
    return isObject(parsed) ? parsed : null
  } catch {
    return null
  }
}

/** Replaces NUL characters, lone surrogates, infinite numbers, and values nested deeper than `depth_max`. */
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

/** Matches strings too, to skip their content. */
const textOrLongNumber = /"[^"\\]*(?:\\[^][^"\\]*)*"|(?<![\d.eE+-])-?\d{16}[\d.eE+-]*/g

/** Replaces each integer that a JavaScript number cannot represent exactly. */
export const replaceLongIntegers = (json: string, write: (token: string) => string): string =>
  json.replaceAll(textOrLongNumber, (token) => (losesDigits(token) ? write(token) : token))

function losesDigits(token: string): boolean {
  if (token.startsWith('"') || !/^-?\d+$/.test(token)) return false
  const value = Number(token)
  return Number.isFinite(value) && BigInt(token) !== BigInt(value)
}
