/** Rows of contacts and their lists as the API shows them. */
import type { Contact, ContactList } from '../../api/resources/contact.ts'
import type { ContactRow, ListRow, Windows } from './rows.ts'

/** The Contact of a row, as the API shows it. */
export function contactObject(row: ContactRow, windows: Windows): Contact {
  return {
    id: row.id,
    object: 'contact',
    mode: row.mode,
    phone: row.phone,
    email: row.email,
    first_name: row.first_name,
    last_name: row.last_name,
    full_name: row.full_name,
    locale: row.locale,
    timezone: row.timezone,
    country: row.country,
    identifiers: row.identifiers,
    consent: row.consent,
    tags: row.tags,
    attributes: row.attributes,
    metadata: row.metadata,
    blocked: row.blocked,
    external_id: row.external_id,
    windows,
    last_seen_at: row.last_seen_at,
    last_message_at: row.last_message_at,
    created_at: row.created_at,
    updated_at: row.updated_at,
  }
}

export const listObject = (row: ListRow): ContactList => ({
  id: row.id,
  object: 'contact_list',
  mode: row.mode,
  name: row.name,
  description: row.description,
  metadata: row.metadata,
  contacts_count: row.contacts_count,
  created_at: row.created_at,
  updated_at: row.updated_at,
})
