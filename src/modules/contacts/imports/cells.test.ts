import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parse } from 'csv-parse/sync'
import fc from 'fast-check'
import type { Problem } from '../../../api/problem.ts'
import { csvLine } from '../csv.ts'
import { attributeTypes, mergeChanges, readRow, readRows, type Row } from './cells.ts'
import { readHeader } from './columns.ts'
import { delimiterOf, SplitError, Splitter, type Chunk } from './splitter.ts'
import { effort } from '../../../../test/support/effort.ts'

const options = { delimiters: ',', rows_max: 3, chunk_length: 1000, record_length_max: 200 }

function split(parts: readonly string[], given = options): Chunk[] {
  const splitter = new Splitter(given, 2)
  return [...parts.flatMap((part) => splitter.push(part)), ...splitter.end()]
}

const context = (columns: readonly (string | null)[], rows: readonly Row[] = []) => ({
  columns,
  types: attributeTypes(rows, columns, new Map()),
  default_country: 'DE',
  at: '2026-01-31T09:30:00.000Z',
})

test('chunks hold whole records, however the bytes arrive and wherever quotes and line ends are', () => {
  const cell = fc.oneof(
    fc.constantFrom('', 'a', 'b c', 'x"y', 'a,b', 'two\nlines', 'three\r\n\r\nlines', '"', '""', ' ', "it's"),
    fc.string({ maxLength: 5 }).map((text) => text.replaceAll(/[\r\0]/g, '')),
  )
  const records = fc.array(fc.array(cell, { minLength: 1, maxLength: 4 }), { maxLength: 12 })
  const cuts = fc.array(fc.nat({ max: 200 }), { maxLength: 6 })

  fc.assert(
    fc.property(records, cuts, fc.boolean(), (cells, at, ends) => {
      const text = cells.map((record) => csvLine(record)).join('')
      const whole = ends ? text : text.replace(/\r\n$/, '')
      const bounds = [0, ...at.map((cut) => Math.min(cut, whole.length)).sort((a, b) => a - b), whole.length]
      const parts = bounds.slice(1).map((end, i) => whole.slice(bounds[i], end))

      const chunks = split(parts, { ...options, record_length_max: 10_000 })
      const rows = chunks.flatMap((chunk) => readRows(chunk, ','))

      const wanted = readRows({ text: whole, first_row: 2 }, ',')
      assert.deepEqual(rows, wanted)
      assert.equal(
        chunks.reduce((sum, chunk) => sum + chunk.rows, 0),
        wanted.length,
      )
      for (const chunk of chunks) assert.ok(chunk.rows <= options.rows_max)
    }),
    { numRuns: effort(500, 4000), seed: 6 },
  )
})

test('text without quotes is split as a CSV parser does', () => {
  const plain = fc.string({ unit: fc.constantFrom('a', ',', ';', '\n', '\r', ' ', '\t', 'é', '\u2028'), maxLength: 40 })

  fc.assert(
    fc.property(plain, (text) => {
      const records: string[][] = parse(text, { record_delimiter: ['\r\n', '\n'], relax_column_count: true })
      const wanted = records
        .map((cells, at) => ({ row: 1 + at, cells }))
        .filter(({ cells }) => cells.some((cell) => !/^[ \t\r]*$/.test(cell)))
      assert.deepEqual(readRows({ text, first_row: 1 }, ','), wanted)
    }),
    { numRuns: effort(500, 4000), seed: 8 },
  )
})

test('any text is split into as many rows as are counted', () => {
  const noise = fc.string({ unit: fc.constantFrom('a', '"', ',', '\n', '\r', ' ', '\t', 'é'), maxLength: 40 })

  fc.assert(
    fc.property(noise, (text) => {
      let chunks: Chunk[]
      try {
        chunks = split([text])
      } catch (error) {
        assert.ok(error instanceof SplitError)
        return
      }
      const rows = chunks.flatMap((chunk) => readRows(chunk, ','))
      assert.equal(
        rows.length,
        chunks.reduce((sum, chunk) => sum + chunk.rows, 0),
        JSON.stringify(text),
      )
    }),
    { numRuns: effort(1000, 10_000), seed: 6 },
  )
})

test('rows are numbered as a spreadsheet counts them, blank ones included', () => {
  const rows = split(['a,b\n\n , \n"c\nc",d\n,,\n"",e']).flatMap((chunk) => readRows(chunk, ','))

  assert.deepEqual(rows, [
    { row: 2, cells: ['a', 'b'] },
    { row: 5, cells: ['c\nc', 'd'] },
    { row: 7, cells: ['', 'e'] },
  ])
})

test('an unclosed quote is reported with its row', () => {
  assert.throws(
    () => split(['a\n"b\nc']),
    (error: SplitError) => error.row === 3,
  )
  assert.throws(
    () => split([`a\n"${'x'.repeat(300)}`]),
    (error: SplitError) => error.row === 3,
  )
})

test('a record with misplaced quotes is reported as broken, others are not', () => {
  const rows = readRows({ text: 'a,b\nc"x",d\n"e"f,g\nh,i\n', first_row: 10 }, ',')

  assert.deepEqual(
    rows.map(({ row, broken }) => [row, broken !== undefined]),
    [
      [10, false],
      [11, true],
      [12, true],
      [13, false],
    ],
  )
})

test('the delimiter is the one that the header uses', () => {
  assert.equal(delimiterOf('a,b,c'), ',')
  assert.equal(delimiterOf('a;b;"c,d,e"'), ';')
  assert.equal(delimiterOf('a\tb'), '\t')
  assert.equal(delimiterOf('phone'), ',')
})

test('common spellings of headers are understood', () => {
  const columns = readHeader([
    'Mobile Phone',
    'E-Mail',
    'Given Name',
    'Surname',
    'Time zone',
    'Labels',
    'attributes.shoe_size',
    'CONSENT.SMS',
    'consent.whatsapp.marketing',
    'identifiers.telegram',
    'id',
    'country',
  ])

  assert.deepEqual(columns, [
    'phone',
    'email',
    'first_name',
    'last_name',
    'timezone',
    'tags',
    'attributes.shoe_size',
    'consent.sms',
    'consent.whatsapp.marketing',
    'identifiers.telegram',
    null,
    null,
  ])
})

test('unknown and repeated columns are all named', () => {
  const problemOf = (header: string[], mapping = {}) => {
    try {
      readHeader(header, mapping)
    } catch (error) {
      return (error as Problem).details!.map((detail) => `${detail.param} ${detail.code}`)
    }
    return []
  }

  assert.deepEqual(problemOf(['phone', 'Shoe size', '', 'mobile']), [
    'header[1] unknown_field',
    'header[2] unknown_field',
    'header[3] invalid_value',
  ])
  assert.deepEqual(problemOf(['first_name']), ['header missing_field'])
  assert.deepEqual(problemOf(['phone', 'Shoe size', 'Notes'], { 'Shoe size': 'attributes.shoe_size', Notes: null }), [])
  assert.deepEqual(problemOf(['phone'], { Size: 'attributes.size', phone: 'telephone' }), [
    'columns["Size"] invalid_value',
    'columns["phone"] invalid_value',
  ])
})

test('a row becomes a change, and an empty cell changes nothing', () => {
  const columns = [
    'phone',
    'full_name',
    'tags',
    'blocked',
    'metadata',
    'consent.sms',
    'consent.whatsapp',
    'consent.whatsapp.marketing',
    'attributes.plan',
    'email',
  ]
  const row = {
    row: 2,
    cells: [
      '0151 2345678',
      'Ada  King Lovelace',
      'vip; news;"a;""b"""',
      'no',
      '{"a":1}',
      'Unsubscribed',
      'opted_in',
      'no',
      "'=1+1",
      ' ',
    ],
  }

  const { change, reasons } = readRow(row, context(columns))

  assert.deepEqual(reasons, [])
  assert.deepEqual(change, {
    phone: '+491512345678',
    first_name: 'Ada',
    last_name: 'King Lovelace',
    blocked: false,
    metadata: { a: 1 },
    add_tags: ['vip', 'news', 'a;"b"'],
    attributes: { plan: '=1+1' },
    consent: { sms: { status: 'opted_out' }, whatsapp: { status: 'opted_in', marketing: 'opted_out' } },
  })
})

test('an invalid row reports every reason', () => {
  const { reasons } = readRow(
    { row: 2, cells: ['12', 'nobody', 'maybe', '[1]', 'x', 'y'] },
    context(['phone', 'email', 'consent.sms', 'metadata', 'attributes.a']),
  )

  assert.equal(reasons.length, 5)
  assert.match(reasons.join('\n'), /6 cells.*\n.*metadata.*\n.*phone.*\n.*email.*\n.*consent\.sms/)
  assert.deepEqual(readRow({ row: 2, cells: ['', 'Ada'] }, context(['phone', 'first_name'])).reasons, [
    'The row has no phone number, e-mail address or identifier.',
  ])
})

test('metadata that a request may not contain rejects its row', () => {
  const deep = '['.repeat(5000) + ']'.repeat(5000)
  for (const metadata of [
    '{"id":12345678901234567890}',
    '{"rate":1e999}',
    '{"note":"\\u0000"}',
    '{"note":"\\ud83d"}',
    `{"tree":${deep}}`,
  ]) {
    const { reasons } = readRow({ row: 2, cells: ['+4915112345678', metadata] }, context(['phone', 'metadata']))

    assert.match(reasons.join('\n'), /^metadata cannot be kept: `(id|rate|note|tree)/)
  }
})

test('new attributes are numbers or booleans where every cell is one, and postal codes stay text', () => {
  const columns = ['attributes.age', 'attributes.zip', 'attributes.active', 'attributes.none']
  const rows = [
    ['36', '12345', 'true', ''],
    ['-2.5', '01234', 'FALSE', ''],
    ['', '', '', ''],
  ].map((cells, at) => ({ row: at + 2, cells }))

  const types = attributeTypes(rows, columns, new Map())

  assert.deepEqual([types.get('age'), types.get('zip'), types.get('active')], ['number', 'string', 'boolean'])
  assert.equal(attributeTypes(rows, columns, new Map([['age', 'string' as const]])).get('age'), 'string')
})

test('of two rows for one contact the later one wins, and tags and attributes are merged', () => {
  const merged = mergeChanges(
    { email: 'a@b.c', first_name: 'A', add_tags: ['x', 'Y'], attributes: { a: 1, b: 1 } },
    { email: 'a@b.c', last_name: 'B', add_tags: ['y', 'z'], attributes: { b: 2 } },
  )

  assert.deepEqual(merged, {
    email: 'a@b.c',
    first_name: 'A',
    last_name: 'B',
    add_tags: ['x', 'Y', 'z'],
    attributes: { a: 1, b: 2 },
  })
})
