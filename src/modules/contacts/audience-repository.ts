/** SQL of audiences: contacts of a list, of tags or of a segment, with their addresses. */
import type { Tenant } from '../../api/caller.ts'
import type { Db, Fragment } from '../../platform/database/sql.ts'
import { marketingType } from './contact.ts'
import { phoneChannelTypes } from './addresses.ts'

/** `where` is a function because awaiting a fragment would run it. */
export type AudienceSource =
  | { readonly kind: 'list'; readonly list_id: string }
  | { readonly kind: 'labels'; readonly labels: readonly string[]; readonly match: 'any' | 'all' }
  | { readonly kind: 'segment'; readonly where: (sql: Db) => Fragment }

export interface AudienceQuery {
  readonly source: AudienceSource
  readonly channel_type: string
  readonly marketing: boolean
  readonly require_opt_in: boolean
  readonly after: string
  /** null: all. */
  readonly until: string | null
}

export async function chunkEnd(
  sql: Db,
  { account_id, mode }: Tenant,
  source: AudienceSource,
  after: string,
  contacts: number,
): Promise<string | null> {
  const [row] =
    source.kind === 'list'
      ? await sql<{ id: string }[]>`
          select contact_id as id from contact_list_members
          where account_id = ${account_id}
            and mode = ${mode}
            and list_id = ${source.list_id}
            and contact_id > ${after}
          order by contact_id offset ${contacts - 1}
          limit 1`
      : await sql<{ id: string }[]>`
          select id
          from contacts
          where account_id = ${account_id} and mode = ${mode} and id > ${after}
          order by id offset ${contacts - 1}
          limit 1`
  return row?.id ?? null
}

/** Columns: contact_id, "to", address, name, timezone, updated_at, skip_reason (null: reachable). */
export function audienceRows(sql: Db, { account_id, mode }: Tenant, query: AudienceQuery): Fragment {
  const { channel_type, after, until } = query
  const identifier = sql`c.identifiers ->> ${channel_type}::text`
  const isPhone = phoneChannelTypes.includes(channel_type)
  const [to, address] = isPhone
    ? [sql`coalesce(c.phone, ${identifier})`, sql`coalesce(c.phone_key, ${identifier})`]
    : [identifier, identifier]
  const stopped = [
    `c:${channel_type}:opted_out`,
    ...(query.marketing ? [`c:${marketingType(channel_type)}:opted_out`] : []),
  ]
  return sql`
    select c.id as contact_id, coalesce(${to}, '') as "to", coalesce(${address}, '') as address,
      c.full_name as name, c.timezone, c.updated_at,
      case
        when ${to} is null then 'no_identifier'
        when c.blocked or c.labels && ${stopped}::text[] then 'unsubscribed'
        ${query.require_opt_in ? sql`when not c.labels @> ${[`c:${channel_type}:opted_in`]}::text[] then 'not_opted_in'` : sql``}
      end as skip_reason
    from contacts c
    where c.account_id = ${account_id}
      and c.mode = ${mode}
      and c.id > ${after}
      ${until === null ? sql`` : sql`and c.id <= ${until}`}
      and ${meant(sql, { account_id, mode }, query)}`
}

function meant(sql: Db, { account_id, mode }: Tenant, { source, after, until }: AudienceQuery): Fragment {
  switch (source.kind) {
    case 'segment':
      return source.where(sql)
    case 'labels':
      return source.match === 'any'
        ? sql`c.labels && ${[...source.labels]}::text[]`
        : sql`c.labels @> ${[...source.labels]}::text[]`
    case 'list':
      return sql`c.id in (
        select contact_id from contact_list_members
        where account_id = ${account_id}
          and mode = ${mode}
          and list_id = ${source.list_id}
          and contact_id > ${after}
          ${until === null ? sql`` : sql`and contact_id <= ${until}`})`
  }
}
