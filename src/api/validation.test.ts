import assert from 'node:assert/strict'
import test from 'node:test'
import { Type } from 'typebox'
import { isTimezone, join, validator } from './validation.ts'

const check = validator(
  Type.Object({
    name: Type.String({ minLength: 1, maxLength: 3 }),
    count: Type.Optional(Type.Integer({ minimum: 1, maximum: 9 })),
    kind: Type.Optional(Type.String({ enum: ['a', 'b'] })),
    at: Type.Optional(Type.String({ format: 'date-time' })),
    zone: Type.Optional(Type.String({ format: 'timezone' })),
    items: Type.Optional(
      Type.Array(Type.Object({ title: Type.String({ minLength: 1 }) }, { additionalProperties: false }), {
        minItems: 1,
        maxItems: 2,
      }),
    ),
    note: Type.Optional(Type.Unsafe<string | null>({ type: ['string', 'null'] })),
  }),
)
const codes = (value: unknown, base?: string) => check(value, base).map(({ param, code }) => [param, code])

test('every failure is reported with a JavaScript path and a code', () => {
  assert.deepEqual(codes({ name: 'ok', note: null }), [])
  assert.deepEqual(codes({}), [['name', 'missing_field']])
  assert.deepEqual(
    codes({
      name: '',
      count: 10,
      kind: 'c',
      at: 'soon',
      zone: '+01:00',
      items: [{ title: '' }, {}, { title: 'x', colour: 1 }],
    }),
    [
      ['name', 'too_short'],
      ['count', 'invalid_value'],
      ['kind', 'invalid_value'],
      ['at', 'invalid_format'],
      ['zone', 'invalid_format'],
      ['items', 'too_many'],
      ['items[0].title', 'too_short'],
      ['items[1].title', 'missing_field'],
      ['items[2].colour', 'unknown_field'],
    ],
  )
  assert.deepEqual(codes({ name: 7, items: [] }), [
    ['name', 'invalid_type'],
    ['items', 'too_few'],
  ])
  assert.deepEqual(
    codes({ name: 'ok', count: 0.5, kind: 7 }),
    [
      ['count', 'invalid_type'],
      ['kind', 'invalid_type'],
    ],
    'a value of the wrong type is one failure',
  )
})

test('paths may start elsewhere, and lengths count code points', () => {
  assert.deepEqual(codes({ name: 'long' }, 'message'), [['message.name', 'too_long']])
  assert.deepEqual(codes({ name: '\u{1F4EF}\u{1F4EF}\u{1F4EF}' }), [])
})

test('messages are sentences that say what to do', () => {
  assert.deepEqual(
    check({ count: 0, kind: 'c' }).map(({ message }) => message),
    ['`name` is required. Add it.', '`count` must be at least 1.', '`kind` must be one of a, b.'],
  )
})

test('a value full of failures is looked through for a thousand of them, however many it has', () => {
  const many = validator(Type.Object({ rows: Type.Array(Type.Object({ title: Type.String() }), { maxItems: 50 }) }))
  let looks = 0
  const row = {
    get title() {
      looks += 1
      return 7
    },
  }

  const found = many({ rows: Array.from({ length: 500_000 }, () => row) })

  assert.deepEqual([found.length, found[0]!.param, found[0]!.code], [1000, 'rows', 'too_many'])
  assert.ok(looks < 20_000, `${looks} of 500,000 were looked at`)
})

test('a failure after thousands of valid items is found', () => {
  const found = validator(Type.Array(Type.String()))([...Array.from({ length: 20_000 }, () => 'a'), 7], 'tags')

  assert.deepEqual(
    found.map(({ param, code }) => [param, code]),
    [['tags[20000]', 'invalid_type']],
  )
})

test('paths quote keys that are not identifiers', () => {
  assert.equal(join('a', 'k'.repeat(900_000)), `a["${'k'.repeat(79)}…"]`)
  assert.equal(join('a'.repeat(199), 'b'.repeat(70)).length, 200)
  assert.deepEqual(
    [join('', 'a'), join('a', 'b'), join('a', '0'), join('a', 'b c'), join('', '__proto__')],
    ['a', 'a.b', 'a[0]', 'a["b c"]', '__proto__'],
  )
})

test('time zones are names, not offsets', () => {
  assert.deepEqual(['Europe/Berlin', 'UTC', '+01:00', 'Mars/Olympus', ''].map(isTimezone), [
    true,
    true,
    false,
    false,
    false,
  ])
})

test('an unknown field gets a suggestion that is not present yet', () => {
  const check = validator(
    Type.Object(
      { link: Type.Optional(Type.String()), caption: Type.Optional(Type.String()) },
      { additionalProperties: false },
    ),
  )
  const message = (value: object) => check(value)[0]?.message

  assert.equal(message({ capton: 'a' }), '`capton` is not known here. Did you mean `caption`?')
  assert.equal(message({ capton: 'a', caption: 'b' }), '`capton` is not known here. Remove it or correct its spelling.')
  assert.equal(message({ unheard: 'a' }), '`unheard` is not known here. Remove it or correct its spelling.')
})
