/** Invariants of messages for `posthorn doctor`. */
import { breachesMax, invariant, type Invariant } from '../../platform/platform.ts'
import { repeatedEvents } from '../../platform/events/outbox.ts'
import { entriesOfMessages } from '../billing/service.ts'
import { filesOfMessages } from '../media/service.ts'
import { deletedBefore } from './repository.ts'
import { rankOf } from './message.ts'

const outboundStatuses = Object.keys(rankOf)

const filesHaveMessages = invariant<{ id: string }>(
  'every file that came in belongs to its message',
  (sql) => sql`
    select f.id
    from (${filesOfMessages(sql)}) f
    left join messages m on m.account_id = f.account_id
      and m.mode = f.mode
      and m.id = f.message_id
    where (m.id is null and f.message_id >= ${deletedBefore(sql)})
      or m.direction <> 'inbound'
      or m.type <> 'attachments'
    limit ${breachesMax}`,
  ({ id }) => `${id} came in with a message that does not exist, or has no files.`,
)

const countInvariants: Invariant[] = [
  invariant<{ id: string }>(
    'each second counts its messages by status',
    (sql) => sql`
      select status || ' ' || bucket as id from (
        select account_id, mode, status, substr(id, 5, 8) as bucket, 1 as n from messages
        union all
        select account_id, mode, 'failed_after_sent', substr(id, 5, 8), 1
        from messages
        where status = 'failed'
          and sent_at is not null
        union all
        select account_id, mode, status, bucket, -n from message_status_counts
      ) c
      where bucket > substr(${deletedBefore(sql)}, 5, 8)
      group by account_id, mode, status, bucket
      having sum(n) <> 0
      limit ${breachesMax}`,
    ({ id }) => `The messages of status and second ${id} are not as many as counted.`,
  ),
  invariant<{ id: string }>(
    'counts per quarter of an hour match the aggregated counts',
    (sql) => sql`
      select account_id || ' ' || status as id from (
        select account_id, mode, status, n from message_status_counts where folded
        union all
        select account_id, mode, status, -n from message_quarter_counts
      ) c group by account_id, mode, status having sum(n) <> 0 limit ${breachesMax}`,
    ({ id }) => `The messages of account and status ${id} are not as many as counted by quarters of an hour.`,
  ),
]

const jobInvariants: Invariant[] = [
  invariant<{ id: string }>(
    'every waiting message has its job',
    (sql) => sql`
      select m.id from messages m left join dispatch_jobs j on j.message_id = m.id
      where m.direction = 'outbound'
        and m.status in ('queued', 'sending')
        and j.message_id is null
      limit ${breachesMax}`,
    ({ id }) => `${id} waits to be sent but has no job.`,
  ),
  invariant<{ id: string }>(
    'every job has its message',
    (sql) => sql`
      select j.message_id as id
      from dispatch_jobs j
      left join messages m on m.account_id = j.account_id
        and m.mode = j.mode
        and m.id = j.message_id
      where m.id is null limit ${breachesMax}`,
    ({ id }) => `The job of ${id} has no message.`,
  ),
  invariant<{ id: string }>(
    'each event of a message was emitted once',
    (sql) => repeatedEvents(sql, 'message.%', breachesMax),
    ({ id }) => `${id} was emitted more than once.`,
  ),
]

const chargeInvariants: Invariant[] = [
  invariant<{ id: string }>(
    'every charge is of its message',
    (sql) => sql`
      select m.id
      from messages m
      left join (${entriesOfMessages(sql)}) e on e.message_id = m.id
        and e.type = 'message_charge'
      where m.mode = 'live'
        and m.direction = 'outbound'
        and (m.amount_micros > 0 or m.package_grant_id is not null)
        and (
          e.id is null
          or (e.unit = 'usd_micros' and e.amount <> m.amount_micros)
          or e.package_grant_id is distinct from m.package_grant_id
        )
      limit ${breachesMax}`,
    ({ id }) => `${id} and its charge in the ledger do not agree.`,
  ),
  invariant<{ id: string }>(
    'a message is refunded exactly when it failed',
    (sql) => sql`
      select m.id
      from messages m
      left join (${entriesOfMessages(sql)}) e on e.message_id = m.id
        and e.type = 'message_refund'
      where m.direction = 'outbound'
        and (
          (m.status = 'failed') <> m.refunded
          or (
            m.mode = 'live'
            and (m.amount_micros > 0 or m.package_grant_id is not null)
            and m.refunded <> (e.id is not null)
          )
        )
      limit ${breachesMax}`,
    ({ id }) => `${id} and its refund do not agree.`,
  ),
]

const projectionInvariants = (projections: readonly string[]): Invariant[] => [
  invariant<{ id: string }>(
    'no pending transition is ahead of its message',
    (sql) => sql`
      select i.id
      from message_transitions t
      cross join unnest(t.message_ids) as i(id)
      left join messages m on m.account_id = t.account_id
        and m.mode = t.mode
        and m.id = i.id
      where m.id is null
        or array_position(${outboundStatuses}::text[], m.status) < array_position(${outboundStatuses}::text[], t.status)
      limit ${breachesMax}`,
    ({ id }) => `A pending transition of ${id} has a later status than the message.`,
  ),
  invariant<{ id: string }>(
    'every pending transition has a projection',
    (sql) =>
      sql`
        select projection || ' (' || sum(cardinality(message_ids)) || ')' as id
        from message_transitions
        where projection <> all (${[...projections]}::text[])
        group by projection
        limit ${breachesMax}`,
    ({ id }) =>
      `The projection ${id} was removed or renamed while transitions are pending. Restore it until they are applied, or delete them.`,
  ),
]

export const messageInvariants = (projections: readonly string[]): readonly Invariant[] => [
  ...jobInvariants,
  ...chargeInvariants,
  ...projectionInvariants(projections),
  ...countInvariants,
  filesHaveMessages,
]
