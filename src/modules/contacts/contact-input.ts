/** Validates the body of a contact and reports every failure at once. */
import type { Detail, DetailCode } from '../../api/errors.ts'
import { metadataFailures } from '../../api/body-sizes.ts'
import { limits } from '../../api/limits.ts'
import { isPhoneChannel } from '../../api/resources/channel.ts'
import {
  consentSources,
  consentStatuses,
  consentTypes,
  contactLimits,
  type AttributeValue,
  type ConsentSource,
  type ConsentStatus,
} from '../../api/resources/contact.ts'
import { parseStrictDateTime } from '../../api/times.ts'
import { isLocale, isTimezone, join } from '../../api/validation.ts'
import { didYouMean } from '../../lib/text.ts'
import { normalisePhone } from '../../lib/phone.ts'
import { foldText, type ConsentWrite, type ContactChange } from './contact.ts'

export interface ContactBody extends Pick<
  ContactChange,
  'phone' | 'email' | 'first_name' | 'last_name' | 'locale' | 'timezone' | 'external_id' | 'blocked'
> {
  readonly identifiers?: Readonly<Record<string, unknown>> | null
  readonly consent?: Readonly<Record<string, unknown>> | null
  readonly tags?: readonly string[] | null
  readonly attributes?: Readonly<Record<string, unknown>> | null
  readonly metadata?: Readonly<Record<string, unknown>> | null
}

export interface ReadOptions {
  /** Consent cannot have happened later. */
  readonly at: string
  /** ISO 3166 alpha-2; without it national phone numbers are refused. */
  readonly default_country?: string
  readonly add_tags?: boolean
}

export function readContact(body: ContactBody, options: ReadOptions): { change: ContactChange; failures: Detail[] } {
  const reader = new Failures()
  const change: { -readonly [K in keyof ContactChange]: ContactChange[K] } = {}
  if (body.phone !== undefined)
    change.phone = body.phone === null ? null : reader.phone('phone', body.phone, options.default_country)
  if (body.email !== undefined) change.email = body.email === null ? null : reader.email(body.email)
  for (const field of ['first_name', 'last_name'] as const)
    if (body[field] !== undefined) change[field] = reader.text(field, body[field], contactLimits.name_length_max)
  if (body.external_id !== undefined)
    change.external_id = reader.text('external_id', body.external_id, contactLimits.external_id_length_max)
  if (body.locale !== undefined) change.locale = reader.locale(body.locale)
  if (body.timezone !== undefined) change.timezone = reader.timezone(body.timezone)
  if (body.blocked !== undefined) change.blocked = body.blocked
  if (body.identifiers !== undefined && body.identifiers !== null)
    change.identifiers = reader.identifiers(body.identifiers)
  if (body.consent !== undefined && body.consent !== null) change.consent = reader.consent(body.consent, options.at)
  if (body.tags !== undefined)
    change[options.add_tags === true ? 'add_tags' : 'tags'] = reader.tags('tags', body.tags ?? [])
  if (body.attributes !== undefined && body.attributes !== null) change.attributes = reader.attributes(body.attributes)
  if (body.metadata !== undefined) change.metadata = reader.metadata(body.metadata ?? {})
  return { change, failures: reader.found }
}

export type OptionalBody = { readonly [K in keyof ContactBody]?: ContactBody[K] | undefined }

/** For sources that cannot correct a body: long names are cut, invalid and blank values dropped. */
export function sanitizeContact(body: OptionalBody, options: ReadOptions): ContactChange {
  const usable: Record<string, unknown> = {}
  for (const [field, value] of Object.entries(body))
    if (value !== null && value !== undefined && !isBlank(value)) usable[field] = value
  const attributes = Object.entries(body.attributes ?? {})
  if (attributes.some(([, value]) => value === null))
    usable['attributes'] = Object.fromEntries(attributes.filter(([, value]) => value !== null))
  const whole = readContact(usable, options)
  return whole.failures.length === 0 ? whole.change : readContact(sound(usable, options), options).change
}

/** The first `most` items that pass, among ten times as many. */
function firstOf<Item>(items: readonly Item[], most: number, passes: (item: Item) => boolean): Item[] {
  const found: Item[] = []
  for (const item of items.slice(0, 10 * most)) {
    if (found.length === most) break
    if (passes(item)) found.push(item)
  }
  return found
}

function sound(usable: Record<string, unknown>, options: ReadOptions): ContactBody {
  for (const field of ['first_name', 'last_name'])
    if (typeof usable[field] === 'string')
      usable[field] = [...usable[field].trim()].slice(0, contactLimits.name_length_max).join('')
  const { tags, attributes, ...fields } = usable as ContactBody
  const wrong = new Set(readContact(fields, options).failures.map(({ param }) => param.split(/[.[]/, 1)[0]!))
  const left: Record<string, unknown> = Object.fromEntries(
    Object.entries(fields).filter(([field]) => !wrong.has(field)),
  )
  const tagged = firstOf(
    tags ?? [],
    contactLimits.tags_max,
    (tag) => readContact({ tags: [tag] }, options).failures.length === 0,
  )
  if (tagged.length > 0) left['tags'] = tagged
  const withinLimits = firstOf(
    Object.entries(attributes ?? {}),
    contactLimits.attributes_max,
    ([key, value]) => readContact({ attributes: { [key]: value } }, options).failures.length === 0,
  )
  if (withinLimits.length > 0) left['attributes'] = Object.fromEntries(withinLimits)
  return left
}

const isBlank = (value: unknown): boolean => typeof value === 'string' && value.trim() === ''

export function readTags(param: string, tags: readonly string[], failures: Detail[]): string[] {
  const reader = new Failures()
  const read = reader.tags(param, tags)
  failures.push(...reader.found)
  return read
}

const length = (text: string): number => (text.length <= 40 ? text.length : [...text].length)
const identifierOnWhatsapp = /^[A-Z]{2}\.[A-Za-z0-9.]{1,128}$/
const attributeKey = /^[a-z][a-z0-9_]{0,63}$/
const clockSlackMs = 5 * 60_000
const knownTimezones = new Map<string, boolean>()
const knownLocales = new Map<string, boolean>()
const knownMax = 1000

function remembered(known: Map<string, boolean>, name: string, test: (name: string) => boolean): boolean {
  const before = known.get(name)
  if (before !== undefined) return before
  const now = test(name)
  if (known.size < knownMax) known.set(name, now)
  return now
}

class Failures {
  readonly found: Detail[] = []

  add(param: string, code: DetailCode, message: string): void {
    if (this.found.length < limits.error_details_collected_max) this.found.push({ param, code, message })
  }

  phone(param: string, text: string, defaultCountry: string | undefined): string | null {
    const number = normalisePhone(text, defaultCountry)
    if (number === null)
      this.add(
        param,
        'invalid_format',
        `\`${param}\` must be a phone number with its country code, such as +4915112345678; spaces, dots, dashes and brackets are fine.`,
      )
    return number
  }

  email(text: string): string | null {
    const email = text.trim()
    if (length(email) > contactLimits.email_length_max)
      this.add('email', 'too_long', `\`email\` must have at most ${contactLimits.email_length_max} characters.`)
    else if (!/^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(email))
      this.add('email', 'invalid_format', '`email` must be an e-mail address, such as ada@example.com.')
    return email
  }

  text(param: string, text: string | null | undefined, max: number): string | null {
    const trimmed = (text ?? '').trim()
    if (length(trimmed) > max) this.add(param, 'too_long', `\`${param}\` must have at most ${max} characters.`)
    return trimmed === '' ? null : trimmed
  }

  locale(text: string | null): string | null {
    const tag = (text ?? '').trim().replaceAll('_', '-')
    if (tag === '') return null
    if (tag.length > 64 || !remembered(knownLocales, tag, isLocale))
      this.add('locale', 'invalid_format', '`locale` must be a BCP 47 language tag, such as en or pt-BR.')
    return tag
  }

  timezone(text: string | null): string | null {
    const name = (text ?? '').trim()
    if (name === '') return null
    if (!remembered(knownTimezones, name, isTimezone))
      this.add('timezone', 'invalid_value', '`timezone` must be an IANA time zone name, such as Europe/Berlin.')
    return name
  }

  identifiers(input: Readonly<Record<string, unknown>>): Record<string, string | null> {
    const read: [string, string | null][] = []
    for (const [type, value] of Object.entries(input)) {
      const param = join('identifiers', type)
      if (!consentTypes.includes(type) || type === 'email')
        this.add(
          param,
          'unknown_field',
          `${JSON.stringify(type.slice(0, 40))} takes no identifier here. Channel types are ${consentTypes.filter((known) => known !== 'email').join(', ')}.`,
        )
      else if (value === null) read.push([type, null])
      else if (typeof value !== 'string') this.add(param, 'invalid_type', `\`${param}\` must be a string or null.`)
      else read.push([type, this.identifier(param, type, value.trim())])
    }
    return Object.fromEntries(read)
  }

  identifier(param: string, type: string, value: string): string {
    if (value === '') this.add(param, 'too_short', `\`${param}\` must not be empty.`)
    else if (length(value) > contactLimits.identifier_length_max)
      this.add(param, 'too_long', `\`${param}\` must have at most ${contactLimits.identifier_length_max} characters.`)
    else if (isPhoneChannel(type) && !(type === 'whatsapp' && identifierOnWhatsapp.test(value))) {
      this.add(
        param,
        'invalid_format',
        type === 'whatsapp'
          ? '`identifiers.whatsapp` must be a business-scoped id such as US.13491208655302741918; phone numbers go into `phone`.'
          : 'Recipients of sms are phone numbers: write them into `phone`.',
      )
    }
    return value
  }

  consent(input: Readonly<Record<string, unknown>>, at: string): Record<string, ConsentWrite | null> {
    const read: Record<string, ConsentWrite | null> = {}
    for (const type in input) {
      const value = input[type]
      const param = join('consent', type)
      if (!consentTypes.includes(type))
        this.add(
          param,
          'unknown_field',
          `${JSON.stringify(type.slice(0, 40))} is no channel type. Use one of ${consentTypes.join(', ')}.`,
        )
      else if (value === null) read[type] = null
      else if (typeof value === 'string') read[type] = { status: this.word(param, value, consentStatuses) }
      else if (typeof value === 'object' && !Array.isArray(value))
        read[type] = this.longConsent(param, value as Record<string, unknown>, at)
      else
        this.add(
          param,
          'invalid_type',
          `\`${param}\` must be one of ${consentStatuses.join(', ')}, or an object with \`status\`.`,
        )
    }
    return read
  }

  longConsent(param: string, input: Record<string, unknown>, at: string): ConsentWrite {
    const write: { -readonly [K in keyof ConsentWrite]: ConsentWrite[K] } = {}
    if (input['status'] === undefined && input['marketing'] === undefined)
      this.add(
        `${param}.status`,
        'missing_field',
        `\`${param}.status\` is required: one of ${consentStatuses.join(', ')}.`,
      )
    if (input['status'] !== undefined)
      write.status = this.word<ConsentStatus>(`${param}.status`, input['status'], consentStatuses)
    if (input['marketing'] !== undefined)
      write.marketing = this.word<ConsentStatus>(`${param}.marketing`, input['marketing'], consentStatuses)
    if (input['source'] !== undefined && input['source'] !== null)
      write.source = this.word<ConsentSource>(`${param}.source`, input['source'], consentSources)
    if (input['occurred_at'] !== undefined && input['occurred_at'] !== null) {
      const time = typeof input['occurred_at'] === 'string' ? parseStrictDateTime(input['occurred_at']) : null
      if (time === null)
        this.add(
          `${param}.occurred_at`,
          'invalid_format',
          `\`${param}.occurred_at\` must be an RFC 3339 time with a zone, such as 2026-01-31T09:30:00Z.`,
        )
      else if (Date.parse(time) > Date.parse(at) + clockSlackMs)
        this.add(
          `${param}.occurred_at`,
          'invalid_value',
          `\`${param}.occurred_at\` lies in the future. Give the time at which the consent was given or withdrawn.`,
        )
      else write.occurred_at = time
    }
    return write
  }

  word<T extends string>(param: string, value: unknown, words: readonly T[]): T {
    const word = words.find((candidate) => candidate === value)
    if (word === undefined) {
      const meant = typeof value === 'string' ? didYouMean(value, words) : ''
      this.add(
        param,
        typeof value === 'string' ? 'invalid_value' : 'invalid_type',
        `\`${param}\` must be one of ${words.join(', ')}.${meant}`,
      )
    }
    return word ?? words[0]!
  }

  tags(param: string, input: readonly string[]): string[] {
    const tags = new Map<string, string>()
    for (const [index, text] of input.entries()) {
      if (tags.size > contactLimits.tags_max || this.found.length >= limits.error_details_max) break
      const tag = text.trim()
      if (tag === '') this.add(`${param}[${index}]`, 'too_short', `\`${param}[${index}]\` must not be empty.`)
      else if (length(tag) > contactLimits.tag_length_max)
        this.add(
          `${param}[${index}]`,
          'too_long',
          `\`${param}[${index}]\` must have at most ${contactLimits.tag_length_max} characters.`,
        )
      else {
        const folded = foldText(tag)
        if (!tags.has(folded)) tags.set(folded, tag)
      }
    }
    if (tags.size > contactLimits.tags_max)
      this.add(param, 'too_many', `\`${param}\` must have at most ${contactLimits.tags_max} tags.`)
    return [...tags.values()]
  }

  attributes(input: Readonly<Record<string, unknown>>): Record<string, AttributeValue | null> {
    const read: Record<string, AttributeValue | null> = {}
    let count = 0
    for (const key in input) {
      const value = input[key]
      const param = join('attributes', key)
      if (!attributeKey.test(key))
        this.add(
          param,
          'invalid_format',
          `The attribute key ${JSON.stringify(key.slice(0, 80))} must start with a small letter and have at most 64 small letters, digits and underscores.`,
        )
      else if (value !== null && typeof value !== 'string' && typeof value !== 'boolean' && typeof value !== 'number')
        this.add(param, 'invalid_type', `\`${param}\` must be a string, a number, true, false or null.`)
      else if (typeof value === 'string' && length(value) > contactLimits.attribute_length_max)
        this.add(param, 'too_long', `\`${param}\` must have at most ${contactLimits.attribute_length_max} characters.`)
      else {
        read[key] = value
        count += 1
      }
    }
    if (count > contactLimits.attributes_max)
      this.add('attributes', 'too_many', `A contact has at most ${contactLimits.attributes_max} attributes.`)
    return read
  }

  metadata(input: Readonly<Record<string, unknown>>): Record<string, unknown> {
    for (const { param, code, message } of metadataFailures(input)) this.add(param, code, message)
    return input
  }
}
