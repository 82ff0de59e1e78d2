/** SQL that counts whom an audience means. Nothing is written. */
import type { Tenant } from '../../../api/caller.ts'
import type { Fragment, Transaction } from '../../../platform/database/sql.ts'

/** Contacts of an audience (`audienceRows`), counted no further than `most`. */
export async function countMeant(tx: Transaction, audience: Fragment, most: number): Promise<number> {
  await tx`select set_config('plan_cache_mode', 'force_custom_plan', true)`
  const [row] = await tx<
    { count: number }[]
  >`select count(*)::int as count from (select from (${audience}) a limit ${most}) n`
  return row!.count
}

/** Contacts of an audience (`audienceRows`) who would be sent to and are not among `reached`, a select of "to"; counted no further than `most`. */
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
    from (select from (${audience}) a where a.skip_reason is null and not exists (select from reached r where r."to" = a."to") limit ${most}) n`
  return row!.count
}

/** As `countNewContacts`, of those of a snapshot who have no message yet. */
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
      where account_id = ${account_id} and mode = ${mode} and campaign_id = ${id} and status = 'pending' and message_id is null
        and not exists (select from reached r where r."to" = c."to") limit ${most}
    ) n`
  return row!.count
}
