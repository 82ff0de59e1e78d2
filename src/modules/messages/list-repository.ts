/** SQL of the message list. Each filter has an index. */
import { advisoryLocks } from '../../platform/database/locks.ts'
import type { Tenant } from '../../api/caller.ts'
import type { MessageRow } from './message.ts'
import { idFloor } from '../../lib/ids.ts'
import type { Page } from '../../platform/http/paging.ts'
import type { Db } from '../../platform/database/sql.ts'
import { quarterOf } from './counts-repository.ts'

export interface MessageFilters {
  readonly channel?: string
  readonly direction?: string
  readonly status?: string
  readonly to?: string
  readonly reference?: string
  readonly created_after?: string
  readonly created_before?: string
  readonly updated_after?: string
}

/** An id and its `created_at` may be this far apart. */
const idSlackMs = 1000
const rareStatuses: ReadonlySet<string> = new Set(['queued', 'sending', 'failed'])
const newestFirst = 200

/** Newest first, with one row more than requested. */
export async function listMessages(
  sql: Db,
  tenant: Tenant,
  filters: MessageFilters,
  page: Page,
): Promise<MessageRow[]> {
  const { channel, status, to, reference, updated_after } = filters
  // only inbound messages are `received`
  const direction = filters.direction ?? (status === 'received' ? 'inbound' : undefined)
  const all = { ...filters, ...(direction === undefined ? {} : { direction }) }
  if (reference !== undefined) return await byText(sql, tenant, all, page, 'reference', reference)
  if (to !== undefined) return await byText(sql, tenant, all, page, 'to', to)
  if (channel !== undefined && direction !== undefined)
    return await sql<MessageRow[]>`${ofChannel(sql, tenant, all, page, sql`${channel}`, direction)}`
  if (status !== undefined && (rareStatuses.has(status) || (channel === undefined && direction === undefined)))
    return await byStatus(sql, tenant, all, page)
  if (channel !== undefined) return await byChannel(sql, tenant, all, page)
  if (direction !== undefined) return await byDirection(sql, tenant, all, page)
  if (updated_after !== undefined) return await byChange(sql, tenant, { ...all, updated_after }, page)
  return await byId(sql, tenant, all, page)
}

function where(sql: Db, { account_id, mode }: Tenant, filters: MessageFilters, page: Page) {
  const { from, below } = idBounds(filters, page)
  return sql`
    account_id = ${account_id} and mode = ${mode}
      ${filters.channel === undefined ? sql`` : sql`and channel_id = ${filters.channel}`}
      ${filters.direction === undefined ? sql`` : sql`and direction = ${filters.direction}`}
      ${filters.status === undefined ? sql`` : sql`and status = ${filters.status}`}
      ${filters.to === undefined ? sql`` : sql`and "to" = ${filters.to}`}
      ${filters.reference === undefined ? sql`` : sql`and reference = ${filters.reference}`}
      ${filters.created_after === undefined ? sql`` : sql`and created_at > ${filters.created_after}`}
      ${filters.created_before === undefined ? sql`` : sql`and created_at < ${filters.created_before}`}
      ${filters.updated_after === undefined ? sql`` : sql`and updated_at > ${filters.updated_after}`}
      ${from === undefined ? sql`` : sql`and id >= ${from}`}
      ${below === undefined ? sql`` : sql`and id < ${below}`}`
}

function idBounds(
  { created_after, created_before }: MessageFilters,
  { starting_after }: Page,
): { from: string | undefined; below: string | undefined } {
  const from = created_after === undefined ? undefined : floorOf(Date.parse(created_after) - idSlackMs)
  const before = created_before === undefined ? undefined : floorOf(Date.parse(created_before) + idSlackMs)
  return {
    from,
    below: before === undefined || (starting_after !== undefined && starting_after < before) ? starting_after : before,
  }
}

const floorOf = (ms: number): string => idFloor('msg', Math.max(0, ms))

async function byId(sql: Db, tenant: Tenant, filters: MessageFilters, page: Page): Promise<MessageRow[]> {
  return await sql<MessageRow[]>`
    select *
    from messages
    where ${where(sql, tenant, filters, page)}
    order by id desc
    limit ${page.limit + 1}`
}

// The leading column is compared with a list of one and is part of the order: with `=`, the planner reads everything
// when the newest match is old.

async function byText(
  sql: Db,
  tenant: Tenant,
  filters: MessageFilters,
  page: Page,
  leading: 'to' | 'reference',
  value: string,
): Promise<MessageRow[]> {
  const { [leading]: _, ...others } = filters
  const column = sql(leading)
  return await sql<MessageRow[]>`
    select *
    from messages
    where ${where(sql, tenant, others, page)}
      and ${column} = any(array[${value}])
    order by ${column} desc, id desc limit ${page.limit + 1}`
}

function ofChannel(
  sql: Db,
  tenant: Tenant,
  filters: MessageFilters,
  page: Page,
  channel: ReturnType<typeof where>,
  direction: string,
) {
  const { channel: _, direction: __, ...others } = filters
  return sql`
    select *
    from messages
    where ${where(sql, tenant, others, page)}
      and channel_id = any(array[${channel}])
      and direction = any(array[${direction}])
    order by channel_id desc, direction desc, id desc limit ${page.limit + 1}`
}

async function byChannel(sql: Db, tenant: Tenant, filters: MessageFilters, page: Page): Promise<MessageRow[]> {
  const one = (direction: string) => ofChannel(sql, tenant, filters, page, sql`${filters.channel!}`, direction)
  return await sql<MessageRow[]>`
    select * from ((${one('outbound')}) union all (${one('inbound')})) m
    order by id desc limit ${page.limit + 1}`
}

async function byDirection(sql: Db, tenant: Tenant, filters: MessageFilters, page: Page): Promise<MessageRow[]> {
  const { account_id, mode } = tenant
  return await sql<MessageRow[]>`
    with recursive channel(id) as (
      (
        select channel_id
        from messages
        where account_id = ${account_id}
          and mode = ${mode}
        order by channel_id
        limit 1
      )
      union all
      select (
        select channel_id
        from messages
        where account_id = ${account_id}
          and mode = ${mode}
          and channel_id > channel.id
        order by channel_id
        limit 1
      )
      from channel
      where channel.id is not null
    )
    select m.* from channel
    cross join lateral (${ofChannel(sql, tenant, filters, page, sql`channel.id`, filters.direction!)}) m
    order by m.id desc limit ${page.limit + 1}`
}

interface Bucket {
  bucket: string
  n: number
}

/** Reads the newest seconds that have messages of the status; four times as many if other filters left too few. */
async function byStatus(sql: Db, tenant: Tenant, filters: MessageFilters, page: Page): Promise<MessageRow[]> {
  const wanted = page.limit + 1
  const rows: MessageRow[] = []
  let before: string | undefined
  for (let count = wanted; ; count *= 4) {
    const buckets = await listBuckets(sql, tenant, filters, page, before, count)
    let counted = 0
    // a cursor may cut the first one short
    const chosen = buckets
      .filter((bucket, at) => counted < count && (counted += at === 0 ? 0 : bucket.n) >= 0)
      .map(({ bucket }) => bucket)
    if (chosen.length === 0) return rows
    rows.push(
      ...(await sql<MessageRow[]>`
        select m.* from unnest(${chosen}::text[]) as b(bucket)
        cross join lateral (
          select *
          from messages
          where ${where(sql, tenant, filters, page)}
            and id >= 'msg_' || b.bucket
            and id < 'msg_' || b.bucket || '~'
          order by id desc
          limit ${wanted}
        ) m
        order by m.id desc limit ${wanted - rows.length}`),
    )
    if (rows.length === wanted || (chosen.length === buckets.length && buckets.length < count)) return rows
    before = chosen.at(-1)
  }
}

async function listBuckets(
  sql: Db,
  { account_id, mode }: Tenant,
  filters: MessageFilters,
  page: Page,
  before: string | undefined,
  count: number,
): Promise<Bucket[]> {
  const { from, below } = idBounds(filters, page)
  return await sql<Bucket[]>`
    select bucket, sum(n) as n from message_status_counts
    where account_id = ${account_id} and mode = ${mode} and status = ${filters.status!}
      ${from === undefined ? sql`` : sql`and bucket >= ${from.slice(4, 12)}`}
      ${below === undefined ? sql`` : sql`and bucket <= ${below.slice(4, 12)}`}
      ${before === undefined ? sql`` : sql`and bucket < ${before}`}
    group by bucket having sum(n) > 0 order by bucket desc limit ${count}`
}

/** Checks the newest messages one by one; older ones are found by their time of change. */
async function byChange(sql: Db, tenant: Tenant, filters: MessageFilters, page: Page): Promise<MessageRow[]> {
  const { updated_after, ...others } = filters
  const wanted = page.limit + 1
  return await sql<MessageRow[]>`
    with newest as materialized (
      select id, updated_at
      from messages
      where ${where(sql, tenant, others, page)}
      order by id desc
      limit ${newestFirst}
    ),
    edge as materialized (
      select min(id) as id, count(*) as seen, count(*) filter (where updated_at > ${updated_after!}) as found
      from newest
    ),
    late as materialized (
      select id from messages where ${where(sql, tenant, filters, page)}
          and (select seen = ${newestFirst} and found < ${wanted} from edge)
          and id < (select id from edge)
    )
    select * from messages where account_id = ${tenant.account_id} and mode = ${tenant.mode}
      and id = any(array(
        select id
        from (select id from newest where updated_at > ${updated_after!} union all select id from late) changed
        order by id desc
        limit ${wanted}
      ))
    order by id desc`
}

/**
 * Returns how many deltas were added up; 0 while another process does it. Sums only the rows that it deleted, so
 * concurrent changes are neither lost nor counted twice.
 */
export async function aggregateStatusCounts(sql: Db, rows_max: number): Promise<number> {
  const [row] = await sql<{ deltas: number }[]>`
    with alone as materialized (
      select pg_try_advisory_xact_lock(${advisoryLocks.fold_status_counts}) as locked
    ), delta as (
      delete from message_status_counts
      where ctid = any(
        array(
          select ctid from message_status_counts where not folded and (select locked from alone) limit ${rows_max}
        )
      )
        and not folded
      returning account_id, mode, status, bucket, n
    ), touched as (
      select distinct account_id, mode, status, bucket from delta
    ), base as (
      delete from message_status_counts c using touched t
      where c.folded
        and c.account_id = t.account_id
        and c.mode = t.mode
        and c.status = t.status
        and c.bucket = t.bucket
      returning c.account_id, c.mode, c.status, c.bucket, c.n
    ), folded as (
      insert into message_status_counts (account_id, mode, status, bucket, n, folded)
      select account_id, mode, status, bucket, sum(n), true
      from (select * from delta union all select * from base) every_row
      group by account_id, mode, status, bucket having sum(n) <> 0
    ), by_quarter as (
      insert into message_quarter_counts as c (account_id, mode, quarter, status, n)
      select account_id, mode, q.quarter, status, sum(n)
      from delta
      cross join lateral (${quarterOf(sql)}) q
      group by 1, 2, 3, 4
      on conflict (account_id, mode, quarter, status) do update set n = c.n + excluded.n
    )
    select count(*) as deltas from delta`
  return row!.deltas
}
