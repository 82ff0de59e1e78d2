/** Campaigns as a producer of messages: a recipient that waits, of a campaign that is sending, becomes one message at most (docs/decisions/producers.md). */
import type { MissedRow, ProducerFragment } from '../messages/service.ts'
import { heldRecipients, knownRecipients, settledRecipients } from './producer-store.ts'

/** `cmp_…/17`: the campaign, and the number of the recipient. */
export const submissionKey = (campaign_id: string, n: number): string => `${campaign_id}/${n}`

/** What a key names; null for one that campaigns have not made. */
export function recipientOf(key: string | null): { readonly campaign_id: string; readonly n: number } | null {
  const match = key === null ? null : /^(cmp_[^/]+)\/(\d+)$/.exec(key)
  return match === null ? null : { campaign_id: match[1]!, n: Number(match[2]) }
}

export const campaignProducer: ProducerFragment = {
  kind: 'campaign',
  columns: [],
  held: heldRecipients,
  settle: (sql, { at }) => settledRecipients(sql, at),
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
    return await knownRecipients(sql, wanted)
  },
}
