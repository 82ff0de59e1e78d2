/** SQL of exports. */
import type { Tenant } from '../../../api/caller.ts'
import type { ConsentChange } from '../../../api/resources/contact.ts'
import type { ContactRow } from '../contact.ts'
import type { ContactExport } from '../../../api/resources/contact-export.ts'
import type { Db } from '../../../platform/database/sql.ts'

export async function usedTypes(
  sql: Db,
  { account_id, mode }: Tenant,
): Promise<{ identifiers: string[]; consent: string[]; marketing: string[] }> {
  const [row] = await sql<{ identifiers: string[] | null; consent: string[] | null; marketing: string[] | null }[]>`
    select
      (
        select array_agg(distinct k)
        from contacts c, jsonb_object_keys(c.identifiers) k
        where c.account_id = ${account_id} and c.mode = ${mode} and c.identifiers <> '{}') as identifiers,
      (
        select array_agg(distinct k)
        from contacts c, jsonb_object_keys(c.consent) k
        where c.account_id = ${account_id} and c.mode = ${mode} and c.consent <> '{}') as consent,
      (select array_agg(distinct k) from contacts c, jsonb_object_keys(c.consent) k
        where c.account_id = ${account_id}
          and c.mode = ${mode}
          and c.consent <> '{}'
          and c.consent -> k ? 'marketing') as marketing`
  return { identifiers: row!.identifiers ?? [], consent: row!.consent ?? [], marketing: row!.marketing ?? [] }
}

export async function attributeKeys(sql: Db, { account_id, mode }: Tenant): Promise<string[]> {
  const rows = await sql<{ key: string }[]>`
    select key
    from contact_attributes
    where account_id = ${account_id} and mode = ${mode}
    order by key`
  return rows.map((row) => row.key)
}

export async function wholeHistory(
  sql: Db,
  { account_id, mode }: Tenant,
  contact_id: string,
): Promise<ConsentChange[]> {
  return await sql<ConsentChange[]>`
    select id, 'consent_change' as object, channel_type, status, source, message_id, request_id, occurred_at
    from consent_changes
    where account_id = ${account_id} and mode = ${mode} and contact_id = ${contact_id}
    order by id desc`
}

export async function listsOf(
  sql: Db,
  { account_id, mode }: Tenant,
  contact_id: string,
): Promise<ContactExport['lists']> {
  return await sql<ContactExport['lists']>`
    select l.id, 'contact_list' as object, l.name, m.created_at as added_at
    from contact_list_members m
    join contact_lists l on l.account_id = m.account_id and l.mode = m.mode and l.id = m.list_id
    where m.account_id = ${account_id} and m.mode = ${mode} and m.contact_id = ${contact_id}
    order by l.id desc`
}

export async function importRowsOf(
  sql: Db,
  { account_id, mode }: Tenant,
  { phone_key }: Pick<ContactRow, 'phone_key'>,
  email_key: string | null,
): Promise<ContactExport['rejected_import_rows']> {
  return await sql<ContactExport['rejected_import_rows']>`
    select import_id, row, reason, cells, created_at from contact_import_errors
    where account_id = ${account_id}
      and mode = ${mode}
      and (phone_key = ${phone_key} or (phone_key is null and email_key = ${email_key}))
    order by import_id desc, row limit 1000`
}
