/** Reads the fields of shop payloads. */
import { contactLimits } from '../api/resources/contact.ts'
import { parseDateTime } from '../api/times.ts'
import { isLocale } from '../api/validation.ts'
import { type Fields, isObject } from '../lib/json.ts'
import { normalisePhone } from '../lib/phone.ts'
import type { ShopCustomer } from './event.ts'

const textLengthMax = 2048
const nameLengthMax = 100

/** null if blank, or neither text nor number. */
export function textOf(value: unknown): string | null {
  if (typeof value === 'number') return String(value)
  if (typeof value !== 'string') return null
  const text = value.trim()
  return text === '' ? null : text.length > textLengthMax ? text.slice(0, textLengthMax).toWellFormed() : text
}

export function firstText(...values: readonly unknown[]): string | null {
  for (const value of values) {
    const text = textOf(value)
    if (text !== null) return text
  }
  return null
}

export const objectOf = (value: unknown): Fields => (isObject(value) ? value : {})

export const objectsOf = (value: unknown): Fields[] => (Array.isArray(value) ? value.filter(isObject) : [])

export function timeOf(...values: readonly unknown[]): string | null {
  for (const value of values) {
    const time = typeof value === 'string' ? parseDateTime(value.trim()) : null
    if (time !== null) return time
  }
  return null
}

/** Candidates for each field; the first usable value counts. */
export interface Person {
  readonly external_id: unknown
  readonly phones: readonly unknown[]
  /** ISO 3166 alpha-2, for national phone numbers. */
  readonly countries: readonly unknown[]
  readonly emails: readonly unknown[]
  readonly first_names: readonly unknown[]
  readonly last_names: readonly unknown[]
  readonly locales?: readonly unknown[]
  readonly tags?: unknown
}

export function customerOf(person: Person): ShopCustomer {
  const found = {
    external_id: idOf(person.external_id),
    phone: phoneOf(person.phones, firstText(...person.countries)),
    email: emailOf(person.emails),
    first_name: nameOf(person.first_names),
    last_name: nameOf(person.last_names),
    locale: localeOf(person.locales ?? []),
    tags: tagsOf(person.tags),
  }
  return Object.fromEntries(Object.entries(found).filter(([, value]) => value !== null))
}

/** WooCommerce writes 0 for guests. */
export function idOf(value: unknown): string | null {
  const id = textOf(value)
  return id === null || id === '0' || id.length > contactLimits.external_id_length_max ? null : id
}

export function phoneOf(values: readonly unknown[], country: string | null): string | null {
  for (const value of values) {
    const text = textOf(value)
    const phone = text === null ? null : normalisePhone(text, country ?? undefined)
    if (phone !== null) return phone
  }
  return null
}

export function emailOf(values: readonly unknown[]): string | null {
  const fits = (text: string | null): text is string =>
    text !== null && [...text].length <= contactLimits.email_length_max && /^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(text)
  return values.map(textOf).find(fits) ?? null
}

function nameOf(values: readonly unknown[]): string | null {
  const name = firstText(...values)
  return name === null ? null : [...name].slice(0, nameLengthMax).join('')
}

function localeOf(values: readonly unknown[]): string | null {
  const tag = firstText(...values)?.replaceAll('_', '-')
  return tag !== undefined && tag.length <= 64 && isLocale(tag) ? tag : null
}

function tagsOf(value: unknown): string[] | null {
  if (typeof value !== 'string') return null
  const tags = value.split(',').map((tag) => tag.trim())
  const valid = [...new Set(tags)]
    .filter((tag) => tag !== '' && [...tag].length <= contactLimits.tag_length_max)
    .slice(0, contactLimits.tags_max)
  return valid.length > 0 ? valid : null
}

/** `names`, `variant`: the fields with an item's title and variant. */
export const itemsOf = (payload: Fields, names: readonly string[], variant?: string): Fields[] =>
  objectsOf(payload['line_items']).map((line) => ({
    id: idOf(line['product_id']),
    name: firstText(...names.map((name) => line[name])),
    variant: variant === undefined ? null : textOf(line[variant]),
    sku: textOf(line['sku']),
    quantity: typeof line['quantity'] === 'number' ? line['quantity'] : null,
    price: textOf(line['price']),
  }))
