/** Times that attributes hold as text, in the form in which they are compared. `rule_time` in SQL reads the same texts. */
import { parseDateTime } from '../../../contract/times.ts'

const withTime = /^(?!9999)[1-9]\d{3}-\d\d-\d\d[Tt]([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,9})?)?([Zz]|[+-](0\d|1[0-4]):?[0-5]\d)?$/

/**
 * ISO 8601 in UTC with milliseconds, or null where the text is neither a date nor a time. Without a zone it is UTC. The usual
 * forms are taken by their digits alone, possible or not, so that a million contacts are compared in a second.
 */
export function comparableTime(text: string): string | null {
  if (/^\d{4}-\d\d-\d\d$/.test(text)) return `${text}T00:00:00.000Z`
  if (/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(text)) return `${text.slice(0, 19)}.000Z`
  if (/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(text)) return text
  return withTime.test(text) ? parseDateTime(text) : null
}
