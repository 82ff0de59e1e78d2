/** SQL that inserts many rows at once. Columns as lines of text cost half as much as JSON rows. */
import type { Tenant } from '../../api/caller.ts'
import { type ContactRow, type ConsentChangeRow, isEmpty, searchColumns, type SearchColumns } from './contact.ts'
import type { Db } from '../../platform/database/sql.ts'
import type { AddressRow } from './addresses.ts'

export const bulkRows = 8

type Values<T, Name extends string> = Readonly<Record<Name, (row: T) => string | null>>

/** null when a value contains a line break: use JSON then. `text_column` reads an empty line as null. */
function columnsOf<T, Name extends string>(
  rows: readonly T[],
  values: Values<T, Name>,
): Readonly<Record<Name, string | null>> | null {
  const columns: Record<string, string | null> = {}
  for (const name of Object.keys(values) as Name[]) {
    const column = rows.map(values[name])
    const filled = column.some((value) => value !== null)
    const text = filled ? column.join('\n') : null
    if (text !== null && breaksOf(text) !== rows.length - 1) return null
    columns[name] = text
  }
  return columns as Record<Name, string | null>
}

function breaksOf(text: string): number {
  let breaks = 0
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) breaks += 1
  return breaks
}

interface Line {
  readonly row: ContactRow
  readonly search: SearchColumns
  readonly at: string
}

const contactValues = {
  id: ({ row }: Line) => row.id,
  phone: ({ row }) => row.phone,
  phone_key: ({ row }) => (row.phone_key === row.phone ? null : row.phone_key),
  email: ({ row }) => row.email,
  first_name: ({ row }) => row.first_name,
  last_name: ({ row }) => row.last_name,
  locale: ({ row }) => row.locale,
  timezone: ({ row }) => row.timezone,
  country: ({ row }) => row.country,
  external_id: ({ row }) => row.external_id,
  identifiers: ({ row }) => json(row.identifiers),
  tags: ({ row }) => array(row.tags),
  attributes: ({ row }) => json(row.attributes),
  metadata: ({ row }) => json(row.metadata),
  consent: ({ row }) => json(row.consent),
  blocked: ({ row }) => (row.blocked ? 'true' : null),
  name_key: ({ search }) => search.name_key,
  last_name_key: ({ search }) => search.last_name_key,
  email_key: ({ row, search }) => (search.email_key === row.email ? null : search.email_key),
  labels: ({ search }) => array(search.labels),
  last_seen_at: ({ row }) => row.last_seen_at,
  last_message_at: ({ row }) => row.last_message_at,
  created_at: ({ row, at }) => (row.created_at === at ? null : row.created_at),
  updated_at: ({ row, at }) => (row.updated_at === at ? null : row.updated_at),
} satisfies Values<Line, string>

export async function insertContactLines(
  sql: Db,
  { account_id, mode }: Tenant,
  rows: readonly ContactRow[],
): Promise<boolean> {
  const at = rows[0]!.created_at
  const column = columnsOf(
    rows.map((row) => ({ row, search: searchColumns(row), at })),
    contactValues,
  )
  if (column === null) return false
  await sql`
    insert into contacts (account_id, mode, id, phone, phone_key, email, first_name, last_name, locale,
      timezone, country, external_id, identifiers, tags, attributes, metadata, consent, blocked, name_key,
      last_name_key, email_key, labels, last_seen_at, last_message_at, created_at, updated_at)
    select ${account_id}, ${mode}, id, phone, coalesce(phone_key, phone), email, first_name, last_name,
      locale, timezone, country, external_id,
      coalesce(identifiers::jsonb, '{}'), coalesce(tags::text[], '{}'), coalesce(attributes::jsonb, '{}'),
      coalesce(metadata::json, '{}'),
      coalesce(consent::jsonb, '{}'), coalesce(blocked::boolean, false), name_key, last_name_key,
      coalesce(email_key, email), coalesce(labels::text[], '{}'),
      last_seen_at::timestamptz, last_message_at::timestamptz, coalesce(created_at::timestamptz, ${at}),
      coalesce(updated_at::timestamptz, ${at})
    from unnest(
      text_column(${column.id}), text_column(${column.phone}), text_column(${column.phone_key}),
      text_column(${column.email}), text_column(${column.first_name}), text_column(${column.last_name}),
      text_column(${column.locale}), text_column(${column.timezone}), text_column(${column.country}),
      text_column(${column.external_id}), text_column(${column.identifiers}), text_column(${column.tags}),
      text_column(${column.attributes}), text_column(${column.metadata}), text_column(${column.consent}),
      text_column(${column.blocked}), text_column(${column.name_key}), text_column(${column.last_name_key}),
      text_column(${column.email_key}), text_column(${column.labels}), text_column(${column.last_seen_at}),
      text_column(${column.last_message_at}), text_column(${column.created_at}),
      text_column(${column.updated_at})
    ) as t(id, phone, phone_key, email, first_name, last_name, locale, timezone, country, external_id,
    identifiers, tags, attributes, metadata, consent, blocked, name_key, last_name_key, email_key, labels,
    last_seen_at, last_message_at, created_at, updated_at)`
  return true
}

const addressValues = {
  kind: (row: AddressRow) => (row.kind === 'phone' ? null : row.kind),
  address: (row) => row.address,
  contact_id: (row) => row.contact_id,
  blocked: (row) => (row.blocked ? 'true' : null),
} satisfies Values<AddressRow, string>

export async function insertAddressLines(
  sql: Db,
  { account_id, mode }: Tenant,
  rows: readonly AddressRow[],
): Promise<boolean> {
  const column = columnsOf(rows, addressValues)
  if (column === null) return false
  await sql`
    insert into contact_addresses (account_id, mode, kind, address, contact_id, blocked)
    select ${account_id}, ${mode}, coalesce(kind, 'phone'), address, contact_id,
      coalesce(blocked::boolean, false)
    from unnest(text_column(${column.kind}), text_column(${column.address}),
      text_column(${column.contact_id}), text_column(${column.blocked}))
      as t(kind, address, contact_id, blocked)
    order by coalesce(kind, 'phone') collate "C", address collate "C"`
  return true
}

const consentValues = (at: string) =>
  ({
    contact_id: (row: ConsentChangeRow) => row.contact_id,
    id: (row) => row.id,
    channel_type: (row) => row.channel_type,
    status: (row) => row.status,
    source: (row) => row.source,
    message_id: (row) => row.message_id,
    request_id: (row) => row.request_id,
    occurred_at: (row) => (row.occurred_at === at ? null : row.occurred_at),
  }) satisfies Values<ConsentChangeRow, string>

export async function insertConsentLines(
  sql: Db,
  { account_id, mode }: Tenant,
  rows: readonly ConsentChangeRow[],
  at: string,
): Promise<boolean> {
  const column = columnsOf(rows, consentValues(at))
  if (column === null) return false
  await sql`
    insert into consent_changes (account_id, mode, contact_id, id, channel_type, status, source, message_id,
      request_id, occurred_at, created_at)
    select ${account_id}, ${mode}, contact_id, id, channel_type, status, source, message_id, request_id,
      coalesce(occurred_at::timestamptz, ${at}), ${at}
    from unnest(
      text_column(${column.contact_id}), text_column(${column.id}), text_column(${column.channel_type}),
      text_column(${column.status}), text_column(${column.source}), text_column(${column.message_id}),
      text_column(${column.request_id}), text_column(${column.occurred_at})
    ) as t(contact_id, id, channel_type, status, source, message_id, request_id, occurred_at)`
  return true
}

const json = (value: object): string | null => (isEmpty(value) ? null : JSON.stringify(value))

const bare = /^(?!null$)[\w:.-]+$/i

function array(texts: readonly string[]): string | null {
  let text = ''
  for (const each of texts)
    text += `${text === '' ? '' : ','}${bare.test(each) ? each : `"${each.replaceAll(/["\\]/g, '\\$&')}"`}`
  return text === '' ? null : `{${text}}`
}
