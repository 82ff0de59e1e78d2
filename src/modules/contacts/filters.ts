/** The filters of `GET /v1/contacts`, from the query to what the store looks for. Pure. */
import { isId } from '../../api/ids.ts'
import { invalid } from '../../api/problem.ts'
import { consentStatuses, consentTypes } from '../../api/resources/contact.ts'
import { parseDateTime } from '../../api/times.ts'
import { idFloor } from '../../lib/ids.ts'
import { normalisePhone, phoneKey } from '../../lib/phone.ts'
import { consentLabel, foldText, tagLabel } from './contact.ts'
import type { ContactFilters } from './store.ts'

export interface ContactQuery {
  readonly phone?: string
  readonly email?: string
  readonly external_id?: string
  readonly tag?: string
  readonly list?: string
  readonly segment?: string
  readonly consent?: string
  readonly query?: string
  readonly created_after?: string
  readonly created_before?: string
  readonly updated_after?: string
}

/** An id may have been made some time before its row was stamped: bounds of ids that follow from times leave that much room. */
const idSlackMs = 60_000

type Writable<T> = { -readonly [K in keyof T]: T[K] }

/** What the store is to look for; null where nothing can fit. A malformed `consent` or time is refused. */
export function readFilters(query: ContactQuery): ContactFilters | null {
  const labels: string[] = []
  const without: string[] = []
  if (query.tag !== undefined) labels.push(tagLabel(query.tag.trim()))
  if (query.consent !== undefined) readConsent(query.consent, labels, without)
  const filters: Writable<ContactFilters> = { labels, without }
  readTimes(query, filters)
  if (query.email !== undefined) filters.email_key = foldText(query.email.trim().replaceAll(' ', '+')) // a `+` that was not escaped
  if (query.external_id !== undefined) filters.external_id = query.external_id
  if (query.query !== undefined) readPrefix(query.query, filters)
  if (query.phone !== undefined) {
    const phone = readPhone(query.phone)
    if (phone === null) return null
    filters.phone_key = phoneKey(phone)
  }
  if (query.list !== undefined) {
    if (!isId('lst', query.list)) return null
    filters.list_id = query.list
  }
  if (query.segment !== undefined && !isId('seg', query.segment)) return null
  return filters
}

/** A `+` that was not escaped arrives as a space, or not at all. */
const readPhone = (text: string): string | null => normalisePhone(text) ?? normalisePhone(`+${text.trim()}`)

function readConsent(text: string, labels: string[], without: string[]): void {
  const [type, status, ...others] = text.split(':')
  const known = consentStatuses.find((word) => word === status)
  if (type === undefined || !consentTypes.includes(type) || known === undefined || others.length > 0) {
    throw invalid(
      'consent',
      'invalid_value',
      `\`consent\` must be a channel type and one of ${consentStatuses.join(', ')}, such as sms:opted_in.`,
    )
  }
  if (known !== 'unknown') labels.push(consentLabel(type, known))
  else without.push(consentLabel(type, 'opted_in'), consentLabel(type, 'opted_out'))
}

function readPrefix(text: string, filters: Writable<ContactFilters>): void {
  if (text.trim() === '')
    throw invalid(
      'query',
      'invalid_value',
      '`query` is blank. Give it the beginning of a name, phone number or e-mail address, or leave it out.',
    )
  filters.name_prefix = foldText(text.trim())
  const digits = text.replace(/[\s.()/-]/g, '')
  if (/^\+?\d{1,15}$/.test(digits)) filters.phone_prefix = digits.startsWith('+') ? digits : `+${digits}`
}

function readTimes(query: ContactQuery, filters: Writable<ContactFilters>): void {
  for (const name of ['created_after', 'created_before', 'updated_after'] as const) {
    const text = query[name]
    if (text === undefined) continue
    const time = parseDateTime(text)
    if (time === null)
      throw invalid(
        name,
        'invalid_format',
        `\`${name}\` must be an RFC 3339 time or a date, such as 2026-01-31T09:30:00Z.`,
      )
    filters[name] = time
    const ms = Date.parse(time)
    if (ms < idSlackMs || ms > 2 ** 47) continue
    if (name === 'created_after') filters.id_from = idFloor('ct', ms - idSlackMs)
    if (name === 'created_before') filters.id_below = idFloor('ct', ms + idSlackMs)
  }
}
