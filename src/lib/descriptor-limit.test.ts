/** What the system says of open files. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { descriptorLimit, descriptorLimitIn } from './descriptor-limit.ts'

test('the limit of open files is the soft one, and none where there is none', () => {
  const limits = (files: string) =>
    `Limit                     Soft Limit           Hard Limit           Units\nMax open files            ${files}    files\nMax locked memory  8 8 bytes\n`

  assert.equal(descriptorLimitIn(limits('1024                 4096')), 1024)
  assert.equal(descriptorLimitIn(limits('unlimited            unlimited')), Infinity)
  assert.equal(descriptorLimitIn('nothing of the kind'), Infinity)
  assert.ok(descriptorLimit() > 16)
})
