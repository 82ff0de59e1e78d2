/** SQL of what was taken of messages that become several at their provider: the ids that their jobs keep. */
import { jsonRows, type Db } from '../../../platform/database/sql.ts'

/** A message in the hand of a process, by the claim that ends then. */
export interface Claim {
  readonly process_id: string
  readonly message_id: string
  /** ISO 8601. */
  readonly lease_until: string
}

/** Keeps what was taken of a message while the rest is handed over; false where this claim of it has ended, or where receipts have proved more than that. */
export async function keepAccepted(
  sql: Db,
  { process_id, message_id, lease_until }: Claim,
  accepted_ids: readonly string[],
): Promise<boolean> {
  const rows = await sql`
    update dispatch_jobs set accepted_ids = ${[...accepted_ids]}::text[]
    where message_id = ${message_id} and process_id = ${process_id} and next_run_at = ${lease_until} and coalesce(cardinality(accepted_ids), 0) <= ${accepted_ids.length}
    returning message_id`
  return rows.length > 0
}

/** Which of these messages have jobs, and what was taken of each. The jobs are locked: whoever calls has locked the messages, as everywhere. */
export async function lockAccepted(tx: Db, message_ids: readonly string[]): Promise<Map<string, readonly string[]>> {
  if (message_ids.length === 0) return new Map()
  const rows = await tx<{ message_id: string; accepted_ids: string[] }[]>`
    select message_id, coalesce(accepted_ids, '{}') as accepted_ids from dispatch_jobs where message_id = any(${[...message_ids]}::text[]) order by message_id for update`
  return new Map(rows.map(({ message_id, accepted_ids }) => [message_id, accepted_ids]))
}

/** Keeps what receipts proved to be taken: what nobody has in hand is in doubt no more, and the rest of it is due at once. */
export async function raiseAccepted(
  tx: Db,
  jobs: readonly { readonly message_id: string; readonly accepted_ids: readonly string[] }[],
  at: string,
): Promise<void> {
  if (jobs.length === 0) return
  await tx`
    update dispatch_jobs j set accepted_ids = t.accepted_ids, outcome_unknown = j.outcome_unknown and j.process_id is not null,
      next_run_at = case when j.process_id is null then least(j.next_run_at, ${at}) else j.next_run_at end
    from json_to_recordset(${jsonRows(jobs)}::text::json) as t(message_id text, accepted_ids text[]) where j.message_id = t.message_id`
}
