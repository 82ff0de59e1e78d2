import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { replaceLongIntegers } from './long-integers.ts'
import { isPlainJson } from './plain-json.ts'
import { storable } from './storable.ts'

const plain = (json: string, depth_max = 30): boolean => isPlainJson(Buffer.from(json), depth_max)

test('plain JSON needs nothing mended, whatever it holds', () => {
  const number = fc.oneof(
    fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
    fc.bigInt().map(String),
    fc.integer().map(String),
  )
  const text = fc.oneof(
    fc.string(),
    fc.constantFrom('\0', '\ud800', '\u{1f600}', '\\', '"', '\n', '12345678901234567890'),
  )
  const { json } = fc.letrec<{ json: string }>((tie) => ({
    json: fc.oneof(
      { maxDepth: 4, depthSize: 'small' },
      text.map((value) => JSON.stringify(value)),
      number,
      fc.array(tie('json'), { maxLength: 4 }).map((items) => `[${items.join(' , ')}]`),
      fc
        .array(fc.tuple(text, tie('json')), { maxLength: 4 })
        .map((fields) => `{${fields.map(([key, value]) => `${JSON.stringify(key)}:${value}`).join(',\t')}}`),
    ),
  }))

  fc.assert(
    fc.property(json, fc.constantFrom(2, 30), (written, depth_max) => {
      if (!plain(written, depth_max)) return
      const value: unknown = JSON.parse(written)
      assert.equal(storable(value, depth_max), value)
      assert.equal(
        replaceLongIntegers(written, () => 'replaced'),
        written,
      )
      assert.ok(!written.includes('\n'))
    }),
    { numRuns: 300 },
  )
})

test('what needs mending is not plain, also where a later field of the same name hides it', () => {
  const mended = [
    '"\\u0000"',
    '"a\\\\\\u0000"',
    '"\\ud83d"',
    '"\\uDC00"',
    '1e400',
    '1E400',
    '9007199254740993',
    '[[[1]]]',
    '\n1',
  ]
  for (const value of mended) {
    assert.equal(plain(value, 2), false, value)
    assert.equal(plain(`{"a":${value},"a":1}`, 3), false, value)
  }
})

test('what merely looks so within texts is plain', () => {
  for (const value of [
    '"9007199254740993"',
    '"[[[[{{{"',
    '"\\\\u0000"',
    '"1e400"',
    '"\\u00e4"',
    '"\\""',
    'true',
    '123456789012345',
    '-1.5',
    '[[],[],[]]',
  ])
    assert.equal(plain(value, 2), true, value)
})
