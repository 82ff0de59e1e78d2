/** Times in requests: strict RFC 3339 in bodies, more forms in queries (behaviour: conventions 10). */

const pattern = /^(\d{4})-(\d\d)-(\d\d)(?:[Tt ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d+))?)?([Zz]|[+\- ]\d\d:?\d\d)?)?$/
const strictPattern = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/
const dayPattern = /^\d{4}-\d\d-\d\d$/
const earliest = Date.parse('0001-01-01T00:00:00.000Z')
const latest = Date.parse('9999-12-31T23:59:59.999Z')

/**
 * ISO 8601 (UTC, milliseconds), or null if invalid. A space is read as an unescaped `+`. Digits beyond milliseconds are
 * cut off, unless `round` is 'up'. A leap second becomes the next second.
 */
export function parseDateTime(text: string, round: 'down' | 'up' = 'down'): string | null {
  const parts = pattern.exec(text)
  if (parts === null) return null
  const [, year, month, day, hour = '0', minute = '0', second = '0', fraction = '', zone] = parts
  const leaps = second === '60'
  const ms = utcOf(Number(year), Number(month), Number(day), Number(hour), Number(minute), leaps ? 59 : Number(second))
  if (ms === null) return null
  const offset = zoneMinutes(zone)
  if (offset === null) return null
  const rest = /[1-9]/.test(fraction.slice(3)) && round === 'up' ? 1 : 0
  const whole = ms - offset * 60_000
  if (leaps && !endsMonth(whole + 1000)) return null
  const result = leaps ? whole + 1000 : whole + Number(fraction.slice(0, 3).padEnd(3, '0')) + rest
  return result < earliest || result > latest ? null : new Date(result).toISOString()
}

export const parseStrictDateTime = (text: string): string | null =>
  strictPattern.test(text) ? parseDateTime(text) : null

export const isDay = (text: string): boolean => dayPattern.test(text) && parseDateTime(text) !== null

function utcOf(year: number, month: number, day: number, hour: number, minute: number, second: number): number | null {
  if (year < 1 || month < 1 || month > 12 || day < 1 || hour > 23 || minute > 59 || second > 59) return null
  const date = new Date(0)
  date.setUTCFullYear(year, month - 1, day)
  date.setUTCHours(hour, minute, second, 0)
  return date.getUTCDate() === day ? date.getTime() : null
}

/** In UTC. */
const endsMonth = (ms: number): boolean => new Date(ms).toISOString().endsWith('-01T00:00:00.000Z')

function zoneMinutes(zone: string | undefined): number | null {
  if (zone === undefined || zone === 'Z' || zone === 'z') return 0
  const hours = Number(zone.slice(1, 3))
  const minutes = Number(zone.slice(-2))
  if (hours > 23 || minutes > 59) return null
  return (zone[0] === '-' ? -1 : 1) * (hours * 60 + minutes)
}
