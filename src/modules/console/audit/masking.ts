/** The fields of a change as the audit log keeps them: cut to what a reader needs, secrets masked. */

const masked = '[masked]'
const textLengthMax = 200
const itemsMax = 20
const depthMax = 4

/** Names of fields whose values nobody may read back. */
const secretName = /(^|_)(password|secret|token|credentials|code|key)$/

/** The fields of a body as they may be kept. */
export const maskedChanges = (body: unknown): Record<string, unknown> => (isRecord(body) ? maskedFields(body, 0) : {})

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const maskedFields = (fields: Record<string, unknown>, depth: number): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name,
      secretName.test(name) && value !== null ? masked : shown(value, depth + 1),
    ]),
  )

function shown(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return shownText(value)
  if (Array.isArray(value))
    return value.length > itemsMax || depth >= depthMax
      ? `${value.length} items`
      : value.map((item) => shown(item, depth + 1))
  if (!isRecord(value)) return value
  return depth >= depthMax ? `${Object.keys(value).length} fields` : maskedFields(value, depth)
}

/** What follows `?` in an address, and who signs in with it, is a secret as often as not. */
function shownText(text: string): string {
  const open = /^https?:\/\//i.test(text)
    ? text.replace(/^(https?:\/\/)[^/?#]*@/i, `$1${masked}@`).replace(/[?#].*$/s, `?${masked}`)
    : text
  return open.length > textLengthMax ? `${open.slice(0, textLengthMax).toWellFormed()}…` : open
}
