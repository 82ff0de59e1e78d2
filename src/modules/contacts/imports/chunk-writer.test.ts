import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chunkWriter } from './chunk-writer.ts'

const chunk = { text: 'a\n', first_row: 2, rows: 1 }

function pendingWrites() {
  const ends: ((error?: Error) => void)[] = []
  const store = () =>
    new Promise<void>((resolve, reject) => ends.push((error) => (error === undefined ? resolve() : reject(error))))
  return { ends, store }
}

const settle = () => new Promise((resolve) => setImmediate(resolve))

test('a few chunks are written at once, and the next waits', async () => {
  const { ends, store } = pendingWrites()
  const { write } = chunkWriter(store)
  for (let n = 0; n < 4; n++) await write(chunk, n)

  const fifth = write(chunk, 4)
  await settle()
  assert.equal(ends.length, 4)
  ends[1]!()
  await fifth

  assert.equal(ends.length, 5)
})

test('a chunk that cannot be written fails the upload, however it ends', async () => {
  const { ends, store } = pendingWrites()
  const { write, close } = chunkWriter(store)
  await write(chunk, 0)
  ends[0]!(new Error('the disk is full'))
  await settle()

  await assert.rejects(write(chunk, 1), /the disk is full/)
  await assert.rejects(close(true), /the disk is full/)
  await close(false)
})

test('after an upload is closed nothing more is written', async () => {
  const { ends, store } = pendingWrites()
  const { write, close } = chunkWriter(store)
  await write(chunk, 0)

  const closed = close(false)
  await assert.rejects(write(chunk, 1))
  let ended = false
  void closed.then(() => (ended = true))
  await settle()
  assert.equal(ended, false)
  ends[0]!()
  await closed

  assert.equal(ends.length, 1)
})
