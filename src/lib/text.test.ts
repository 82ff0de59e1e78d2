import { hasLink, isOneLine, nearest, oneLine, substringFinder } from './text.ts'
import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { effort } from '../../test/support/effort.ts'

const known = ['RATE_LIMIT_MESSAGES', 'RATE_LIMIT_DEFAULT', 'CONTACT_LIMIT', 'SECRET_KEY', 'BASE_URL']

test('typos, missing underscores and abbreviations find their word; other words find none', () => {
  const found = ['SECERT_KEY', 'baseurl', 'RATE_LIMIT', 'CONTACTS_LIMIT', 'QUEUE_DEPTH', ''].map((given) =>
    nearest(given, known),
  )

  assert.deepEqual(found, ['SECRET_KEY', 'BASE_URL', 'RATE_LIMIT_MESSAGES', 'CONTACT_LIMIT', undefined, undefined])
})

test('swapped letters count as one edit, so that short words find theirs too', () => {
  assert.deepEqual(
    ['limti', 'txet', 'viedo', 'no', 'abcd'].map((given) => nearest(given, ['limit', 'text', 'video', 'on', 'dcba'])),
    ['limit', 'text', 'video', undefined, undefined],
  )
})

test('a text is found exactly where `includes` finds it, however repetitive both are', () => {
  const repeated = fc
    .array(fc.constantFrom('x', 'y', 'xy', 'xyxyxyxyxyxyxyxyxyxy', 'ä', '😀'), { maxLength: 30 })
    .map((parts) => parts.join(''))

  fc.assert(
    fc.property(repeated, repeated, repeated, (before, wanted, behind) => {
      const finds = substringFinder(wanted)

      assert.equal(finds(before + wanted + behind), true)
      for (const text of [before, behind, before + behind]) assert.equal(finds(text), text.includes(wanted))
    }),
    { numRuns: effort(400, 4000) },
  )
})

test('web addresses are recognised in any form that mail programs make a link of; abbreviations are none', () => {
  for (const text of [
    'https://x.example',
    'see www.x.y',
    'Prize at evil.com',
    'EVIL.COM',
    'Evil.Com',
    'a@b.c',
    'x.shop/y',
  ])
    assert.equal(hasLink(text), true, text)
  for (const text of ['Ada Lovelace, Ph.D.', 'J.R.R. Tolkien', 'St.John', 'Acme S.p.A.', 'Wait... what', '1.5 %'])
    assert.equal(hasLink(text), false, text)
})

test('a text becomes one line without control characters and changes of direction', () => {
  assert.equal(oneLine(' Ada\r\nBcc: x\u2028y\u202Ez '), 'Ada Bcc: x y z')
  assert.deepEqual(
    [isOneLine('Ada Lovelace'), isOneLine('Ada\nLovelace'), isOneLine('Ada\u0007')],
    [true, false, false],
  )
})
