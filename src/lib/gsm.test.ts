import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { gsmBytes, gsmText as textOf, smsEncoding, splitSms, type SmsShape } from './gsm.ts'
import { effort } from '../../test/support/effort.ts'

/** As in 3GPP TS 23.038; 27 is the escape. */
const basicTable = [
  ...'@£$¥èéùìòÇ\nØø\rÅå',
  ...'Δ_ΦΓΛΩΠΨΣΘΞ',
  null,
  ...'ÆæßÉ',
  ...' !"#¤%&\'()*+,-./',
  ...'0123456789:;<=>?',
  ...'¡ABCDEFGHIJKLMNO',
  ...'PQRSTUVWXYZÄÖÑÜ§',
  ...'¿abcdefghijklmno',
  ...'pqrstuvwxyzäöñüà',
]
const extensionTable = new Map([
  [10, '\f'],
  [20, '^'],
  [40, '{'],
  [41, '}'],
  [47, '\\'],
  [60, '['],
  [61, '~'],
  [62, ']'],
  [64, '|'],
  [101, '€'],
])
const basic = basicTable.filter((character) => character !== null)
const extension = [...extensionTable.values()]

/** Simple but slow: cuts the text into indivisible pieces, and fills parts one by one. */
function reference(body: string): SmsShape {
  const characters = [...body]
  const gsm = characters.every((character) => basic.includes(character) || extension.includes(character))
  const sizes = characters.map((character) => (gsm ? (extension.includes(character) ? 2 : 1) : character.length))
  const [single, part] = gsm ? [160, 153] : [70, 67]
  if (sizes.reduce((sum, size) => sum + size, 0) <= single) return { encoding: gsm ? 'gsm7' : 'ucs2', segments: 1 }
  const parts: number[] = [0]
  for (const size of sizes) {
    if (parts.at(-1)! + size <= part) parts[parts.length - 1]! += size
    else parts.push(size)
  }
  return { encoding: gsm ? 'gsm7' : 'ucs2', segments: parts.length }
}

test('the alphabet is the table of the standard: 127 characters and 10 in the extension', () => {
  assert.equal(basicTable.length, 128)
  assert.equal(new Set([...basic, ...extension]).size, 137)
  for (let code = 0; code < 0x10000; code++) {
    const character = String.fromCharCode(code)
    const known = basic.includes(character) || extension.includes(character)
    assert.equal(smsEncoding(character).encoding, known ? 'gsm7' : 'ucs2', `U+${code.toString(16)}`)
  }
})

for (const [what, body, encoding, segments] of [
  ['an empty text', '', 'gsm7', 1],
  ['160 letters', 'a'.repeat(160), 'gsm7', 1],
  ['161 letters', 'a'.repeat(161), 'gsm7', 2],
  ['306 letters', 'a'.repeat(306), 'gsm7', 2],
  ['307 letters', 'a'.repeat(307), 'gsm7', 3],
  ['80 euro signs', '€'.repeat(80), 'gsm7', 1],
  ['81 euro signs, 76 to a part', '€'.repeat(81), 'gsm7', 2],
  ['a euro sign that would straddle the first part', `${'a'.repeat(152)}€${'a'.repeat(152)}`, 'gsm7', 3],
  ['a euro sign that just fits the first part', `${'a'.repeat(151)}€${'a'.repeat(153)}`, 'gsm7', 2],
  ['a backtick, which GSM lacks', '`', 'ucs2', 1],
  ['a small c with cedilla, which GSM lacks', 'ç', 'ucs2', 1],
  ['70 Cyrillic letters', 'я'.repeat(70), 'ucs2', 1],
  ['71 Cyrillic letters', 'я'.repeat(71), 'ucs2', 2],
  ['35 emoji', '😀'.repeat(35), 'ucs2', 1],
  ['36 emoji, 33 to a part', '😀'.repeat(36), 'ucs2', 2],
  ['67 emoji: three parts, since no pair is split', '😀'.repeat(67), 'ucs2', 3],
] as const) {
  test(`${what}: ${encoding} in ${segments}`, () => {
    assert.deepEqual(smsEncoding(body), { encoding, segments })
  })
}

const gsmText = fc
  .array(
    fc.oneof(
      { weight: 6, arbitrary: fc.constantFrom(...basic) },
      { weight: 1, arbitrary: fc.constantFrom(...extension) },
    ),
    {
      maxLength: 700,
      size: 'max',
    },
  )
  .map((all) => all.join(''))
const asciiText = fc.string({ unit: 'binary-ascii', maxLength: 700, size: 'max' })
const anyText = fc.string({ unit: 'binary', maxLength: 400, size: 'max' })

test('encoding and parts agree with the reference on any text', () => {
  fc.assert(
    fc.property(fc.oneof(gsmText, asciiText, anyText), (body) => assert.deepEqual(smsEncoding(body), reference(body))),
    { numRuns: effort(200, 2000) },
  )
})

test('one more character never needs fewer parts', () => {
  fc.assert(
    fc.property(gsmText, fc.constantFrom(...basic, ...extension), (body, more) =>
      assert.ok(smsEncoding(body + more).segments >= smsEncoding(body).segments),
    ),
  )
})

test('a text is split into the announced number of parts, which fit and lose nothing', () => {
  fc.assert(
    fc.property(fc.oneof(gsmText, anyText), (body) => {
      const { encoding, segments } = smsEncoding(body)
      const { parts, ...cut } = splitSms(body)

      assert.equal(parts.join(''), body)
      assert.deepEqual([cut.encoding, parts.length], [encoding, segments])
      const sizes = parts.map((part) => (encoding === 'gsm7' ? gsmBytes(part).length : part.length))
      const room = encoding === 'gsm7' ? [160, 153] : [70, 67]
      assert.ok(
        sizes.every((size) => size <= room[parts.length === 1 ? 0 : 1]!),
        sizes.join(', '),
      )
      // no escaped character or surrogate pair is split
      for (const part of parts) if (body.isWellFormed()) assert.ok(part.isWellFormed())
      if (encoding === 'gsm7') for (const part of parts) assert.equal(textOf(gsmBytes(part)), part)
    }),
    { numRuns: effort(100, 1000) },
  )
})

test('septets are the positions in the GSM alphabet', () => {
  const bytes = [...basicTable.keys()].filter((place) => basicTable[place] !== null)

  assert.equal(textOf(Uint8Array.from(bytes)), basic.join(''))
  assert.deepEqual([...gsmBytes(basic.join(''))], bytes)
  for (const [place, character] of extensionTable) assert.deepEqual([...gsmBytes(character)], [27, place])
  // an escape before a character without an extended form, at the end, and bytes above 7 bits
  assert.deepEqual(
    [textOf(Uint8Array.from([27, 65])), textOf(Uint8Array.from([65, 27])), textOf(Uint8Array.from([0xc1]))],
    ['A', 'A', 'A'],
  )
})
