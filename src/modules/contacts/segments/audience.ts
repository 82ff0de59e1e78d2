/** Whom a segment means now: the condition on contacts that its rules come to. */
import type { Tenant } from '../../../api/caller.ts'
import { sqlState, type Db } from '../../../platform/database/sql.ts'
import { tookTooLong } from '../../../platform/database/expensive-reads.ts'
import type { Platform } from '../../../platform/platform.ts'
import { narrowing } from './cost.ts'
import { predicate, type Fragment } from './predicate-store.ts'
import type { ParsedRules } from './rules.ts'
import { rulesOf } from './rules-cache.ts'
import * as store from './store.ts'

/** Whom a segment means now. A function, because awaiting a fragment would run it. */
export interface Audience {
  /** The condition on `contacts c`, to be put into a statement of `sql`. */
  where(sql: Db): Fragment
  /** Does a read by that condition; where it is ended for its time, the Problem names the rule to narrow. */
  naming<T>(read: () => Promise<T>): Promise<T>
}

/** Null where there is no such segment (any more). */
export async function audienceOfSegment(
  { clock }: Platform,
  sql: Db,
  tenant: Tenant,
  id: string,
): Promise<Audience | null> {
  const rules = await rulesOf(sql, tenant, id)
  return rules === null ? null : await audienceOf(sql, tenant, rules, clock.now())
}

/** Whom these rules mean at `now`, in milliseconds. */
export async function audienceOf(
  sql: Db,
  tenant: Tenant,
  { root, lists }: ParsedRules,
  now: number,
): Promise<Audience> {
  const known = await store.existingLists(
    sql,
    tenant,
    lists.map((mention) => mention.list_id),
  )
  return {
    where: (using) => predicate(using, root, { tenant, now, lists: known }),
    async naming(read) {
      try {
        return await read()
      } catch (error) {
        throw sqlState(error) === '57014' ? tookTooLong(narrowing(root)) : error
      }
    },
  }
}
