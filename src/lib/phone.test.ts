import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { getCountries, getExampleNumber, parsePhoneNumberFromString } from 'libphonenumber-js'
import examples from 'libphonenumber-js/mobile/examples'
import { countryOf, isE164, normalisePhone, phoneKey, phoneVariants } from './phone.ts'
import { effort } from '../../test/support/effort.ts'

const e164 = fc
  .tuple(
    fc.constantFrom('1', '55', '52', '54', '549', '521', '5411', '44', '49', '7', '998'),
    fc.stringMatching(/^\d{6,11}$/),
  )
  .map(([code, rest]) => `+${code}${rest}`)
  .filter(isE164)

test('a number with spaces, dots, dashes, slashes and brackets is parsed as E.164', () => {
  for (const text of [
    '+49 151 1234 5678',
    '+49 (151) 1234-5678',
    '(+49) 151.1234.5678',
    '+49/151/12345678',
    '+49 (0) 151 12345678',
    '\u200e+49\u00a0151\u201012345678',
    ' +4915112345678 ',
  ]) {
    assert.equal(normalisePhone(text), '+4915112345678', text)
  }
})

test('a number without a country code is refused unless there is a default country', () => {
  for (const text of [
    '',
    '+',
    '0151 12345678',
    '4915112345678',
    '+0151123456',
    '+49151',
    '+49 151 CALL-ME',
    '+4915112345678901234',
    'x'.repeat(100),
    '++4915112345678',
  ])
    assert.equal(normalisePhone(text), null, text)
  assert.equal(normalisePhone('0151 12345678', 'DE'), '+4915112345678')
  assert.equal(normalisePhone('(415) 555-0100', 'us'), '+14155550100')
  assert.equal(normalisePhone('0049 151 12345678', 'DE'), '+4915112345678')
  assert.equal(normalisePhone('+14155550100', 'DE'), '+14155550100')
  assert.equal(normalisePhone('0151 12345678', 'XX'), null)
})

test('national numbers of every country are parsed as by libphonenumber', () => {
  const countries = getCountries()
  const digits = fc.stringMatching(/^\d{0,13}$/)
  const seeds = fc.constantFrom(...countries).chain((country) => {
    const example = getExampleNumber(country, examples)!
    const national = example.formatNational().replaceAll(/\D/g, '')
    const [own, code] = [example.nationalNumber, example.countryCallingCode]
    const near = fc.tuple(
      fc.constantFrom(national, own, `0${own}`, `00${code}${own}`, `011${own}`, code + own, `8${own}`, `1${own}`),
      fc.nat({ max: 16 }),
      digits,
    )
    return fc.tuple(
      fc.constant(country),
      fc.oneof(
        near.map(([text, keep, rest]) => text.slice(0, keep) + rest.slice(0, Math.max(text.length - keep, 0))),
        digits,
      ),
    )
  })

  fc.assert(
    fc.property(seeds, ([country, text]) => {
      fc.pre(/^\d{3,17}$/.test(text))
      const number = parsePhoneNumberFromString(text, country)?.number ?? null
      assert.equal(
        normalisePhone(text, country),
        number !== null && isE164(number) ? number : null,
        `${text} in ${country}`,
      )
    }),
    { numRuns: effort(4000, 40_000), seed: 9 },
  )
})

test('national variants of one number share a key', () => {
  for (const variants of [
    ['+5511987654321', '+551187654321'],
    ['+525512345678', '+5215512345678'],
    ['+541123456789', '+5491123456789', '+54111523456789'],
    ['+543415123456', '+5493415123456'],
  ]) {
    assert.equal(new Set(variants.map(phoneKey)).size, 1, variants.join(' '))
  }
  assert.notEqual(phoneKey('+551132654321'), '+5511932654321', 'a Brazilian landline has no ninth digit')
})

test('a key is idempotent, E.164, and among its variants', () => {
  fc.assert(
    fc.property(e164, (number) => {
      const key = phoneKey(number)
      assert.equal(phoneKey(key), key)
      assert.ok(isE164(key))
      const variants = phoneVariants(key)
      assert.equal(variants[0], key)
      for (const variant of variants) assert.equal(phoneKey(variant), key)
      if (!/^\+54.{12}$/.test(number)) assert.ok(variants.includes(number), number)
    }),
    { numRuns: effort(500, 4000) },
  )
})

test('parsing is idempotent', () => {
  fc.assert(fc.property(e164, (number) => normalisePhone(normalisePhone(number)!) === number))
})

test('the country is found also where countries share a calling code', () => {
  for (const [number, country] of [
    ['+4915112345678', 'DE'],
    ['+14155550100', 'US'],
    ['+14165550100', 'CA'],
    ['+77011234567', 'KZ'],
    ['+18765550100', 'JM'],
    ['+447400123456', 'GB'],
    ['+999123456789', null],
  ] as const) {
    assert.equal(countryOf(number), country, number)
    assert.equal(countryOf(number), country, number)
  }
})
