/** JSON objects typed into form fields. */

export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Empty text is an empty object; undefined: not a JSON object. */
export function parseJsonObject(written: string): Readonly<Record<string, unknown>> | undefined {
  if (written.trim() === '') return {}
  try {
    const value: unknown = JSON.parse(written)
    return isRecord(value) ? value : undefined
  } catch {
    return undefined
  }
}
