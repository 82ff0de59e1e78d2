/** SQL that runs add to the statement that accepts messages: runs held before, and what became of them after (behaviour: integrations 6.3). */
import { suspensions } from '../../accounts/service.ts'
import type { MissedRow, ProducerFragment } from '../../messages/service.ts'
import type { Db, Fragment } from '../../../platform/database/sql.ts'

/**
 * The run of the row `i`, still waiting, its automation active and what it was, its source active, and its account not suspended nor reinstated since the run was made; claimed without waiting for it. Whoever disables the source or pauses the automation waits for this
 * transaction, and what is being changed has nobody held: after the answer to such a change nothing is accepted.
 */
const heldRuns = (sql: Db): Fragment => sql`
  select from automation_runs r
  join automations a on a.account_id = r.account_id and a.mode = r.mode and a.id = r.automation_id
  join integration_sources s on s.account_id = r.account_id and s.mode = r.mode and s.id = r.source_id
  where r.account_id = i.account_id and r.mode = i.mode and r.id = i.submission_key and r.status = 'scheduled'
    and a.status = 'active' and a.deleted_at is null and a.event_type = r.event_type and a.channel_type = r.channel_type and s.status = 'active' and s.deleted_at is null
    and not exists (select from (${suspensions(sql)}) x where x.id = r.account_id and (x.suspended_at is not null or r.created_at <= x.reinstated_at))
  for update of r skip locked for share of a, s skip locked`

/** Whose message is accepted was sent; who is refused for an opt-out is skipped, for anything else failed. Without funds it goes on waiting. */
const settledRuns = (sql: Db): Fragment => sql`
  update automation_runs r set message_id = s.message_id, next_run_at = null,
    status = case when s.message_id is not null then 'sent' when s.code = 'recipient_blocked' then 'skipped' else 'failed' end,
    reason = case when s.message_id is not null then null when s.code = 'recipient_blocked' then 'unsubscribed' else s.code end
  from submitted s
  where r.account_id = s.account_id and r.mode = s.mode and r.id = s.key and r.status = 'scheduled' and s.code is distinct from 'insufficient_balance'
  returning r.message_id`

/** Those of the runs that have a message, each with its id. */
async function knownRuns(sql: Db, missed: readonly MissedRow[]): Promise<ReadonlyMap<number, string>> {
  const keys = missed.flatMap(({ submission_key }) => (submission_key === null ? [] : [submission_key]))
  const rows = await sql<{ account_id: string; mode: string; id: string; message_id: string }[]>`
    select account_id, mode, id, message_id from automation_runs where id = any (${keys}::text[]) and message_id is not null`
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
  held: heldRuns,
  settle: settledRuns,
  known: knownRuns,
}
