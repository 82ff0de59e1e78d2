/** SQL of eligibility: whether a recipient may be written to. */
import { jsonRows, type Db } from '../../../platform/database/sql.ts'

export interface RecipientKey {
  readonly account_id: string
  readonly mode: string
  readonly channel_id: string
  /** `<type>.marketing` to check the opt-out from marketing. */
  readonly channel_type: string
  /** `addressKeyOf` and `suppressionHash`. */
  readonly kind: string
  readonly address: string
  readonly suppression: string
  readonly windowed: boolean
}

export type Ineligible = 'recipient_blocked' | 'policy_violation'

/**
 * For rows `i` with the columns of `RecipientKey`: joins, the arms of a `case` that yields an `Ineligible`, and the
 * contact. Lateral look-ups keep a plan made for a small table from scanning it.
 */
export const eligibilityOf = (sql: Db, { at, windows }: { readonly at: string; readonly windows: boolean }) => ({
  joins: sql`
      left join lateral (
        select contact_id, blocked
        from contact_addresses
        where account_id = i.account_id and mode = i.mode and kind = i.kind and address = i.address
        limit 1
      ) a on true
      left join lateral (
        select address_hash
        from suppressions
        where account_id = i.account_id and mode = i.mode and channel_type = i.channel_type and address_hash = i.suppression
        limit 1
      ) s on true
      ${
        windows
          ? sql`left join lateral (
        select address
        from service_windows
        where i.windowed and account_id = i.account_id and mode = i.mode and address = i.address and channel_id = i.channel_id and expires_at >= ${at}
        limit 1
      ) w on true`
          : sql``
      }`,
  verdict: sql`
          when s.address_hash is not null or a.blocked then 'recipient_blocked'
          ${windows ? sql`when i.windowed and w.address is null then 'policy_violation'` : sql``}`,
  contact_id: sql`a.contact_id`,
})

export interface Eligibility {
  readonly verdict: Ineligible | null
  readonly contact_id: string | null
}

/** One result per recipient, in order. */
export async function findEligibility(
  sql: Db,
  recipients: readonly RecipientKey[],
  at: string,
): Promise<Eligibility[]> {
  if (recipients.length === 0) return []
  const { joins, verdict, contact_id } = eligibilityOf(sql, {
    at,
    windows: recipients.some(({ windowed }) => windowed),
  })
  const rows = recipients.map(
    ({ account_id, mode, channel_id, channel_type, kind, address, suppression, windowed }, n) => {
      return { n, account_id, mode, channel_id, channel_type, kind, address, suppression, windowed }
    },
  )
  return await sql<Eligibility[]>`
    select case ${verdict} end as verdict, ${contact_id} as contact_id
    from json_to_recordset(${jsonRows(rows)}::text::json) as i(n int, account_id text, mode text,
      channel_id text, channel_type text, kind text, address text, suppression text, windowed boolean)
    ${joins}
    order by i.n`
}
