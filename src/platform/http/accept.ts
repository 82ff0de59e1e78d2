/** What a client wants to be answered with, by its `Accept`: JSON, unless it asks for CSV. */

/** Whether `text/csv` is named, and not behind `application/json` (RFC 9110, 12.5.1). A wildcard is no wish for it. */
export function asksForCsv(accept: string | undefined): boolean {
  if (accept === undefined) return false
  const csv = weightOf(accept, 'text/csv')
  return csv > 0 && csv >= weightOf(accept, 'application/json')
}

/** The weight of a media type that is named itself; 0: it is not. */
function weightOf(accept: string, type: string): number {
  for (const range of accept.split(',')) {
    const [name, ...parameters] = range.split(';').map((part) => part.trim().toLowerCase())
    if (name !== type) continue
    const weight = parameters.find((parameter) => parameter.startsWith('q='))
    return weight === undefined ? 1 : Number(weight.slice(2)) || 0
  }
  return 0
}
