/** Invariants of automations. */
import { redactionInvariants } from './redactions/redaction.ts'
import { deletedBefore, messagesOfOrigin } from '../messages/service.ts'
import { breachesMax, invariant, type Invariant, type Platform } from '../../platform/platform.ts'

export const automationInvariants = (platform: Pick<Platform, 'clock'>): readonly Invariant[] => [
  ...runInvariants,
  ...redactionInvariants(platform),
]

const runInvariants: readonly Invariant[] = [
  invariant<{ id: string }>(
    'a run has one message',
    (sql) => sql`
      select submission_key as id
      from (${messagesOfOrigin(sql, 'automation')}) m
      group by account_id, mode, submission_key
      having count(*) > 1
      union all
      select message_id
      from automation_runs
      where message_id is not null
      group by account_id, mode, message_id
      having count(*) > 1
      limit ${breachesMax}`,
    ({ id }) => `${id}: a run has several messages, or a message several runs.`,
  ),
  invariant<{ id: string }>(
    'every message of an automation belongs to its run, and every run to its message',
    (sql) => sql`
      select coalesce(m.id, r.message_id) as id from (${messagesOfOrigin(sql, 'automation')}) m
      full join (select * from automation_runs where message_id >= ${deletedBefore(sql)}) r
        on r.account_id = m.account_id
          and r.mode = m.mode
          and r.message_id = m.id
          and m.origin_id = r.automation_id
          and m.submission_key = r.id
      where m.id is null or (r.message_id is null and m.id >= ${deletedBefore(sql)}) limit ${breachesMax}`,
    ({ id }) => `${id} is of an automation, and it and its run do not know each other.`,
  ),
  invariant<{ id: string }>(
    'a run that waits has its automation and its source',
    (sql) => sql`
      select r.id from automation_runs r
      left join automations a on a.account_id = r.account_id and a.mode = r.mode and a.id = r.automation_id
      left join integration_sources s on s.account_id = r.account_id
        and s.mode = r.mode
        and s.id = r.source_id
      where r.status = 'scheduled' and (a.id is null or s.id is null) limit ${breachesMax}`,
    ({ id }) => `The run ${id} waits, and there is no such automation or source.`,
  ),
]
