import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Problem } from '../../../api/problem.ts'
import { parseRules } from './rules.ts'

const all = (...conditions: unknown[]) => ({ match: 'all', conditions })
const one = (field: unknown, operator: unknown, value?: unknown) =>
  all(value === undefined ? { field, operator } : { field, operator, value })

function refusal(rules: unknown): string[] {
  try {
    parseRules(rules)
  } catch (error) {
    assert.ok(error instanceof Problem)
    return error.details!.map((detail) => `${detail.param} ${detail.code}`)
  }
  return []
}

test('every failure of the rules is reported at once, each with its path', () => {
  const rules = all(
    { field: 'shoe_size', operator: 'equals', value: 1 },
    { field: 'first_name', operator: 'greater_than', value: 1 },
    {
      match: 'any',
      conditions: [
        { field: 'email', operator: 'in', value: [] },
        { field: 'blocked', operator: 'equals', value: 'yes' },
        7,
      ],
    },
    { field: 'created_at', operator: 'before', value: 'yesterday', vlaue: 1 },
    { operator: 'equals' },
  )

  const found = refusal(rules)

  assert.deepEqual(found, [
    'rules.conditions[0].field invalid_value',
    'rules.conditions[1].operator invalid_value',
    'rules.conditions[2].conditions[0].value too_few',
    'rules.conditions[2].conditions[1].value invalid_type',
    'rules.conditions[2].conditions[2] invalid_type',
    'rules.conditions[3].vlaue unknown_field',
    'rules.conditions[3].value invalid_format',
    'rules.conditions[4].field missing_field',
  ])
})

test('three groups may be nested, a fourth is refused', () => {
  const leaf = { field: 'tags', operator: 'contains', value: 'vip' }

  assert.deepEqual(refusal(all(all(all(leaf)))), [])
  assert.deepEqual(refusal(all(all(all(all(leaf))))), ['rules.conditions[0].conditions[0].conditions[0] invalid_value'])
})

test('fifty conditions are accepted, also spread over groups, and one more is not', () => {
  const leaf = { field: 'tags', operator: 'contains', value: 'vip' }
  const many = (count: number) => Array.from({ length: count }, () => leaf)

  assert.deepEqual(refusal(all(all(...many(25)), all(...many(25)))), [])
  assert.deepEqual(refusal(all(all(...many(25)), all(...many(26)))), ['rules too_many'])
  assert.deepEqual(refusal(all(...many(51))), ['rules.conditions too_many'])
})

test('operators take the values of their field and nothing else', () => {
  const list = 'lst_01h455vb4pex5vsknk084sn02q'
  const withinLimits = [
    one('first_name', 'equals', 'Ada'),
    one('phone', 'starts_with', '+49 151'),
    one('email', 'in', ['a@b.c']),
    one('country', 'not_exists'),
    one('blocked', 'equals', true),
    one('last_seen_at', 'within_days', 30),
    one('created_at', 'after', '2026-01-31'),
    one('consent.sms', 'not_equals', 'opted_out'),
    one('tags', 'contains_any', ['a', 'b']),
    one('lists', 'contains_none', [list]),
    one('lists', 'in', [list]),
    one('attributes.plan', 'equals', 'pro'),
    one('attributes.age', 'greater_than', 18),
    one('attributes.active', 'equals', true),
    one('attributes.birthday', 'before', '2000-01-01'),
    one('identifiers.telegram', 'exists'),
    one('email', 'exists', null),
  ]
  const unfitting: [unknown, string][] = [
    [one('first_name', 'equals', 5), 'value invalid_type'],
    [one('first_name', 'equals', ' '), 'value too_short'],
    [one('first_name', 'equals', 'x'.repeat(1025)), 'value too_long'],
    [one('first_name', 'equals', 'a\0b'), 'value invalid_value'],
    [one('phone', 'contains', ' (-) '), 'value invalid_value'],
    [one('first_name', 'within_days', 3), 'operator invalid_value'],
    [one('email', 'equals'), 'value missing_field'],
    [one('email', 'exists', 1), 'value invalid_value'],
    [one('email', 'in', 'a'), 'value invalid_type'],
    [one('email', 'in', Array.from({ length: 1001 }, String)), 'value too_many'],
    [one('last_seen_at', 'within_days', 0), 'value invalid_value'],
    [one('last_seen_at', 'within_days', 1.5), 'value invalid_value'],
    [one('created_at', 'equals', '2026-01-01'), 'operator invalid_value'],
    [one('consent.sms', 'equals', 'yes'), 'value invalid_value'],
    [one('consent.smss', 'equals', 'opted_in'), 'field invalid_value'],
    [one('tags', 'equals', 'x'), 'operator invalid_value'],
    [one('lists', 'contains', 'friends'), 'value invalid_value'],
    [one('attributes.Plan', 'exists'), 'field invalid_value'],
    [one('attributes.plan', 'equals', {}), 'value invalid_type'],
    [one('attributes.age', 'greater_than', '18'), 'value invalid_type'],
    [one('__proto__', 'exists'), 'field invalid_value'],
    [one('constructor', 'exists'), 'field invalid_value'],
    [one('email', 'EQUALS', 'x'), 'operator invalid_value'],
    [one(null, 'exists'), 'field invalid_type'],
  ]

  for (const rules of withinLimits) assert.deepEqual(refusal(rules), [], JSON.stringify(rules))
  for (const [rules, problem] of unfitting)
    assert.deepEqual(refusal(rules), [`rules.conditions[0].${problem}`], JSON.stringify(rules).slice(0, 200))
})

test('rules that are not a group are refused', () => {
  for (const rules of [null, 7, 'all', [], [{ match: 'all' }]]) assert.deepEqual(refusal(rules), ['rules invalid_type'])
  assert.deepEqual(refusal({}), ['rules.match missing_field', 'rules.conditions missing_field'])
  assert.deepEqual(refusal({ match: 'none', conditions: [] }), [
    'rules.match invalid_value',
    'rules.conditions too_few',
  ])
})
