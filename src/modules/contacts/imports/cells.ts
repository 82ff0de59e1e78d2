/** Turns a row of an import into the change of a contact, or the reasons for its rejection. Pure. */
import { parse } from 'csv-parse/sync'
import { Problem } from '../../../api/problem.ts'
import type { AttributeType, AttributeValue } from '../../../api/resources/contact.ts'
import { parseBody } from '../../../platform/http/body.ts'
import { phoneHint } from '../../accounts/service.ts'
import { foldText, type ContactChange } from '../contact.ts'
import { unguarded } from '../csv.ts'
import { readContact, type ContactBody } from '../contact-input.ts'
import type { Column } from './columns.ts'
import { Splitter, type Chunk } from './splitter.ts'

export interface Row {
  /** As in a spreadsheet: the header is row 1. */
  readonly row: number
  readonly cells: readonly string[]
  readonly broken?: string
}

const blank = /^[ \t\r]*$/
const asOneRow = { rows_max: 1, chunk_length: 1, record_length_max: Infinity }

/** Without blank records. One with misplaced quotes is returned as broken. */
export function readRows(chunk: Pick<Chunk, 'text' | 'first_row'>, delimiter: string): Row[] {
  try {
    return cut(chunk, delimiter)
  } catch {
    const splitter = new Splitter({ ...asOneRow, delimiters: delimiter }, chunk.first_row)
    return [...splitter.push(chunk.text), ...splitter.end()].flatMap((record) => {
      try {
        return cut(record, delimiter)
      } catch {
        return [
          {
            row: record.first_row,
            cells: [record.text.trimEnd()],
            broken: 'A quote stands inside a cell: put the whole cell in quotes and write each quote in it twice.',
          },
        ]
      }
    })
  }
}

function cut({ text, first_row }: Pick<Chunk, 'text' | 'first_row'>, delimiter: string): Row[] {
  const records: string[][] = text.includes('"')
    ? parse(text, { delimiter, record_delimiter: ['\r\n', '\n'], relax_column_count: true, skip_empty_lines: false })
    : cutPlain(text, delimiter)
  const rows: Row[] = []
  for (let at = 0; at < records.length; at++) {
    const cells = records[at]!
    if (!cells.every((cell) => blank.test(cell))) rows.push({ row: first_row + at, cells })
  }
  return rows
}

function cutPlain(text: string, delimiter: string): string[][] {
  const lines = text.split('\n')
  const last = lines.pop()!
  const records = lines.map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line).split(delimiter))
  if (last !== '') records.push(last.split(delimiter))
  return records
}

export interface RowContext {
  readonly columns: readonly Column[]
  readonly types: ReadonlyMap<string, AttributeType>
  readonly default_country: string | null
  readonly hinted_country?: string | null
  readonly at: string
}

export interface RowRead {
  readonly change: ContactChange
  readonly reasons: readonly string[]
}

export function readRow(row: Row, context: RowContext): RowRead {
  if (row.broken !== undefined) return { change: {}, reasons: [row.broken] }
  const reasons: string[] = []
  if (
    row.cells.length > context.columns.length &&
    row.cells.slice(context.columns.length).some((cell) => !blank.test(cell))
  ) {
    reasons.push(
      `The row has ${row.cells.length} cells, the header ${context.columns.length}: put cells that hold the delimiter in quotes.`,
    )
  }
  const body: Body = {}
  for (let at = 0; at < context.columns.length; at++) {
    const column = context.columns[at]!
    const cell = row.cells[at]
    if (column === null || cell === undefined) continue
    const text = unguarded(cell).trim()
    if (text !== '') setField(body, column, text, context, reasons)
  }
  const { at, default_country } = context
  const { change, failures } = readContact(
    body,
    default_country === null ? { at, add_tags: true } : { at, default_country, add_tags: true },
  )
  for (const { param, message } of failures) {
    const hint =
      param === 'phone' && default_country === null && typeof body.phone === 'string'
        ? phoneHint(body.phone, context.hinted_country ?? null)
        : ''
    reasons.push(message.replaceAll('`', '') + hint)
  }
  if (reasons.length === 0 && body.phone === undefined && body.email === undefined && body.identifiers === undefined) {
    reasons.push('The row has no phone number, e-mail address or identifier.')
  }
  return { change, reasons }
}

type Keyed = 'attributes' | 'identifiers' | 'consent'
type Body = { -readonly [K in keyof Omit<ContactBody, Keyed>]: ContactBody[K] } & {
  [K in Keyed]?: Record<string, unknown>
}

function setField(body: Body, column: string, text: string, context: RowContext, reasons: string[]): void {
  switch (column) {
    case 'tags':
      body.tags = tagsOf(text)
      return
    case 'blocked':
      if (booleans.has(text.toLowerCase())) body.blocked = booleans.get(text.toLowerCase())!
      else reasons.push('blocked must be true or false.')
      return
    case 'metadata':
      body.metadata = metadataOf(text, reasons)
      return
    case 'full_name':
      if (!context.columns.includes('first_name') && !context.columns.includes('last_name'))
        Object.assign(body, namesOf(text))
      return
    case 'phone':
    case 'email':
    case 'first_name':
    case 'last_name':
    case 'locale':
    case 'timezone':
    case 'external_id':
      body[column] = text
      return
    default:
      setKeyed(body, column, text, context)
  }
}

function setKeyed(body: Body, column: string, text: string, { types }: RowContext): void {
  const dot = column.indexOf('.')
  const key = column.slice(dot + 1)
  if (column.startsWith('attributes.')) (body.attributes ??= {})[key] = attributeOf(text, types.get(key))
  else if (column.startsWith('identifiers.')) (body.identifiers ??= {})[key] = text
  else setConsent((body.consent ??= {}), key, statuses.get(text.toLowerCase()) ?? text)
}

function setConsent(consent: Record<string, unknown>, key: string, status: string): void {
  const [type, part] = key.split('.') as [string, string | undefined]
  const before = consent[type]
  if (part === undefined && before === undefined) consent[type] = status
  else {
    const merged = typeof before === 'object' ? before : before === undefined ? {} : { status: before }
    consent[type] = { ...merged, ...(part === 'marketing' ? { marketing: status } : { status }) }
  }
}

const booleans = new Map([
  ['true', true],
  ['yes', true],
  ['1', true],
  ['false', false],
  ['no', false],
  ['0', false],
])
const statuses = new Map([
  ['opted in', 'opted_in'],
  ['optin', 'opted_in'],
  ['subscribed', 'opted_in'],
  ['yes', 'opted_in'],
  ['true', 'opted_in'],
  ['1', 'opted_in'],
  ['opted out', 'opted_out'],
  ['optout', 'opted_out'],
  ['unsubscribed', 'opted_out'],
  ['no', 'opted_out'],
  ['false', 'opted_out'],
  ['0', 'opted_out'],
])

/** Separated by semicolons. A tag with a semicolon is quoted, and its quotes doubled. */
function tagsOf(text: string): string[] {
  if (!text.includes('"'))
    return text
      .split(';')
      .map((tag) => tag.trim())
      .filter((tag) => tag !== '')
  const found = text.matchAll(/\s*(?:"((?:[^"]|"")*)"\s*|([^;]*))(?:;|$)/g)
  return [...found]
    .map(([, quoted, bare]) => (quoted ?? bare ?? '').replaceAll(quoted === undefined ? '\0' : '""', '"').trim())
    .filter((tag) => tag !== '')
}

function namesOf(text: string): { first_name: string; last_name?: string } {
  const at = text.indexOf(' ')
  return at === -1 ? { first_name: text } : { first_name: text.slice(0, at), last_name: text.slice(at + 1).trim() }
}

function metadataOf(text: string, reasons: string[]): Record<string, unknown> {
  try {
    return parseBody(Buffer.from(text))
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    reasons.push(
      error.details === undefined ? 'metadata must be a JSON object.' : `metadata cannot be kept: ${error.message}`,
    )
    return {}
  }
}

const isNumber = (text: string): boolean => /^-?\d/.test(text) && String(Number(text)) === text
const isBoolean = (text: string): boolean => text === 'true' || text === 'false' || text === 'TRUE' || text === 'FALSE'

/** A cell of another type stays text: a postal code with a leading zero is not a number. */
function attributeOf(text: string, type: AttributeType | undefined): AttributeValue {
  if (type === 'number' && isNumber(text)) return Number(text)
  if (type === 'boolean' && isBoolean(text)) return text.toLowerCase() === 'true'
  return text
}

/** As defined; else number or boolean if every cell is one; else text. */
export function attributeTypes(
  rows: readonly Row[],
  columns: readonly Column[],
  defined: ReadonlyMap<string, AttributeType>,
): Map<string, AttributeType> {
  const types = new Map<string, AttributeType>()
  for (const [at, column] of columns.entries()) {
    if (column?.startsWith('attributes.') !== true) continue
    const key = column.slice('attributes.'.length)
    const cells = () => rows.map((row) => unguarded(row.cells[at] ?? '').trim()).filter((cell) => cell !== '')
    types.set(
      key,
      defined.get(key) ?? (cells().every(isNumber) ? 'number' : cells().every(isBoolean) ? 'boolean' : 'string'),
    )
  }
  return types
}

/** Later values win. */
export function mergeChanges(first: ContactChange, then: ContactChange): ContactChange {
  const tags = [...(first.add_tags ?? []), ...(then.add_tags ?? [])]
  const spelled = new Map(tags.toReversed().map((tag) => [foldText(tag), tag]))
  return {
    ...first,
    ...then,
    ...(tags.length === 0 ? {} : { add_tags: [...spelled.values()].toReversed() }),
    ...(first.attributes === undefined ? {} : { attributes: { ...first.attributes, ...then.attributes } }),
    ...(first.consent === undefined ? {} : { consent: mergeConsent(first.consent, then.consent ?? {}) }),
  }
}

type Consents = NonNullable<ContactChange['consent']>

function mergeConsent(first: Consents, then: Consents): Consents {
  const merged = { ...first }
  for (const [type, write] of Object.entries(then)) merged[type] = write === null ? null : { ...first[type], ...write }
  return merged
}
