/** SQL of campaigns, ad-hoc recipients, and segment rules of snapshots. */
import type { Tenant } from '../../api/caller.ts'
import type { CampaignStatus } from '../../api/resources/campaign.ts'
import type { AdhocRecipients, CampaignRow } from './campaign.ts'
import type { Db, Transaction } from '../../platform/database/sql.ts'
import type { Page } from '../../platform/http/paging.ts'

const columns = (
  sql: Db,
) => sql`account_id, mode, id, name, channel_id, channel_type, status, pause_reason, failure_reason, audience, message, merge_fallbacks,
  require_opt_in, consent_declared, allow_insufficient_funds, send_at, timezone, window_start, window_end, recipient_timezone, throttle_per_second, estimated_credits,
  estimated_wallet_micros, snapshot_began_at, snapshot_after, snapshot_rows, snapshot_at, created_at, updated_at, launched_at, started_at, paused_at, completed_at, cancelled_at`

const json = (value: unknown): string | null => (value === null ? null : JSON.stringify(value))

export async function insertCampaign(sql: Db, row: CampaignRow, adhoc: AdhocRecipients | null): Promise<void> {
  await sql`
    insert into campaigns (account_id, mode, id, name, channel_id, channel_type, status, audience,
      adhoc_recipients, message, merge_fallbacks, require_opt_in, consent_declared, allow_insufficient_funds,
      send_at, timezone, window_start, window_end, recipient_timezone, throttle_per_second, estimated_credits,
      estimated_wallet_micros, created_at, updated_at)
    values (${row.account_id}, ${row.mode}, ${row.id}, ${row.name}, ${row.channel_id}, ${row.channel_type},
      ${row.status}, ${json(row.audience)}::text::json, ${json(adhoc)}::text::json,
      ${json(row.message)}::text::json, ${json(row.merge_fallbacks)}::text::json, ${row.require_opt_in},
      ${row.consent_declared}, ${row.allow_insufficient_funds}, ${row.send_at}, ${row.timezone},
      ${row.window_start}, ${row.window_end}, ${row.recipient_timezone}, ${row.throttle_per_second},
      ${row.estimated_credits}, ${row.estimated_wallet_micros}, ${row.created_at}, ${row.updated_at})`
}

export async function findTenant(sql: Db, id: string): Promise<Tenant | null> {
  const [tenant] = await sql<Tenant[]>`select account_id, mode from campaigns where id = ${id}`
  return tenant ?? null
}

export async function updateDraft(sql: Db, row: CampaignRow, adhoc: AdhocRecipients | null): Promise<void> {
  await sql`
    update campaigns
    set name = ${row.name}, channel_id = ${row.channel_id}, channel_type = ${row.channel_type},
      audience = ${json(row.audience)}::text::json, message = ${json(row.message)}::text::json,
      merge_fallbacks = ${json(row.merge_fallbacks)}::text::json, require_opt_in = ${row.require_opt_in},
      consent_declared = ${row.consent_declared}, send_at = ${row.send_at}, timezone = ${row.timezone},
      window_start = ${row.window_start}, window_end = ${row.window_end},
      recipient_timezone = ${row.recipient_timezone}, throttle_per_second = ${row.throttle_per_second},
      estimated_credits = ${row.estimated_credits}, estimated_wallet_micros = ${row.estimated_wallet_micros},
      updated_at = ${row.updated_at}, adhoc_recipients = ${json(adhoc)}::text::json
    where account_id = ${row.account_id} and mode = ${row.mode} and id = ${row.id}`
}

export async function updateState(sql: Db, row: CampaignRow): Promise<void> {
  await sql`
    update campaigns
    set status = ${row.status}, pause_reason = ${row.pause_reason}, failure_reason = ${row.failure_reason},
      consent_declared = ${row.consent_declared}, allow_insufficient_funds = ${row.allow_insufficient_funds},
      estimated_credits = ${row.estimated_credits}, estimated_wallet_micros = ${row.estimated_wallet_micros},
      snapshot_began_at = ${row.snapshot_began_at}, snapshot_after = ${row.snapshot_after},
      snapshot_rows = ${row.snapshot_rows}, snapshot_at = ${row.snapshot_at}, updated_at = ${row.updated_at},
      launched_at = ${row.launched_at}, started_at = ${row.started_at}, paused_at = ${row.paused_at},
      completed_at = ${row.completed_at}, cancelled_at = ${row.cancelled_at}
    where account_id = ${row.account_id} and mode = ${row.mode} and id = ${row.id}`
}

/** Its ID remains valid as a cursor. */
export async function deleteCampaign(
  sql: Transaction,
  { account_id, mode }: Tenant,
  id: string,
  at: string,
): Promise<void> {
  await sql`delete from campaigns where account_id = ${account_id} and mode = ${mode} and id = ${id}`
  await sql`
    insert into campaign_tombstones (account_id, mode, id, deleted_at)
    values (${account_id}, ${mode}, ${id}, ${at})`
}

export async function campaignExisted(sql: Db, { account_id, mode }: Tenant, id: string): Promise<boolean> {
  const found = await sql`
    select 1 from campaigns where account_id = ${account_id} and mode = ${mode} and id = ${id}
    union all select 1
    from campaign_tombstones
    where account_id = ${account_id} and mode = ${mode} and id = ${id}`
  return found.length > 0
}

export async function findCampaign(sql: Db, { account_id, mode }: Tenant, id: string): Promise<CampaignRow | null> {
  const [row] = await sql<
    CampaignRow[]
  >`select ${columns(sql)} from campaigns where account_id = ${account_id} and mode = ${mode} and id = ${id}`
  return row ?? null
}

export async function findCampaigns(
  sql: Db,
  wanted: readonly (Tenant & { readonly campaign_id: string })[],
): Promise<CampaignRow[]> {
  if (wanted.length === 0) return []
  const [accounts, modes, ids] = [
    wanted.map(({ account_id }) => account_id),
    wanted.map(({ mode }) => mode),
    wanted.map(({ campaign_id }) => campaign_id),
  ]
  return await sql<CampaignRow[]>`
    select ${columns(sql)} from campaigns
    where (account_id, mode, id) in (
      select * from unnest(${accounts}::text[], ${modes}::text[], ${ids}::text[]))`
}

/**
 * Call it before the transaction writes. The advisory lock gives waiting transactions the row in the order of their
 * IDs, by which the event feed is ordered.
 */
export async function lockCampaign(
  sql: Transaction,
  { account_id, mode }: Tenant,
  id: string,
): Promise<CampaignRow | null> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`campaign ${id}`}, 0))`
  const [row] = await sql<CampaignRow[]>`
    select ${columns(sql)}
    from campaigns
    where account_id = ${account_id} and mode = ${mode} and id = ${id}
    for update`
  return row ?? null
}

export async function findAdhocRecipients(
  sql: Db,
  { account_id, mode }: Tenant,
  id: string,
): Promise<AdhocRecipients | null> {
  const [row] = await sql<{ adhoc_recipients: AdhocRecipients | null }[]>`
    select adhoc_recipients from campaigns where account_id = ${account_id} and mode = ${mode} and id = ${id}`
  return row?.adhoc_recipients ?? null
}

/** null deletes them. */
export async function storeSegmentRules(
  sql: Db,
  { account_id, mode }: Tenant,
  id: string,
  rules: string | null,
): Promise<void> {
  await sql`
    update campaigns
    set snapshot_rules = ${rules}::text::json
    where account_id = ${account_id} and mode = ${mode} and id = ${id}`
}

/** As JSON; null once the snapshot is complete. */
export async function findSegmentRules(sql: Db, { account_id, mode }: Tenant, id: string): Promise<string | null> {
  const [row] = await sql<{ rules: string | null }[]>`
    select snapshot_rules::text as rules
    from campaigns
    where account_id = ${account_id} and mode = ${mode} and id = ${id}`
  return row?.rules ?? null
}

export async function listCampaigns(
  sql: Db,
  { account_id, mode }: Tenant,
  status: CampaignStatus | undefined,
  page: Page,
): Promise<CampaignRow[]> {
  return await sql<CampaignRow[]>`
    select ${columns(sql)} from campaigns where account_id = ${account_id} and mode = ${mode}
      ${status === undefined ? sql`` : sql`and status = ${status}`} ${page.starting_after === undefined ? sql`` : sql`and id < ${page.starting_after}`}
    order by id desc limit ${page.limit + 1}`
}

/** Launched and not ended, of any mode; locked in ID order. */
export async function lockActive(
  sql: Transaction,
  account_id: string,
  channel: { readonly mode: string; readonly channel_id: string } | null,
): Promise<CampaignRow[]> {
  return await sql<CampaignRow[]>`
    select ${columns(sql)} from campaigns
    where account_id = ${account_id}
      ${channel === null ? sql`and mode in ('live', 'test')` : sql`and mode = ${channel.mode} and channel_id = ${channel.channel_id}`}
      and status in ('scheduled', 'queued', 'sending', 'paused')
    order by id for update`
}

export async function lockMessagingLimit(tx: Transaction, channel_id: string): Promise<void> {
  await tx`select pg_advisory_xact_lock(hashtextextended(${`messaging limit ${channel_id}`}, 0))`
}
