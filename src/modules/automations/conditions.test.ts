/** Conditions (behaviour: integrations 5.3, 5.4). */
import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { isoTime } from '../../lib/clock.ts'
import type { ConditionEvent } from './condition-values.ts'
import { conditionResults, conditionsFailures, conditionsMet } from './conditions.ts'
import { newContact } from '../contacts/contact.ts'
import { operatorsOf } from '../contacts/segments/fields.ts'
import { predicate } from '../contacts/segments/predicate-repository.ts'
import { parseRules } from '../contacts/segments/rules.ts'
import { insertContacts } from '../contacts/repository.ts'
import { startPlatform } from '../../../test/support/world.ts'
import { effort } from '../../../test/support/effort.ts'

const now = Date.parse('2026-03-01T12:00:00.000Z')
const all = (...conditions: unknown[]) => ({ match: 'all', conditions })
const rule = (field: string, operator: string, value?: unknown) => ({
  field,
  operator,
  ...(value === undefined ? {} : { value }),
})
const met = (
  data: Record<string, unknown>,
  field: string,
  operator: string,
  value?: unknown,
  customer: ConditionEvent['customer'] = {},
) => conditionsMet(all(rule(field, operator, value)), { customer, data }, now)

const order = {
  order: {
    total: '59.99',
    count: 3,
    code: 'Spring',
    long: 'xyxyxyxyxyxyxyxyxyxyend',
    paid: true,
    note: '',
    placed_at: '2026-02-28T23:30:00-02:00',
    discounts: [],
    shipping: { carrier: null },
    tags: ['VIP', 'gold'],
    items: [
      { sku: 'A-1', price: '10.00', sizes: ['S', 'M'] },
      { sku: 'B-2', price: 25 },
    ],
  },
}

test('a decimal text compares as a number with numbers and as a text with texts', () => {
  const holding: [string, string, unknown][] = [
    ['total', 'greater_than', 50],
    ['total', 'less_than', 60],
    ['total', 'equals', 59.99],
    ['total', 'equals', '59.99'],
    ['total', 'in', [1, 59.99]],
    ['count', 'equals', '3.0'],
    ['count', 'in', ['2', '3']],
    ['items.price', 'equals', 10],
    ['items.price', 'contains_all', ['25', 10]],
  ]
  const failing: [string, string, unknown][] = [
    ['total', 'greater_than', 59.99],
    ['total', 'equals', '59.990'],
    ['total', 'not_equals', 59.99],
    ['total', 'not_in', [59.99]],
    ['code', 'greater_than', 0],
    ['code', 'less_than', 0],
    ['paid', 'equals', 1],
    ['paid', 'equals', 'true'],
    ['items.price', 'equals', '10'],
  ]

  for (const [path, operator, value] of holding)
    assert.equal(met(order, `data.order.${path}`, operator, value), true, `${path} ${operator} ${value}`)
  for (const [path, operator, value] of failing)
    assert.equal(met(order, `data.order.${path}`, operator, value), false, `${path} ${operator} ${value}`)
})

test('a path goes through objects and arrays; one of several values must match, for a negation none may', () => {
  const holding: [string, string, unknown?][] = [
    ['items[1].sku', 'equals', 'b-2'],
    ['items.0.sku', 'starts_with', 'a-'],
    ['items.sku', 'equals', 'B-2'],
    ['items.sku', 'contains_any', ['B-2', 'C-3']],
    ['items.sku', 'not_in', ['C-3']],
    ['items.sizes', 'equals', 'm'],
    ['tags', 'contains', 'go'],
    ['long', 'contains', 'XYXYXYXYXYXYXYXYXYend'],
    ['tags', 'contains_all', ['vip', 'GOLD']],
    ['shipping', 'exists'],
    ['shipping.carrier', 'not_exists'],
    ['discounts', 'not_exists'],
    ['note', 'not_exists'],
    ['note', 'not_equals', 'x'],
    ['nothing.at.all', 'not_within_days', 3],
    ['placed_at', 'within_days', 1],
    ['placed_at', 'before', '2026-03-01T02:00:00Z'],
    ['code', 'not_within_days', 36_500],
  ]
  const failing: [string, string, unknown?][] = [
    ['items[2].sku', 'exists'],
    ['items.sku', 'not_equals', 'A-1'],
    ['items.sku', 'contains_none', ['A-1']],
    ['items.sku', 'contains_all', ['A-1', 'C-3']],
    ['shipping', 'equals', '[object Object]'],
    ['shipping', 'contains', 'carrier'],
    ['constructor', 'exists'],
    ['items.length', 'exists'],
    ['code.length', 'exists'],
    ['long', 'contains', 'xyxyxyxyxyxyxyxyxyxyxyend'],
    ['placed_at', 'not_within_days', 1],
    ['placed_at', 'before', '2026-03-01T01:30:00Z'],
  ]

  for (const [path, operator, value] of holding)
    assert.equal(met(order, `data.order.${path}`, operator, value), true, `${path} ${operator} ${String(value)}`)
  for (const [path, operator, value] of failing)
    assert.equal(met(order, `data.order.${path}`, operator, value), false, `${path} ${operator} ${String(value)}`)
})

test('conditions can refer to the customer: texts, phone in any notation, tags and attributes', () => {
  const customer = {
    phone: '+49 151 1234-5678',
    email: 'Ada@Example.com',
    first_name: ' ',
    tags: ['Stammkunde'],
    attributes: { tier: 'Gold', orders: '12' },
  }
  const of = (field: string, operator: string, value?: unknown) =>
    met({}, `customer.${field}`, operator, value, customer)

  assert.ok(
    of('phone', 'equals', '+4915112345678') &&
      of('phone', 'starts_with', '+49 (151)') &&
      !of('phone', 'contains', '99'),
  )
  assert.ok(
    of('email', 'equals', 'ada@example.COM') &&
      of('first_name', 'not_exists') &&
      of('last_name', 'not_equals', 'x') &&
      !of('locale', 'exists'),
  )
  assert.ok(of('tags', 'contains', 'stammkunde') && of('tags', 'contains_none', ['vip']) && !of('tags', 'not_exists'))
  assert.ok(
    of('attributes.tier', 'equals', 'gold') &&
      of('attributes.orders', 'greater_than', 10) &&
      of('attributes.age', 'not_exists'),
  )
})

test('each condition is reported with its result, in the order of the rules', () => {
  const nested = {
    match: 'any',
    conditions: [
      rule('data.order.count', 'equals', 1),
      all(rule('data.order.total', 'exists'), rule('customer.tags', 'exists')),
    ],
  }

  assert.deepEqual(conditionResults(nested, { customer: {}, data: order }, now), [
    { field: 'data.order.count', met: false },
    { field: 'data.order.total', met: true },
    { field: 'customer.tags', met: false },
  ])
  assert.equal(conditionsMet(nested, { customer: {}, data: order }, now), false)
  assert.deepEqual(
    [conditionsMet(null, { customer: {}, data: {} }, now), conditionResults(null, { customer: {}, data: {} }, now)],
    [true, []],
  )
})

const texts = [
  'Ada',
  'ADA',
  'ada lovelace',
  'Åsa',
  'åsa',
  '\u212Aim',
  'kim',
  'İda',
  'ΟΔΟΣ',
  '100%',
  '2026-01-01',
  '2026-02-28T10:00:00Z',
  'soon',
]
const scalars = [...texts, 0, 1, -2.5, 1e21, 18, true, false]
const valuesFor = (operator: string): fc.Arbitrary<unknown> => {
  if (operator === 'exists' || operator === 'not_exists') return fc.constant(undefined)
  if (operator === 'before' || operator === 'after') return fc.constantFrom('2026-01-01', '2026-02-28T12:00:00+02:00')
  if (operator.endsWith('within_days')) return fc.constantFrom(1, 30, 36_500)
  if (operator.endsWith('_than')) return fc.constantFrom(0, 1, 17.5, -3)
  const one =
    operator === 'contains' || operator === 'starts_with' ? fc.constantFrom(...texts) : fc.constantFrom(...scalars)
  return ['in', 'not_in', 'contains_any', 'contains_all', 'contains_none'].includes(operator)
    ? fc.array(one, { minLength: 1, maxLength: 3 })
    : one
}
const conditionOn = (fields: readonly string[], operators: readonly string[]) =>
  fc
    .tuple(fc.constantFrom(...fields), fc.constantFrom(...operators))
    .chain(([field, operator]) => valuesFor(operator).map((value) => rule(field, operator, value)))

test('conditions and segment rules agree on values that both support', async (t) => {
  const world = await startPlatform(t)
  const tenant = { account_id: 'acc_1', mode: 'test' } as unknown as { account_id: `acc_${string}`; mode: 'test' }
  const maybe = fc.option(fc.constantFrom(...texts), { nil: null })
  const person = fc.record({
    first_name: maybe,
    external_id: maybe,
    tags: fc.uniqueArray(fc.constantFrom('VIP', 'news', 'Ärger'), { maxLength: 2 }),
    plan: fc.option(fc.constantFrom(...scalars)),
  })
  const tagRule = fc.constantFrom(
    rule('tags', 'contains', 'vip'),
    rule('tags', 'not_in', ['VIP', 'ärger']),
    rule('tags', 'contains_all', ['news', 'vip']),
    rule('tags', 'not_exists'),
  )
  const one = fc.oneof(
    conditionOn(
      ['first_name', 'external_id'],
      operatorsOf.text.filter((name) => !name.startsWith('not_w')),
    ).filter(({ value }) => textsAlone(value)),
    conditionOn(['attributes.plan'], operatorsOf.value),
    tagRule,
  )
  const rules = fc.record({
    match: fc.constantFrom('all', 'any'),
    conditions: fc.array(one, { minLength: 1, maxLength: 3 }),
  })

  await fc.assert(
    fc.asyncProperty(
      fc.array(person, { minLength: 8, maxLength: 8 }),
      fc.array(rules, { minLength: 12, maxLength: 12 }),
      async (people, written) => {
        await world.pool`delete from contacts`
        const rows = people.map(({ plan, ...fields }, n) => ({
          ...newContact(tenant, `ct_${n}`, isoTime(now)),
          ...fields,
          attributes: plan === null ? {} : { plan },
        }))
        await insertContacts(world.pool, tenant, rows)
        for (const each of written) {
          const found = await world.pool<{ id: string }[]>`
          select c.id from contacts c where c.account_id = ${tenant.account_id} and c.mode = ${tenant.mode}
            and ${predicate(world.pool, parseRules(each).root, { tenant, now, lists: new Set() })} order by c.id`
          const ofEvent = {
            ...each,
            conditions: each.conditions.map((condition) => ({ ...condition, field: `customer.${condition.field}` })),
          }
          const expected = rows.filter(({ first_name, external_id, tags, attributes }) => {
            return conditionsMet(
              ofEvent,
              { customer: { first_name, external_id, tags: [...tags], attributes }, data: {} },
              now,
            )
          })
          assert.deepEqual(
            found.map(({ id }) => id),
            expected.map(({ id }) => id),
            JSON.stringify(each),
          )
        }
      },
    ),
    { numRuns: effort(15, 80), seed: 17 },
  )
})

const textsAlone = (value: unknown): boolean =>
  Array.isArray(value)
    ? value.every((each) => typeof each === 'string')
    : value === undefined || typeof value === 'string'

test('no event makes a condition throw, and a negation is the opposite of its operator', () => {
  const paths = [
    'data.a',
    'data.a.b',
    'data.a[0].b',
    'data.a.0',
    'data.__proto__.x',
    'customer.attributes.a',
    'customer.phone',
    'customer.tags',
    'customer.locale',
  ]
  const kindOf = (field: string) =>
    field === 'customer.tags' ? 'tags' : field.startsWith('data') || field.includes('attributes') ? 'any' : 'text'
  const condition = fc
    .constantFrom(...paths)
    .chain((field) => conditionOn([field], operatorsOf[kindOf(field)]))
    .filter((each) => conditionsFailures(all(each)).length === 0)
  const nonsense = fc.oneof(
    fc.jsonValue({ maxDepth: 4 }),
    fc.constantFrom(undefined, NaN, Infinity, -0, [[[['x']]]], { b: null }, [{ b: [1, null, {}] }]),
    fc.string(),
  )
  const denials = {
    equals: 'not_equals',
    in: 'not_in',
    exists: 'not_exists',
    within_days: 'not_within_days',
    contains_any: 'contains_none',
  } as const

  fc.assert(
    fc.property(condition, nonsense, nonsense, (each, a, b) => {
      const event = {
        customer: { phone: a, tags: b, locale: b, attributes: { a } } as ConditionEvent['customer'],
        data: { a, b },
      }
      const told = conditionsMet(all(each), event, now)
      const denial = denials[each.operator as 'in']

      assert.deepEqual(conditionResults(all(each), event, now), [{ field: each.field, met: told }])
      if (denial !== undefined && conditionsFailures(all({ ...each, operator: denial })).length === 0)
        assert.equal(conditionsMet(all({ ...each, operator: denial }), event, now), !told)
      for (const customer of [a, b])
        if (typeof customer === 'object' && customer !== null)
          conditionsMet(all(each), { customer: customer as object, data: {} }, now)
    }),
    { numRuns: effort(600, 6000) },
  )
})

test('at most two hundred entries of an array and ten thousand characters of a text are compared', () => {
  const entries = Array.from({ length: 60_000 }, (_, i) => i)
  const data = {
    a: entries,
    b: entries.map((c) => ({ c: [c] })),
    nested: entries.map((c) => [c, c]),
    long: `${'y'.repeat(9_999)}zz`,
  }

  for (const field of ['data.a', 'data.b.c'])
    assert.deepEqual([met(data, field, 'equals', 199), met(data, field, 'equals', 200)], [true, false], field)
  assert.deepEqual([met(data, 'data.nested', 'equals', 99), met(data, 'data.nested', 'equals', 100)], [true, false])
  assert.deepEqual(
    [met(data, 'data.a[200]', 'equals', 200), met(data, 'data.b[59999].c', 'equals', 59_999)],
    [true, true],
  )
  assert.deepEqual([met(data, 'data.long', 'contains', 'yz'), met(data, 'data.long', 'contains', 'zz')], [true, false])
  const texts = { a: ['x'.repeat(9_990), 'y'.repeat(20), 'seen'] }
  assert.deepEqual([met(texts, 'data.a', 'contains', 'yyy'), met(texts, 'data.a', 'equals', 'seen')], [false, true])
})

test('each field of an event is read once for all conditions and automations', () => {
  let looks = 0
  const data = Object.defineProperty({}, 'items', { enumerable: true, get: () => ((looks += 1), [{ name: 'Mug' }]) })
  const event = { customer: {}, data: data as Record<string, unknown> }
  const automations = Array.from({ length: 100 }, (_, n) =>
    all(...Array.from({ length: 50 }, (_, i) => rule('data.items.name', 'contains', i === 49 ? `x${n}` : 'mug'))),
  )

  for (const conditions of automations) assert.equal(conditionsMet(conditions, event, now), false)

  assert.equal(looks, 1)
})
