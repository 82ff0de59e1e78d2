/** Reads JSON that somebody else wrote: nothing is known of its fields. */

export type Fields = Readonly<Record<string, unknown>>

export const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The object in a JSON text; null where it is none, or no JSON, such as a page of whatever stands in front of an API. */
export function parsedObject(text: Uint8Array): Fields | null {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(text).toString('utf8'))
    return isObject(parsed) ? parsed : null
  } catch {
    return null
  }
}
