/** SQL of writing many contacts at once: COPY, which costs PostgreSQL half of what reading them from JSON does. */
import type { Writable } from 'node:stream'
import type { Tenant } from '../../contract/caller.ts'
import type { ContactRow } from '../../contract/resources/contact.ts'
import { sqlState, type Db } from '../../platform/database/sql.ts'
import type { ConsentChangeRow } from './consent-store.ts'
import { searchColumns } from './contact.ts'

/** From so many rows on COPY is the cheaper way. */
export const bulkRows = 100

export async function copyContacts(sql: Db, { account_id, mode }: Tenant, rows: readonly ContactRow[]): Promise<void> {
  const into = sql`
    copy contacts (account_id, mode, id, phone, phone_key, email, first_name, last_name, locale, timezone, country, external_id, identifiers, tags, attributes, metadata,
      consent, blocked, name_key, last_name_key, email_key, labels, last_seen_at, last_message_at, created_at, updated_at) from stdin`
  const tenant = `${account_id}\t${mode}\t`
  let text = ''
  for (const row of rows) {
    const search = searchColumns(row)
    text += `${tenant}${row.id}\t${cell(row.phone)}\t${cell(row.phone_key)}\t${cell(row.email)}\t${cell(row.first_name)}\t${cell(row.last_name)}\t${cell(row.locale)}\t${cell(row.timezone)}\t`
    text += `${cell(row.country)}\t${cell(row.external_id)}\t${json(row.identifiers)}\t${array(row.tags)}\t${json(row.attributes)}\t${json(row.metadata)}\t${json(row.consent)}\t${row.blocked}\t`
    text += `${cell(search.name_key)}\t${cell(search.last_name_key)}\t${cell(search.email_key)}\t${array(search.labels)}\t${row.last_seen_at ?? nothing}\t${row.last_message_at ?? nothing}\t${row.created_at}\t${row.updated_at}\n`
  }
  await fill(sql, await into.writable(), text)
}

export async function copyConsentChanges(sql: Db, { account_id, mode }: Tenant, rows: readonly ConsentChangeRow[], at: string): Promise<void> {
  const into = sql`
    copy consent_changes (account_id, mode, contact_id, id, channel_type, status, source, message_id, request_id, occurred_at, created_at) from stdin`
  let text = ''
  for (const row of rows) {
    text += `${account_id}\t${mode}\t${row.contact_id}\t${row.id}\t${row.channel_type}\t${row.status}\t${row.source}\t${cell(row.message_id)}\t${cell(row.request_id)}\t${row.occurred_at}\t${at}\n`
  }
  await fill(sql, await into.writable(), text)
}

/**
 * Resolves once PostgreSQL has taken all of it; rejects with a data error when it has not, or with that of a lost connection. The
 * driver's stream tells neither once its text is sent, so that a statement behind it has to.
 */
async function fill(sql: Db, into: Writable, text: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const final = into._final.bind(into)
    into._final = (done) => {
      final(done)
      resolve()
    }
    into.on('error', reject)
    into.end(text)
  })
  try {
    await sql`select 1`
  } catch (error) {
    if (sqlState(error) !== inFailedTransaction) throw error
    throw Object.assign(new Error('COPY was refused a row', { cause: error }), { code: dataException })
  }
}

const inFailedTransaction = '25P02'
const dataException = '22000'

const nothing = '\\N'
const special = /[\\\t\n\r\v\f\b]/
const escapes: Readonly<Record<string, string>> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r', '\v': '\\v', '\f': '\\f', '\b': '\\b' }

const escaped = (text: string): string => (special.test(text) ? text.replaceAll(/[\\\t\n\r\v\f\b]/g, (character) => escapes[character]!) : text)
const cell = (text: string | null): string => (text === null ? nothing : escaped(text))

function json(value: object): string {
  for (const _ in value) return escaped(JSON.stringify(value))
  return '{}'
}

function array(texts: readonly string[]): string {
  let text = ''
  for (const each of texts) text += `${text === '' ? '' : ','}"${/["\\]/.test(each) ? each.replaceAll(/["\\]/g, '\\$&') : each}"`
  return escaped(`{${text}}`)
}
