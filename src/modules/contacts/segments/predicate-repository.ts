/**
 * Compiles segment rules to SQL over `contacts c`, with the meaning of `evaluator.ts`. SQL's null counts as false,
 * because there are no negated groups. Identifiers come from fixed tables, values are bound parameters.
 */
import type postgres from '#postgres'
import type { Tenant } from '../../../api/caller.ts'
import { consentStatuses, type ConsentStatus } from '../../../api/resources/contact.ts'
import { isoTime } from '../../../lib/clock.ts'
import type { Db } from '../../../platform/database/sql.ts'
import { consentLabel, tagLabel } from '../contact.ts'
import { comparedValues } from './evaluator.ts'
import type { RuleOperator } from '../../../api/resources/rules.ts'
import { negations, type Field } from './fields.ts'
import { isGroup, type Condition, type Group, type Scalar } from './rules.ts'
import { simplify } from './simplify.ts'

/** Never await a fragment, nor return one from an async function: that would run it. */
export type Fragment = postgres.PendingQuery<postgres.Row[]>

export interface PredicateContext {
  readonly tenant: Tenant
  readonly now: number
  /** A deleted list has no members, even while its rows still exist. */
  readonly lists: ReadonlySet<string>
}

function once<From extends object, To>(make: (from: From) => To): (from: From) => To {
  const made = new WeakMap<From, To>()
  return (from) => {
    if (!made.has(from)) made.set(from, make(from))
    return made.get(from)!
  }
}

const simplified = once(simplify)
const jsonOf = once((all: object) => JSON.stringify(all))

/** Needs a custom plan: only then are long lists of values hashed. */
export function predicate(sql: Db, root: Group, context: PredicateContext): Fragment {
  const simple = simplified(root)
  const shared = fieldsFoldedTwice(simple)
  if (shared.length === 0) return compileGroup(sql, simple, { ...context, folded: new Map() })
  const folded = new Map(shared.map((field, i) => [field.name, `f.t${i}`]))
  const columns = shared
    .map((field, i) => sql`${foldedText(sql, field)} as ${sql(`t${i}`)}`)
    .reduce((left, right) => sql`${left}, ${right}`)
  // the offset keeps the planner from inlining each folded text
  return sql`
    (select ${compileGroup(sql, simple, { ...context, folded })} from (select ${columns} offset 0) f)`
}

interface CompileContext extends PredicateContext {
  readonly folded: ReadonlyMap<string, string>
}

function compileGroup(sql: Db, group: Group, context: CompileContext): Fragment {
  const { match } = group
  const { pairs, others } = attributesAmong(group)
  const parts = others.map((each) => (isGroup(each) ? compileGroup(sql, each, context) : compile(sql, each, context)))
  if (pairs !== null) parts.push(match === 'any' ? anyPair(sql, pairs) : sql`(not ${anyPair(sql, pairs)})`)
  const joined = parts.reduce((left, right) =>
    match === 'all'
      ? sql`${left} and ${right}`
      : sql`
    ${left} or ${right}`,
  )
  return sql`(${joined})`
}

type AttributePairs = Readonly<Record<string, readonly Scalar[]>>

/** With more, each attribute of the contact is looked up among the rules. */
const attributesCompared = 8

const attributesAmong = once(
  ({ match, conditions }: Group): { pairs: AttributePairs | null; others: readonly (Group | Condition)[] } => {
    const operators: readonly RuleOperator[] = match === 'any' ? ['equals', 'in'] : ['not_equals', 'not_in']
    const among = conditions.filter(
      (node): node is Condition =>
        !isGroup(node) &&
        node.field.kind === 'value' &&
        operators.includes(node.operator) &&
        values(node).every((value) => typeof value === 'string'),
    )
    if (among.length <= attributesCompared) return { pairs: null, others: conditions }
    const merged = new Set<Group | Condition>(among)
    const pairs = Object.fromEntries(among.map((condition) => [condition.field.key!, values(condition)]))
    return { pairs, others: conditions.filter((node) => !merged.has(node)) }
  },
)

const keysOf = once((pairs: AttributePairs) => Object.keys(pairs))
const textsOf = once((pairs: AttributePairs) => [...new Set(Object.values(pairs).flat())] as string[])

function anyPair(sql: Db, pairs: AttributePairs): Fragment {
  const text = sql`rule_text(c.attributes ->> a.key)`
  const both = sql`
    select p.key, rule_text(v)
    from json_each(${jsonOf(pairs)}::text::json) p, json_array_elements_text(p.value) v`
  // in one coalesce, or the planner would evaluate the type first
  const found = sql`coalesce((a.key, ${text}) in (${both}) and jsonb_typeof(c.attributes -> a.key) = 'string', false)`
  return sql`exists (
    select from (select jsonb_object_keys(c.attributes) as key offset 0) a
    where a.key = any(${keysOf(pairs)}::text[])
      and ${textComparison(sql, text, 'in', textsOf(pairs))}
      and ${found})`
}

function fieldsFoldedTwice(root: Group): Field[] {
  const counts = new Map<string, { field: Field; count: number }>()
  const visit = (node: Group | Condition): void => {
    if (isGroup(node)) return node.conditions.forEach(visit)
    if (!comparesText(node)) return
    const found = counts.get(node.field.name)
    if (found === undefined) counts.set(node.field.name, { field: node.field, count: 1 })
    else found.count += 1
  }
  visit(root)
  return [...counts.values()].filter(({ count }) => count > 1).map(({ field }) => field)
}

const textOperators: ReadonlySet<Condition['operator']> = new Set([
  'equals',
  'not_equals',
  'in',
  'not_in',
  'contains',
  'starts_with',
])

function comparesText(condition: Condition): boolean {
  const { field, operator } = condition
  if ((field.kind !== 'text' && field.kind !== 'value') || !textOperators.has(operator)) return false
  const { value } = condition
  return Array.isArray(value) ? value.some((each) => typeof each === 'string') : typeof value === 'string'
}

function foldedText(sql: Db, field: Field): Fragment {
  if (field.kind === 'text') return sql`rule_text(${textColumn(sql, field)})`
  return sql`case when jsonb_typeof(c.attributes -> ${field.key!}::text) = 'string' then rule_text(c.attributes ->> ${field.key!}::text) end`
}

const comparedText = (sql: Db, field: Field, { folded: columns }: CompileContext): Fragment => {
  const column = columns.get(field.name)
  return column === undefined ? foldedText(sql, field) : sql`${sql(column)}`
}

function compile(sql: Db, condition: Condition, context: CompileContext): Fragment {
  switch (condition.field.kind) {
    case 'text':
      return textPredicate(sql, condition, context)
    case 'boolean':
      return booleanPredicate(sql, condition)
    case 'time':
      return timePredicate(sql, timeColumns[condition.field.root]!(sql), condition, context.now)
    case 'consent':
      return consentPredicate(sql, condition)
    case 'value':
      return attributePredicate(sql, condition, context)
    case 'tags':
      return tagsPredicate(sql, condition)
    case 'lists':
      return listsPredicate(sql, condition, context)
    case 'any':
      throw new Error(`contacts have no field ${condition.field.name}`)
  }
}

const textColumns: Readonly<Record<string, (sql: Db) => Fragment>> = {
  id: (sql) => sql`c.id`,
  phone: (sql) => sql`c.phone`,
  email: (sql) => sql`c.email`,
  first_name: (sql) => sql`c.first_name`,
  last_name: (sql) => sql`c.last_name`,
  full_name: (sql) => sql`c.full_name`,
  locale: (sql) => sql`c.locale`,
  timezone: (sql) => sql`c.timezone`,
  country: (sql) => sql`c.country`,
  external_id: (sql) => sql`c.external_id`,
}

const timeColumns: Readonly<Record<string, (sql: Db) => Fragment>> = {
  last_seen_at: (sql) => sql`c.last_seen_at`,
  last_message_at: (sql) => sql`c.last_message_at`,
  created_at: (sql) => sql`c.created_at`,
  updated_at: (sql) => sql`c.updated_at`,
}

const textColumn = (sql: Db, field: Field): Fragment =>
  field.root === 'identifiers' ? sql`(c.identifiers ->> ${field.key!}::text)` : textColumns[field.root]!(sql)

const values = once(comparedValues)

const orMissing = (sql: Db, condition: Condition, holds: Fragment): Fragment =>
  negations.has(condition.operator) ? sql`coalesce(not (${holds}), true)` : sql`(${holds})`

function textPredicate(sql: Db, condition: Condition, context: CompileContext): Fragment {
  const { operator, field } = condition
  if (operator === 'exists') return sql`(${textColumn(sql, field)} is not null)`
  if (operator === 'not_exists') return sql`(${textColumn(sql, field)} is null)`
  const wanted = values(condition) as string[]
  const compared = textComparison(sql, comparedText(sql, field, context), operator, wanted)
  const lengths =
    context.folded.has(field.name) || (operator !== 'in' && operator !== 'not_in') ? null : lengthsOf(wanted)
  return orMissing(
    sql,
    condition,
    lengths === null
      ? compared
      : sql`
      octet_length(${textColumn(sql, field)}) = any(${lengths}::int[]) and ${compared}`,
  )
}

/** More lengths cost as much as the folding they save. */
const lengthsMax = 8

/**
 * Byte lengths of texts that fold to one of these; null when unknown or too many. ASCII keeps its length, except for
 * the Kelvin sign: three bytes, folded to `k`.
 */
const lengthsOf = once((texts: readonly string[]): readonly number[] | null => {
  const lengths = new Set<number>()
  for (const text of texts) {
    // oxlint-disable-next-line no-control-regex
    if (!/^[\x00-\x7f]*$/.test(text)) return null
    for (let kelvins = text.split('k').length - 1; kelvins >= 0; kelvins--) lengths.add(text.length + 2 * kelvins)
    if (lengths.size > lengthsMax) return null
  }
  return [...lengths]
})

function textComparison(
  sql: Db,
  column: Fragment,
  operator: Condition['operator'],
  wanted: readonly string[],
): Fragment {
  const value = sql`rule_text(${wanted[0] ?? null}::text)`
  if (operator === 'contains') return sql`strpos(${column}, ${value}) > 0`
  if (operator === 'starts_with') return sql`starts_with(${column}, ${value})`
  if (operator === 'equals' || operator === 'not_equals') return sql`${column} = ${value}`
  const joined = joinedOf(wanted)
  if (joined === null)
    return among(
      sql,
      column,
      sql`
      select rule_text(v) from json_array_elements_text(${jsonOf(wanted)}::text::json) v`,
    )
  return sql`${column} = any(string_to_array(rule_text(${joined}::text), ${separator}::text))`
}

const separator = '\u001F'

/** SQL splits and folds them at once; null when one contains the separator. */
const joinedOf = once((texts: readonly string[]) =>
  texts.some((text) => text.includes(separator)) ? null : texts.join(separator),
)

/** Hashes the values once per statement. A bare `in` would become a join per condition. */
const among = (sql: Db, column: Fragment, wanted: Fragment): Fragment => sql`coalesce(${column} in (${wanted}), false)`

function booleanPredicate(sql: Db, condition: Condition): Fragment {
  if (condition.operator === 'exists') return sql`true`
  if (condition.operator === 'not_exists') return sql`false`
  return (condition.value === true) === (condition.operator === 'equals') ? sql`c.blocked` : sql`(not c.blocked)`
}

const dayMs = 86_400_000

function timePredicate(sql: Db, column: Fragment, condition: Condition, now: number): Fragment {
  const { operator, value } = condition
  if (operator === 'exists') return sql`(${column} is not null)`
  if (operator === 'not_exists') return sql`(${column} is null)`
  if (operator === 'before') return sql`(${column} < ${value as string}::timestamptz)`
  if (operator === 'after') return sql`(${column} > ${value as string}::timestamptz)`
  return orMissing(sql, condition, sql`${column} >= ${isoTime(now - (value as number) * dayMs)}::timestamptz`)
}

/** A consent that was never recorded is `unknown`; only `exists` distinguishes the two. */
function consentPredicate(sql: Db, condition: Condition): Fragment {
  const type = condition.field.key!
  if (condition.operator === 'exists') return sql`(c.consent ? ${type}::text)`
  if (condition.operator === 'not_exists') return sql`(not c.consent ? ${type}::text)`
  const requested = values(condition)
  const wanted = consentStatuses.filter((status) => requested.includes(status) !== negations.has(condition.operator))
  const labelsOf = (statuses: readonly ConsentStatus[]) => statuses.map((status) => consentLabel(type, status))
  if (!wanted.includes('unknown')) return sql`(c.labels && ${labelsOf(wanted)}::text[])`
  return sql`(not c.labels && ${labelsOf(consentStatuses.filter((status) => !wanted.includes(status)))}::text[])`
}

const tagLabels = once((condition: Condition) => (values(condition) as string[]).map((tag) => tagLabel(tag)))

function tagsPredicate(sql: Db, condition: Condition): Fragment {
  if (condition.operator === 'exists') return sql`(cardinality(c.tags) > 0)`
  if (condition.operator === 'not_exists') return sql`(cardinality(c.tags) = 0)`
  const wanted = tagLabels(condition)
  if (condition.operator === 'contains_all') return sql`(c.labels @> ${wanted}::text[])`
  const one = wanted.length > labelsCompared ? anyLabel(sql, wanted) : sql`c.labels && ${wanted}::text[]`
  return negations.has(condition.operator) ? sql`(not ${one})` : sql`(${one})`
}

/** More labels are hashed. */
const labelsCompared = 20

const anyLabel = (sql: Db, wanted: readonly string[]): Fragment => {
  const isWanted = among(
    sql,
    sql`l.label`,
    sql`select v from json_array_elements_text(${jsonOf(wanted)}::text::json) v`,
  )
  return sql`exists (select from (select unnest(c.labels) as label offset 0) l where ${isWanted})`
}

/** Looked up one by one, so that the planner can start with the rarest. */
const listsCompared = 8

function listsPredicate(
  sql: Db,
  condition: Condition,
  { tenant: { account_id, mode }, lists }: PredicateContext,
): Fragment {
  const { operator } = condition
  const member = sql`
    from contact_list_members m
    where m.account_id = ${account_id} and m.mode = ${mode} and m.contact_id = c.id`
  if (operator === 'exists' || operator === 'not_exists') {
    const any = sql`
      exists (
        select ${member} and m.list_id in (
          select l.id from contact_lists l where l.account_id = ${account_id} and l.mode = ${mode}))`
    return operator === 'exists' ? any : sql`(not ${any})`
  }
  const requested = [...new Set(values(condition) as string[])]
  const wanted = requested.filter((list) => lists.has(list))
  if (operator === 'contains_all') {
    if (wanted.length < requested.length) return sql`false`
    if (wanted.length > listsCompared)
      return sql`((select count(*) ${member} and m.list_id = any(${wanted}::text[])) = ${wanted.length}::int)`
    return wanted
      .map((list) => sql`exists (select ${member} and m.list_id = ${list})`)
      .reduce((left, right) => sql`${left} and ${right}`)
  }
  if (wanted.length === 0) return negations.has(operator) ? sql`true` : sql`false`
  const one =
    wanted.length === 1
      ? sql`exists (select ${member} and m.list_id = ${wanted[0]!})`
      : sql`exists (select ${member} and m.list_id = any(${wanted}::text[]))`
  return negations.has(operator) ? sql`(not ${one})` : one
}

function attributePredicate(sql: Db, condition: Condition, context: CompileContext): Fragment {
  const { operator, value, field } = condition
  const json = sql`(c.attributes -> ${condition.field.key!}::text)`
  const text = sql`(c.attributes ->> ${condition.field.key!}::text)`
  if (operator === 'exists') return sql`(${text} is not null)`
  if (operator === 'not_exists') return sql`(${text} is null)`
  if (operator === 'greater_than')
    return sql`(case when jsonb_typeof(${json}) = 'number' then ${text}::numeric > ${String(value)}::numeric end)`
  if (operator === 'less_than')
    return sql`(case when jsonb_typeof(${json}) = 'number' then ${text}::numeric < ${String(value)}::numeric end)`
  if (operator === 'contains' || operator === 'starts_with') {
    return sql`(${textComparison(sql, comparedText(sql, field, context), operator, values(condition) as string[])})`
  }
  if (operator === 'before' || operator === 'after' || operator === 'within_days' || operator === 'not_within_days')
    return attributeTime(sql, condition, context.now)
  return sql`(${negations.has(operator) ? sql`not` : sql``} (${attributeEquality(sql, condition, context)}))`
}

const byType = once((wanted: readonly Scalar[]) => ({
  texts: wanted.filter((value) => typeof value === 'string'),
  others: wanted.filter((value) => typeof value !== 'string').map(String),
}))

/** One alternative per JSON type, because text never equals a number. */
function attributeEquality(sql: Db, condition: Condition, { folded }: CompileContext): Fragment {
  const { field } = condition
  const { texts, others } = byType(values(condition))
  const json = sql`(c.attributes -> ${field.key!}::text)`
  const column = folded.get(field.name)
  const compared = (text: Fragment) => textComparison(sql, text, texts.length === 1 ? 'equals' : 'in', texts)
  // most texts differ, so the type is checked last
  const ofType = () =>
    sql`
      ${compared(sql`rule_text(c.attributes ->> ${field.key!}::text)`)} and jsonb_typeof(${json}) = 'string'`
  const alternatives = [
    ...(texts.length > 0
      ? [sql`coalesce(${column === undefined ? ofType() : compared(sql`${sql(column)}`)}, false)`]
      : []),
    ...(others.length > 0 ? [among(sql, json, sql`select v::jsonb from unnest(${others}::text[]) v`)] : []),
  ]
  if (alternatives.length === 0) return sql`false`
  return alternatives.reduce((left, right) => sql`${left} or ${right}`)
}

/** Dates are compared as they are, with a truncated bound. */
function attributeTime(sql: Db, condition: Condition, now: number): Fragment {
  const text = sql`(c.attributes ->> ${condition.field.key!}::text)`
  const date = sql`${text} collate "C"`
  const time = sql`rule_time(${text}) collate "C"`
  const { operator, value } = condition
  const days = typeof value === 'number' ? value : 0
  const [from, until] = [isoTime(now - days * dayMs), isoTime(now)]
  const compared =
    operator === 'before'
      ? sql`${date} < ${firstDate(value as string)}::text else ${time} < ${value as string}::text`
      : operator === 'after'
        ? sql`${date} > ${(value as string).slice(0, 10)}::text else ${time} > ${value as string}::text`
        : sql`${date} between ${firstDate(from)}::text and ${until.slice(0, 10)}::text else ${time} between ${from}::text and ${until}::text`
  return orMissing(
    sql,
    condition,
    sql`case when ${text} like '____-__-__%' then case when length(${text}) = 10 and ${date} < ':' then ${compared} end end`,
  )
}

const firstDate = (time: string): string => (time.endsWith('T00:00:00.000Z') ? time.slice(0, 10) : time)
