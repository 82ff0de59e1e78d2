/**
 * Segment rules as SQL over `contacts c`: identifiers come from the fixed table below, every value is a bound parameter. Means the
 * same as `evaluator.ts`. Where nothing is known SQL's null stands for false: the grammar has no negated groups.
 */
import type postgres from '#postgres'
import type { Tenant } from '../../../contract/caller.ts'
import { consentStatuses, type ConsentStatus } from '../../../contract/resources/contact.ts'
import { isoTime } from '../../../lib/clock.ts'
import type { Db } from '../../../platform/database/sql.ts'
import { consentLabel, tagLabel } from '../contact.ts'
import { comparable } from './evaluator.ts'
import { negations, type Field } from './fields.ts'
import { isGroup, type Condition, type Group, type Scalar } from './rules.ts'

/** A piece of a statement. Never await one, nor return one from an async function: that would run it. */
export type Fragment = postgres.PendingQuery<postgres.Row[]>

/** What conditions are compiled with; `now` in milliseconds since 1970. */
export interface PredicateContext {
  readonly tenant: Tenant
  readonly now: number
  /** Of the lists that the rules name, those that there are: a deleted one has no members, also while its rows are being taken away. */
  readonly lists: ReadonlySet<string>
}

/** The condition under which a row of `contacts c` of this tenant fits the rules. */
export function predicate(sql: Db, node: Group | Condition, context: PredicateContext): Fragment {
  if (!isGroup(node)) return compile(sql, node, context)
  const parts = node.conditions.map((each) => predicate(sql, each, context))
  const joined = parts.reduce((left, right) => (node.match === 'all' ? sql`${left} and ${right}` : sql`${left} or ${right}`))
  return sql`(${joined})`
}

function compile(sql: Db, condition: Condition, context: PredicateContext): Fragment {
  switch (condition.field.kind) {
    case 'text':
      return textPredicate(sql, textColumn(sql, condition.field), condition)
    case 'boolean':
      return booleanPredicate(sql, condition)
    case 'time':
      return timePredicate(sql, timeColumns[condition.field.root]!(sql), condition, context.now)
    case 'consent':
      return consentPredicate(sql, condition)
    case 'value':
      return attributePredicate(sql, condition, context.now)
    case 'tags':
      return tagsPredicate(sql, condition)
    case 'lists':
      return listsPredicate(sql, condition, context)
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

/** Case is folded by ICU's root locale, whatever the database's own collation knows of Unicode. */
const folded = (sql: Db, text: Fragment): Fragment => sql`lower(${text} collate "und-x-icu")`

const values = (condition: Condition): readonly Scalar[] =>
  (Array.isArray(condition.value) ? condition.value : [condition.value]).map((value: Scalar) => comparable(condition.field, value))

/** A negation also holds where there is no value. */
const orMissing = (sql: Db, condition: Condition, holds: Fragment): Fragment =>
  negations.has(condition.operator) ? sql`coalesce(not (${holds}), true)` : sql`(${holds})`

function textPredicate(sql: Db, column: Fragment, condition: Condition): Fragment {
  const { operator } = condition
  if (operator === 'exists') return sql`(${column} is not null)`
  if (operator === 'not_exists') return sql`(${column} is null)`
  return orMissing(sql, condition, textComparison(sql, folded(sql, column), operator, values(condition) as string[]))
}

/** The values are folded twice, here and in JavaScript, so that both sides went through the same rules. */
function textComparison(sql: Db, column: Fragment, operator: Condition['operator'], wanted: readonly string[]): Fragment {
  const value = folded(sql, sql`${wanted[0]!}::text`)
  if (operator === 'contains') return sql`strpos(${column}, ${value}) > 0`
  if (operator === 'starts_with') return sql`starts_with(${column}, ${value})`
  if (operator === 'equals' || operator === 'not_equals') return sql`${column} = ${value}`
  return sql`${column} = any(array(select lower(v collate "und-x-icu") from unnest(${wanted as string[]}::text[]) v))`
}

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

/** A consent that was never recorded is `unknown`: only `exists` tells the two apart. */
function consentPredicate(sql: Db, condition: Condition): Fragment {
  const type = condition.field.key!
  if (condition.operator === 'exists') return sql`(c.consent ? ${type}::text)`
  if (condition.operator === 'not_exists') return sql`(not c.consent ? ${type}::text)`
  const asked = values(condition)
  const wanted = consentStatuses.filter((status) => asked.includes(status) !== negations.has(condition.operator))
  const labelsOf = (statuses: readonly ConsentStatus[]) => statuses.map((status) => consentLabel(type, status))
  if (!wanted.includes('unknown')) return sql`(c.labels && ${labelsOf(wanted)}::text[])`
  return sql`(not c.labels && ${labelsOf(consentStatuses.filter((status) => !wanted.includes(status)))}::text[])`
}

function tagsPredicate(sql: Db, condition: Condition): Fragment {
  if (condition.operator === 'exists') return sql`(cardinality(c.tags) > 0)`
  if (condition.operator === 'not_exists') return sql`(cardinality(c.tags) = 0)`
  const wanted = (values(condition) as string[]).map((tag) => tagLabel(tag))
  if (condition.operator === 'contains_all') return sql`(c.labels @> ${wanted}::text[])`
  return negations.has(condition.operator) ? sql`(not c.labels && ${wanted}::text[])` : sql`(c.labels && ${wanted}::text[])`
}

function listsPredicate(sql: Db, condition: Condition, { tenant: { account_id, mode }, lists }: PredicateContext): Fragment {
  const { operator } = condition
  const member = sql`from contact_list_members m where m.account_id = ${account_id} and m.mode = ${mode} and m.contact_id = c.id`
  if (operator === 'exists' || operator === 'not_exists') {
    const any = sql`exists (select ${member} and m.list_id in (select l.id from contact_lists l where l.account_id = ${account_id} and l.mode = ${mode}))`
    return operator === 'exists' ? any : sql`(not ${any})`
  }
  const asked = [...new Set(values(condition) as string[])]
  const wanted = asked.filter((list) => lists.has(list))
  if (operator === 'contains_all') {
    if (wanted.length < asked.length) return sql`false`
    return wanted.map((list) => sql`exists (select ${member} and m.list_id = ${list})`).reduce((left, right) => sql`${left} and ${right}`)
  }
  if (wanted.length === 0) return negations.has(operator) ? sql`true` : sql`false`
  const one =
    wanted.length === 1 ? sql`exists (select ${member} and m.list_id = ${wanted[0]!})` : sql`exists (select ${member} and m.list_id = any(${wanted}::text[]))`
  return negations.has(operator) ? sql`(not ${one})` : one
}

function attributePredicate(sql: Db, condition: Condition, now: number): Fragment {
  const { operator, value } = condition
  const json = sql`(c.attributes -> ${condition.field.key!}::text)`
  const text = sql`(c.attributes ->> ${condition.field.key!}::text)`
  if (operator === 'exists') return sql`(${text} is not null)`
  if (operator === 'not_exists') return sql`(${text} is null)`
  if (operator === 'greater_than') return sql`(case when jsonb_typeof(${json}) = 'number' then ${text}::numeric > ${String(value)}::numeric end)`
  if (operator === 'less_than') return sql`(case when jsonb_typeof(${json}) = 'number' then ${text}::numeric < ${String(value)}::numeric end)`
  if (operator === 'contains' || operator === 'starts_with') {
    return sql`(jsonb_typeof(${json}) = 'string' and ${textComparison(sql, folded(sql, text), operator, values(condition) as string[])})`
  }
  if (operator === 'before' || operator === 'after' || operator === 'within_days' || operator === 'not_within_days') return attributeTime(sql, condition, now)
  return sql`(${text} is ${negations.has(operator) ? sql`null or not` : sql`not null and`} (${attributeEquality(sql, json, text, values(condition))}))`
}

/** One alternative for each JSON type among the values: a text never equals a number. */
function attributeEquality(sql: Db, json: Fragment, text: Fragment, wanted: readonly Scalar[]): Fragment {
  const texts = wanted.filter((value) => typeof value === 'string')
  const others = wanted.filter((value) => typeof value !== 'string').map(String)
  const alternatives = [
    ...(texts.length > 0
      ? [sql`(jsonb_typeof(${json}) = 'string' and ${textComparison(sql, folded(sql, text), texts.length === 1 ? 'equals' : 'in', texts)})`]
      : []),
    ...(others.length > 0 ? [sql`${json} = any(array(select v::jsonb from unnest(${others}::text[]) v))`] : []),
  ]
  return alternatives.reduce((left, right) => sql`${left} or ${right}`)
}

/** Attributes hold times as text: they are compared as ISO 8601 in UTC (`instant.ts`). A date is compared as it stands, with the bound cut to fit. */
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
  // each look into the attributes costs: most text fails the first one
  return orMissing(sql, condition, sql`case when ${text} like '____-__-__%' then case when length(${text}) = 10 and ${date} < ':' then ${compared} end end`)
}

/** What every date that does not begin before `time` is equal to or above: dates are midnights. */
const firstDate = (time: string): string => (time.endsWith('T00:00:00.000Z') ? time.slice(0, 10) : time)
