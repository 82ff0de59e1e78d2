/** Invariants of contacts, checked in one snapshot. */
import type { Tenant } from '../../api/caller.ts'
import type { Db } from '../../platform/database/sql.ts'
import type { Invariant, Platform } from '../../platform/platform.ts'
import { addressesOn, suppressibleTypes } from './consent/suppressions.ts'
import { addressesOf, labelsOf, statusOf, type ContactRow } from './contact.ts'
import { suppressionHash, type KeyedHash } from './addresses.ts'

const breachesMax = 20
const batchSize = 2000

export const contactInvariants = (platform: Pick<Platform, 'secrets'>): readonly Invariant[] => [
  {
    name: 'addresses-follow-contacts',
    breaches: async (sql) =>
      (await addressBreaches(sql)).map(({ account_id, contact_id, kind, in_contact }) =>
        in_contact
          ? `The ${kind} address of contact ${contact_id} of ${account_id} is missing from contact_addresses, or differs in blocked.`
          : `contact_addresses has a ${kind} address for ${contact_id} of ${account_id} that the contact has not.`,
      ),
  },
  {
    name: 'contact-counters-equal-counts',
    breaches: async (sql) =>
      (await countBreaches(sql)).map(
        (row) =>
          `The counter of ${row.kind} ${row.key} of ${row.account_id} (${row.mode}) says ${row.stored}, but there are ${row.counted}.`,
      ),
  },
  { name: 'consent-equals-suppressions', breaches: (sql) => consentBreaches(sql, platform.secrets) },
]

/** Exactly the addresses of opted-out channel types are suppressed; labels agree with tags and consent. */
async function consentBreaches(sql: Db, secrets: KeyedHash): Promise<string[]> {
  const found: string[] = []
  const suppressing = new Set(await suppressingTenants(sql))
  let after = { account_id: '', mode: '', id: '' }
  while (found.length < breachesMax) {
    const rows = await contactsAbove(sql, after, batchSize)
    const groups = Map.groupBy(rows, (row) => `${row.account_id}|${row.mode}`)
    for (const row of rows) found.push(...labelBreaches(row))
    for (const [tenant, group] of groups)
      found.push(
        ...(suppressing.has(tenant) ? await suppressionBreaches(sql, secrets, group) : missingSuppressions(group)),
      )
    if (rows.length < batchSize) break
    after = rows[rows.length - 1]!
  }
  return found.slice(0, breachesMax)
}

function labelBreaches({ labels, id, account_id, ...row }: AuditedContact): string[] {
  const wanted = labelsOf(row)
  const agree = wanted.length === labels.length && wanted.every((label) => labels.includes(label))
  return agree ? [] : [`The labels of contact ${id} of ${account_id} do not follow from its tags and consent.`]
}

const stoppedTypes = (row: AuditedContact): string[] =>
  [...new Set(addressesOf(row).flatMap(suppressibleTypes))].filter(
    (type) => statusOf(row.consent, type) === 'opted_out',
  )

const missingSuppressions = (rows: readonly AuditedContact[]): string[] =>
  rows.flatMap((row) =>
    stoppedTypes(row).map(
      (type) => `The opt-out of contact ${row.id} of ${row.account_id} on ${type} is not among the suppressions.`,
    ),
  )

async function suppressionBreaches(sql: Db, secrets: KeyedHash, rows: readonly AuditedContact[]): Promise<string[]> {
  const tenant = { account_id: rows[0]!.account_id, mode: rows[0]!.mode } as Tenant
  const questions = new Map<string, { row: AuditedContact; type: string }>()
  for (const row of rows) {
    for (const type of new Set(addressesOf(row).flatMap(suppressibleTypes))) {
      for (const key of addressesOn(row, type))
        questions.set(suppressionHash(secrets, tenant, type, key.address), { row, type })
    }
  }
  const types = [...new Set([...questions.values()].map(({ type }) => type))]
  const suppressed = new Set(await suppressedAmong(sql, tenant, types, [...questions.keys()]))
  const found: string[] = []
  for (const [hash, { row, type }] of questions) {
    const stopped = statusOf(row.consent, type) === 'opted_out'
    if (stopped && !suppressed.has(hash))
      found.push(`The opt-out of contact ${row.id} of ${row.account_id} on ${type} is not among the suppressions.`)
    if (!stopped && suppressed.has(hash))
      found.push(`The suppression of contact ${row.id} of ${row.account_id} on ${type} does not show in its consent.`)
  }
  return found
}

interface AddressBreach {
  readonly account_id: string
  readonly contact_id: string
  readonly kind: string
  readonly in_contact: boolean
}

async function addressBreaches(sql: Db): Promise<AddressBreach[]> {
  return await sql<AddressBreach[]>`
    with wanted as (
      select account_id, mode, 'phone' as kind, phone_key as address, id as contact_id, blocked
      from contacts
      where phone_key is not null
      union all
      select c.account_id, c.mode, i.key, i.value, c.id, c.blocked
      from contacts c
      cross join lateral jsonb_each_text(c.identifiers) i
      where c.identifiers <> '{}'
    )
    select coalesce(w.account_id, a.account_id) as account_id,
      coalesce(w.contact_id, a.contact_id) as contact_id, coalesce(w.kind, a.kind) as kind,
      w.contact_id is not null as in_contact
    from wanted w full join contact_addresses a
      on a.account_id = w.account_id
        and a.mode = w.mode
        and a.kind = w.kind
        and a.address = w.address
        and a.contact_id = w.contact_id
        and a.blocked = w.blocked
    where w.contact_id is null or a.contact_id is null
    limit ${breachesMax}`
}

interface CountBreach {
  readonly account_id: string
  readonly mode: string
  readonly kind: string
  readonly key: string
  readonly stored: number
  readonly counted: number
}

async function countBreaches(sql: Db): Promise<CountBreach[]> {
  return await sql<CountBreach[]>`
    with counted as (
      select account_id, mode, 'contact' as kind, '' as key, '' as name, count(*) as total
      from contacts
      group by 1, 2
      union all
      select c.account_id, c.mode, 'attribute', a.key, jsonb_typeof(a.value), count(*)
      from contacts c
      cross join lateral jsonb_each(c.attributes) a
      group by 1, 2, 4, 5
      union all
      select c.account_id, c.mode, case left(l.label, 2) when 't:' then 'tag' else 'consent' end,
        substr(l.label, 3), '', count(*)
      from contacts c cross join lateral unnest(c.labels) l(label) group by 1, 2, 3, 4
      union all
      select m.account_id, m.mode, 'list', m.list_id, '', count(*) from contact_list_members m
      where exists (
        select 1
        from contact_lists l
        where l.account_id = m.account_id and l.mode = m.mode and l.id = m.list_id)
      group by 1, 2, 4
    ),
    stored as (
      select account_id, mode, kind, key, name, sum(delta) as total from contact_counters c
      where kind <> 'list'
        or exists (
          select 1
          from contact_lists l
          where l.account_id = c.account_id and l.mode = c.mode and l.id = c.key)
      group by 1, 2, 3, 4, 5
    )
    select coalesce(s.account_id, c.account_id) as account_id, coalesce(s.mode, c.mode) as mode,
      coalesce(s.kind, c.kind) as kind, coalesce(s.key, c.key) as key,
      coalesce(s.total, 0)::bigint as stored, coalesce(c.total, 0)::bigint as counted
    from stored s
    full join counted c on c.account_id = s.account_id
      and c.mode = s.mode
      and c.kind = s.kind
      and c.key = s.key
      and c.name = s.name
    where coalesce(s.total, 0) <> coalesce(c.total, 0)
    limit ${breachesMax}`
}

type AuditedContact = Pick<
  ContactRow,
  'account_id' | 'mode' | 'id' | 'phone_key' | 'identifiers' | 'consent' | 'tags'
> & { readonly labels: string[] }

async function contactsAbove(
  sql: Db,
  after: { account_id: string; mode: string; id: string },
  limit: number,
): Promise<AuditedContact[]> {
  return await sql<AuditedContact[]>`
    select account_id, mode, id, phone_key, identifiers, consent, tags, labels from contacts
    where (account_id, mode, id) > (${after.account_id}, ${after.mode}, ${after.id})
    order by account_id, mode, id limit ${limit}`
}

/** As `account_id|mode`. */
async function suppressingTenants(sql: Db): Promise<string[]> {
  const rows = await sql<{ tenant: string }[]>`
    select distinct account_id || '|' || mode as tenant from suppressions`
  return rows.map((row) => row.tenant)
}

async function suppressedAmong(
  sql: Db,
  { account_id, mode }: Tenant,
  channelTypes: readonly string[],
  hashes: readonly string[],
): Promise<string[]> {
  const rows = await sql<{ address_hash: string }[]>`
    select address_hash from suppressions
    where account_id = ${account_id}
      and mode = ${mode}
      and channel_type = any (${[...channelTypes]}::text[])
      and address_hash = any (${[...hashes]}::text[])`
  return rows.map((row) => row.address_hash)
}
