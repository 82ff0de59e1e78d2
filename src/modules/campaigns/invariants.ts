/** Invariants of campaigns. */
import { entriesOfMessages } from '../billing/service.ts'
import { projectionName } from './counter-repository.ts'
import { deletedBefore, messagesOfOrigin, pendingTransitions } from '../messages/service.ts'
import type { Db, Fragment } from '../../platform/database/sql.ts'
import { breachesMax, invariant, type Invariant } from '../../platform/platform.ts'

const recipientStatus = (sql: Db, status: Fragment) =>
  sql`case when ${status} is null or ${status} in ('queued', 'sending') then 'pending' else ${status} end`

const isFolded = (sql: Db, campaign: Fragment) =>
  sql`not exists (select from (${pendingTransitions(sql, projectionName)}) f where f.origin_id = ${campaign})`

export const campaignInvariants: readonly Invariant[] = [
  invariant<{ id: string }>(
    'the counters of a campaign agree with the statuses of its recipients',
    (sql) => sql`
      select distinct campaign_id || ' (' || status || ')' as id from (
        select r.campaign_id,
          case when m.id is null or r.status = 'cancelled' then r.status else ${recipientStatus(sql, sql`m.status`)} end as status,
            r.skip_reason, 1 as recipients
        from campaign_recipients r
        left join (${messagesOfOrigin(sql, 'campaign')}) m on m.account_id = r.account_id
          and m.mode = r.mode
          and m.id = r.message_id
        union all
        select campaign_id, status, skip_reason, -recipients from campaign_counters where status is not null
        union all
        select u.origin_id, t.status, null, -t.recipients from (${pendingTransitions(sql, projectionName)}) u
        cross join lateral (
          values (${recipientStatus(sql, sql`u.status`)}, u.messages),
            (${recipientStatus(sql, sql`u.from_status`)}, -u.messages)) t(status, recipients)
      ) c group by campaign_id, status, skip_reason having sum(recipients) <> 0 limit ${breachesMax}`,
    ({ id }) => `The counters of campaign ${id} are not the numbers of its recipients.`,
  ),
  invariant<{ id: string }>(
    'a recipient has one message',
    (sql) => sql`
      select submission_key as id
      from (${messagesOfOrigin(sql, 'campaign')}) m
      group by account_id, mode, submission_key
      having count(*) > 1
      union all
      select message_id
      from campaign_recipients
      where message_id is not null
      group by account_id, mode, message_id
      having count(*) > 1
      limit ${breachesMax}`,
    ({ id }) => `${id}: a recipient has several messages, or a message several recipients.`,
  ),
  invariant<{ id: string }>(
    'every message of a campaign belongs to its recipient, and every recipient to its message',
    (sql) => sql`
      select coalesce(m.id, r.message_id) as id from (${messagesOfOrigin(sql, 'campaign')}) m
      full join (select * from campaign_recipients where message_id >= ${deletedBefore(sql)}) r
        on r.account_id = m.account_id
          and r.mode = m.mode
          and r.message_id = m.id
          and m.origin_id = r.campaign_id
          and m.submission_key = r.campaign_id || '/' || r.n
      where m.id is null or (r.message_id is null and m.id >= ${deletedBefore(sql)}) limit ${breachesMax}`,
    ({ id }) => `${id} is of a campaign, and it and its recipient do not know each other.`,
  ),
  invariant<{ id: string }>(
    'a recipient is as far as its message, once that was followed',
    (sql) => sql`
      select r.campaign_id || '/' || r.n as id from campaign_recipients r
      join (${messagesOfOrigin(sql, 'campaign')}) m on m.account_id = r.account_id
        and m.mode = r.mode
        and m.id = r.message_id
      where r.status <> ${recipientStatus(sql, sql`m.status`)}
        and (r.status <> 'cancelled' or m.status <> 'failed')
        and ${isFolded(sql, sql`r.campaign_id`)}
      limit ${breachesMax}`,
    ({ id }) => `The recipient ${id} has another status than its message.`,
  ),
  invariant<{ id: string }>(
    'the costs of a campaign agree with the ledger, once all transitions are folded',
    (sql) => sql`
      select campaign_id as id from (
        select campaign_id, wallet_micros, package_credits from campaign_counters
        union all
        select m.origin_id, case when e.unit = 'usd_micros' then v.amount else 0 end,
          case when e.unit = 'usd_micros' then 0 else v.amount end
        from (${messagesOfOrigin(sql, 'campaign')}) m
        join (${entriesOfMessages(sql)}) e on e.account_id = m.account_id and e.message_id = m.id
        cross join lateral (
          select case e.type when 'message_charge' then -e.amount else e.amount end as amount) v
      ) c where ${isFolded(sql, sql`c.campaign_id`)}
        and not exists (
          select
          from campaign_recipients r
          where r.campaign_id = c.campaign_id and r.message_id < ${deletedBefore(sql)})
      group by campaign_id having sum(wallet_micros) <> 0 or sum(package_credits) <> 0 limit ${breachesMax}`,
    ({ id }) => `The cost of campaign ${id} is not what the ledger says of its messages.`,
  ),
  invariant<{ id: string }>(
    'every campaign on its way has its job',
    (sql) => sql`
      select c.id
      from campaigns c
      left join campaign_jobs j on j.account_id = c.account_id and j.mode = c.mode and j.campaign_id = c.id
      where c.status in ('scheduled', 'queued', 'sending')
        and j.kind is distinct from case when c.snapshot_at is null then 'snapshot' else 'send' end
      limit ${breachesMax}`,
    ({ id }) => `The campaign ${id} is on its way, and no job takes it further.`,
  ),
  invariant<{ id: string }>(
    'a campaign that has ended has no pending recipients',
    (sql) => sql`
      select c.id || '/' || r.n as id from campaigns c
      join campaign_recipients r on r.account_id = c.account_id
        and r.mode = c.mode
        and r.campaign_id = c.id
        and r.status = 'pending'
      where c.status = 'completed'
        or (c.status in ('cancelled', 'failed') and r.message_id is null
          and not exists (
            select
            from campaign_jobs j
            where j.account_id = c.account_id and j.mode = c.mode and j.campaign_id = c.id))
      limit ${breachesMax}`,
    ({ id }) => `The recipient ${id} waits, and its campaign has ended.`,
  ),
  invariant<{ id: string }>(
    'the recipients of a campaign are numbered without a gap',
    (sql) => sql`
      select c.id from campaigns c
      left join (
        select account_id, mode, campaign_id, count(*) as recipients, max(n) as last
        from campaign_recipients
        group by 1, 2, 3) r
        on r.account_id = c.account_id and r.mode = c.mode and r.campaign_id = c.id
      where coalesce(r.recipients, 0) <> coalesce(r.last, 0)
        or (c.snapshot_at is not null and coalesce(r.recipients, 0) <> c.snapshot_rows)
      limit ${breachesMax}`,
    ({ id }) =>
      `The recipients of campaign ${id} are not numbered consecutively, or their number differs from the snapshot.`,
  ),
]
