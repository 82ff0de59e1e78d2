/** SQL of wallets, grants, the ledger and prices. Live mode only. */
import { jsonRows, type Db } from '../../platform/database/sql.ts'
import type { Page } from '../../platform/http/paging.ts'
import type { WalletRow } from './balance.ts'
import { usableAt } from './charge-repository.ts'
import type { LedgerEntry } from './ledger.ts'
import type { GrantRow } from './package.ts'

const walletColumns = (sql: Db) => sql`account_id, balance_micros, low_balance_micros, low_balance_at, last_entry_at`

const grantColumns = (sql: Db) =>
  sql`g.account_id, g.id, g.name, g.channel_types, g.credits_total, g.credits_remaining, g.expires_at, g.exhausted_at, g.expired_at, g.created_at`

const entryColumns = (sql: Db) => sql`
  account_id, id, type, unit, debit, credit, amount, package_grant_id, message_id, top_up_id,
  payment_reference, note, balance_after_micros, created_at`

/** Every transaction locks in this order: idempotency keys, wallets, grants, messages; each sorted by ID. */
export async function lockWallets(sql: Db, account_ids: readonly string[]): Promise<WalletRow[]> {
  return await sql<WalletRow[]>`
    select ${walletColumns(sql)}
    from wallets
    where account_id = any(${account_ids as string[]}::text[])
    order by account_id
    for update`
}

/** Lock the wallets first. */
export async function lockUsableGrants(sql: Db, account_ids: readonly string[], at: string): Promise<GrantRow[]> {
  return await sql<GrantRow[]>`
    select ${grantColumns(sql)}
    from grants g
    where account_id = any(${account_ids as string[]}::text[])
      and ${usableAt(sql, at)}
    order by account_id, id
    for update`
}

/** Lock the wallets first. */
export async function lockGrants(sql: Db, grants: readonly { account_id: string; id: string }[]): Promise<GrantRow[]> {
  if (grants.length === 0) return []
  return await sql<GrantRow[]>`
    select ${grantColumns(sql)}
    from grants g
    join json_to_recordset(${jsonRows(grants)}::text::json) as wanted(account_id text, id text)
      on g.account_id = wanted.account_id and g.id = wanted.id
    order by g.account_id, g.id
    for update of g`
}

/** In order. The caller has locked the wallets. A grant is exhausted when a charge used its last credit. */
export async function postEntries(sql: Db, entries: readonly LedgerEntry[]): Promise<void> {
  if (entries.length === 0) return
  await sql`
    with entry as (
      insert into ledger_entries
        (account_id, id, sequence, type, unit, debit, credit, amount, package_grant_id, message_id, top_up_id,
        payment_reference, note, balance_after_micros, created_at)
      select account_id, t.id, w.last_sequence + row_number() over (partition by account_id order by n),
             type, unit, debit, credit, amount, package_grant_id, message_id, top_up_id, payment_reference,
             note, balance_after_micros, t.created_at
      from json_to_recordset(${jsonRows(entries.map((entry, n) => ({ ...entry, n })))}::text::json)
        as t(n int, account_id text, id text, type text, unit text, debit text, credit text, amount bigint,
        package_grant_id text, message_id text, top_up_id text, payment_reference text, note text,
        balance_after_micros bigint, created_at timestamptz)
      join wallets w using (account_id)
      returning *
    ), money as (
      update wallets w set
        balance_micros = w.balance_micros + sums.micros,
        last_sequence = sums.last_sequence,
        last_entry_at = greatest(w.last_entry_at, sums.at)
      from (
        select account_id, max(sequence) as last_sequence, max(created_at) as at,
               sum(case when unit = 'credits' then 0 when credit = 'wallet' then amount else -amount end)::bigint as micros
        from entry group by account_id
      ) as sums
      where w.account_id = sums.account_id
    )
    update grants g set
      credits_remaining = g.credits_remaining + sums.credits,
      exhausted_at = case when sums.spent and g.credits_remaining + sums.credits = 0 then sums.at else g.exhausted_at end
    from (
      select account_id, package_grant_id, bool_or(type = 'message_charge') as spent, max(created_at) as at,
             sum(case when credit = 'grant:' || package_grant_id then amount else -amount end)::bigint as credits
      from entry where unit = 'credits' group by account_id, package_grant_id
    ) as sums
    where g.account_id = sums.account_id and g.id = sums.package_grant_id`
}

export interface ChargeRow {
  readonly account_id: string
  readonly message_id: string
  readonly unit: LedgerEntry['unit']
  readonly amount: number
  readonly package_grant_id: string | null
}

export async function listUnrefundedCharges(
  sql: Db,
  account_ids: readonly string[],
  message_ids: readonly string[],
): Promise<ChargeRow[]> {
  return await sql<ChargeRow[]>`
    select charge.account_id, charge.message_id, charge.unit, charge.amount, charge.package_grant_id
    from ledger_entries charge
    where charge.message_id = any(${message_ids as string[]}::text[]) and charge.type = 'message_charge'
      and charge.account_id = any(${account_ids as string[]}::text[])
      and not exists (
        select from ledger_entries refund
        where refund.message_id = charge.message_id and refund.type = 'message_refund'
      )`
}

export async function listShownGrants(
  sql: Db,
  account_ids: readonly string[],
  ended_after: string,
): Promise<GrantRow[]> {
  return await sql<GrantRow[]>`
    select ${grantColumns(sql)}
    from grants g
    where account_id = any(${account_ids as string[]}::text[])
      and (expires_at is null or expires_at > ${ended_after})
      and (credits_remaining > 0 or exhausted_at is null or exhausted_at > ${ended_after})`
}

export async function findWallet(sql: Db, account_id: string): Promise<WalletRow | null> {
  const [row] = await sql<WalletRow[]>`
    select ${walletColumns(sql)}
    from wallets
    where account_id = ${account_id}`
  return row ?? null
}

export async function markLow(sql: Db, account_ids: readonly string[], at: string): Promise<void> {
  await sql`
    update wallets
    set low_balance_at = ${at}
    where account_id = any(${account_ids as string[]}::text[])`
}

export async function updateLowBalance(sql: Db, account_id: string, low_balance_micros: number): Promise<boolean> {
  const { count } = await sql`
    update wallets set low_balance_micros = ${low_balance_micros}
    where account_id = ${account_id}`
  return count > 0
}

/** Without credits: its package_grant entry adds them. */
export async function insertGrant(
  sql: Db,
  grant: Omit<GrantRow, 'credits_remaining' | 'exhausted_at' | 'expired_at'>,
): Promise<void> {
  await sql`
    insert into grants (account_id, id, name, channel_types, credits_total, credits_remaining, expires_at,
      created_at)
    values (${grant.account_id}, ${grant.id}, ${grant.name}, ${grant.channel_types as string[]}::text[],
      ${grant.credits_total}, 0, ${grant.expires_at}, ${grant.created_at})`
}

/** The most overdue first. */
export async function listExpired(
  sql: Db,
  at: string,
  rows_max: number,
): Promise<{ account_id: string; id: string }[]> {
  return await sql<{ account_id: string; id: string }[]>`
    select account_id, id
    from grants
    where expired_at is null and expires_at <= ${at}
    order by expires_at
    limit ${rows_max}`
}

export async function markExpired(
  sql: Db,
  grants: readonly { account_id: string; id: string }[],
  at: string,
): Promise<void> {
  await sql`
    update grants g set expired_at = ${at}
    from json_to_recordset(${jsonRows(grants)}::text::json) as done(account_id text, id text)
    where g.account_id = done.account_id and g.id = done.id`
}

export async function listExpiring(
  sql: Db,
  at: string,
  until: string,
  rows_max: number,
): Promise<{ account_id: string; id: string }[]> {
  return await sql<{ account_id: string; id: string }[]>`
    select account_id, id
    from grants
    where expired_at is null
      and expires_at > ${at} and expires_at <= ${until}
      and credits_remaining > 0
      and expiring_notified_at is null
    order by expires_at
    limit ${rows_max}`
}

/** Returns those that still have credits and were not announced before. */
export async function markExpiring(
  sql: Db,
  grants: readonly { account_id: string; id: string }[],
  at: string,
): Promise<{ account_id: string; id: string }[]> {
  return await sql<{ account_id: string; id: string }[]>`
    update grants g set expiring_notified_at = ${at}
    from json_to_recordset(${jsonRows(grants)}::text::json) as due(account_id text, id text)
    where g.account_id = due.account_id
      and g.id = due.id
      and g.expiring_notified_at is null
      and g.credits_remaining > 0
    returning g.account_id, g.id`
}

export interface PriceRow {
  /** '': every account without its own. */
  readonly account_id: string
  readonly channel_type: string
  readonly amount_micros: number
  readonly updated_at: string
}

/** Without an account, the prices of all. */
export async function listPrices(sql: Db, account_id?: string): Promise<PriceRow[]> {
  return await sql<PriceRow[]>`
    select account_id, channel_type, amount_micros, updated_at from prices
    where ${account_id ?? null}::text is null or account_id in ('', ${account_id ?? ''})
    order by account_id, channel_type`
}

export async function upsertPrice(sql: Db, price: PriceRow): Promise<PriceRow> {
  const [row] = await sql<PriceRow[]>`
    insert into prices (account_id, channel_type, amount_micros, updated_at)
    values (${price.account_id}, ${price.channel_type}, ${price.amount_micros}, ${price.updated_at})
    on conflict (account_id, channel_type) do update
      set amount_micros = excluded.amount_micros, updated_at = excluded.updated_at
    returning account_id, channel_type, amount_micros, updated_at`
  return row!
}

export interface EntryFilters {
  readonly type: string | null
  readonly message_id: string | null
  readonly package_grant_id: string | null
  /** Exclusive. */
  readonly created_after: string | null
  readonly created_before: string | null
}

export async function listEntries(
  sql: Db,
  account_id: string,
  filters: EntryFilters,
  page: Page,
): Promise<LedgerEntry[]> {
  const { type, message_id, package_grant_id, created_after, created_before } = filters
  return await sql<LedgerEntry[]>`
    select ${entryColumns(sql)}
    from ledger_entries
    where account_id = ${account_id}
      ${
        page.starting_after === undefined
          ? sql``
          : sql`and sequence < (select sequence from ledger_entries where account_id = ${account_id} and id = ${page.starting_after})`
      }
      ${type === null ? sql`` : type === 'message_charge' ? sql`and type = ${type}` : sql`and type = ${type} and type <> 'message_charge'`}
      ${message_id === null ? sql`` : sql`and message_id = ${message_id}`}
      ${package_grant_id === null ? sql`` : sql`and package_grant_id = ${package_grant_id}`}
      ${created_after === null ? sql`` : sql`and created_at > ${created_after}`}
      ${created_before === null ? sql`` : sql`and created_at < ${created_before}`}
    order by sequence desc
    limit ${page.limit + 1}`
}

export async function findEntry(sql: Db, account_id: string, id: string): Promise<LedgerEntry | null> {
  const [row] = await sql<LedgerEntry[]>`
    select ${entryColumns(sql)}
    from ledger_entries
    where account_id = ${account_id} and id = ${id}`
  return row ?? null
}

export async function entryExists(sql: Db, account_id: string, id: string): Promise<boolean> {
  const [row] = await sql`select 1 from ledger_entries where account_id = ${account_id} and id = ${id}`
  return row !== undefined
}

/** For invariants of other modules. */
export const entriesOfMessages = (sql: Db) => sql`
  select id, account_id, message_id, type, unit, amount, package_grant_id
  from ledger_entries
  where message_id is not null`
