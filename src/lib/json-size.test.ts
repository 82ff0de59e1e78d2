import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { boundExceeded, countMembers, exceededBy } from './json-size.ts'

const membersOf = (text: string): number => countMembers(Buffer.from(text))

function countParsed(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  const inner: unknown[] = Array.isArray(value) ? value : Object.values(value)
  return inner.length + inner.reduce<number>((sum, one) => sum + countParsed(one), 0)
}

function namesIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return []
  if (Array.isArray(value)) return value.flatMap(namesIn)
  return Object.entries(value).flatMap(([name, inner]) => [name, ...namesIn(inner)])
}

const hostileText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom('"', '\\', '\\"', ',', '{', '[', '{"a":1,"b":[2,3]}', '\u0000', '\\\\"', 'é,', '😀"'),
)
/** Without escapes: V8 13.6 confuses `"n\""` with `"n\\"` where an object before had that name. */
const name = hostileText.map((text) => text.replaceAll(/["\\\p{Cc}\p{Cs}]/gu, '+'))
const json = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'medium' },
    fc.constantFrom(null, true, false, 0, -1.5e-7, 1e21),
    hostileText,
    fc.array(tie('value')),
    fc.dictionary(name, tie('value')),
  ),
})).value

test('members are counted as parsing the text would find them, however it is written', () => {
  fc.assert(
    fc.property(json, fc.constantFrom(undefined, 1, '\t', ' \n'), (value, indent) => {
      assert.equal(membersOf(JSON.stringify(value, null, indent)), countParsed(JSON.parse(JSON.stringify(value))))
    }),
  )
})

test('different names are counted as parsing the text would find them', () => {
  fc.assert(
    fc.property(json, fc.nat({ max: 8 }), fc.constantFrom(undefined, ' \n'), (value, names_max, indent) => {
      const text = JSON.stringify(value, null, indent)
      const bounds = { members_max: Infinity, names_max }
      assert.equal(
        boundExceeded(Buffer.from(text), bounds),
        new Set(namesIn(JSON.parse(text))).size > names_max ? 'names' : null,
      )
    }),
  )
})

test('counting ends once a bound is passed, and reports which one', () => {
  const numbers = Buffer.from(`{"a":[${'1,'.repeat(999)}1]}`)

  const exceeded = (members_max: number) => boundExceeded(numbers, { members_max, names_max: Infinity })
  assert.deepEqual([exceeded(1_001), exceeded(1_000), exceeded(10)], [null, 'members', 'members'])
  assert.equal(countMembers(numbers, 10), 11)
})

test('text that is not JSON is counted without failing, and names with escapes as they are written', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      assert.doesNotThrow(() => boundExceeded(bytes, { members_max: 50, names_max: 2 }))
    }),
  )
  for (const [text, members] of [
    ['', 0],
    ['{', 0],
    ['[', 0],
    ['"', 0],
    ['{"a', 0],
    ['[[[1', 0],
    ['[[[1]]]', 3],
    ['"\\', 0],
    ['[,', 1],
    ['{"a\\"b":1,"a\\\\":2}', 2],
  ] as const)
    assert.equal(membersOf(text), members, text)
})

test('a value exceeds its bounds exactly where its JSON does', () => {
  fc.assert(
    fc.property(json, fc.nat({ max: 60 }), fc.nat({ max: 12 }), (value, bytes_max, members_max) => {
      const text = JSON.stringify(value)
      const expected =
        countParsed(JSON.parse(text)) > members_max ? 'members' : Buffer.byteLength(text) > bytes_max ? 'bytes' : null
      assert.equal(exceededBy(JSON.parse(text), { bytes_max, members_max }), expected)
    }),
  )
})
