/** SQL of rehearsals: whom a campaign means, counted and in chunks. Nothing is written. */
import type { Tenant } from '../../../api/caller.ts'
import type { SkipReason } from '../../../api/resources/campaign.ts'
import type { Fragment, Transaction } from '../../../platform/database/sql.ts'
import type { NewRecipient } from '../recipient-store.ts'

export interface Candidate extends NewRecipient {
  /** Has a message already, which has been charged and is on its way. */
  readonly submitted: boolean
}

export interface Counted {
  /** null: is sent to. */
  readonly skip_reason: SkipReason | null
  /** '': the campaign's own. */
  readonly timezone: string
  readonly submitted: boolean
  readonly count: number
}

/** Contacts of an audience (`audienceRows`) by what would become of them. */
export async function countContacts(tx: Transaction, audience: Fragment, own_timezones: boolean): Promise<Counted[]> {
  await tx`select set_config('plan_cache_mode', 'force_custom_plan', true)`
  return await tx<Counted[]>`
    select skip_reason, ${own_timezones ? tx`coalesce(timezone, '')` : tx`''`} as timezone, false as submitted, count(*)::int as count
    from (${audience}) a group by 1, 2 order by 1, 2`
}

/** The first contacts of an audience (`audienceRows`), in the order of their ids. */
export async function listContacts(
  tx: Transaction,
  audience: Fragment,
  own_timezones: boolean,
  limit: number,
): Promise<Candidate[]> {
  await tx`select set_config('plan_cache_mode', 'force_custom_plan', true)`
  return await tx<Candidate[]>`
    select contact_id, "to", address, name, null as first_name, null as last_name, null::json as variables,
      ${own_timezones ? tx`coalesce(timezone, '')` : tx`''`} as timezone, skip_reason, false as submitted
    from (${audience}) a order by contact_id limit ${limit}`
}

type Whose = Tenant & { readonly id: string }

/** Those of the snapshot who still wait. */
export async function countPending(tx: Transaction, { account_id, mode, id }: Whose): Promise<Counted[]> {
  return await tx<Counted[]>`
    select null as skip_reason, timezone, message_id is not null as submitted, count(*)::int as count from campaign_recipients
    where account_id = ${account_id} and mode = ${mode} and campaign_id = ${id} and status = 'pending' group by 2, 3 order by 2, 3`
}

export type PendingRow = Candidate & { readonly n: number }

/** The next of those who still wait, above the number `after`. */
export async function listPending(
  tx: Transaction,
  { account_id, mode, id }: Whose,
  after: number,
  limit: number,
): Promise<PendingRow[]> {
  return await tx<PendingRow[]>`
    select n, contact_id, "to", address, name, first_name, last_name, variables, timezone, skip_reason, message_id is not null as submitted from campaign_recipients
    where account_id = ${account_id} and mode = ${mode} and campaign_id = ${id} and status = 'pending' and n > ${after} order by n limit ${limit}`
}
