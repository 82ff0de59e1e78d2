/** Objects in JSON, as people write them into fields. */

export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Undefined for what is no object in JSON; nothing is an empty one. */
export function parseJsonObject(written: string): Readonly<Record<string, unknown>> | undefined {
  if (written.trim() === '') return {}
  try {
    const value: unknown = JSON.parse(written)
    return isRecord(value) ? value : undefined
  } catch {
    return undefined
  }
}
