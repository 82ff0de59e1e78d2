/**
 * How waiting runs handle domain events, in the transactions that publish them, which hold no wallet lock yet. Of an account or a channel so many may wait that the event
 * would be held up: the first are cancelled with it, and what is left by a periodic job (leftovers.ts). None of it is sent meanwhile (behaviour: integrations 6.5, 6.6).
 */
import type { DomainEventPayloads } from '../../../api/domain-events.ts'
import { jsonRows, type Db } from '../../../platform/database/sql.ts'
import { ended } from './store.ts'

const atOnce = 1000

/** Who may not be written to any more on a channel type gets none of what waits for him there. */
export async function skipUnsubscribedRuns(
  sql: Db,
  events: readonly DomainEventPayloads['opted_out'][],
): Promise<void> {
  await sql`
    with f as (select * from json_to_recordset(${jsonRows(events)}::text::json) as t(account_id text, mode text, channel_type text, address text, contact_id text)),
    found as materialized (
      select r.id from f
      join automation_runs r on r.account_id = f.account_id and r.mode = f.mode and r.address = f.address and r.channel_type = f.channel_type and r.status = 'scheduled'
      union
      -- its number may have changed since
      select r.id from f
      join automation_runs r on r.account_id = f.account_id and r.mode = f.mode and r.contact_id = f.contact_id and r.channel_type = f.channel_type and r.status = 'scheduled'
    )
    ${ended(sql, 'skipped', 'unsubscribed')}`
}

export async function skipRunsOfContacts(
  sql: Db,
  events: readonly DomainEventPayloads['contact_deleted'][],
): Promise<void> {
  await sql`
    with found as materialized (
      select r.id from json_to_recordset(${jsonRows(events)}::text::json) as f(account_id text, mode text, contact_id text)
      join automation_runs r on r.account_id = f.account_id and r.mode = f.mode and r.contact_id = f.contact_id and r.status = 'scheduled'
    )
    ${ended(sql, 'skipped', 'contact_deleted')}`
}

export async function cancelRunsOfChannels(
  sql: Db,
  events: readonly DomainEventPayloads['channel_deleted'][],
): Promise<void> {
  await sql`
    with found as materialized (
      select r.id from json_to_recordset(${jsonRows(events)}::text::json) as f(account_id text, mode text, channel_id text)
      join automations a on a.account_id = f.account_id and a.mode = f.mode and a.channel_id = f.channel_id
      join automation_runs r on r.account_id = a.account_id and r.mode = a.mode and r.automation_id = a.id and r.status = 'scheduled' limit ${atOnce}
    )
    ${ended(sql, 'cancelled', 'channel_deleted')}`
}

/** Of both modes. */
export async function cancelRunsOfAccounts(
  sql: Db,
  events: readonly DomainEventPayloads['account_suspended'][],
): Promise<void> {
  const ids = events.map(({ account_id }) => account_id)
  await sql`
    with found as materialized (
      select r.id from automation_runs r where r.account_id = any (${ids}::text[]) and r.mode in ('live', 'test') and r.status = 'scheduled' limit ${atOnce}
    )
    ${ended(sql, 'cancelled', 'account_suspended')}`
}
