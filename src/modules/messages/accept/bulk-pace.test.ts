/** When bulk traffic commits, and how much. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BulkPace } from './bulk-pace.ts'

const nobody = { rows: 1000, requestsWait: false, alone: true }
const requests = { ...nobody, requestsWait: true }
const otherProcess = { ...nobody, alone: false }

test('bulk idles six times as long as its chunk took while others want the wallet, and otherwise not at all', () => {
  const pace = new BulkPace()
  pace.chunkCommitted(100, 1000, 1004)

  assert.deepEqual(
    [nobody, requests, otherProcess].map((contention) => Math.max(1004, pace.earliestStart(1004, contention))),
    [1004, 1028, 1028],
  )
})

test('bulk idles between batches of requests, even while no request waits', () => {
  const pace = new BulkPace()
  pace.requestsCommitted(990)
  pace.chunkCommitted(100, 1000, 1010)

  assert.equal(pace.earliestStart(1010, nobody), 1070)
  assert.ok(pace.earliestStart(1020, nobody) <= 1020)
})

test('a small chunk waits for more rows, a full chunk does not', () => {
  const pace = new BulkPace()
  pace.rowsArrived(1000)

  assert.equal(pace.earliestStart(1000, { ...nobody, rows: pace.chunkRows - 1 }), 1010)
  assert.ok(pace.earliestStart(1000, { ...nobody, rows: pace.chunkRows }) <= 1000)
})

test('chunks grow and shrink until one takes about 4 ms, within a minimum', () => {
  const rowsAfter = (took: (rows: number) => number): number => {
    const pace = new BulkPace()
    for (let piece = 0; piece < 20; piece++) pace.chunkCommitted(pace.chunkRows, 0, took(pace.chunkRows))
    return pace.chunkRows
  }

  assert.deepEqual(
    [rowsAfter((rows) => rows * 0.05), rowsAfter((rows) => rows * 0.001), rowsAfter(() => 50)],
    [80, 500, 32],
  )
})

test('a small chunk changes the estimate for full chunks little', () => {
  const pace = new BulkPace()
  pace.chunkCommitted(10, 0, 100)

  assert.equal(pace.chunkRows, 100)
})
