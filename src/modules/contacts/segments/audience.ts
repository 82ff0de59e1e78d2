/** The contacts of a segment, as a condition compiled from its rules. */
import type { Tenant } from '../../../api/caller.ts'
import { sqlState, type Db } from '../../../platform/database/sql.ts'
import { tookTooLong } from '../../../platform/database/read-pool.ts'
import type { Platform } from '../../../platform/platform.ts'
import { predicate, type Fragment } from './predicate-repository.ts'
import { type ParsedRules, isGroup, type Condition, type Group } from './rules.ts'
import { rulesOf } from './rules-cache.ts'
import * as repository from './repository.ts'

export interface Audience {
  where(sql: Db): Fragment
  /** A timeout becomes a Problem that names the rule to narrow. */
  withNarrowingHint<T>(read: () => Promise<T>): Promise<T>
}

export async function audienceOfSegment(
  { clock }: Platform,
  sql: Db,
  tenant: Tenant,
  id: string,
): Promise<Audience | null> {
  const rules = await rulesOf(sql, tenant, id)
  return rules === null ? null : await audienceOfRules(sql, tenant, rules, clock.now())
}

export async function audienceOfRules(
  sql: Db,
  tenant: Tenant,
  { root, lists }: ParsedRules,
  now: number,
): Promise<Audience> {
  const known = await repository.findExistingLists(
    sql,
    tenant,
    lists.map((mention) => mention.list_id),
  )
  return {
    where: (using) => predicate(using, root, { tenant, now, lists: known }),
    async withNarrowingHint(read) {
      try {
        return await read()
      } catch (error) {
        throw sqlState(error) === '57014' ? tookTooLong(narrowingHint(root)) : error
      }
    },
  }
}

function narrowingHint(root: Group): string {
  const { path, condition } = costliest(root, 'rules')
  return (
    `Narrow \`${path}\` of the segment (${condition.field.name} ${condition.operator}), which costs most for each contact: ` +
    'leave it out, give it fewer values, or put conditions that fit fewer contacts before it in a group that matches all.'
  )
}

interface Placed {
  readonly path: string
  readonly condition: Condition
  readonly cost: number
}

function costliest(node: Group | Condition, path: string): Placed {
  if (!isGroup(node)) return { path, condition: node, cost: costOf(node) }
  return node.conditions
    .map((each, i) => costliest(each, `${path}.conditions[${i}]`))
    .reduce((most, each) => (each.cost > most.cost ? each : most))
}

function costOf({ field, operator, value }: Condition): number {
  if (operator === 'exists' || operator === 'not_exists') return field.kind === 'lists' ? 10 : 1
  const several = 1 + (Array.isArray(value) ? value.length : 1) / 100
  if (field.kind === 'lists') return 10 * several
  if (field.kind === 'value')
    return (operator === 'before' || operator === 'after' || operator.endsWith('within_days') ? 10 : 4) * several
  if (field.kind === 'text' || field.kind === 'tags') return 3 * several
  return 1
}
