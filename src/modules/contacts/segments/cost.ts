/** What the conditions of a segment cost in proportion to each other: for the sentence that tells which one to narrow. Pure. */
import { isGroup, type Condition, type Group } from './rules.ts'

/** What makes the segment cheaper to read, as a sentence that names its most expensive condition by its path. */
export function narrowing(root: Group): string {
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

/** The first of those that cost most. */
function costliest(node: Group | Condition, path: string): Placed {
  if (!isGroup(node)) return { path, condition: node, cost: costOf(node) }
  return node.conditions
    .map((each, i) => costliest(each, `${path}.conditions[${i}]`))
    .reduce((most, each) => (each.cost > most.cost ? each : most))
}

/** Roughly in multiples of a look into a column. */
function costOf({ field, operator, value }: Condition): number {
  if (operator === 'exists' || operator === 'not_exists') return field.kind === 'lists' ? 10 : 1
  const several = 1 + (Array.isArray(value) ? value.length : 1) / 100
  if (field.kind === 'lists') return 10 * several
  if (field.kind === 'value')
    return (operator === 'before' || operator === 'after' || operator.endsWith('within_days') ? 10 : 4) * several
  if (field.kind === 'text' || field.kind === 'tags') return 3 * several
  return 1
}
