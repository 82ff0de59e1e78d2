/** The rows of contacts as every part of the feature reads them. */
import type { AttributeValue, ConsentSource, ConsentState, ConsentStatus } from '../../api/resources/contact.ts'
import type { AddressKey } from './recipients.ts'

/** A row of `contacts` without the columns derived for searching. */
export interface ContactRow {
  account_id: string
  mode: 'live' | 'test'
  id: string
  phone: string | null
  phone_key: string | null
  email: string | null
  first_name: string | null
  last_name: string | null
  full_name: string | null
  locale: string | null
  timezone: string | null
  country: string | null
  external_id: string | null
  identifiers: Record<string, string>
  tags: string[]
  attributes: Record<string, AttributeValue>
  metadata: Record<string, unknown>
  consent: Record<string, ConsentState>
  blocked: boolean
  last_seen_at: string | null
  last_message_at: string | null
  created_at: string
  updated_at: string
}

export type Windows = Record<string, { window_expires_at: string | null }>

export interface AddressRow extends AddressKey {
  readonly contact_id: string
  readonly blocked: boolean
}

export interface ConsentChangeRow {
  readonly contact_id: string
  readonly id: string
  readonly channel_type: string
  readonly status: ConsentStatus
  readonly source: ConsentSource
  readonly message_id: string | null
  readonly request_id: string | null
  readonly occurred_at: string
}

/** A contact list. */
export interface ListRow {
  readonly id: string
  readonly mode: 'live' | 'test'
  readonly name: string
  readonly description: string
  readonly metadata: Record<string, unknown>
  readonly contacts_count: number
  readonly created_at: string
  readonly updated_at: string
}
