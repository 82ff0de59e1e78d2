/** How bulk paces itself: by what its pieces take, and by who else wants the wallet. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BulkPace } from './bulk-pace.ts'

const nobody = { rows: 1000, requestsWait: false, alone: true }
const requests = { ...nobody, requestsWait: true }
const otherProcess = { ...nobody, alone: false }

test('where others want the wallet bulk rests after a piece six times as long as the piece took, and beside nobody not at all', () => {
  const pace = new BulkPace()
  pace.committed(100, 1000, 1004)

  assert.deepEqual(
    [nobody, requests, otherProcess].map((company) => Math.max(1004, pace.from(1004, company))),
    [1004, 1028, 1028],
  )
})

test('while requests come one batch after the other bulk rests, also in the moments in which none waits', () => {
  const pace = new BulkPace()
  pace.requestsCame(990)
  pace.committed(100, 1000, 1010)

  assert.equal(pace.from(1010, nobody), 1070)
  assert.ok(pace.from(1020, nobody) <= 1020)
})

test('less than a piece waits a moment for more, and a whole piece for nothing', () => {
  const pace = new BulkPace()
  pace.begins(1000)

  assert.equal(pace.from(1000, { ...nobody, rows: pace.pieceRows - 1 }), 1010)
  assert.ok(pace.from(1000, { ...nobody, rows: pace.pieceRows }) <= 1000)
})

test('pieces grow and shrink until one takes about 4 ms, but never below what is all fixed cost', () => {
  const rowsAfter = (took: (rows: number) => number): number => {
    const pace = new BulkPace()
    for (let piece = 0; piece < 20; piece++) pace.committed(pace.pieceRows, 0, took(pace.pieceRows))
    return pace.pieceRows
  }

  assert.deepEqual(
    [rowsAfter((rows) => rows * 0.05), rowsAfter((rows) => rows * 0.001), rowsAfter(() => 50)],
    [80, 500, 32],
  )
})

test('a piece that was not full tells little about a full one', () => {
  const pace = new BulkPace()
  pace.committed(10, 0, 100)

  assert.equal(pace.pieceRows, 100)
})
