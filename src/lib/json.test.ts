import assert from 'node:assert/strict'
import test from 'node:test'
import { storable } from './json.ts'

test('values that PostgreSQL cannot store are replaced, everything else stays', () => {
  const written = {
    'a\0': ['b\0c', 'd\ud800', 'e\u{1f600}'],
    n: [1, Infinity, Number.NaN],
    o: { p: true, q: null },
    deep: { er: { est: 1 } },
  }

  assert.deepEqual(storable(written, 2), {
    'a\uFFFD': ['b\uFFFDc', 'd\uFFFD', 'e\u{1f600}'],
    n: [1, null, null],
    o: { p: true, q: null },
    deep: { er: null },
  })
})

test('storable values are returned unchanged', () => {
  const written = { a: ['b', { c: 1 }], d: null, e: { f: false } }

  assert.equal(storable(written, 3), written)
})
