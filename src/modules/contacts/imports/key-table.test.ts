import assert from 'node:assert/strict'
import { test } from 'node:test'
import { KeyTable } from './key-table.ts'

test('the last value of a key is found, also after the table has grown', () => {
  const table = new KeyTable()
  const key = (n: number) => `phone|${4915100000000 + n}`
  for (let n = 0; n < 50_000; n++) table.set(key(n), n)
  for (let n = 0; n < 50_000; n += 2) table.set(key(n), -n)

  assert.equal(table.get(key(-1)), undefined)
  for (let n = 0; n < 50_000; n++) assert.equal(table.get(key(n)), n % 2 === 0 ? -n || 0 : n)
})
