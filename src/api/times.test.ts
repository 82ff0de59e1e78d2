import assert from 'node:assert/strict'
import test from 'node:test'
import { isDay, parseDateTime, parseStrictDateTime } from './times.ts'

test('a time in a query may be in any RFC 3339 form, a date, or without zone', () => {
  const cases: [string, string][] = [
    ['2026-01-31', '2026-01-31T00:00:00.000Z'],
    ['2026-01-31T09:30', '2026-01-31T09:30:00.000Z'],
    ['2026-01-31 09:30:00', '2026-01-31T09:30:00.000Z'],
    ['2026-01-31t09:30:00z', '2026-01-31T09:30:00.000Z'],
    ['2026-01-31T09:30:00.1+02:00', '2026-01-31T07:30:00.100Z'],
    ['2026-01-31T09:30:00 02:00', '2026-01-31T07:30:00.000Z'],
    ['2026-01-31T09:30:00-0330', '2026-01-31T13:00:00.000Z'],
    ['2016-12-31T23:59:60Z', '2017-01-01T00:00:00.000Z'],
    ['2017-01-01T00:59:60.5+01:00', '2017-01-01T00:00:00.000Z'],
    ['2026-01-31T09:30:00.123456789012Z', '2026-01-31T09:30:00.123Z'],
    ['2024-02-29', '2024-02-29T00:00:00.000Z'],
    ['0001-01-01', '0001-01-01T00:00:00.000Z'],
  ]

  for (const [text, iso] of cases) assert.equal(parseDateTime(text), iso, text)
})

test('invalid times are null', () => {
  for (const text of [
    '',
    'yesterday',
    '2026-02-30',
    '2026-13-01',
    '2026-01-31T24:00:00Z',
    '2026-01-31T09:60:00Z',
    '2026-01-31T09:30:60Z',
    '2016-12-30T23:59:60Z',
    '9999-12-31T23:59:60Z',
    '2026-01-31T09:30:61Z',
    '2023-02-29',
    '0000-01-01',
    '0001-01-01T00:00:00+01:00',
    '9999-12-31T23:59:59-01:00',
    '2026-01-31T09:30:00+24:00',
    '1e10',
    '2026-01-31T09:30:00.Z',
  ])
    assert.equal(parseDateTime(text), null, text)
})

test('fractions below a millisecond are cut off, or rounded up for an upper bound', () => {
  assert.equal(parseDateTime('2026-01-31T09:30:00.123456Z'), '2026-01-31T09:30:00.123Z')
  assert.equal(parseDateTime('2026-01-31T09:30:00.123456Z', 'up'), '2026-01-31T09:30:00.124Z')
  assert.equal(parseDateTime('2026-01-31T09:30:00.123000Z', 'up'), '2026-01-31T09:30:00.123Z')
})

test('a time in a body needs a zone', () => {
  assert.equal(parseStrictDateTime('2026-01-31T09:30:00Z'), '2026-01-31T09:30:00.000Z')
  for (const text of ['2026-01-31', '2026-01-31T09:30:00', '2026-01-31T09:30Z'])
    assert.equal(parseStrictDateTime(text), null, text)
})

test('a day is one of the calendar', () => {
  assert.deepEqual(['2026-01-31', '2026-02-29', '2026-1-31', '2026-01-31T00:00:00Z'].map(isDay), [
    true,
    false,
    false,
    false,
  ])
})
