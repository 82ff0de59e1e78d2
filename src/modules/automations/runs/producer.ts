/**
 * The producer of automation messages: each run becomes at most one message
 * (behaviour: integrations 6.3). The submission key is the run's ID.
 */
import { suspensions } from '../../accounts/service.ts'
import type { MissedRow, ProducerFragment } from '../../messages/service.ts'
import type { Db, Fragment } from '../../../platform/database/sql.ts'

/**
 * Claims the run of row `i`, without waiting for locks, unless automation or source changed, or the account was
 * suspended or reinstated since. Changes exclude claims: after their answer nothing is accepted.
 */
const claimRuns = (sql: Db): Fragment => sql`
  select from automation_runs r
  join automations a on a.account_id = r.account_id and a.mode = r.mode and a.id = r.automation_id
  join integration_sources s on s.account_id = r.account_id and s.mode = r.mode and s.id = r.source_id
  where r.account_id = i.account_id and r.mode = i.mode and r.id = i.submission_key and r.status = 'scheduled'
    and a.status = 'active'
    and a.deleted_at is null
    and a.event_type = r.event_type
    and a.channel_type = r.channel_type
    and s.status = 'active'
    and s.deleted_at is null
    and not exists (
      select
      from (${suspensions(sql)}) x
      where x.id = r.account_id and (x.suspended_at is not null or r.created_at <= x.reinstated_at))
  for update of r skip locked for share of a, s skip locked`

/** An opt-out skips the run, other refusals fail it, and without funds it keeps waiting. */
const completeRuns = (sql: Db): Fragment => sql`
  update automation_runs r set message_id = s.message_id, next_run_at = null,
    status = case when s.message_id is not null then 'sent' when s.code = 'recipient_blocked' then 'skipped' else 'failed' end,
    reason = case when s.message_id is not null then null when s.code = 'recipient_blocked' then 'unsubscribed' else s.code end
  from submitted s
  where r.account_id = s.account_id
    and r.mode = s.mode
    and r.id = s.key
    and r.status = 'scheduled'
    and s.code is distinct from 'insufficient_balance'
  returning r.message_id`

async function runsWithMessages(sql: Db, missed: readonly MissedRow[]): Promise<ReadonlyMap<number, string>> {
  const keys = missed.flatMap(({ submission_key }) => (submission_key === null ? [] : [submission_key]))
  const rows = await sql<{ account_id: string; mode: string; id: string; message_id: string }[]>`
    select account_id, mode, id, message_id
    from automation_runs
    where id = any (${keys}::text[]) and message_id is not null`
  const known = new Map(rows.map((row) => [`${row.account_id} ${row.mode} ${row.id}`, row.message_id]))
  return new Map(
    missed.flatMap(({ n, account_id, mode, submission_key }) => {
      const message_id = known.get(`${account_id} ${mode} ${submission_key}`)
      return message_id === undefined ? [] : [[n, message_id] as const]
    }),
  )
}

export const automationProducer: ProducerFragment = {
  kind: 'automation',
  columns: [],
  claim: claimRuns,
  complete: completeRuns,
  known: runsWithMessages,
}
