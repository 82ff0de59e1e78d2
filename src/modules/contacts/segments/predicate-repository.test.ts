import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { AttributeValue } from '../../../api/resources/contact.ts'
import { type ContactRow, newContact } from '../contact.ts'
import { isoTime } from '../../../lib/clock.ts'
import { startPlatform, type PlatformWorld } from '../../../../test/support/world.ts'
import { insertContacts } from '../repository.ts'
import { matches, type FieldValue } from './evaluator.ts'
import { operatorsOf, type Field } from './fields.ts'
import { predicate } from './predicate-repository.ts'
import { parseRules } from './rules.ts'
import { effort } from '../../../../test/support/effort.ts'

const tenant = { account_id: 'acc_1', mode: 'test' } as unknown as { account_id: `acc_${string}`; mode: 'test' }
const day = 86_400_000
const lists = ['1', '2', '3', '4', '5', '6', '7', '8', '9', 'a'].map((last) => `lst_01h455vb4pex5vsknk084sn02${last}`)
const deletedList = 'lst_01h455vb4pex5vsknk084sn02z'

// values that differ in case alone, near misses, and text that SQL might misread
const names = [
  'Ada',
  'ADA',
  'Ada Lovelace',
  'Åsa',
  'åsa',
  "O'Hara",
  '100%',
  'a_b',
  'ab',
  '\\',
  'Ωmega',
  'Kim',
  '\u212Aim',
  'kim',
  'İda',
  'ΟΔΟΣ',
  'a\u001Fb',
  '',
]
const tags = ['VIP', 'vip', 'news', 'Ärger', "it's", '{a,b}', '"q"']
const times = [
  '2026-01-01',
  '2025-12-31T23:30:00-02:00',
  '2026-01-01T00:00:00Z',
  '2026-01-01T00:00:00.001Z',
  '2026-02-30',
  '2026-01-01T10:00',
  '2026-13-01T00:00:00+01:00',
  '2026-01-01T24:00:00+01:00',
  'soon',
]
const scalars: AttributeValue[] = [
  ...names.slice(0, 6),
  'Kim',
  '\u212Aim',
  'a\u001Fb',
  ...times,
  0,
  1,
  -2.5,
  1e21,
  18,
  true,
  false,
  '1',
  'true',
]

const maybe = <T>(values: readonly T[]) => fc.option(fc.constantFrom(...values), { nil: null })
const ago = fc.option(fc.constantFrom(0, 1, 29, 30, 31, 400), { nil: null })
const person = fc.record({
  first_name: maybe(names.slice(0, -1)),
  last_name: maybe(names.slice(0, -1)),
  email: maybe(['ada@example.com', 'ADA@Example.com', 'b@c.de']),
  country: maybe(['DE', 'BR']),
  external_id: maybe(['x-1', 'X-1']),
  phone: maybe(['+4915112345678', '+15005550006']),
  telegram: maybe(['17', '18']),
  blocked: fc.boolean(),
  seen: ago,
  tags: fc.uniqueArray(fc.constantFrom(...tags), { selector: (tag) => tag.toLowerCase(), maxLength: 3 }),
  consent: fc.constantFrom(null, 'opted_in', 'opted_out', 'unknown'),
  attributes: fc.record(
    {
      plan: fc.constantFrom(...scalars),
      age: fc.constantFrom(...scalars.slice(-10)),
      since: fc.constantFrom(...times),
    },
    { requiredKeys: [] },
  ),
  lists: fc.oneof(fc.uniqueArray(fc.constantFrom(...lists), { maxLength: 3 }), fc.constant(lists)),
})
type Person = typeof person extends fc.Arbitrary<infer T> ? T : never

const fieldsByKind = {
  text: ['first_name', 'last_name', 'full_name', 'email', 'phone', 'country', 'external_id', 'identifiers.telegram'],
  boolean: ['blocked'],
  time: ['last_seen_at', 'created_at'],
  consent: ['consent.sms'],
  value: ['attributes.plan', 'attributes.age', 'attributes.since', 'attributes.none'],
  tags: ['tags'],
  lists: ['lists'],
} as const

const kinds = Object.keys(fieldsByKind) as (keyof typeof fieldsByKind)[]

const condition = fc.constantFrom(...kinds, 'text' as const, 'value' as const, 'value' as const).chain((kind) =>
  fc.tuple(fc.constantFrom(...fieldsByKind[kind]), fc.constantFrom(...operatorsOf[kind])).chain(([field, operator]) => {
    const values = valuesFor(kind, operator)
    if (values === null) return fc.constant({ field, operator })
    const isMany = operator === 'in' || operator === 'not_in' || (operator.startsWith('contains_') && kind !== 'text')
    const value: fc.Arbitrary<unknown> = isMany ? manyOf(kind, values) : values
    return value.map((chosen) => ({ field, operator, value: chosen }))
  }),
)

function manyOf(kind: keyof typeof fieldsByKind, values: fc.Arbitrary<unknown>): fc.Arbitrary<unknown[]> {
  const few = fc.array(values, { minLength: 1, maxLength: 3 })
  if (kind === 'consent') return few
  if (kind === 'lists')
    return fc.oneof<fc.Arbitrary<unknown[]>[]>(few, fc.constant(lists), fc.constant([...lists, deletedList]))
  const others = Array.from({ length: 997 }, (_, i) => (kind === 'value' && i % 3 === 0 ? i + 1000 : `Other ${i}`))
  return fc.oneof({ weight: 3, arbitrary: few }, { weight: 1, arbitrary: few.map((chosen) => [...others, ...chosen]) })
}

function valuesFor(kind: keyof typeof fieldsByKind, operator: string): fc.Arbitrary<unknown> | null {
  if (operator === 'exists' || operator === 'not_exists') return null
  if (operator === 'before' || operator === 'after')
    return fc.constantFrom('2026-01-01', '2025-12-31T23:30:00Z', '2026-03-01T12:00:00+02:00')
  if (operator.endsWith('within_days')) return fc.constantFrom(1, 30, 36500)
  if (operator.endsWith('_than')) return fc.constantFrom(0, 1, 17.5, -3)
  if (kind === 'boolean') return fc.boolean()
  if (kind === 'consent') return fc.constantFrom('opted_in', 'opted_out', 'unknown')
  if (kind === 'tags') return fc.constantFrom(...tags, 'other')
  if (kind === 'lists') return fc.constantFrom(...lists, deletedList)
  const texts = [...names.slice(0, -1), 'ada@', '+49 151', '@', 'DE', 'x-1', '17', "' or true --"]
  return kind === 'text' || operator === 'contains' || operator === 'starts_with'
    ? fc.constantFrom(...texts)
    : fc.constantFrom(...scalars.filter((value) => value !== ''))
}

const group = fc.record({
  match: fc.constantFrom('all', 'any'),
  conditions: fc.array(condition, { minLength: 1, maxLength: 3 }),
})
/** More attributes than are looked up one by one. */
const manyAttributes = fc
  .record({
    match: fc.constantFrom('all', 'any'),
    negated: fc.boolean(),
    values: fc.array(
      fc.array(fc.constantFrom(...scalars.filter((value) => typeof value === 'string')), {
        minLength: 1,
        maxLength: 3,
      }),
      {
        minLength: 13,
        maxLength: 13,
      },
    ),
    mixed: fc.array(condition, { maxLength: 1 }),
  })
  .map(({ match, negated, values, mixed }) => {
    const fields = ['plan', 'age', 'since', 'none', ...Array.from({ length: 9 }, (_, i) => `other_${i}`)]
    const each = fields.map((field, i) => ({
      field: `attributes.${field}`,
      operator: negated ? 'not_in' : 'in',
      value: values[i],
    }))
    return { match, conditions: [...each, ...mixed] }
  })
const rules = fc.record({
  match: fc.constantFrom('all', 'any'),
  conditions: fc.array(fc.oneof({ weight: 4, arbitrary: condition }, { weight: 2, arbitrary: group }, manyAttributes), {
    minLength: 1,
    maxLength: 3,
  }),
})

test('SQL and the in-memory evaluator agree on any rules and contacts', async (t) => {
  const world = await startPlatform(t)
  await world.pool`insert into contact_lists ${world.pool(lists.map((id) => ({ ...tenant, id, name: 'List', created_at: isoTime(0), updated_at: isoTime(0) })))}`
  const now = world.clock.now()

  await fc.assert(
    fc.asyncProperty(
      fc.array(person, { minLength: 12, maxLength: 12 }),
      fc.array(rules, { minLength: 16, maxLength: 16 }),
      async (people, ruleSets) => {
        const rows = await store(world, people)
        for (const written of ruleSets) {
          const { root } = parseRules(written)
          const found = await world.pool<{ id: string }[]>`
          select c.id from contacts c where c.account_id = ${tenant.account_id} and c.mode = ${tenant.mode}
            and ${predicate(world.pool, root, { tenant, now, lists: new Set(lists) })} order by c.id`
          const expected = rows
            .filter(({ row, person }) => matches(root, (field) => valueOf(field, row, person), now))
            .map(({ row }) => row.id)
          assert.deepEqual(
            found.map((row) => row.id),
            expected.sort(),
            JSON.stringify(written),
          )
        }
      },
    ),
    { numRuns: effort(40, 240), seed: 6 },
  )
})

/** Letters of Unicode 17, which Node knows and PostgreSQL 18 does not. */
const unicode17 = /^[\u{A7CE}\u{A7D2}\u{A7D4}\u{16EA0}-\u{16EB8}]$/u

const foldedAtOnce = 50_000

test('text folds in the database as in JavaScript, character by character and within words', async (t) => {
  const { pool } = await startPlatform(t)
  const characters = Array.from({ length: 0x110000 }, (_, code) => String.fromCodePoint(code)).filter(
    (each) => each !== '\0' && each.isWellFormed(),
  )
  const words = ['ΟΔΟΣ', 'ΟΔΟΣ\u001FΟΔΟΣ', 'Σ', 'ΑΣ.', "Σ'Α", 'İSTANBUL', 'DŽ', 'STRASSE ẞ', '\u212Aelvin']
  const texts = [...characters, ...words]

  const rows: { text: string; folded: string }[] = []
  for (let at = 0; at < texts.length; at += foldedAtOnce) {
    const some = JSON.stringify(texts.slice(at, at + foldedAtOnce))
    rows.push(
      ...(await pool<{ text: string; folded: string }[]>`
        select v as text, rule_text(v) as folded from json_array_elements_text(${some}::text::json) v`),
    )
  }

  assert.equal(rows.length, texts.length)
  assert.deepEqual(
    rows.filter(({ text, folded }) => folded !== text.toLowerCase() && !unicode17.test(text)).map(({ text }) => text),
    [],
  )
  // texts that fold alike are compared by length
  const ascii = (text: string) => Buffer.byteLength(text) === text.length
  assert.deepEqual(
    rows
      .filter(({ text, folded }) => ascii(folded) && folded.length !== Buffer.byteLength(text))
      .map(({ text }) => text),
    ['\u212A', '\u212Aelvin'],
  )
})

test('a statement hashes many values instead of scanning them for each contact', async (t) => {
  const { pool } = await startPlatform(t)
  const many = (name: string) => Array.from({ length: 1000 }, (_, i) => `${name} ${i}`)
  const explained = async (written: object) => {
    const { root } = parseRules(written)
    const rows = await pool.begin(async (tx) => {
      await tx`set local plan_cache_mode = force_custom_plan`
      return await tx<{ 'QUERY PLAN': string }[]>`
        explain (costs off) select from contacts c where ${predicate(tx, root, { tenant, now: 0, lists: new Set() })}`
    })
    return rows.map((row) => row['QUERY PLAN']).join('\n')
  }

  const text = await explained({ match: 'all', conditions: [{ field: 'email', operator: 'in', value: many('Mail') }] })
  const attributes = await explained({
    match: 'any',
    conditions: Array.from({ length: 40 }, (_, i) => ({ field: `attributes.a${i}`, operator: 'in', value: many('V') })),
  })

  // PostgreSQL hashes an array in the plan
  assert.match(text, /= ANY \('\{"mail 0","mail 1",/)
  assert.match(attributes, /= ANY \('\{"v 0","v 1",/)
  assert.equal(attributes.match(/jsonb_object_keys|ProjectSet/g)?.length, 1)
})

async function store(
  { pool, platform, clock }: PlatformWorld,
  people: readonly Person[],
): Promise<{ row: ContactRow; person: Person }[]> {
  const rows = people.map((person) => ({ person, row: rowOf(person, platform.ids('ct'), clock.now()) }))
  await pool`delete from contacts`
  await pool`delete from contact_list_members`
  await insertContacts(
    pool,
    tenant,
    rows.map(({ row }) => row),
  )
  // members of a deleted list do not count, even while their rows exist
  const members = rows.flatMap(({ row, person }) =>
    [...person.lists, deletedList].map((list_id) => ({
      ...tenant,
      list_id,
      contact_id: row.id,
      created_at: isoTime(0),
    })),
  )
  if (members.length > 0) await pool`insert into contact_list_members ${pool(members)}`
  return rows
}

function rowOf(person: Person, id: string, now: number): ContactRow {
  const { first_name, last_name } = person
  return {
    ...newContact(tenant, id, isoTime(now - 5 * day)),
    first_name,
    last_name,
    full_name: first_name !== null && last_name !== null ? `${first_name} ${last_name}` : (first_name ?? last_name),
    email: person.email,
    country: person.country,
    external_id: person.external_id,
    phone: person.phone,
    phone_key: person.phone,
    blocked: person.blocked,
    tags: person.tags,
    identifiers: person.telegram === null ? {} : { telegram: person.telegram },
    attributes: person.attributes,
    last_seen_at: person.seen === null ? null : isoTime(now - person.seen * day),
    consent:
      person.consent === null
        ? {}
        : { sms: { status: person.consent as 'opted_in', source: 'api', updated_at: isoTime(now) } },
  }
}

function valueOf(field: Field, row: ContactRow, { lists }: Person): FieldValue {
  switch (field.root) {
    case 'attributes':
      return row.attributes[field.key!]
    case 'identifiers':
      return row.identifiers[field.key!]
    case 'consent':
      return row.consent[field.key!]?.status
    case 'lists':
      return lists
    default:
      return row[field.root as 'tags']
  }
}
