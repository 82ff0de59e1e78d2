/** The schema of a time in a query; what it means is read by `times.ts`, which the command line needs without any schema. */
import { Type } from 'typebox'

/** Any RFC 3339 time, a date, or a time without zone (UTC). The HTTP layer hands it on as ISO 8601 with milliseconds. */
export const DateTimeQuery = Type.String({
  format: 'date-time-query',
  description: 'An RFC 3339 time, a date, or a time without zone (UTC). Exclusive.',
})
