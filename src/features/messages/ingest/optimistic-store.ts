/** The one optimistic statement of the accepting door: keys, suppression, window, debit, messages, jobs, ledger, usage. What it does not cover takes the locking path. */
import { textColumn, type Db } from '../../../platform/database/sql.ts'
import { acceptedTransitions } from '../transitions/follower-store.ts'
import type { Followers } from '../transitions/followers.ts'

/** One message of a batch, as the statements of the door take it. */
export interface AcceptRow {
  n: number
  id: string
  txn: string
  account_id: string
  mode: string
  channel_id: string
  channel_type: string
  to: string
  from: string
  type: string
  content: unknown
  reference: string | null
  metadata: unknown
  price: number
  origin_type: string
  origin_id: string | null
  reply_to: string | null
  segments: number | null
  encoding: string | null
  priority: string
  rank: number
  send_at: string | null
  expires_at: string | null
  queue: string
  due_at: string
  process_id: string | null
  kind: string
  address: string
  suppression: string
  windowed: boolean
  ignores_suppression: boolean
  operation: string | null
  key: string | null
  fingerprint: string | null
}

export interface AcceptVerdict {
  n: number
  /** `known`: the key was used; `uncovered`: for the locking path. */
  verdict: 'accepted' | 'known' | 'recipient_blocked' | 'policy_violation' | 'uncovered'
  contact_id: string | null
  package_grant_id: string | null
}

/** Accept rows as a sub-select, to be read as the table `i`; column by column, which costs the database a third of what JSON does. */
export const inputOf = (sql: Db, rows: readonly AcceptRow[]) => {
  const column = (of: (row: AcceptRow) => string | number | boolean | null) => textColumn(rows.map(of))
  // what a caller wrote freely may hold anything
  const texts = (of: (row: AcceptRow) => string | null) => rows.map(of)
  return sql`
    select n::int, id, txn, account_id, mode, channel_id, channel_type, "to", "from", type, content::json, reference, metadata::json, price::bigint, origin_type, origin_id, reply_to,
      segments::smallint, encoding, priority, rank::smallint,
      send_at::timestamptz, expires_at::timestamptz, queue, due_at::timestamptz, process_id, kind, address, suppression,
      windowed::boolean, ignores_suppression::boolean, operation, key, fingerprint
    from (
      select unnest(text_column(${column((row) => row.n)})) as n, unnest(text_column(${column((row) => row.id)})) as id, unnest(text_column(${column((row) => row.txn)})) as txn,
        unnest(text_column(${column((row) => row.account_id)})) as account_id, unnest(text_column(${column((row) => row.mode)})) as mode,
        unnest(text_column(${column((row) => row.channel_id)})) as channel_id, unnest(text_column(${column((row) => row.channel_type)})) as channel_type,
        unnest(${texts((row) => row.to)}::text[]) as "to", unnest(${texts((row) => row.from)}::text[]) as "from", unnest(text_column(${column((row) => row.type)})) as type,
        unnest(text_column(${column((row) => JSON.stringify(row.content))})) as content, unnest(${texts((row) => row.reference)}::text[]) as reference,
        unnest(text_column(${column((row) => JSON.stringify(row.metadata))})) as metadata, unnest(text_column(${column((row) => row.price)})) as price,
        unnest(text_column(${column((row) => row.origin_type)})) as origin_type, unnest(text_column(${column((row) => row.origin_id)})) as origin_id,
        unnest(text_column(${column((row) => row.reply_to)})) as reply_to, unnest(text_column(${column((row) => row.segments)})) as segments,
        unnest(text_column(${column((row) => row.encoding)})) as encoding, unnest(text_column(${column((row) => row.priority)})) as priority,
        unnest(text_column(${column((row) => row.rank)})) as rank, unnest(text_column(${column((row) => row.queue)})) as queue,
        unnest(text_column(${column((row) => row.send_at)})) as send_at, unnest(text_column(${column((row) => row.expires_at)})) as expires_at,
        unnest(text_column(${column((row) => row.due_at)})) as due_at, unnest(text_column(${column((row) => row.process_id)})) as process_id,
        unnest(text_column(${column((row) => row.kind)})) as kind, unnest(${texts((row) => row.address)}::text[]) as address,
        unnest(text_column(${column((row) => row.suppression)})) as suppression, unnest(text_column(${column((row) => row.windowed)})) as windowed,
        unnest(text_column(${column((row) => row.ignores_suppression)})) as ignores_suppression, unnest(text_column(${column((row) => row.operation)})) as operation,
        unnest(${texts((row) => row.key)}::text[]) as key, unnest(text_column(${column((row) => row.fingerprint)})) as fingerprint
    ) t`
}

/** What a batch without windows, keys or followers has no need to ask. */
const questions = (sql: Db, followers: Followers, rows: readonly AcceptRow[], at: string, key_cutoff: string) => {
  const [windows, keys] = [rows.some((row) => row.windowed), rows.some((row) => row.key !== null)]
  return {
    followed: followers.follow(rows)
      ? sql`,
    transition as (${acceptedTransitions(sql, followers, sql`select account_id, mode, id, origin_type, origin_id from decided where accepted`, at)})`
      : sql``,
    known: keys ? sql`when k.key is not null then 'known'` : sql``,
    closed: windows ? sql`when i.windowed and w.address is null then 'policy_violation'` : sql``,
    windows: windows
      ? sql`left join lateral (
        select address from service_windows where i.windowed and account_id = i.account_id and mode = i.mode and address = i.address and channel_id = i.channel_id and expires_at >= ${at} limit 1
      ) w on true`
      : sql``,
    keys: keys
      ? sql`left join lateral (
        select key from idempotency_keys where i.key is not null and account_id = i.account_id and mode = i.mode and operation = i.operation and key = i.key and created_at > ${key_cutoff} limit 1
      ) k on true`
      : sql``,
    keyed: keys
      ? sql`,
    keyed as (
      insert into idempotency_keys (account_id, mode, operation, key, fingerprint, status, message_id, created_at)
      select account_id, mode, operation, key, fingerprint, 202, id, ${at} from decided where accepted and key is not null
      on conflict on constraint idempotency_keys_pkey do update
        set fingerprint = excluded.fingerprint, status = excluded.status, message_id = excluded.message_id, response = null, encrypted_response = null, lease_until = null, created_at = excluded.created_at
        where idempotency_keys.created_at <= ${key_cutoff}
      returning 1
    )`
      : sql``,
    agreed: keys ? sql`where agree((select count(*) from keyed) = (select count(*) from decided where accepted and key is not null))` : sql``,
  }
}

/**
 * Accepts what it can of a batch, in one statement and so in one transaction. Look-ups are lateral, so that no plan made while
 * a table was small ever reads the whole of it. `at` is the moment of the batch, `key_cutoff` the age at which keys are
 * forgotten, `low_cutoff` that of the last balance.low.
 */
export async function acceptBatch(
  sql: Db,
  followers: Followers,
  rows: readonly AcceptRow[],
  at: string,
  key_cutoff: string,
  low_cutoff: string,
): Promise<AcceptVerdict[]> {
  const asked = questions(sql, followers, rows, at, key_cutoff)
  return await sql<AcceptVerdict[]>`
    with checked as materialized (
      select i.*, a.contact_id as linked,
        case
          ${asked.known}
          when not i.ignores_suppression and (s.address_hash is not null or a.blocked) then 'recipient_blocked'
          ${asked.closed}
        end as verdict
      from (${inputOf(sql, rows)}) i
      left join lateral (
        select contact_id, blocked from contact_addresses where account_id = i.account_id and mode = i.mode and kind = i.kind and address = i.address limit 1
      ) a on true
      left join lateral (
        select address_hash from suppressions where account_id = i.account_id and mode = i.mode and channel_type = i.channel_type and address_hash = i.suppression limit 1
      ) s on true
      ${asked.windows}
      ${asked.keys}
    ),
    source as materialized (
      select p.*, g.id as grant_id
      from (
        select account_id, channel_type, sum(price)::bigint as total, count(*) as messages, min(txn collate "C") as first_entry, max(txn collate "C") as last_entry
        from checked where verdict is null and price > 0 group by account_id, channel_type
      ) p
      left join lateral (
        select id from grants
        where account_id = p.account_id and credits_remaining > 0 and expired_at is null and (expires_at is null or expires_at > ${at})
          and (channel_types = '{}' or p.channel_type = any (channel_types))
        order by expires_at nulls last, id limit 1
      ) g on true
    ),
    debit as (
      update wallets w set balance_micros = w.balance_micros - need.total, last_entry_id = need.last_entry
      from (
        select account_id, coalesce(sum(total) filter (where grant_id is null), 0)::bigint as total, min(first_entry) as first_entry, max(last_entry) as last_entry
        from source group by account_id
      ) need
      where w.account_id = need.account_id and w.last_entry_id < need.first_entry
        and (need.total = 0 or w.balance_micros >= need.total and (w.balance_micros - need.total >= w.low_balance_micros or w.low_balance_at > ${low_cutoff}))
      returning w.account_id, w.balance_micros + need.total as balance_before
    ),
    credit as (
      update grants g set credits_remaining = g.credits_remaining - need.credits
      from (
        select account_id, grant_id, sum(messages)::bigint as credits from source s
        where grant_id is not null and exists (select from debit d where d.account_id = s.account_id) group by account_id, grant_id
      ) need
      where g.account_id = need.account_id and g.id = need.grant_id and g.credits_remaining > need.credits and g.expired_at is null
      returning g.account_id, g.id as grant_id
    ),
    fund as materialized (
      select s.account_id, s.channel_type, s.grant_id, d.account_id is not null and (s.grant_id is null or g.grant_id is not null) as covered, d.balance_before
      from source s
      left join debit d on d.account_id = s.account_id
      left join credit g on g.account_id = s.account_id and g.grant_id = s.grant_id
    ),
    decided as materialized (
      select c.*, f.grant_id, f.balance_before, c.verdict is null and (c.price = 0 or coalesce(f.covered, false)) as accepted
      from checked c left join fund f on c.price > 0 and f.account_id = c.account_id and f.channel_type = c.channel_type
    ),
    message as (
      insert into messages (account_id, mode, id, channel_id, channel_type, direction, "to", "from", type, content, status, reference, metadata, billing_source, amount_micros,
        package_grant_id, contact_id, origin_type, origin_id, reply_to, segments, encoding, priority, send_at, expires_at, created_at, updated_at)
      select account_id, mode, id, channel_id, channel_type, 'outbound', "to", "from", type, content, 'queued', reference, metadata, case when grant_id is null then 'wallet' else 'package' end,
        case when grant_id is null then price else 0 end, grant_id, linked, origin_type, origin_id, reply_to, segments, encoding, priority, send_at, expires_at, ${at}, ${at}
      from decided where accepted
    ),
    job as (
      insert into dispatch_jobs (account_id, mode, message_id, channel_id, queue, priority, due_at, process_id)
      select account_id, mode, id, channel_id, queue, rank, due_at, process_id from decided where accepted
    ),
    entry as (
      insert into ledger_entries (account_id, id, type, unit, debit, credit, amount, package_grant_id, message_id, balance_after_micros, created_at)
      select account_id, txn, 'message_charge', case when grant_id is null then 'usd_micros' else 'credits' end, coalesce('grant:' || grant_id, 'wallet'), 'usage',
        case when grant_id is null then price else 1 end, grant_id, id,
        balance_before - sum(case when grant_id is null then price else 0 end) over (partition by account_id order by n), ${at}
      from decided where accepted and price > 0
    ),
    usage as (
      insert into usage_rows (account_id, mode, day, channel_type, channel_id, messages, package_credits, wallet_micros)
      select account_id, mode, ${at.slice(0, 10)}::date, channel_type, channel_id, count(*), count(grant_id), coalesce(sum(price) filter (where grant_id is null), 0)
      from decided where accepted group by account_id, mode, channel_type, channel_id
    )${asked.followed}${asked.keyed}
    select n, linked as contact_id, case when accepted then grant_id end as package_grant_id,
      case when verdict is not null then verdict when accepted then 'accepted' else 'uncovered' end as verdict
    from decided ${asked.agreed}`
}
