/** The producer of campaign messages: each recipient becomes at most one message (docs/decisions/producers.md). */
import type { MissedRow, ProducerFragment } from '../messages/service.ts'
import { type Db, type Fragment, jsonRows } from '../../platform/database/sql.ts'

/** `cmp_…/17`: campaign and recipient number. */
export const submissionKey = (campaign_id: string, n: number): string => `${campaign_id}/${n}`

export function recipientOf(key: string | null): { readonly campaign_id: string; readonly n: number } | null {
  const match = key === null ? null : /^(cmp_[^/]+)\/(\d+)$/.exec(key)
  return match === null ? null : { campaign_id: match[1]!, n: Number(match[2]) }
}

const campaignOf = (sql: Db, key: Fragment) => sql`split_part(${key}, '/', 1)`
const numberOf = (sql: Db, key: Fragment) => sql`split_part(${key}, '/', 2)::int`

/**
 * Claims the recipient of row `i` while its campaign is sending, without waiting for locks. Status changes exclude
 * claims: after the answer to a pause nothing is accepted.
 */
const claimRecipients = (sql: Db): Fragment => sql`
  select
  from campaign_recipients r
  join campaigns c on c.account_id = r.account_id and c.mode = r.mode and c.id = r.campaign_id
  where r.account_id = i.account_id
    and r.mode = i.mode
    and r.campaign_id = ${campaignOf(sql, sql`i.submission_key`)}
    and r.n = ${numberOf(sql, sql`i.submission_key`)}
    and r.status = 'pending' and r.message_id is null and c.status = 'sending'
  for update of r skip locked for key share of c skip locked`

/** An opt-out skips the recipient, other refusals fail it, and without funds it stays pending. */
const completeRecipients = (sql: Db, at: string): Fragment => sql`
  update campaign_recipients r set message_id = s.message_id,
    status = case when s.message_id is not null then r.status when s.code = 'recipient_blocked' then 'skipped' else 'failed' end,
    skip_reason = case when s.message_id is null and s.code = 'recipient_blocked' then 'unsubscribed' end,
    error = case when s.message_id is null and s.code <> 'recipient_blocked' then json_build_object('code',
    s.code, 'message', 'The message was refused when it was to be sent.', 'provider_code', '') end,
    failed_at = case when s.message_id is null and s.code <> 'recipient_blocked' then ${at}::timestamptz end
  from submitted s
  where r.account_id = s.account_id
    and r.mode = s.mode
    and r.campaign_id = ${campaignOf(sql, sql`s.key`)}
    and r.n = ${numberOf(sql, sql`s.key`)}
    and r.message_id is null and s.code is distinct from 'insufficient_balance'
  returning r.message_id`

interface WantedRecipient {
  readonly n: number
  readonly account_id: string
  readonly mode: string
  readonly campaign_id: string
  readonly recipient: number
}

async function recipientsWithMessages(
  sql: Db,
  wanted: readonly WantedRecipient[],
): Promise<ReadonlyMap<number, string>> {
  if (wanted.length === 0) return new Map()
  const rows = await sql<{ n: number; message_id: string }[]>`
    select i.n, r.message_id
    from json_to_recordset(${jsonRows(wanted)}::text::json) as i(n int, account_id text, mode text,
      campaign_id text, recipient int)
    join campaign_recipients r on r.account_id = i.account_id
      and r.mode = i.mode
      and r.campaign_id = i.campaign_id
      and r.n = i.recipient
    where r.message_id is not null`
  return new Map(rows.map(({ n, message_id }) => [n, message_id]))
}

export const campaignProducer: ProducerFragment = {
  kind: 'campaign',
  columns: [],
  claim: claimRecipients,
  complete: (sql, { at }) => completeRecipients(sql, at),
  async known(sql, rows) {
    const wanted = rows.flatMap((row: MissedRow) => {
      const recipient = recipientOf(row.submission_key)
      return recipient === null
        ? []
        : [
            {
              n: row.n,
              account_id: row.account_id,
              mode: row.mode,
              campaign_id: recipient.campaign_id,
              recipient: recipient.n,
            },
          ]
    })
    return await recipientsWithMessages(sql, wanted)
  },
}
