/** Times that attributes hold as text, in the form in which they are compared. `rule_time` in SQL reads the same texts. */
import { parseDateTime } from '../../../api/times.ts'

const withTime =
  /^(?!9999)[1-9]\d{3}-\d\d-\d\d[Tt]([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,9})?)?([Zz]|[+-](0\d|1[0-4]):?[0-5]\d)?$/

/**
 * ISO 8601 in UTC with milliseconds, or null where the text is neither a date nor a time. Without a zone it is UTC. What looks
 * like a date or a UTC time in its usual form is taken as it stands, possible or not, so that a million contacts are compared in a
 * second.
 */
export function comparableTime(text: string): string | null {
  if (text < ':') {
    if (/^....-..-..$/su.test(text)) return `${text}T00:00:00.000Z`
    if (/^....-..-..T..:..:..Z$/su.test(text)) return `${[...text].slice(0, 19).join('')}.000Z`
    if (/^....-..-..T..:..:..\....Z$/su.test(text)) return text
  }
  return withTime.test(text) ? parseDateTime(text) : null
}
