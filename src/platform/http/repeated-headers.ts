/** Headers that may come once: Node joins the values of one that comes again, and only the raw list tells them from a single value with a comma. */
import type { IncomingMessage } from 'node:http'

/** How often a header came. Cheap where its value has no comma. `name` in small letters. */
export function timesGiven(
  { headers, rawHeaders }: IncomingMessage,
  name: 'host' | 'authorization' | 'content-type',
): number {
  const value = headers[name]
  if (value === undefined) return 0
  if (!value.includes(',')) return 1
  let count = 0
  for (let at = 0; at < rawHeaders.length; at += 2) if (rawHeaders[at]!.toLowerCase() === name) count += 1
  return count
}

/** The first value of a header that came more than once. */
export function firstValue({ rawHeaders }: IncomingMessage, name: string): string | undefined {
  for (let at = 0; at < rawHeaders.length; at += 2)
    if (rawHeaders[at]!.toLowerCase() === name) return rawHeaders[at + 1]
  return undefined
}
