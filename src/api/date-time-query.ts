/** The schema of a time in a query. Separate from `times.ts`, which the command line loads without schemas. */
import { Type } from 'typebox'

/** RFC 3339, a date, or a time without zone (UTC). Handlers receive ISO 8601 with milliseconds. */
export const DateTimeQuery = Type.String({
  format: 'date-time-query',
  description: 'An RFC 3339 time, a date, or a time without zone (UTC). Exclusive.',
})
