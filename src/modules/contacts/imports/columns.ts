/** Maps the columns of an import to contact fields (behaviour: imports 2). */
import { consentTypes } from '../../../api/resources/contact.ts'
import type { Detail } from '../../../api/errors.ts'
import { Problem, throwFailures } from '../../../api/problem.ts'

/** A field as in rules and merge tags; null: ignored. */
export type Column = string | null

const spellings: Readonly<Record<string, readonly string[]>> = {
  phone: [
    'phone_number',
    'phonenumber',
    'mobile',
    'mobile_phone',
    'mobile_number',
    'mobile_phone_number',
    'cell',
    'cell_phone',
    'cellphone',
    'tel',
    'telephone',
    'msisdn',
    'whatsapp',
    'whatsapp_number',
    'handy',
    'telefon',
    'telefono',
    'celular',
    'movil',
  ],
  email: ['e_mail', 'mail', 'email_address', 'e_mail_address', 'correo'],
  first_name: ['firstname', 'given_name', 'givenname', 'forename', 'vorname', 'nombre', 'prenom'],
  last_name: ['lastname', 'surname', 'family_name', 'familyname', 'nachname', 'apellido', 'nom'],
  full_name: ['name', 'fullname', 'contact_name', 'display_name'],
  locale: ['language', 'lang', 'sprache'],
  timezone: ['time_zone', 'tz'],
  external_id: ['externalid', 'customer_id', 'crm_id', 'user_id'],
  tags: ['tag', 'labels'],
}

export const plainFields = [
  'phone',
  'email',
  'first_name',
  'last_name',
  'full_name',
  'locale',
  'timezone',
  'external_id',
  'blocked',
  'tags',
  'metadata',
]
const readOnly = [
  'id',
  'object',
  'mode',
  'country',
  'created_at',
  'updated_at',
  'last_seen_at',
  'last_message_at',
  'import_row',
  'import_result',
  'import_reason',
]

const fieldOf = new Map<string, Column>([
  ...readOnly.map((name) => [name, null] as const),
  ...plainFields.map((name) => [name, name] as const),
  ...Object.entries(spellings).flatMap(([field, names]) => names.map((name) => [name, field] as const)),
])

const attributeKey = /^[a-z][a-z0-9_]{0,63}$/

function fieldNamed(name: string): string | undefined {
  if (plainFields.includes(name)) return name
  const [root, key, part, ...more] = name.split('.')
  if (key === undefined || more.length > 0) return undefined
  if (root === 'attributes' && part === undefined && attributeKey.test(key)) return name
  if (root === 'identifiers' && part === undefined && consentTypes.includes(key)) return name
  if (root === 'consent' && consentTypes.includes(key) && (part === undefined || part === 'marketing')) return name
  return undefined
}

function columnOf(header: string): Column | undefined {
  const field = fieldNamed(header.trim().toLowerCase())
  return (
    field ??
    fieldOf.get(
      header
        .trim()
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}]+/gu, '_')
        .replaceAll(/^_|_$/g, ''),
    )
  )
}

export function mappingFailures(header: readonly string[], mapping: Readonly<Record<string, Column>>): Detail[] {
  const details: Detail[] = []
  for (const [name, field] of Object.entries(mapping)) {
    const param = `columns[${JSON.stringify(name.slice(0, 80))}]`
    if (!header.some((text) => text.trim() === name.trim()))
      details.push({
        param,
        code: 'invalid_value',
        message: `The file has no column ${JSON.stringify(name.slice(0, 80))}.`,
      })
    else if (field !== null && fieldNamed(field) === undefined)
      details.push({
        param,
        code: 'invalid_value',
        message: `${param} names ${JSON.stringify(field.slice(0, 80))}, which is no field of a contact.`,
      })
  }
  return details
}

export function understood(
  header: readonly string[],
  mapping: Readonly<Record<string, Column>>,
): (Column | undefined)[] {
  const byName = new Map(Object.entries(mapping).map(([name, field]) => [name.trim(), field]))
  const used = new Set(byName.values())
  return header.map((text) => {
    const mapped = byName.get(text.trim())
    if (mapped !== undefined) return mapped
    const column = columnOf(text)
    if (column === null || column === undefined) return column
    return used.has(column) ? undefined : (used.add(column), column)
  })
}

/** The mapping overrides known spellings. Throws one Problem with all unknown and duplicate columns. */
export function readHeader(header: readonly string[], mapping: Readonly<Record<string, Column>> = {}): Column[] {
  const details = mappingFailures(header, mapping)
  const byName = new Map(Object.entries(mapping).map(([name, field]) => [name.trim(), field]))
  const seen = new Map<string, number>()
  const columns = header.map((text, at) => {
    const column = byName.has(text.trim()) ? byName.get(text.trim())! : columnOf(text)
    if (column === undefined) details.push(unknownColumn(text, at))
    else if (column !== null && seen.has(column))
      details.push({
        param: `header[${at}]`,
        code: 'invalid_value',
        message: `The columns ${seen.get(column)! + 1} and ${at + 1} are both ${column}. Keep one of them.`,
      })
    else if (column !== null) seen.set(column, at)
    return column ?? null
  })
  throwFailures(details)
  if (
    !columns.some((column) => column === 'phone' || column === 'email' || column?.startsWith('identifiers.') === true)
  ) {
    const message =
      'No column holds a phone number, an e-mail address or an identifier. Name one of them phone, email or identifiers.<channel type>; the first row of the file is its header.'
    throw new Problem('parameter_missing', message, {
      param: 'header',
      details: [{ param: 'header', code: 'missing_field', message }],
    })
  }
  return columns
}

function unknownColumn(text: string, at: number): Detail {
  const name = text.trim()
  const key = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '_')
    .replaceAll(/^_+|_+$/g, '')
  const advice = attributeKey.test(key) ? `To keep it as an attribute, name it attributes.${key}; to` : 'To'
  return {
    param: `header[${at}]`,
    code: 'unknown_field',
    message:
      name === ''
        ? `Column ${at + 1} has no name.`
        : `Column ${at + 1}, ${JSON.stringify(name.slice(0, 80))}, is no field of a contact. ${advice} leave it out, pass columns={${JSON.stringify(name.slice(0, 80))}:null}.`,
  }
}
