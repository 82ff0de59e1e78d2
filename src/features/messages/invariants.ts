/** What `posthorn doctor` proves of messages: nothing is lost, nothing happened twice, every cent has its message. */
import type { Invariant } from '../../platform/platform.ts'
import type { Db } from '../../platform/database/sql.ts'
import { repeatedEvents } from '../../platform/outbox.ts'
import { entriesOfMessages } from '../billing/service.ts'
import { filesOfMessages } from '../media/service.ts'
import { rankOf } from './states.ts'

const sampleMax = 20
/** By rank. */
const outboundStatuses = Object.keys(rankOf)

const invariant = (name: string, find: (sql: Db) => Promise<readonly { id: string }[]>, sentence: (id: string) => string): Invariant => ({
  name,
  breaches: async (sql) => (await find(sql)).map(({ id }) => sentence(id)),
})

const filesHaveMessages = invariant(
  'every file that came in belongs to its message',
  (sql) => sql`
    select f.id from (${filesOfMessages(sql)}) f left join messages m on m.account_id = f.account_id and m.mode = f.mode and m.id = f.message_id
    where m.id is null or m.direction <> 'inbound' or m.type <> 'attachments' limit ${sampleMax}`,
  (id) => `${id} came in with a message that does not exist, or has no files.`,
)

/** `followers`: the names of those who follow messages in this program. */
export const messageInvariants = (followers: readonly string[]): readonly Invariant[] => [...ownInvariants(followers), filesHaveMessages]

const ownInvariants = (followers: readonly string[]): readonly Invariant[] => [
  invariant(
    'every waiting message has its job',
    (sql) => sql`
      select m.id from messages m left join dispatch_jobs j on j.message_id = m.id
      where m.direction = 'outbound' and m.status in ('queued', 'sending') and j.message_id is null limit ${sampleMax}`,
    (id) => `${id} waits to be sent, and no job will ever send it.`,
  ),
  invariant(
    'every job has its message',
    (sql) => sql`
      select j.message_id as id from dispatch_jobs j left join messages m on m.account_id = j.account_id and m.mode = j.mode and m.id = j.message_id
      where m.id is null limit ${sampleMax}`,
    (id) => `${id} is to be sent, and does not exist.`,
  ),
  invariant(
    'each event of a message was emitted once',
    (sql) => repeatedEvents(sql, 'message.%', sampleMax),
    (id) => `${id} was emitted more than once.`,
  ),
  invariant(
    'every charge is of its message',
    (sql) => sql`
      select m.id from messages m left join (${entriesOfMessages(sql)}) e on e.message_id = m.id and e.type = 'message_charge'
      where m.mode = 'live' and m.direction = 'outbound' and (m.amount_micros > 0 or m.package_grant_id is not null)
        and (e.id is null or (e.unit = 'usd_micros' and e.amount <> m.amount_micros) or e.package_grant_id is distinct from m.package_grant_id) limit ${sampleMax}`,
    (id) => `${id} says that it was charged, and the ledger says something else.`,
  ),
  invariant(
    'a message is refunded exactly when it failed',
    (sql) => sql`
      select m.id from messages m left join (${entriesOfMessages(sql)}) e on e.message_id = m.id and e.type = 'message_refund'
      where m.direction = 'outbound' and ((m.status = 'failed') <> m.refunded
        or (m.mode = 'live' and (m.amount_micros > 0 or m.package_grant_id is not null) and m.refunded <> (e.id is not null))) limit ${sampleMax}`,
    (id) => `${id} and its refund do not agree.`,
  ),
  invariant(
    'what followers have still to fold is of messages that have come so far',
    (sql) => sql`
      select i.id from message_transitions t cross join unnest(t.message_ids) as i(id) left join messages m on m.account_id = t.account_id and m.mode = t.mode and m.id = i.id
      where m.id is null or array_position(${outboundStatuses}::text[], m.status) < array_position(${outboundStatuses}::text[], t.status) limit ${sampleMax}`,
    (id) => `${id} is told to followers as further than it is.`,
  ),
  invariant(
    'whoever has messages still to fold is part of this program',
    (sql) =>
      sql`select follower || ' (' || sum(cardinality(message_ids)) || ')' as id from message_transitions where follower <> all (${[...followers]}::text[]) group by follower limit ${sampleMax}`,
    (id) => `Nobody folds the rows of the follower ${id}: it was taken out or renamed. Put it back until they are folded, or remove them.`,
  ),
  invariant(
    'each second counts its messages by status',
    (sql) => sql`
      select status || ' ' || bucket as id from (
        select account_id, mode, status, substr(id, 5, 8) as bucket, 1 as n from messages
        union all
        select account_id, mode, status, bucket, -n from message_status_counts
      ) c group by account_id, mode, status, bucket having sum(n) <> 0 limit ${sampleMax}`,
    (id) => `The messages of status and second ${id} are not as many as counted.`,
  ),
]
