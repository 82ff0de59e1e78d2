import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { decodeText, encodeText, joiningHeader, readHeader, type Alphabet } from './text-encoding.ts'

const alphabets: readonly Alphabet[] = ['gsm7', 'latin1', 'ascii']
const anyText = fc.oneof(
  fc.string({ unit: fc.constantFrom(...'aZ9 é@€{}[]~\\^|Ωñ\n'), maxLength: 500, size: 'max' }),
  fc.string({ unit: fc.constantFrom('a', '😀', '日', '€'), maxLength: 300, size: 'max' }),
  fc.string({ unit: 'grapheme', maxLength: 300, size: 'max' }),
)

test('the encoded parts of a text decode to the text', () => {
  fc.assert(
    fc.property(anyText, fc.constantFrom(...alphabets), fc.boolean(), (body, alphabet, whole) => {
      const { data_coding, parts } = encodeText(body, alphabet, whole)

      const read = parts.map((part) => decodeText(part, data_coding, alphabet))

      assert.equal(read.join(''), body)
      if (whole) return assert.equal(parts.length, 1)
      const room = data_coding === 8 ? [140, 134] : [160, 153]
      assert.ok(parts.every((part) => part.length <= room[parts.length === 1 ? 0 : 1]!))
    }),
    { numRuns: 300 },
  )
})

test('a joining header is read as written, and any bytes can be read', () => {
  fc.assert(
    fc.property(
      fc.nat(255),
      fc.integer({ min: 1, max: 255 }),
      fc.integer({ min: 1, max: 255 }),
      fc.uint8Array({ maxLength: 140, size: 'max' }),
      (reference, total, number, bytes) => {
        const position = { reference, total, number }
        assert.deepEqual(readHeader(Buffer.concat([joiningHeader(position), bytes])), {
          position,
          rest: Buffer.from(bytes),
        })
        const { rest } = readHeader(Buffer.from(bytes))
        assert.ok(rest.length <= bytes.length)
        for (const coding of [0, 1, 2, 3, 8, 0xc0, 0xe0, 0xf0, 0xf4]) decodeText(Buffer.from(bytes), coding, 'gsm7')
      },
    ),
  )
})
