/** SQL of audiences: counts and chunks of contacts and of pending recipients. */
import type { Tenant } from '../../../api/caller.ts'
import type { SkipReason } from '../../../api/resources/campaign.ts'
import type { NewRecipient } from '../recipient-repository.ts'
import type { Fragment, Transaction } from '../../../platform/database/sql.ts'

export async function countContactsUpTo(tx: Transaction, audience: Fragment, most: number): Promise<number> {
  await tx`select set_config('plan_cache_mode', 'force_custom_plan', true)`
  const [row] = await tx<
    { count: number }[]
  >`select count(*)::int as count from (select from (${audience}) a limit ${most}) n`
  return row!.count
}

/** Contacts that would be sent to and are not in `reached`, a select of "to". */
export async function countNewContacts(
  tx: Transaction,
  audience: Fragment,
  reached: Fragment,
  most: number,
): Promise<number> {
  await tx`select set_config('plan_cache_mode', 'force_custom_plan', true)`
  const [row] = await tx<{ count: number }[]>`
    with reached as materialized (${reached})
    select count(*)::int as count
    from (
      select
      from (${audience}) a
      where a.skip_reason is null and not exists (select from reached r where r."to" = a."to")
      limit ${most}) n`
  return row!.count
}

export async function countNewPending(
  tx: Transaction,
  { account_id, mode, id }: Tenant & { readonly id: string },
  reached: Fragment,
  most: number,
): Promise<number> {
  const [row] = await tx<{ count: number }[]>`
    with reached as materialized (${reached})
    select count(*)::int as count
    from (
      select from campaign_recipients c
      where account_id = ${account_id}
        and mode = ${mode}
        and campaign_id = ${id}
        and status = 'pending'
        and message_id is null
        and not exists (select from reached r where r."to" = c."to") limit ${most}
    ) n`
  return row!.count
}

export interface Candidate extends NewRecipient {
  readonly submitted: boolean
}

export interface Counted {
  readonly skip_reason: SkipReason | null
  /** '': the campaign's time zone. */
  readonly timezone: string
  readonly submitted: boolean
  readonly count: number
}

export async function countContacts(tx: Transaction, audience: Fragment, own_timezones: boolean): Promise<Counted[]> {
  await tx`select set_config('plan_cache_mode', 'force_custom_plan', true)`
  return await tx<Counted[]>`
    select skip_reason, ${own_timezones ? tx`coalesce(timezone, '')` : tx`''`} as timezone,
      false as submitted, count(*)::int as count
    from (${audience}) a group by 1, 2 order by 1, 2`
}

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

type CampaignKey = Tenant & { readonly id: string }

export async function countPending(tx: Transaction, { account_id, mode, id }: CampaignKey): Promise<Counted[]> {
  return await tx<Counted[]>`
    select null as skip_reason, timezone, message_id is not null as submitted, count(*)::int as count
    from campaign_recipients
    where account_id = ${account_id} and mode = ${mode} and campaign_id = ${id} and status = 'pending'
    group by 2, 3
    order by 2, 3`
}

export type PendingRow = Candidate & { readonly n: number }

export async function listPending(
  tx: Transaction,
  { account_id, mode, id }: CampaignKey,
  after: number,
  limit: number,
): Promise<PendingRow[]> {
  return await tx<PendingRow[]>`
    select n, contact_id, "to", address, name, first_name, last_name, variables, timezone, skip_reason,
      message_id is not null as submitted
    from campaign_recipients
    where account_id = ${account_id}
      and mode = ${mode}
      and campaign_id = ${id}
      and status = 'pending'
      and n > ${after}
    order by n
    limit ${limit}`
}
