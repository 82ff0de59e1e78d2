/** SQL behind the invariants of contacts: what does not agree, at most 20 rows a question. */
import type { Tenant } from '../../api/caller.ts'
import type { ContactRow } from './rows.ts'
import type { Db } from '../../platform/database/sql.ts'

const most = 20

export interface AddressBreach {
  readonly account_id: string
  readonly contact_id: string
  readonly kind: string
  readonly in_contact: boolean
}

/** Addresses that a contact has and `contact_addresses` has not, the other way round, or with another `blocked`. */
export async function addressBreaches(sql: Db): Promise<AddressBreach[]> {
  return await sql<AddressBreach[]>`
    with wanted as (
      select account_id, mode, 'phone' as kind, phone_key as address, id as contact_id, blocked from contacts where phone_key is not null
      union all
      select c.account_id, c.mode, i.key, i.value, c.id, c.blocked from contacts c cross join lateral jsonb_each_text(c.identifiers) i where c.identifiers <> '{}'
    )
    select coalesce(w.account_id, a.account_id) as account_id, coalesce(w.contact_id, a.contact_id) as contact_id, coalesce(w.kind, a.kind) as kind, w.contact_id is not null as in_contact
    from wanted w full join contact_addresses a
      on a.account_id = w.account_id and a.mode = w.mode and a.kind = w.kind and a.address = w.address and a.contact_id = w.contact_id and a.blocked = w.blocked
    where w.contact_id is null or a.contact_id is null
    limit ${most}`
}

export interface CountBreach {
  readonly account_id: string
  readonly mode: string
  readonly kind: string
  readonly key: string
  readonly held: number
  readonly counted: number
}

/** Counters that are not what counting gives: contacts, attributes and lists. */
export async function countBreaches(sql: Db): Promise<CountBreach[]> {
  return await sql<CountBreach[]>`
    with counted as (
      select account_id, mode, 'contact' as kind, '' as key, '' as name, count(*) as total from contacts group by 1, 2
      union all
      select c.account_id, c.mode, 'attribute', a.key, jsonb_typeof(a.value), count(*) from contacts c cross join lateral jsonb_each(c.attributes) a group by 1, 2, 4, 5
      union all
      select c.account_id, c.mode, case left(l.label, 2) when 't:' then 'tag' else 'consent' end, substr(l.label, 3), '', count(*)
      from contacts c cross join lateral unnest(c.labels) l(label) group by 1, 2, 3, 4
      union all
      select m.account_id, m.mode, 'list', m.list_id, '', count(*) from contact_list_members m
      where exists (select 1 from contact_lists l where l.account_id = m.account_id and l.mode = m.mode and l.id = m.list_id) group by 1, 2, 4
    ),
    held as (
      select account_id, mode, kind, key, name, sum(delta) as total from contact_counters c
      where kind <> 'list' or exists (select 1 from contact_lists l where l.account_id = c.account_id and l.mode = c.mode and l.id = c.key)
      group by 1, 2, 3, 4, 5
    )
    select coalesce(h.account_id, c.account_id) as account_id, coalesce(h.mode, c.mode) as mode, coalesce(h.kind, c.kind) as kind, coalesce(h.key, c.key) as key,
      coalesce(h.total, 0)::bigint as held, coalesce(c.total, 0)::bigint as counted
    from held h full join counted c on c.account_id = h.account_id and c.mode = h.mode and c.kind = h.kind and c.key = h.key and c.name = h.name
    where coalesce(h.total, 0) <> coalesce(c.total, 0)
    limit ${most}`
}

export type AuditedContact = Pick<
  ContactRow,
  'account_id' | 'mode' | 'id' | 'phone_key' | 'identifiers' | 'consent' | 'tags'
> & { readonly labels: string[] }

/** Contacts of every tenant above a key, in order. */
export async function contactsAbove(
  sql: Db,
  after: { account_id: string; mode: string; id: string },
  limit: number,
): Promise<AuditedContact[]> {
  return await sql<AuditedContact[]>`
    select account_id, mode, id, phone_key, identifiers, consent, tags, labels from contacts
    where (account_id, mode, id) > (${after.account_id}, ${after.mode}, ${after.id})
    order by account_id, mode, id limit ${limit}`
}

/** Tenants that have any suppression, as `account_id|mode`. */
export async function suppressingTenants(sql: Db): Promise<string[]> {
  const rows = await sql<{ tenant: string }[]>`select distinct account_id || '|' || mode as tenant from suppressions`
  return rows.map((row) => row.tenant)
}

/** Which of these hashes are suppressed. A hash stands for its account, mode, channel type and address. */
export async function suppressedAmong(
  sql: Db,
  { account_id, mode }: Tenant,
  channelTypes: readonly string[],
  hashes: readonly string[],
): Promise<string[]> {
  const rows = await sql<{ address_hash: string }[]>`
    select address_hash from suppressions
    where account_id = ${account_id} and mode = ${mode} and channel_type = any (${[...channelTypes]}::text[]) and address_hash = any (${[...hashes]}::text[])`
  return rows.map((row) => row.address_hash)
}
