/** Merges conditions of a group on one field, without changing the meaning. Pure. */
import { comparedValues } from './evaluator.ts'
import type { RuleOperator } from '../../../api/resources/rules.ts'
import { isGroup, type Condition, type Group, type Scalar } from './rules.ts'

interface Merge {
  readonly operators: readonly RuleOperator[]
  readonly into: RuleOperator
  readonly values: (parts: readonly (readonly Scalar[])[]) => ReadonlySet<Scalar>
}

const union: Merge['values'] = (parts) => {
  const all = new Set<Scalar>()
  for (const part of parts) for (const value of part) all.add(value)
  return all
}
const intersection: Merge['values'] = ([first, ...others]) => {
  let common = new Set(first)
  for (const part of others) common = new Set(part.filter((value) => common.has(value)))
  return common
}

const oneValue: Readonly<Record<Group['match'], readonly Merge[]>> = {
  any: [
    { operators: ['equals', 'in'], into: 'in', values: union },
    { operators: ['not_equals', 'not_in'], into: 'not_in', values: intersection },
  ],
  all: [
    { operators: ['equals', 'in'], into: 'in', values: intersection },
    { operators: ['not_equals', 'not_in'], into: 'not_in', values: union },
  ],
}

const ofSet: Readonly<Record<Group['match'], readonly Merge[]>> = {
  any: [{ operators: ['contains', 'contains_any', 'in'], into: 'contains_any', values: union }],
  all: [
    { operators: ['contains', 'contains_all'], into: 'contains_all', values: union },
    { operators: ['contains_none', 'not_in'], into: 'contains_none', values: union },
  ],
}

const mergesOf = ({ field }: Condition, match: Group['match']): readonly Merge[] => {
  if (field.kind === 'text' || field.kind === 'value') return oneValue[match]
  return field.kind === 'tags' || field.kind === 'lists' ? ofSet[match] : []
}

/** A merged array may be longer than rules allow, or empty. */
export function simplify({ match, conditions }: Group): Group {
  const flat = conditions.flatMap((node): readonly (Group | Condition)[] => {
    if (!isGroup(node)) return [node]
    const inner = simplify(node)
    return inner.match === match || inner.conditions.length === 1 ? inner.conditions : [inner]
  })
  return { match, conditions: merged(flat, match) }
}

function merged(nodes: readonly (Group | Condition)[], match: Group['match']): readonly (Group | Condition)[] {
  const found = new Map<string | Group | Condition, { merge: Merge | undefined; parts: (Group | Condition)[] }>()
  for (const node of nodes) {
    const merge = isGroup(node)
      ? undefined
      : mergesOf(node, match).find(({ operators }) => operators.includes(node.operator))
    const key = isGroup(node) || merge === undefined ? node : `${node.field.name} ${merge.into}`
    const before = found.get(key)
    if (before === undefined) found.set(key, { merge, parts: [node] })
    else before.parts.push(node)
  }
  return [...found.values()].map(({ merge, parts }) =>
    parts.length === 1 ? parts[0]! : together(parts as Condition[], merge!),
  )
}

function together(conditions: readonly Condition[], { into, values }: Merge): Condition {
  return { field: conditions[0]!.field, operator: into, value: [...values(conditions.map(comparedValues))] }
}
