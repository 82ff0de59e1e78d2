/** SQL of campaign counters: folded deltas plus transitions that are not folded yet (docs/decisions/transitions.md). */
import type { Tenant } from '../../api/caller.ts'
import type { RecipientStatus, SkipReason } from '../../api/resources/campaign.ts'
import type { Totals } from './campaign.ts'
import { pendingCharges, pendingTransitions } from '../messages/service.ts'
import { type Db, jsonRows } from '../../platform/database/sql.ts'

export const noTotals: Totals = { recipients: [], wallet_micros: 0, package_credits: 0 }

interface CountRow {
  readonly campaign_id: string
  readonly status: RecipientStatus | null
  readonly skip_reason: SkipReason | null
  readonly count: number
  readonly wallet_micros: number
  readonly package_credits: number
}

/** Exact at one moment, however far the projection is behind. */
export async function findTotals(
  sql: Db,
  tenant: Tenant,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Totals>> {
  if (ids.length === 0) return new Map()
  const rows = await sql<CountRow[]>`
    select campaign_id, status, skip_reason, sum(recipients)::int as count,
      sum(wallet_micros)::bigint as wallet_micros, sum(package_credits)::bigint as package_credits
    from (
      select campaign_id, status, skip_reason, recipients, wallet_micros, package_credits
      from campaign_counters
      where account_id = ${tenant.account_id}
        and mode = ${tenant.mode}
        and campaign_id = any (${[...ids]}::text[])
      union all
      select u.origin_id, t.status, null, t.recipients, 0, 0
      from (${pendingTransitions(sql, projectionName, { tenant, origin_ids: ids })}) u
      cross join lateral (
        values (${recipientStatus(sql, 'status')}, u.messages), (${recipientStatus(sql, 'from_status')}, -u.messages))
        t(status, recipients)
      ${tenant.mode === 'test' ? sql`` : sql`union all select origin_id, null, null, 0, wallet_micros, package_credits from (${pendingCharges(sql, projectionName, { tenant, origin_ids: ids })}) b`}
    ) c
    group by campaign_id, status, skip_reason`
  return new Map(ids.map((id) => [id, totalsOf(rows.filter((row) => row.campaign_id === id))]))
}

const recipientStatus = (sql: Db, column: 'status' | 'from_status') =>
  column === 'status'
    ? sql`case when u.status in ('queued', 'sending') then 'pending' else u.status end`
    : sql`case when u.from_status is null or u.from_status in ('queued', 'sending') then 'pending' else u.from_status end`

const totalsOf = (rows: readonly CountRow[]): Totals => ({
  recipients: rows
    .filter((row) => row.status !== null && row.count !== 0)
    .map(({ status, skip_reason, count }) => ({ status: status!, skip_reason, count })),
  wallet_micros: rows.reduce((sum, row) => sum + row.wallet_micros, 0),
  package_credits: rows.reduce((sum, row) => sum + row.package_credits, 0),
})

export async function areCostsCounted(
  sql: Db,
  { account_id, mode, id }: Tenant & { readonly id: string },
): Promise<boolean> {
  const open = await sql`
    select 1
    from (${pendingTransitions(sql, projectionName, { tenant: { account_id, mode }, origin_ids: [id] })}) u
    where u.from_status is null or u.status = 'failed'
    limit 1`
  return open.length === 0
}

/** `status` null: a change of the costs. */
export interface CounterDelta {
  readonly campaign_id: string
  readonly status: RecipientStatus | null
  readonly recipients: number
  readonly wallet_micros: number
  readonly package_credits: number
}

export async function addDeltas(sql: Db, { account_id, mode }: Tenant, deltas: readonly CounterDelta[]): Promise<void> {
  if (deltas.length === 0) return
  await sql`
    insert into campaign_counters (account_id, mode, campaign_id, status, recipients, wallet_micros,
      package_credits)
    select ${account_id}, ${mode}, campaign_id, status, recipients, wallet_micros, package_credits
    from json_to_recordset(${jsonRows(deltas)}::text::json) as t(campaign_id text, status text,
      recipients int, wallet_micros bigint, package_credits bigint)`
}

export async function foldCounters(sql: Db, deltas_max: number): Promise<number> {
  const [row] = await sql<{ folded: number }[]>`
    with locked as materialized (
      select ctid as place from campaign_counters where not folded limit ${deltas_max} for update skip locked
    ),
    deltas as (
      delete from campaign_counters where ctid = any (array(select place from locked)) returning *
    ),
    folded_rows as (
      delete from campaign_counters
      where folded and campaign_id in (select campaign_id from deltas)
      returning *
    ),
    sums as (
      insert into campaign_counters (account_id, mode, campaign_id, status, skip_reason, recipients,
        wallet_micros, package_credits, folded)
      select account_id, mode, campaign_id, status, skip_reason, sum(recipients), sum(wallet_micros),
        sum(package_credits), true
      from (select * from deltas union all select * from folded_rows) c
      group by account_id, mode, campaign_id, status, skip_reason
      having sum(recipients) <> 0 or sum(wallet_micros) <> 0 or sum(package_credits) <> 0
    )
    select count(*)::int as folded from deltas`
  return row!.folded
}

export const projectionName = 'campaigns'
