/** Searching texts: finds what `includes` finds. */
import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { finderOf } from './text-search.ts'
import { effort } from '../../test/support/effort.ts'

test('a text is found where it is, and nowhere else, however much both repeat themselves', () => {
  const repeated = fc
    .array(fc.constantFrom('x', 'y', 'xy', 'xyxyxyxyxyxyxyxyxyxy', 'ä', '😀'), { maxLength: 30 })
    .map((parts) => parts.join(''))

  fc.assert(
    fc.property(repeated, repeated, repeated, (before, wanted, behind) => {
      const finds = finderOf(wanted)

      assert.equal(finds(before + wanted + behind), true)
      for (const text of [before, behind, before + behind]) assert.equal(finds(text), text.includes(wanted))
    }),
    { numRuns: effort(400, 4000) },
  )
})
