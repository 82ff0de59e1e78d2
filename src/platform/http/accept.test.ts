import assert from 'node:assert/strict'
import test from 'node:test'
import { asksForCsv } from './accept.ts'

test('CSV is answered to who names it, and JSON to everybody else', () => {
  const csv = [
    'text/csv',
    'Text/CSV; charset=utf-8',
    'text/csv, application/json;q=0.9',
    'application/json, text/csv',
    'text/csv;q=0.5, */*;q=0.1',
  ]
  const json = [
    undefined,
    '',
    '*/*',
    'text/*',
    'application/json',
    'text/csv;q=0.5, application/json',
    'text/csv;q=0',
    'text/csv;q=none',
    'text/csvx',
  ]

  assert.deepEqual([csv.filter((accept) => !asksForCsv(accept)), json.filter(asksForCsv)], [[], []])
})
